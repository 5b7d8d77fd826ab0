package dave

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"earshot/internal/discord/mls"
)

// Version is the highest supported version of the protocol.
const Version = 1

// The opcodes of the voice gateway that concern encryption. Those up to 24, and 31, are JSON; the
// others are binary.
const (
	OpReady          = 4  // select_protocol_ack: its dave_protocol_version
	OpConnect        = 11 // clients_connect
	OpDisconnect     = 13 // client_disconnect
	OpPrepare        = 21 // dave_protocol_prepare_transition
	OpExecute        = 22 // dave_protocol_execute_transition
	OpReadyFor       = 23 // dave_protocol_ready_for_transition, ours
	OpEpoch          = 24 // dave_protocol_prepare_epoch
	OpExternalSender = 25
	OpKeyPackage     = 26 // ours
	OpProposals      = 27
	OpCommitWelcome  = 28 // ours
	OpAnnounceCommit = 29
	OpWelcome        = 30
	OpInvalid        = 31 // dave_mls_invalid_commit_welcome, ours
)

// An Answer is what a session sends to the gateway: for OpKeyPackage and OpCommitWelcome the body
// of a binary message, else the transition.
type Answer struct {
	Op         byte
	Body       []byte
	Transition uint16
}

// Keep is how long keys of an ended epoch still open frames that were on their way.
const Keep = 10 * time.Second

var (
	// ErrNotReady says that encryption is required and no keys are agreed upon.
	ErrNotReady = errors.New("dave: encryption is required and not ready")

	// ErrClosed says that a frame could not be opened. It must not reach a decoder.
	ErrClosed = errors.New("dave: the frame cannot be decrypted")
)

// A Session is one member's part in the encryption of one call. Its methods may be called from any
// goroutine. Frames do not wait for the handling of gateway messages.
type Session struct {
	self, channel uint64
	rand          io.Reader
	frames        frameCrypto

	mu          sync.Mutex
	fault       error // of the source of randomness: without it nothing works
	closed      bool
	signer      *mls.Signer
	external    *mls.ExternalSender // from op 25
	users       map[uint64]bool     // who may be added
	pack        *mls.KeyPackage     // published, and not used in a welcome yet
	group       *mls.Group          // the newest; at epoch 0 it has only us
	newest      *epoch              // its keys, once somebody may use them
	proposals   []*mls.Proposal     // for group
	commits     []commit            // ours for these proposals, each of which may win
	transitions transitions
	resets      int
}

// Bounds of what a gateway can make a session store in one epoch.
const (
	maxMessage   = 1 << 20
	maxProposals = 1 << 10
	maxCommits   = 64
	maxUsers     = 1 << 14 // a stage may have ten thousand listeners
)

// New returns a session of a user in a voice channel, both by Discord's numbers. Its signature key
// is new, and stays the same during the session.
func New(rand io.Reader, self, channel uint64) *Session {
	s := &Session{self: self, channel: channel, rand: rand, users: make(map[uint64]bool)}
	s.signer, s.fault = mls.NewSigner(rand)
	return s
}

// Select handles the version in op 4: 0 is no encryption. It starts anew, except for the list of
// connected users.
func (s *Session) Select(version uint16, now time.Time) []Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.forget()
	s.transitions = nil
	s.frames.execute(version, nil, nil, now)
	return s.begin(version)
}

// Connected and Disconnected handle ops 11 and 13. Only connected users may be added.
func (s *Session) Connected(users ...uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range users {
		if len(s.users) < maxUsers {
			s.users[u] = true
		}
	}
}

func (s *Session) Disconnected(user uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.users, user)
}

// Prepare, Execute and Epoch handle ops 21, 22 and 24.
func (s *Session) Prepare(id, version uint16, now time.Time) []Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	var e *epoch
	if spoken(version) && (id == 0 || s.established()) { // a pending member needs a group only when it is alone
		e = s.keys(now)
	}
	t := s.transitions.prepare(id, version, e)
	if id == 0 {
		s.execute(0, now)
		return nil
	}
	switch {
	case version == 0:
		s.frames.leave(now)
	case t.epoch == nil:
		return nil // its commit or welcome is still to come
	}
	return t.ready()
}

func (s *Session) Execute(id uint16, now time.Time) []Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.execute(id, now)
	}
	return nil
}

func (s *Session) Epoch(number uint64, version uint16, now time.Time) []Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || number != 1 {
		return nil // the group stays; a transition says which version it is for
	}
	// The current and announced keys are used until the new group exists.
	s.forget()
	return s.begin(version)
}

// Binary handles a binary message of the gateway: its opcode and the rest. An error is for the
// log: the reaction to it is among the answers.
func (s *Session) Binary(op byte, body []byte, now time.Time) ([]Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrNotReady
	case s.fault != nil:
		return nil, fmt.Errorf("dave: %w", s.fault)
	case len(body) > maxMessage:
		return nil, fmt.Errorf("dave: a message of %d bytes", len(body))
	}
	switch op {
	case OpExternalSender:
		return nil, s.meet(body)
	case OpProposals:
		return s.propose(body)
	case OpAnnounceCommit, OpWelcome:
		if len(body) < 2 {
			return nil, errors.New("dave: a transition without a number")
		}
		id, message := binary.BigEndian.Uint16(body), body[2:]
		if op == OpWelcome {
			return s.welcome(id, message, now)
		}
		return s.announce(id, message, now)
	}
	return nil, fmt.Errorf("dave: opcode %d is not known", op)
}

// Seal appends a sealed Opus frame to dst, or the frame itself where the call is not
// encrypted. They must not overlap.
func (s *Session) Seal(dst, opus []byte) ([]byte, error) { return s.frames.seal(dst, opus) }

// Open appends to dst the Opus frame that a user has sealed.
func (s *Session) Open(dst []byte, user uint64, frame []byte, now time.Time) ([]byte, error) {
	return s.frames.open(dst, user, frame, now)
}

// Whose tries the keys of some users on a frame from an unknown sender. Only the sender's key
// opens it; but a member who lies can have sealed it with the key of another, since each can
// derive all of them.
func (s *Session) Whose(dst []byte, users []uint64, frame []byte, now time.Time) (user uint64, opus []byte, ok bool) {
	return s.frames.whose(dst, users, frame, now)
}

// A State is what a status shows about a session.
type State struct {
	Version uint16 // 0: the call is not encrypted
	Ready   bool   // frames can be sealed, or need not be
	Epoch   uint64
	Members []uint64
	Code    string // the voice privacy code: six groups of five digits; "" before the first epoch
	Resets  int    // after a commit or welcome that could not be followed
}

// State returns the state of the session.
func (s *Session) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := State{Resets: s.resets}
	p := &s.frames
	p.mu.Lock()
	defer p.mu.Unlock()
	st.Version, st.Ready = p.version, p.plain
	if e := p.live; e != nil {
		st.Ready, st.Epoch, st.Members, st.Code = true, e.number, slices.Clone(e.members), e.code
	}
	return st
}

// Fingerprint returns the code by which two users prove to each other whose keys they have: nine
// groups of five digits. It takes 50 ms. For a user who is not in the executed epoch, the error is
// [ErrNotReady].
func (s *Session) Fingerprint(user uint64) (string, error) {
	s.frames.mu.Lock()
	var own, other []byte
	if e := s.frames.live; e != nil {
		own, other = e.keys[s.self], e.keys[user]
	}
	s.frames.mu.Unlock()
	if own == nil || other == nil || user == s.self {
		return "", ErrNotReady
	}
	return fingerprint(s.self, own, user, other)
}

// Close forgets all keys. Nothing is sealed or opened after it.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	s.transitions = nil
	s.closed = true
	s.frames.close()
}

// spoken reports whether version is a supported kind of encryption.
func spoken(version uint16) bool { return version >= 1 && version <= Version }

// forget leaves the group, and discards its state. Its epochs stay.
func (s *Session) forget() {
	if s.pack != nil {
		s.pack.Clear()
		s.pack = nil
	}
	s.advance(nil)
}

// advance makes next the current group, without proposals.
func (s *Session) advance(next *mls.Group) {
	for _, c := range s.commits {
		if c.next != next {
			c.next.Clear()
		}
	}
	if s.group != nil {
		s.group.Clear()
	}
	s.group, s.newest, s.proposals, s.commits = next, nil, nil, nil
}

// begin makes us a pending member, if the call is encrypted: one that has published a key package,
// and has a group of its own ("Initial Group Creation").
func (s *Session) begin(version uint16) []Answer {
	if !spoken(version) || s.fault != nil {
		return nil
	}
	s.pack, s.fault = mls.NewKeyPackage(s.rand, s.signer, binary.BigEndian.AppendUint64(nil, s.self))
	if s.fault != nil {
		s.pack = nil
		return nil
	}
	s.fault = s.found()
	return []Answer{{Op: OpKeyPackage, Body: s.pack.Marshal()}}
}

// found creates the group of a pending member as soon as it knows the external sender.
func (s *Session) found() error {
	if s.pack == nil || s.external == nil {
		return nil
	}
	g, err := mls.New(s.rand, s.pack, binary.BigEndian.AppendUint64(nil, s.channel), *s.external)
	if err != nil {
		return fmt.Errorf("creating a group: %w", err)
	}
	s.advance(g)
	return nil
}

// established reports whether others are, or were, in the group.
func (s *Session) established() bool { return s.group != nil && s.group.Epoch() > 0 }

// meet handles op 25. It may come before op 4, and again at any time. An established group keeps
// its external sender.
func (s *Session) meet(body []byte) error {
	e, err := mls.ParseExternalSender(body)
	if err != nil {
		return fmt.Errorf("reading the external sender: %w", err)
	}
	if s.external != nil && s.external.Equal(e) {
		return nil
	}
	s.external = &e
	if s.established() {
		return nil
	}
	return s.found()
}

// announce handles op 29: the commit that everybody follows.
func (s *Session) announce(id uint16, message []byte, now time.Time) ([]Answer, error) {
	if i := slices.IndexFunc(s.commits, func(c commit) bool { return bytes.Equal(c.message, message) }); i >= 0 {
		return s.follow(id, s.commits[i].next, now)
	}
	// A pending member follows only its own commit. Others are for members of the group, and a
	// welcome will come.
	if !s.established() {
		return nil, errors.New("dave: a commit for a group that we are not in")
	}
	h, _, err := mls.Inspect(message)
	if err == nil && h.Epoch < s.group.Epoch() && bytes.Equal(h.Group, s.group.ID()) {
		return nil, errors.New("dave: a commit for an epoch that is over")
	}
	next, err := s.group.Apply(message, s.proposals)
	if errors.Is(err, mls.ErrRemoved) {
		return s.leave(now), nil
	}
	if err != nil {
		return s.invalid(id, now), fmt.Errorf("following a commit: %w", err)
	}
	return s.follow(id, next, now)
}

// welcome handles op 30.
func (s *Session) welcome(id uint16, message []byte, now time.Time) ([]Answer, error) {
	if s.pack == nil {
		return s.invalid(id, now), errors.New("dave: a welcome for nobody")
	}
	next, err := mls.Join(message, s.pack)
	if err == nil {
		err = s.expected(next)
	}
	if err != nil {
		if next != nil {
			next.Clear()
		}
		return s.invalid(id, now), fmt.Errorf("following a welcome: %w", err)
	}
	return s.follow(id, next, now)
}

// expected checks a group that a welcome leads to ("Invalid Groups"). Its members need not be
// connected: some may have left since.
func (s *Session) expected(g *mls.Group) error {
	senders := g.ExternalSenders()
	switch {
	case !bytes.Equal(g.ID(), binary.BigEndian.AppendUint64(nil, s.channel)):
		return errors.New("dave: a group of another call")
	case s.external == nil || len(senders) != 1 || !senders[0].Equal(*s.external):
		return errors.New("dave: a group with another external sender")
	case g.Epoch() == 0:
		return errors.New("dave: a group that nobody has committed to")
	}
	user, err := userOf(g.Own().Identity)
	if err == nil && user != s.self {
		err = errors.New("dave: we have another identity in the group")
	}
	return err
}

// follow makes next the current group, and prepares the transition to its keys.
func (s *Session) follow(id uint16, next *mls.Group, now time.Time) ([]Answer, error) {
	e, err := newEpoch(next, s.self, now)
	if err != nil {
		next.Clear()
		return s.invalid(id, now), fmt.Errorf("following to an epoch: %w", err)
	}
	if s.pack != nil {
		s.pack.Clear()
		s.pack = nil
	}
	s.advance(next)
	s.newest = e
	s.frames.add(e, now)
	t := s.transitions.lead(id, e)
	if id == 0 {
		s.execute(0, now)
		return nil, nil
	}
	return t.ready(), nil
}

// keys returns the keys of the current group, nil if there is none, or if they have been forgotten
// since: they are never derived twice, or nonces would be used twice.
func (s *Session) keys(now time.Time) *epoch {
	if s.newest != nil && !s.frames.keep(s.newest, now) {
		return nil
	}
	if s.newest == nil && s.group != nil {
		e, err := newEpoch(s.group, s.self, now)
		if err != nil {
			return nil
		}
		s.newest = e
		s.frames.add(e, now)
	}
	return s.newest
}

// execute executes a transition, and drops those that it overtakes. An unknown one is over
// already.
func (s *Session) execute(id uint16, now time.Time) {
	if t, ok := s.transitions.execute(id); ok {
		s.frames.execute(t.version, t.epoch, s.transitions.epochs(), now)
	}
}

// invalid answers a commit or a welcome that cannot be followed ("Recovery from Invalid Commit or
// Welcome"). The others go on to an epoch that we do not know, so nothing is sent until there is a
// known one.
func (s *Session) invalid(id uint16, now time.Time) []Answer {
	s.resets++
	return append([]Answer{{Op: OpInvalid, Transition: id}}, s.leave(now)...)
}

// leave makes us a pending member without a group.
func (s *Session) leave(now time.Time) []Answer {
	s.forget()
	s.transitions = nil
	s.frames.execute(Version, nil, nil, now)
	return s.begin(Version)
}
