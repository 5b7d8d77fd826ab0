package voice

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

var errUnbuilt = errors.New("not built yet")

// A Packet is 20 ms of what one speaker said.
type Packet struct {
	User uint64    // 0 as long as nobody knows whose it is
	SSRC uint32    // the stream it came by
	At   time.Time // when it was due to be heard: 20 ms after the one before
	Lost int       // how many before it are missing and get silence instead
	Opus []byte    // valid until the batch is taken; empty if it is only lost ones
	Ends bool      // the speaker has stopped: nothing follows for a while
}

// A Place is a channel of a guild and who we are there, in Discord's numbers.
type Place struct{ Guild, Channel, Self uint64 }

// A Line is what a call needs of the main gateway.
type Line interface {
	// Move asks to be in a channel, or in none if it is 0.
	Move(ctx context.Context, guild, channel uint64, mute, deaf bool) error
}

// Config is what a call is made of.
type Config struct {
	Place Place
	Line  Line

	// Heard takes a batch every 20 ms in which somebody speaks. It must not wait.
	Heard func(batch []Packet)

	// Changed is told of each change of the status. It must not wait. It may be nil.
	Changed func(Status)

	// HTTP opens websockets; nil is http.DefaultClient. Tests have certificates of
	// their own.
	HTTP *http.Client

	Log *slog.Logger
}

// A Call is the agent in one voice channel.
type Call struct{ _ int }

// New returns a call that does nothing until it runs.
func New(cfg Config) *Call { return nil }

// Run joins and stays until ctx ends, which leaves the channel; or until it ends
// otherwise, with an [*Ended]. It returns only after all its goroutines have.
func (c *Call) Run(ctx context.Context) error { return errUnbuilt }

// State takes our own VOICE_STATE_UPDATE: in which channel we are, 0 for none, and
// the session's name. Server takes a VOICE_SERVER_UPDATE; an empty endpoint means
// that another will come. Neither waits.
func (c *Call) State(channel uint64, session string) {}
func (c *Call) Server(token, endpoint string)        {}

// Say hands over one Opus frame of 20 ms, and waits until there is room for it: at
// most 200 ms are ahead. Hush drops what has not left yet and returns how many frames
// that were; five frames of silence follow, as they do when Say is not called in
// time.
func (c *Call) Say(ctx context.Context, opus []byte) error { return errUnbuilt }
func (c *Call) Hush() (dropped int)                        { return 0 }

// Sent returns how many frames have left, or would have if they had been allowed to:
// the position of what is being heard.
func (c *Call) Sent() int64 { return 0 }

// A Status is what a person may want to know of a call.
type Status struct {
	Phase     string // "joining", "connecting", "securing", "in the call", "lost: …"
	Channel   uint64
	Encrypted bool
	Code      string // the voice privacy code
	People    []uint64
	Deaf      string // why nothing can be heard though somebody speaks; "" if it can

	Packets, Decrypted, Delivered int64         // received, of those opened, of those handed over
	Lost, Late, Refused           int64         // not come, come too late, not to be opened
	SentFrames, HeldFrames        int64         // and those that were not allowed to leave
	Delay                         time.Duration // that the jitter buffer adds, at the median
	RoundTrip                     time.Duration // of a heartbeat
	Resumed, Rejoined             int
}

// Status returns it.
func (c *Call) Status() Status { return Status{} }

// An Ended call has come to an end that trying again does not mend.
type Ended struct {
	Code int    // of the websocket, or 0
	Why  string // for a person, with the cure
}

func (e *Ended) Error() string { return e.Why }
