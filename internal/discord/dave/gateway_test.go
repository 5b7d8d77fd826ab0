package dave_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/internal/discord/dave"
	"earshot/internal/discord/mls"
	"earshot/internal/testkit"
)

// together returns a world in which some users are in an encrypted call.
func together(t *testing.T, users ...uint64) *world {
	t.Helper()
	w := newWorld(t, 1)
	for _, u := range users {
		w.join(u, false)
	}
	w.settle()
	w.together()
	return w
}

// talk lets one member speak to another, and returns what the other hears.
func (w *world) talk(from, to *peer) string {
	sealed, err := from.s.Seal(nil, opus)
	if err != nil {
		return "silence"
	}
	return w.hear(from, to, sealed)
}

func (w *world) hear(from, to *peer, frame []byte) string {
	switch got, err := to.s.Open(nil, from.id, frame, w.now); {
	case err != nil && !errors.Is(err, dave.ErrClosed):
		return err.Error()
	case err != nil:
		return "nothing"
	case !bytes.Equal(got, opus):
		return "noise"
	case bytes.Equal(frame, opus):
		return "plain"
	default:
		return "sealed"
	}
}

// ops draws answers as their opcodes.
func ops(answers []dave.Answer) string {
	var b strings.Builder
	for _, a := range answers {
		if a.Op == dave.OpReadyFor || a.Op == dave.OpInvalid {
			fmt.Fprintf(&b, "%d(%d) ", a.Op, a.Transition)
		} else {
			fmt.Fprintf(&b, "%d ", a.Op)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestTransitions shows what happens in a call of two when its version changes: what is said, how
// the first then sends, whether it lets plain frames in, and whether it opens one that was sealed
// before all this.
func TestTransitions(t *testing.T) {
	w := together(t, 100, 200)
	p, q := w.peers[100], w.peers[200]
	before := func() []byte { return must(q.s.Seal(nil, opus)) }
	var old [18][]byte // each frame can be opened only once
	for i := range old {
		old[i] = before()
	}
	for i, step := range []struct {
		what  string
		do    func(*dave.Session) []dave.Answer
		after time.Duration
		say   string
		send  string
		plain string
		old   string
	}{
		{what: "an epoch", send: "sealed", plain: "nothing", old: "sealed"},
		{what: "another version 1", do: func(s *dave.Session) []dave.Answer { return s.Prepare(40, 1, w.now) }, say: "23(40)", send: "sealed", plain: "nothing", old: "sealed"},
		{what: "it is executed", do: func(s *dave.Session) []dave.Answer { return s.Execute(40, w.now) }, send: "sealed", plain: "nothing", old: "sealed"},
		{what: "an unknown transition", do: func(s *dave.Session) []dave.Answer { return s.Execute(39, w.now) }, send: "sealed", plain: "nothing", old: "sealed"},
		{what: "a downgrade", do: func(s *dave.Session) []dave.Answer { return s.Prepare(41, 0, w.now) }, say: "23(41)", send: "sealed", plain: "plain", old: "sealed"},
		{what: "that nobody executes", after: dave.Keep, send: "sealed", plain: "nothing", old: "sealed"},
		{what: "another downgrade", do: func(s *dave.Session) []dave.Answer { return s.Prepare(42, 0, w.now) }, say: "23(42)", send: "sealed", plain: "plain", old: "sealed"},
		{what: "it is executed", do: func(s *dave.Session) []dave.Answer { return s.Execute(42, w.now) }, send: "plain", plain: "plain", old: "sealed"},
		{what: "and the one before comes late", do: func(s *dave.Session) []dave.Answer { return s.Execute(41, w.now) }, send: "plain", plain: "plain", old: "sealed"},
		{what: "a while later", after: 9 * time.Second, send: "plain", plain: "plain", old: "sealed"},
		{what: "the keys are forgotten", after: time.Second, send: "plain", plain: "plain", old: "nothing"},
		{what: "an upgrade", do: func(s *dave.Session) []dave.Answer { return s.Epoch(1, 1, w.now) }, say: "26", send: "plain", plain: "plain", old: "nothing"},
		{what: "which is announced before its commit", do: func(s *dave.Session) []dave.Answer { return s.Prepare(44, 1, w.now) }, send: "plain", plain: "plain", old: "nothing"},
		{what: "before there are keys", do: func(s *dave.Session) []dave.Answer { return s.Prepare(43, 2, w.now) }, send: "plain", plain: "plain", old: "nothing"},
		{what: "and executed without one", do: func(s *dave.Session) []dave.Answer { return s.Execute(44, w.now) }, send: "silence", plain: "nothing", old: "nothing"},
		{what: "a version that nobody knows", do: func(s *dave.Session) []dave.Answer { return s.Execute(43, w.now) }, send: "silence", plain: "nothing", old: "nothing"},
		{what: "all begins anew", do: func(s *dave.Session) []dave.Answer { return s.Select(1, w.now) }, say: "26", send: "silence", plain: "nothing", old: "nothing"},
		{what: "all is over", do: func(s *dave.Session) []dave.Answer { s.Close(); return s.Select(0, w.now) }, send: "silence", plain: "nothing", old: "nothing"},
	} {
		w.now = w.now.Add(step.after)
		var say string
		if step.do != nil {
			say = ops(step.do(p.s))
		}
		send := "silence"
		if b, err := p.s.Seal(nil, opus); err == nil {
			send = "sealed"
			if bytes.Equal(b, opus) {
				send = "plain"
			}
		}
		got := []string{say, send, w.hear(q, p, opus), w.hear(q, p, old[i])}
		if want := []string{step.say, step.send, step.plain, step.old}; !slices.Equal(got, want) {
			t.Errorf("%d, %s: %q, want %q", i, step.what, got, want)
		}
		if got, err := p.s.Open(nil, 200, []byte("\xf8\xff\xfe"), w.now); err != nil || len(got) != 3 {
			t.Errorf("%d, %s: silence does not pass: %v", i, step.what, err)
		}
		if w.hear(q, p, []byte("what ends as \xfa\xfa")) != "nothing" {
			t.Errorf("%d, %s: what looks sealed reaches the decoder", i, step.what)
		}
	}
}

// TestBefore: nothing passes before op 4, nor after it while there is no epoch.
func TestBefore(t *testing.T) {
	s := dave.New(rand.Reader, 100, channel)
	now := time.Unix(1000, 0)
	for range 2 {
		if _, err := s.Seal(nil, opus); !errors.Is(err, dave.ErrNotReady) {
			t.Errorf("it seals: %v", err)
		}
		if _, err := s.Open(nil, 200, opus, now); !errors.Is(err, dave.ErrClosed) {
			t.Errorf("it opens: %v", err)
		}
		if st := s.State(); st.Ready || st.Code != "" {
			t.Errorf("it is %+v", st)
		}
		if answers, err := s.Binary(dave.OpProposals, proposals(0), now); err == nil || len(answers) > 0 {
			t.Errorf("it follows proposals: %q", ops(answers))
		}
		if say := ops(s.Select(1, now)); say != "26" {
			t.Errorf("it says %s", say)
		}
	}
}

// TestSwitch: the sender changes keys exactly when a transition is executed. The receiver has both
// keys for ten seconds.
func TestSwitch(t *testing.T) {
	w := together(t, 100, 200)
	p, q := w.peers[100], w.peers[200]
	old := must(p.s.Seal(nil, opus))
	tooOld := must(p.s.Seal(nil, opus))
	code := p.s.State().Code

	w.join(300, true)
	for len(w.turns) == 0 {
		w.deliverAll()
		for _, o := range w.others(0) {
			for len(o.out) > 0 {
				w.answer(o)
			}
		}
	}
	w.deliverAll() // all have the keys, and nobody was told to use them
	r := w.peers[300]
	if got := p.s.State(); got.Code != code {
		t.Errorf("it changed keys before it was told to")
	}
	if a, b := w.talk(p, q), w.talk(p, r); a != "sealed" || b != "nothing" {
		t.Errorf("before the transition %q and the new one hears %q", a, b)
	}
	w.settle()
	w.together()
	w.now = w.now.Add(dave.Keep - time.Millisecond)
	if got := w.hear(p, q, old); got != "sealed" {
		t.Errorf("a late frame: %q", got)
	}
	w.now = w.now.Add(time.Millisecond)
	if got := w.hear(p, q, tooOld); got != "nothing" {
		t.Errorf("a frame that is too late: %q", got)
	}
}

func (w *world) deliverAll() {
	for _, p := range w.others(0) {
		for len(p.in) > 0 {
			w.deliver(p)
		}
	}
}

// TestUnfollowable gives a member of a call commits and welcomes that it must not follow: it says
// so, is silent, and is added again.
func TestUnfollowable(t *testing.T) {
	other := func(w *world) []byte { // another external sender that wants to propose
		s := must(mls.NewSigner(rand.Reader))
		return mls.ExternalSender{SignatureKey: s.Public(), Identity: w.external.Identity}.Marshal()
	}
	for _, c := range []struct {
		name string
		op   byte
		body func(w *world) []byte
		say  string
	}{
		{"noise for a commit", dave.OpAnnounceCommit, func(w *world) []byte { return []byte("\x00\x07noise") }, "31(7) 26"},
		{"nothing for a commit", dave.OpAnnounceCommit, func(w *world) []byte { return []byte("\x00\x07") }, "31(7) 26"},
		{"a commit of what was not proposed to it", dave.OpAnnounceCommit, func(w *world) []byte {
			return slices.Concat([]byte("\x00\x07"), w.committed(200, 300))
		}, "31(7) 26"},
		{"half a commit", dave.OpAnnounceCommit, func(w *world) []byte {
			return slices.Concat([]byte("\x00\x07"), w.committed(200, 300)[:40])
		}, "31(7) 26"},
		{"a welcome that it does not need", dave.OpWelcome, func(w *world) []byte { return []byte("\x00\x08noise") }, "31(8) 26"},
		{"half a transition", dave.OpWelcome, func(w *world) []byte { return []byte("\x00") }, ""},
		{"an opcode for others", dave.OpKeyPackage, func(w *world) []byte { return []byte("\x00\x08noise") }, ""},
		{"another external sender", dave.OpExternalSender, other, ""},
		{"noise for an external sender", dave.OpExternalSender, func(*world) []byte { return []byte("noise") }, ""},
		{"proposals without an operation", dave.OpProposals, func(*world) []byte { return nil }, ""},
		{"noise for proposals", dave.OpProposals, func(*world) []byte { return proposals(0, []byte("noise")) }, ""},
		{"an unknown operation", dave.OpProposals, func(*world) []byte { return []byte{2, 0} }, ""},
		{"a list that does not end", dave.OpProposals, func(*world) []byte { return []byte{0, 0x7f, 0xff, 1} }, ""},
		{"half a reference", dave.OpProposals, func(*world) []byte { return proposals(1, make([]byte, 31)) }, ""},
		{"a message without bounds", dave.OpProposals, func(*world) []byte { return make([]byte, 2<<20) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := together(t, 100, 200)
			w.lenient = true
			p := w.peers[100]
			answers, err := p.s.Binary(c.op, c.body(w), w.now)
			if got := ops(answers); got != c.say || err == nil && c.op != dave.OpExternalSender {
				t.Fatalf("it says %q, want %q: %v", got, c.say, err)
			}
			if _, err := p.s.Seal(nil, opus); (err != nil) != (c.say != "") {
				t.Errorf("it seals: %v", err)
			}
			if c.say != "" {
				if st := p.s.State(); st.Ready || st.Resets != 1 || st.Version != 1 {
					t.Errorf("it is %+v", st)
				}
			}
			if c.op == dave.OpExternalSender {
				w.binary(p, dave.OpExternalSender, w.external.Marshal())
			}
			p.out = append(p.out, answers...)
			w.settle()
			w.together()
		})
	}
}

// committed returns a commit of one member that adds somebody, without sending it.
func (w *world) committed(by, user uint64) []byte {
	signer := must(mls.NewSigner(rand.Reader))
	k := must(mls.NewKeyPackage(rand.Reader, signer, binary.BigEndian.AppendUint64(nil, user)))
	message, _, err := mls.ProposeAdd(w.service, groupID(), w.epoch, k.Marshal())
	if err != nil {
		panic(err)
	}
	p := w.peers[by]
	p.s.Connected(user)
	answers := must(p.s.Binary(dave.OpProposals, proposals(0, message), w.now))
	_, rest, err := mls.Inspect(answers[0].Body)
	if err != nil {
		panic(err)
	}
	return answers[0].Body[:len(answers[0].Body)-len(rest)]
}

// TestWelcome gives a pending member welcomes into groups, all but the first of which it must not
// enter.
func TestWelcome(t *testing.T) {
	service, stranger := must(mls.NewSigner(rand.Reader)), must(mls.NewSigner(rand.Reader))
	right := mls.ExternalSender{SignatureKey: service.Public(), Identity: []byte("gateway")}
	for _, c := range []struct {
		name     string
		external mls.ExternalSender
		by       *mls.Signer
		channel  uint64
		others   []uint64
		say      string
	}{
		{"as it should be", right, service, channel, []uint64{200, 300}, "23(7)"},
		{"another external sender", mls.ExternalSender{SignatureKey: stranger.Public(), Identity: right.Identity}, stranger, channel, []uint64{200}, "31(7) 26"},
		{"another name of it", mls.ExternalSender{SignatureKey: service.Public(), Identity: []byte("Gateway")}, service, channel, []uint64{200}, "31(7) 26"},
		{"another call", right, service, channel + 1, []uint64{200}, "31(7) 26"},
		{"somebody twice", right, service, channel, []uint64{200, 300, 300}, "31(7) 26"},
		{"somebody who is no user", right, service, channel, []uint64{200, 0}, "31(7) 26"},
		{"ourselves twice", right, service, channel, []uint64{200, 100}, "31(7) 26"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Unix(1000, 0)
			s := dave.New(rand.Reader, 100, channel)
			pack := s.Select(1, now)[0].Body
			if _, err := s.Binary(dave.OpExternalSender, right.Marshal(), now); err != nil {
				t.Fatal(err)
			}
			id := binary.BigEndian.AppendUint64(nil, c.channel)
			make := func(user uint64) *mls.KeyPackage {
				identity := binary.BigEndian.AppendUint64(nil, user)
				if user == 0 {
					identity = []byte("nobody")
				}
				return must(mls.NewKeyPackage(rand.Reader, must(mls.NewSigner(rand.Reader)), identity))
			}
			g := must(mls.New(rand.Reader, make(c.others[0]), id, c.external))
			packs := [][]byte{pack}
			for _, u := range c.others[1:] {
				packs = append(packs, make(u).Marshal())
			}
			var list []*mls.Proposal
			for _, k := range packs {
				message, _, err := mls.ProposeAdd(c.by, id, 0, k)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, must(g.Proposal(message)))
			}
			_, welcome, next, err := g.Commit(rand.Reader, list)
			if err != nil {
				t.Fatal(err)
			}
			answers, err := s.Binary(dave.OpWelcome, append([]byte{0, 7}, welcome...), now)
			if got := ops(answers); got != c.say {
				t.Fatalf("it says %q, want %q: %v", got, c.say, err)
			}
			s.Execute(7, now)
			st := s.State()
			if good := c.say == "23(7)"; st.Ready != good || good && (len(st.Members) != len(next.Members()) || st.Epoch != 1 || len(st.Code) != 35) {
				t.Errorf("it is %+v", st)
			}
		})
	}
}

// TestProposals: who may be added, and which of several proposals are committed.
func TestProposals(t *testing.T) {
	w := together(t, 100, 200)
	p := w.peers[100]
	add := func(user uint64) (message, ref []byte) {
		k := must(mls.NewKeyPackage(rand.Reader, must(mls.NewSigner(rand.Reader)), binary.BigEndian.AppendUint64(nil, user)))
		message, ref, err := mls.ProposeAdd(w.service, groupID(), w.epoch, k.Marshal())
		if err != nil {
			t.Fatal(err)
		}
		return message, ref
	}
	forged := func() []byte {
		k := must(mls.NewKeyPackage(rand.Reader, must(mls.NewSigner(rand.Reader)), []byte("\x00\x00\x00\x00\x00\x00\x01\x2c")))
		message, _, err := mls.ProposeAdd(must(mls.NewSigner(rand.Reader)), groupID(), w.epoch, k.Marshal())
		if err != nil {
			t.Fatal(err)
		}
		return message
	}
	three, refThree := add(300)
	four, refFour := add(400)
	again, _ := add(400)
	self, _ := add(100)
	remove, _, err := mls.ProposeRemove(w.service, groupID(), w.epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	none, refNone := add(500)
	twice, refTwice := add(200)

	for i, step := range []struct {
		what    string
		before  func()
		body    []byte
		commits int // number of proposals in the commit; -1 if there is none
		fault   bool
	}{
		{what: "a member once more", body: proposals(0, twice), commits: -1, fault: true},
		{what: "which is revoked", body: proposals(1, append([]byte{32}, refTwice...)), commits: -1},
		{what: "not announced", body: proposals(0, three), commits: -1, fault: true},
		{what: "announced", before: func() { p.s.Connected(300) }, body: proposals(0, three), commits: 1},
		{what: "known already", body: proposals(0, three), commits: -1},
		{what: "gone", before: func() { p.s.Connected(400); p.s.Disconnected(400) }, body: proposals(0, four), commits: -1, fault: true},
		{what: "ourselves", before: func() { p.s.Connected(100) }, body: proposals(0, self), commits: -1, fault: true},
		{what: "back, and one goes", before: func() { p.s.Connected(400) }, body: proposals(0, four, remove), commits: 3},
		{what: "with another key package", body: proposals(0, again), commits: 3},
		{what: "one of three that is forged", body: proposals(0, forged(), forged()), commits: -1, fault: true},
		{what: "a revocation", body: proposals(1, append([]byte{32}, refThree...)), commits: 2},
		{what: "of what is not there", body: proposals(1, append([]byte{32}, refFour...)), commits: -1},
		{what: "a good one behind a bad one", before: func() { p.s.Connected(300) }, body: proposals(0, none, forged(), three), commits: 3, fault: true},
		{what: "references without their lengths", body: proposals(1, refThree, refNone), commits: 2},
		{what: "none", body: proposals(0), commits: -1},
	} {
		if step.before != nil {
			step.before()
		}
		answers, err := p.s.Binary(dave.OpProposals, step.body, w.now)
		got := -1
		if len(answers) > 0 {
			h, _, err := mls.Inspect(answers[0].Body)
			if err != nil {
				t.Fatal(err)
			}
			got = len(h.Refs)
		}
		if got != step.commits || (err != nil) != step.fault {
			t.Errorf("%d, %s: %d are committed, want %d: %v", i, step.what, got, step.commits, err)
		}
	}
}

// TestManyFaults: a list of thousands of faults is reported in a few words, whose length does not
// grow with it.
func TestManyFaults(t *testing.T) {
	w := together(t, 100, 200)
	removal, _, err := mls.ProposeRemove(w.service, []byte("another"), w.epoch, 1)
	if err != nil {
		t.Fatal(err)
	}
	list := slices.Repeat([][]byte{removal}, 4000)
	_, err = w.peers[100].s.Binary(dave.OpProposals, proposals(0, list...), w.now)
	if err == nil {
		t.Fatal("proposals for another group are taken")
	}
	if n := len(err.Error()); n > 1000 {
		t.Errorf("%d bytes are told of %d faults", n, len(list))
	}
}

// TestSameEpochAgain: a gateway may return to the epoch before a while without encryption, as long
// as its keys are kept. A member that has forgotten them does not say that it is ready, and stays
// silent; one that has them does not use a nonce twice.
func TestSameEpochAgain(t *testing.T) {
	for _, tt := range []struct {
		pause time.Duration
		say   string
		send  string
	}{
		{time.Second, "23(51)", "sealed"},
		{dave.Keep - time.Second, "23(51)", "sealed"}, // without the way back, its keys would be forgotten meanwhile
		{dave.Keep, "", "silence"},
		{10 * time.Minute, "", "silence"},
	} {
		w := together(t, 100, 200)
		p, q := w.peers[100], w.peers[200]
		before := must(p.s.Seal(nil, opus))
		both := func(want string, do func(*dave.Session) []dave.Answer) {
			t.Helper()
			for _, x := range []*peer{p, q} {
				if say := ops(do(x.s)); say != want {
					t.Errorf("after %v: it says %q, want %q", tt.pause, say, want)
				}
			}
		}
		both("23(50)", func(s *dave.Session) []dave.Answer { return s.Prepare(50, 0, w.now) })
		both("", func(s *dave.Session) []dave.Answer { return s.Execute(50, w.now) })
		w.now = w.now.Add(tt.pause)
		both(tt.say, func(s *dave.Session) []dave.Answer { return s.Prepare(51, 1, w.now) })
		w.now = w.now.Add(2 * time.Second)
		w.hear(q, p, opus)
		both("", func(s *dave.Session) []dave.Answer { return s.Execute(51, w.now) })
		if got := w.talk(p, q); got != tt.send {
			t.Errorf("after %v: %s, want %s", tt.pause, got, tt.send)
		}
		if got, err := p.s.Seal(nil, opus); err == nil && bytes.Equal(got, before) {
			t.Errorf("after %v a nonce is used twice", tt.pause)
		}
	}
}

// TestRevokedCommit: a commit of our own that includes a revoked proposal is not followed.
func TestRevokedCommit(t *testing.T) {
	w := together(t, 100, 200)
	w.lenient = true
	p := w.peers[100]
	commit := w.committed(100, 300)
	h, _, err := mls.Inspect(commit)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.s.Binary(dave.OpProposals, proposals(1, append([]byte{32}, h.Refs[0]...)), w.now); err != nil {
		t.Fatal(err)
	}
	answers, err := p.s.Binary(dave.OpAnnounceCommit, append([]byte{0, 9}, commit...), w.now)
	if got := ops(answers); got != "31(9) 26" || err == nil {
		t.Errorf("it says %q: %v", got, err)
	}
}

// TestOver: a commit for a past epoch that comes again changes nothing.
func TestOver(t *testing.T) {
	w := together(t, 100, 200)
	w.join(300, false)
	var again []byte
	for again == nil {
		for _, p := range w.others(0) {
			for len(p.in) > 0 {
				if p.in[0].op == dave.OpAnnounceCommit {
					again = p.in[0].body
				}
				w.deliver(p)
			}
			for len(p.out) > 0 {
				w.answer(p)
			}
		}
	}
	w.settle()
	for _, p := range w.others(300) {
		if answers, err := p.s.Binary(dave.OpAnnounceCommit, again, w.now); err == nil || len(answers) > 0 {
			t.Errorf("user %d says %q: %v", p.id, ops(answers), err)
		}
	}
	w.together()
}

// TestTransitionZero: a commit and a welcome of transition 0 are followed at once, and nobody says
// that they are ready.
func TestTransitionZero(t *testing.T) {
	w := newWorld(t, 1)
	p, q := w.join(100, false), w.join(200, true)
	w.deliverAll()
	w.answer(q)
	w.deliverAll()
	commit := p.out[len(p.out)-1]
	message := commit.Body
	_, welcome, err := mls.Inspect(message)
	if err != nil {
		t.Fatal(err)
	}
	message = message[:len(message)-len(welcome)]
	for _, m := range []struct {
		to   *peer
		op   byte
		body []byte
	}{{p, dave.OpAnnounceCommit, message}, {q, dave.OpWelcome, welcome}} {
		answers, err := m.to.s.Binary(m.op, append([]byte{0, 0}, m.body...), w.now)
		if err != nil || len(answers) > 0 {
			t.Errorf("user %d says %q: %v", m.to.id, ops(answers), err)
		}
	}
	w.together()
}

// TestSoleMember: a member who remains alone has at once a group of its own, which nobody else can
// hear, and is in a new one when somebody comes.
func TestSoleMember(t *testing.T) {
	w := together(t, 100, 200, 300)
	p := w.peers[100]
	code := p.s.State().Code
	w.leave(200)
	w.settle()
	w.leave(300)
	w.settle()
	st := p.s.State()
	if !st.Ready || st.Epoch != 0 || !slices.Equal(st.Members, []uint64{100}) || st.Code == code || st.Version != 1 {
		t.Fatalf("alone it is %+v", st)
	}
	w.check()
	w.join(200, true)
	w.settle()
	w.together()
	if st := p.s.State(); st.Epoch != 1 || len(st.Members) != 2 {
		t.Errorf("then it is %+v", st)
	}
}

// TestRemoved: a member who is removed without having left is silent, and asks to come back.
func TestRemoved(t *testing.T) {
	w := together(t, 100, 200, 300)
	p := w.peers[300]
	w.expel(300, slices.Index(w.leaves, 300))
	for _, o := range w.others(300) {
		w.deliver(o)
	}
	w.deliver(p)
	if len(p.out) > 0 {
		t.Fatalf("it commits its own removal: %s", ops(p.out))
	}
	w.answer(w.peers[100])
	p.member = false
	w.deliver(p)
	if got := ops(p.out); got != "26" {
		t.Fatalf("removed it says %q", got)
	}
	if _, err := p.s.Seal(nil, opus); !errors.Is(err, dave.ErrNotReady) {
		t.Errorf("it seals: %v", err)
	}
	if st := p.s.State(); st.Resets != 0 {
		t.Errorf("it is %+v", st)
	}
	w.execute(true)
	w.settle()
	w.together()
}

// TestWhose: if nobody knows who sent a frame, the frame itself tells, once.
func TestWhose(t *testing.T) {
	w := together(t, 100, 200, 300)
	sealed := must(w.peers[200].s.Seal(nil, opus))
	s := w.peers[100].s
	if _, _, ok := s.Whose(nil, []uint64{100, 300, 400}, sealed, w.now); ok {
		t.Error("it is somebody else's")
	}
	user, got, ok := s.Whose([]byte("x"), []uint64{300, 200}, sealed, w.now)
	if !ok || user != 200 || string(got) != "x"+string(opus) {
		t.Errorf("it is of %d, %v: %q", user, ok, got)
	}
	if _, _, ok := s.Whose(nil, []uint64{300, 200}, sealed, w.now); ok {
		t.Error("it is opened twice")
	}
	for _, b := range []string{"", "\xf8\xff\xfe", string(opus)} {
		if _, _, ok := s.Whose(nil, []uint64{200}, []byte(b), w.now); ok {
			t.Errorf("%q has a sender", b)
		}
	}
}

// TestProof: two members see the same fingerprint, and all see the same code.
func TestProof(t *testing.T) {
	w := together(t, 100, 200, 300)
	a, err := w.peers[100].s.Fingerprint(200)
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.peers[200].s.Fingerprint(100)
	if err != nil || a != b || len(a) != 53 {
		t.Errorf("%q and %q: %v", a, b, err)
	}
	for _, user := range []uint64{100, 400} {
		if _, err := w.peers[100].s.Fingerprint(user); !errors.Is(err, dave.ErrNotReady) {
			t.Errorf("the fingerprint of %d: %v", user, err)
		}
	}
}

// TestHalfAnHour: people come and go for half an hour, with a frame every 20 ms, and no frame is
// lost between two who stay.
func TestHalfAnHour(t *testing.T) {
	w := together(t, 100, 200)
	p, q := w.peers[100], w.peers[200]
	epochs := 0
	for i := range 30 * 60 * 50 {
		w.now = w.now.Add(20 * time.Millisecond)
		switch i % 1000 {
		case 0:
			w.join(300, i%2000 == 0)
		case 500:
			w.leave(300)
			w.gone = nil
		}
		for _, o := range w.others(0) { // one message for each frame
			if len(o.in) > 0 {
				w.deliver(o)
			}
			if len(o.out) > 0 {
				w.answer(o)
			}
		}
		if got := w.talk(p, q); got != "sealed" {
			t.Fatalf("frame %d: %q hears %q", i, q.s.State().Code, got)
		}
		epochs = int(p.s.State().Epoch)
	}
	w.settle()
	w.together()
	if epochs < 170 {
		t.Errorf("only %d epochs", epochs)
	}
}

// TestAtOnce uses a session from several goroutines, for the race detector.
func TestAtOnce(t *testing.T) {
	w := together(t, 100, 200)
	p, q := w.peers[100], w.peers[200]
	now := w.now
	var group sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if sealed, err := p.s.Seal(nil, opus); err == nil {
					q.s.Open(nil, 100, sealed, now)
					q.s.Whose(nil, []uint64{100}, sealed, now)
				}
				p.s.State()
			}
		})
	}
	for id := range uint64(5) {
		w.join(300+id, true)
		w.settle()
	}
	p.s.Close()
	close(done)
	testkit.Finish(t, testkit.Patience, "all who use the session", group.Wait)
}

// FuzzBinary gives a member of a call any message: it may refuse it, and never sends anything
// unencrypted.
func FuzzBinary(f *testing.F) {
	type message struct {
		op   byte
		body []byte
	}
	w := newWorld(f, 1)
	w.join(100, false)
	w.join(200, false)
	var seen []message
	for range 50 {
		for _, p := range w.others(0) {
			for len(p.in) > 0 {
				if m := p.in[0]; m.call == nil {
					seen = append(seen, message{m.op, m.body})
				}
				w.deliver(p)
			}
			for len(p.out) > 0 {
				w.answer(p)
			}
		}
	}
	for _, m := range seen {
		f.Add(m.op, m.body)
	}
	f.Add(byte(dave.OpProposals), proposals(1, make([]byte, 64)))
	f.Fuzz(func(t *testing.T, op byte, body []byte) {
		s := dave.New(rand.Reader, 100, channel)
		now := time.Unix(1000, 0)
		s.Connected(200)
		s.Select(1, now)
		if _, err := s.Binary(dave.OpExternalSender, w.external.Marshal(), now); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s.Binary(op, body, now)
		}
		for id := range uint16(3) {
			s.Execute(id, now)
		}
		if sealed, err := s.Seal(nil, opus); err == nil && bytes.Contains(sealed, opus) {
			t.Fatal("it sends plain")
		}
	})
}
