package dave

import (
	"errors"
	"io"
	"time"
)

// Version is the highest version of the protocol that is spoken here.
const Version = 1

// The opcodes of the voice gateway that concern encryption. Those to 24, and 31, are
// JSON; the others are binary.
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

// An Answer is what a session wants said to the gateway: for OpKeyPackage and
// OpCommitWelcome the body of a binary message, else the transition.
type Answer struct {
	Op         byte
	Body       []byte
	Transition uint16
}

// Keep is how long keys of an epoch that is over still open frames that were on
// their way.
const Keep = 10 * time.Second

var (
	// ErrNotReady is that encryption is due and nobody has agreed upon keys.
	ErrNotReady = errors.New("dave: encryption is due and not ready")

	// ErrClosed is that a frame could not be opened. It must not reach a decoder.
	ErrClosed = errors.New("dave: frame cannot be opened")
)

// A Session is one member's part in the encryption of one call. Its methods may be
// called from any goroutine.
type Session struct{ _ int }

// New returns a session of a user in a voice channel, both Discord's numbers.
func New(rand io.Reader, self, channel uint64) *Session { return nil }

// Select takes the version of op 4: 0 is no encryption.
func (s *Session) Select(version uint16, now time.Time) []Answer { return nil }

// Connected and Disconnected take ops 11 and 13. Nobody else may be added.
func (s *Session) Connected(users ...uint64) {}
func (s *Session) Disconnected(user uint64)  {}

// Prepare, Execute and Epoch take ops 21, 22 and 24.
func (s *Session) Prepare(transition, version uint16, now time.Time) []Answer { return nil }
func (s *Session) Execute(transition uint16, now time.Time) []Answer          { return nil }
func (s *Session) Epoch(epoch uint64, version uint16, now time.Time) []Answer { return nil }

// Binary takes a binary message of the gateway: its opcode and what follows it. An
// error is for the log: what is to be done about it is among the answers.
func (s *Session) Binary(op byte, body []byte, now time.Time) ([]Answer, error) { return nil, nil }

// Seal appends a sealed Opus frame to dst, or the frame itself where the call is not
// encrypted.
func (s *Session) Seal(dst, opus []byte) ([]byte, error) { return nil, ErrNotReady }

// Open appends to dst the Opus frame that a user has sealed.
func (s *Session) Open(dst []byte, user uint64, frame []byte, now time.Time) ([]byte, error) {
	return nil, ErrClosed
}

// Whose tries the key of each of users on a frame of which it is not known who sent
// it. Only the key of who did opens it.
func (s *Session) Whose(dst []byte, users []uint64, frame []byte, now time.Time) (user uint64, opus []byte, ok bool) {
	return 0, nil, false
}

// A State is what a status shows of a session.
type State struct {
	Version     uint16 // 0: the call is not encrypted
	Ready       bool   // frames can be sealed
	Epoch       uint64
	Members     []uint64
	Code        string // the voice privacy code: six groups of five digits; "" before the first epoch
	Transitions int    // executed
	Resets      int    // after a commit or welcome that could not be followed
}

// State returns it.
func (s *Session) State() State { return State{} }

// Fingerprint returns the code by which two users prove to each other whose keys
// they have: nine groups of five digits. It takes 50 ms.
func (s *Session) Fingerprint(user uint64) (string, error) { return "", ErrNotReady }

// Close forgets all keys.
func (s *Session) Close() {}
