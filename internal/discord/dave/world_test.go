package dave_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"earshot/internal/discord/dave"
	"earshot/internal/discord/mls"
)

const channel = 12345

// A tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// A world is a voice gateway, the members of one call, and the connections between them, on which
// every message waits until the test lets it arrive. The gateway does what the protocol demands,
// and knows about the group only what a gateway can know.
type world struct {
	t        tester
	now      time.Time
	service  *mls.Signer
	external mls.ExternalSender
	peers    map[uint64]*peer // those who are connected
	gone     []*peer          // those who have left, but kept their keys

	version     uint16
	established bool
	epoch       uint64
	leaves      []uint64 // 0 for an empty leaf
	live        []*proposed
	turns       []*turn
	lastTurn    uint16
	lenient     bool // errors and resets of sessions are expected
	plain       bool // version 0 has been used
	batch       bool // proposals are held until flush
	held        []*proposed
}

// A peer is one member, with its connection in both directions.
type peer struct {
	id      uint64
	s       *dave.Session
	in      []said
	out     []dave.Answer
	pack    []byte // its key package, until somebody has welcomed it
	packRef []byte
	member  bool // whether it is in the gateway's group
}

// A said is a message on its way to a peer: a call of the session, or a binary message if call is
// nil.
type said struct {
	call func(*dave.Session) []dave.Answer
	op   byte
	body []byte
}

// A proposed is a proposal that was sent, and neither committed nor revoked.
type proposed struct {
	message, ref []byte
	add, remove  uint64
	leaf         uint32
}

// A turn is a transition for which not all members are ready.
type turn struct {
	id      uint16
	waiting map[uint64]bool
	to      []uint64
	version uint16
}

func newWorld(t tester, version uint16) *world {
	w := &world{t: t, now: time.Unix(1000, 0), peers: make(map[uint64]*peer), version: version, plain: version == 0}
	w.service = must(mls.NewSigner(rand.Reader))
	w.external = mls.ExternalSender{SignatureKey: w.service.Public(), Identity: []byte{0, 0, 0, 0, 0, 0, 0, 1}}
	return w
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (w *world) binary(p *peer, op byte, body []byte) {
	p.in = append(p.in, said{op: op, body: body})
}

func (w *world) json(p *peer, f func(*dave.Session) []dave.Answer) {
	p.in = append(p.in, said{call: f})
}

// others returns all peers but one, in order.
func (w *world) others(but uint64) (list []*peer) {
	for _, id := range slices.Sorted(maps.Keys(w.peers)) {
		if id != but {
			list = append(list, w.peers[id])
		}
	}
	return list
}

func (w *world) join(id uint64, early bool) *peer {
	p := &peer{id: id, s: dave.New(rand.Reader, id, channel)}
	for _, o := range w.others(id) {
		w.json(o, func(s *dave.Session) []dave.Answer { s.Connected(id); return nil })
		w.json(p, func(s *dave.Session) []dave.Answer { s.Connected(o.id); return nil })
	}
	w.peers[id] = p
	version := w.version
	ready := func(s *dave.Session) []dave.Answer { return s.Select(version, w.now) }
	if early {
		w.binary(p, dave.OpExternalSender, w.external.Marshal())
		w.json(p, ready)
	} else {
		w.json(p, ready)
		w.binary(p, dave.OpExternalSender, w.external.Marshal())
	}
	if !w.established && w.version > 0 {
		if batch := w.list(w.live, id); len(batch) > 0 {
			w.binary(p, dave.OpProposals, proposals(0, batch...))
		}
	}
	return p
}

// list returns the messages of proposals for somebody who is not in a group.
func (w *world) list(ps []*proposed, but uint64) (list [][]byte) {
	for _, p := range ps {
		if p.add != but || p.add == 0 {
			list = append(list, p.message)
		}
	}
	return list
}

func (w *world) leave(id uint64) {
	p := w.peers[id]
	delete(w.peers, id)
	p.in, p.out = nil, nil
	w.gone = append(w.gone, p)
	for _, o := range w.others(id) {
		w.json(o, func(s *dave.Session) []dave.Answer { s.Disconnected(id); return nil })
	}
	for _, t := range w.turns {
		delete(t.waiting, id)
	}
	w.execute(false)
	w.withdraw(id)
	if !w.established {
		return
	}
	if l := slices.Index(w.leaves, id); l >= 0 {
		w.expel(id, l)
	}
}

// expel proposes to remove somebody who has left, or begins anew if only one remains.
func (w *world) expel(id uint64, leaf int) {
	if slices.ContainsFunc(slices.Concat(w.live, w.held), func(p *proposed) bool { return p.remove == id }) {
		return
	}
	var remain []uint64
	for _, m := range w.members() {
		if p := w.peers[m]; p != nil && p.member {
			remain = append(remain, m)
		}
	}
	if len(remain) <= 1 {
		for _, m := range remain {
			p := w.peers[m]
			p.pack = nil
			w.json(p, func(s *dave.Session) []dave.Answer { return s.Epoch(1, 1, w.now) })
			w.json(p, func(s *dave.Session) []dave.Answer { return s.Prepare(0, 1, w.now) })
		}
		w.reset()
		return
	}
	w.propose(&proposed{remove: id, leaf: uint32(leaf)})
}

// reset forgets the group. Those who were waiting to be added now wait for the next one.
func (w *world) reset() {
	w.established, w.epoch, w.leaves, w.live, w.held = false, 0, nil, nil, nil
	for _, p := range w.others(0) {
		p.member = false
		if p.pack != nil {
			w.admit(p)
		}
	}
}

func (w *world) members() (list []uint64) {
	for _, m := range w.leaves {
		if m != 0 {
			list = append(list, m)
		}
	}
	return list
}

// withdraw revokes the proposal to add somebody.
func (w *world) withdraw(id uint64) {
	w.held = slices.DeleteFunc(w.held, func(p *proposed) bool { return p.add == id })
	i := slices.IndexFunc(w.live, func(p *proposed) bool { return p.add == id })
	if i < 0 {
		return
	}
	ref := w.live[i].ref
	w.live = slices.Delete(w.live, i, i+1)
	for _, p := range w.audience(id) {
		w.binary(p, dave.OpProposals, proposals(1, append([]byte{32}, ref...)))
	}
}

// audience returns who is told about proposals.
func (w *world) audience(but uint64) (list []*peer) {
	for _, p := range w.others(but) {
		if !w.established || p.member {
			list = append(list, p)
		}
	}
	return list
}

func groupID() []byte { return binary.BigEndian.AppendUint64(nil, channel) }

func (w *world) admit(p *peer) {
	w.propose(&proposed{add: p.id})
}

func (w *world) propose(p *proposed) {
	w.t.Helper()
	w.held = append(w.held, p)
	if !w.batch {
		w.flush()
	}
}

// flush sends the held proposals, in one message to each peer.
func (w *world) flush() {
	held := slices.DeleteFunc(w.held, func(p *proposed) bool { // the founder of the group needs no welcome
		return p.add != 0 && (w.peers[p.add] == nil || w.peers[p.add].pack == nil)
	})
	w.held = nil
	for _, p := range held {
		var err error
		if p.add != 0 {
			p.message, p.ref, err = mls.ProposeAdd(w.service, groupID(), w.epoch, w.peers[p.add].pack)
		} else {
			p.message, p.ref, err = mls.ProposeRemove(w.service, groupID(), w.epoch, p.leaf)
		}
		if err != nil {
			w.t.Fatalf("proposing: %v", err)
		}
	}
	w.live = append(w.live, held...)
	for _, p := range w.audience(0) {
		if batch := w.list(held, p.id); len(batch) > 0 {
			w.binary(p, dave.OpProposals, proposals(0, batch...))
		}
	}
}

// proposals encodes an op 27.
func proposals(operation byte, list ...[]byte) []byte {
	return append([]byte{operation}, vector(bytes.Join(list, nil))...)
}

func vector(b []byte) []byte {
	switch n := len(b); {
	case n < 1<<6:
		return append([]byte{byte(n)}, b...)
	case n < 1<<14:
		return append(binary.BigEndian.AppendUint16(nil, uint16(n)|1<<14), b...)
	default:
		return append(binary.BigEndian.AppendUint32(nil, uint32(n)|2<<30), b...)
	}
}

// deliver lets the next message to a peer arrive.
func (w *world) deliver(p *peer) {
	w.t.Helper()
	m := p.in[0]
	p.in = p.in[1:]
	if m.call != nil {
		p.out = append(p.out, m.call(p.s)...)
		return
	}
	answers, err := p.s.Binary(m.op, m.body, w.now)
	if err != nil && !w.lenient {
		w.t.Fatalf("user %d, opcode %d: %v", p.id, m.op, err)
	}
	p.out = append(p.out, answers...)
}

// answer lets the next answer of a peer arrive at the gateway.
func (w *world) answer(p *peer) {
	w.t.Helper()
	a := p.out[0]
	p.out = p.out[1:]
	switch a.Op {
	case dave.OpKeyPackage:
		m, ref, err := mls.ReadKeyPackage(a.Body)
		if err != nil || binary.BigEndian.Uint64(m.Identity) != p.id {
			w.t.Fatalf("a key package of user %d for %x: %v", p.id, m.Identity, err)
		}
		w.withdraw(p.id)
		p.pack, p.packRef, p.member = a.Body, ref, false
		if l := slices.Index(w.leaves, p.id); l >= 0 && w.established {
			w.expel(p.id, l)
		}
		w.admit(p)
	case dave.OpCommitWelcome:
		w.commit(p, a.Body)
	case dave.OpReadyFor:
		for _, t := range w.turns {
			if t.id == a.Transition {
				delete(t.waiting, p.id)
			}
		}
		w.execute(false)
	case dave.OpInvalid:
		if !w.lenient {
			w.t.Fatalf("user %d cannot follow transition %d", p.id, a.Transition)
		}
		p.member = false
		if l := slices.Index(w.leaves, p.id); l >= 0 && w.established {
			w.expel(p.id, l)
		}
	default:
		w.t.Fatalf("user %d says opcode %d", p.id, a.Op)
	}
}

// commit takes an op 28: the first one that is right for the epoch is announced.
func (w *world) commit(p *peer, body []byte) {
	w.t.Helper()
	h, welcome, err := mls.Inspect(body)
	if err != nil {
		w.t.Fatalf("a commit of user %d: %v", p.id, err)
	}
	message := body[:len(body)-len(welcome)]
	refs := make(map[string]*proposed)
	for _, l := range w.live {
		if w.established || l.add != p.id {
			refs[string(l.ref)] = l
		}
	}
	right := h.Epoch == w.epoch && len(h.Refs) == len(refs) && !h.Inline
	for _, r := range h.Refs {
		right = right && refs[string(r)] != nil
	}
	if w.established {
		right = right && p.member && int(h.Sender) < len(w.leaves) && w.leaves[h.Sender] == p.id
	} else {
		right = right && h.Sender == 0 && p.pack != nil
	}
	if !right {
		return
	}
	if !w.established {
		w.leaves = []uint64{p.id}
		p.pack, p.member = nil, true
	}
	to := slices.DeleteFunc(w.members(), func(m uint64) bool { return w.peers[m] == nil || !w.peers[m].member })
	var adds []*proposed
	for _, r := range h.Refs {
		if l := refs[string(r)]; l.add == 0 {
			w.leaves[l.leaf] = 0
		} else {
			adds = append(adds, l)
		}
	}
	w.lastTurn++
	t := &turn{id: w.lastTurn, waiting: make(map[uint64]bool), version: 1}
	head := binary.BigEndian.AppendUint16(nil, t.id)
	for _, m := range to {
		w.binary(w.peers[m], dave.OpAnnounceCommit, slices.Concat(head, message))
	}
	for _, l := range adds {
		i := slices.Index(w.leaves, 0)
		if i < 0 {
			i = len(w.leaves)
			w.leaves = append(w.leaves, 0)
		}
		w.leaves[i] = l.add
		n := w.peers[l.add]
		part, err := mls.WelcomeFor(welcome, n.packRef)
		if err != nil {
			w.t.Fatalf("the welcome of user %d for %d: %v", p.id, l.add, err)
		}
		n.pack, n.member = nil, true
		w.binary(n, dave.OpWelcome, slices.Concat(head, part))
		to = append(to, l.add)
	}
	if !w.established { // those who are left out have groups of their own, in which the proposals would remain
		for _, o := range w.others(0) {
			for _, l := range w.live {
				if !o.member && l.add != o.id {
					w.binary(o, dave.OpProposals, proposals(1, append([]byte{32}, l.ref...)))
				}
			}
		}
	}
	w.established = true
	w.epoch++
	w.live = nil
	w.begin(t, to)
	for _, m := range w.members() { // those who left meanwhile
		if p := w.peers[m]; p == nil || !p.member {
			w.expel(m, slices.Index(w.leaves, m))
		}
	}
}

func (w *world) begin(t *turn, to []uint64) {
	t.to = to
	for _, m := range to {
		t.waiting[m] = true
	}
	w.turns = append(w.turns, t)
	w.execute(false)
}

// execute executes in order the transitions for which all are ready; if late, all of them, as if
// they had taken too long.
func (w *world) execute(late bool) {
	for len(w.turns) > 0 && (late || len(w.turns[0].waiting) == 0) {
		t := w.turns[0]
		w.turns = w.turns[1:]
		for _, m := range t.to {
			if p := w.peers[m]; p != nil {
				w.json(p, func(s *dave.Session) []dave.Answer { return s.Execute(t.id, w.now) })
			}
		}
	}
}

// downgrade and upgrade do what happens when somebody without encryption comes, and leaves again.
func (w *world) downgrade() {
	w.version, w.plain = 0, true
	w.established, w.epoch, w.leaves, w.live, w.held = false, 0, nil, nil, nil
	w.lastTurn++
	t := &turn{id: w.lastTurn, waiting: make(map[uint64]bool)}
	for _, p := range w.others(0) {
		p.pack, p.member = nil, false
		w.json(p, func(s *dave.Session) []dave.Answer { return s.Prepare(t.id, 0, w.now) })
	}
	w.begin(t, slices.Sorted(maps.Keys(w.peers)))
}

func (w *world) upgrade() {
	w.version = 1
	for _, p := range w.others(0) {
		p.pack, p.member = nil, false
		w.json(p, func(s *dave.Session) []dave.Answer { return s.Epoch(1, 1, w.now) })
	}
}

// settle lets everything arrive, in turn.
func (w *world) settle() {
	w.t.Helper()
	for range 10_000 {
		busy := false
		for _, p := range w.others(0) {
			for len(p.in) > 0 {
				w.deliver(p)
				busy = true
			}
		}
		for _, p := range w.others(0) {
			if len(p.out) > 0 {
				w.answer(p)
				busy = true
			}
		}
		if !busy && len(w.held) > 0 {
			w.flush()
			busy = true
		}
		if !busy && w.lenient && len(w.turns) > 0 { // for those who could not follow
			w.execute(true)
			busy = true
		}
		if !busy {
			return
		}
	}
	w.t.Fatalf("it goes on and on")
}

var opus = []byte("\x78what somebody said, as Opus")

// check checks what must be true at any moment.
func (w *world) check() {
	w.t.Helper()
	all := slices.Concat(w.others(0), w.gone)
	for _, p := range w.others(0) {
		state := p.s.State()
		if state.Resets > 0 && !w.lenient {
			w.t.Fatalf("user %d has reset %d times", p.id, state.Resets)
		}
		sealed, err := p.s.Seal(nil, opus)
		if state.Version == 0 && (w.plain || err != nil) {
			continue
		}
		if err != nil {
			if state.Ready || len(sealed) > 0 {
				w.t.Fatalf("user %d is ready=%v and seals %d bytes: %v", p.id, state.Ready, len(sealed), err)
			}
			continue
		}
		if bytes.Contains(sealed, opus) || !bytes.HasSuffix(sealed, []byte{0xfa, 0xfa}) {
			w.t.Fatalf("user %d sends plain", p.id)
		}
		for _, o := range all {
			if o == p {
				continue
			}
			other := o.s.State()
			got, err := o.s.Open(nil, p.id, sealed, w.now)
			if err == nil && !bytes.Equal(got, opus) {
				w.t.Fatalf("user %d hears something else of %d", o.id, p.id)
			}
			if err == nil && !slices.Contains(state.Members, o.id) {
				w.t.Fatalf("user %d, who is not in epoch %d of %d %v, hears it", o.id, state.Epoch, p.id, state.Members)
			}
			if err != nil && other.Ready && other.Version > 0 && other.Code == state.Code && w.peers[o.id] == o {
				w.t.Fatalf("user %d does not hear %d in the same epoch %d: %v", o.id, p.id, state.Epoch, err)
			}
			if err == nil {
				if _, err := o.s.Open(nil, p.id, sealed, w.now); err == nil {
					w.t.Fatalf("user %d hears %d twice", o.id, p.id)
				}
			}
		}
	}
}

// together checks what must be true when everything has settled.
func (w *world) together() {
	w.t.Helper()
	want := slices.Sorted(maps.Keys(w.peers))
	if len(want) == 0 {
		return
	}
	if len(w.turns) > 0 {
		w.t.Fatalf("transition %d waits for %v", w.turns[0].id, w.turns[0].waiting)
	}
	first := w.peers[want[0]].s.State()
	for _, p := range w.others(0) {
		state := p.s.State()
		members := slices.Sorted(slices.Values(state.Members))
		if w.version == 0 {
			if state.Version != 0 || !state.Ready {
				w.t.Fatalf("user %d is not plain: %+v", p.id, state)
			}
			continue
		}
		if len(want) == 1 && (!state.Ready || state.Version == 0) {
			continue // it is alone, and was not told to begin
		}
		if !state.Ready || state.Version != 1 || !slices.Equal(members, want) || state.Code != first.Code {
			w.t.Fatalf("user %d is not with the others %v: %+v\nwhose first is %+v", p.id, want, state, first)
		}
	}
	w.check()
}
