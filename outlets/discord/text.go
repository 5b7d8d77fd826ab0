package discord

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"

	"earshot"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
)

// TextName is the name of the outlet of a channel, which is the Via of what is written there.
const TextName = "discord"

// REST is Discord's REST interface. [gateway.Session] is one.
type REST interface {
	Do(ctx context.Context, r gateway.Request) error
}

// TextConfig configures the outlet of a channel. Its functions may be called from any goroutine,
// and must not block.
type TextConfig struct {
	Channel uint64
	REST    REST

	// Dropped, if set, receives the number of lines that were not shown because Discord was slow.
	// It returns at once.
	Dropped func(n int)

	// Self is the name of the agent that owns the bot. A reply of another agent begins with its
	// name. If empty, no reply begins with a name.
	Self string

	// Beside says that the channel is the chat of a call: replies to what was said aloud do not
	// come out there.
	Beside bool

	// Names returns who and what may be mentioned there, in a reply to somebody. If nil, nobody
	// may.
	Names func(to earshot.ParticipantID) compose.Names

	// Calls reports whether a reply pings the author of the message it answers. If nil, none does.
	Calls func(o earshot.Opening) bool

	// Called returns the name of a participant. If nil, their ID is used.
	Called func(earshot.ParticipantID) string

	// Posted is called with each message and the turn of its reply, as soon as the message exists.
	// It may be nil.
	Posted func(turn earshot.TurnID, message uint64)

	// Refused is called with the reason why a reply was not posted to its end, unless it was cut;
	// such an error may have a cure. It may be nil.
	Refused func(error)
}

// ErrClosed is the error of a speech in a channel whose outlet does not run.
var ErrClosed = errors.New("the channel is closed")

// A Text is the outlet and the board of a text channel, a thread or a direct message. Its methods
// may be called from any goroutine.
type Text struct {
	cfg      TextConfig
	path     string         // of the channel's messages
	speeches sync.WaitGroup // their goroutines

	opening sync.Mutex // held while one speech replaces another
	mu      sync.Mutex
	last    *textSpeech
	running bool
	board   lineQueue
}

// NewText returns the outlet of a channel. It can be opened while it runs.
func NewText(cfg TextConfig) *Text {
	if cfg.Names == nil {
		cfg.Names = func(earshot.ParticipantID) compose.Names { return compose.Names{} }
	}
	if cfg.Calls == nil {
		cfg.Calls = func(earshot.Opening) bool { return false }
	}
	if cfg.Called == nil {
		cfg.Called = func(id earshot.ParticipantID) string { return string(id) }
	}
	if cfg.Posted == nil {
		cfg.Posted = func(earshot.TurnID, uint64) {}
	}
	if cfg.Refused == nil {
		cfg.Refused = func(error) {}
	}
	return &Text{cfg: cfg, path: "channels/" + strconv.FormatUint(cfg.Channel, 10), board: lineQueue{more: make(chan struct{}, 1)}}
}

// Run keeps the outlet in the room until ctx ends, and posts the daemon's own messages there. When
// it returns, every speech has ended. It never fails: if Discord refuses something, the speech
// ends.
func (t *Text) Run(ctx context.Context, enter func(earshot.Outlet) (leave func())) error {
	t.run(true)
	leave := enter(t)
	t.tend(ctx)
	leave()
	if last := t.run(false); last != nil {
		last.Do(earshot.Cut)
	}
	t.speeches.Wait()
	return nil
}

// run sets whether the outlet runs, and returns the last speech.
func (t *Text) run(now bool) (last *textSpeech) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = now
	return t.last
}

// Name implements [earshot.Outlet].
func (t *Text) Name() string { return TextName }

// Flows implements [earshot.Flowing].
func (t *Text) Flows() bool { return true }

// Written implements [earshot.Written].
func (t *Text) Written() bool { return t.cfg.Beside }

// Open implements [earshot.Outlet]. It cuts a speech that is still going on, and waits for its
// end.
func (t *Text) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	t.opening.Lock()
	defer t.opening.Unlock()
	if err := t.hush(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.running {
		return nil, ErrClosed
	}
	posting, cut := context.WithCancel(ctx)
	w := newTextSpeech(t, o, heard, cut)
	t.last = w
	t.speeches.Go(func() { w.run(ctx, posting) })
	return w, nil
}

// hush ends the last speech.
func (t *Text) hush(ctx context.Context) error {
	t.mu.Lock()
	last := t.last
	t.mu.Unlock()
	if last == nil {
		return nil
	}
	last.Do(earshot.Cut)
	select {
	case <-last.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A message is the JSON of a message to post.
type message struct {
	Content   string     `json:"content"`
	Allowed   allowed    `json:"allowed_mentions"`
	Reference *reference `json:"message_reference,omitempty"`
	Nonce     string     `json:"nonce,omitempty"`
	Enforce   bool       `json:"enforce_nonce,omitempty"`
}

// allowed says whom a message notifies: only these users and, if replied is set, the author of the
// message that it refers to. Discord's default is everybody.
type allowed struct {
	Parse   []string `json:"parse"` // empty, but not left out
	Users   []string `json:"users"`
	Replied bool     `json:"replied_user"`
}

// reference names the message that is answered.
type reference struct {
	Message string `json:"message_id"`
	Fail    bool   `json:"fail_if_not_exists"` // false: it may have been deleted meanwhile
}

// tells returns an allowed with these users alone.
func tells(users []uint64) allowed {
	a := allowed{Parse: []string{}, Users: []string{}}
	for _, id := range users {
		a.Users = append(a.Users, strconv.FormatUint(id, 10))
	}
	return a
}

// post posts m and returns the message's number.
func (t *Text) post(ctx context.Context, m message) (id uint64, err error) {
	var got struct{ ID string }
	err = t.cfg.REST.Do(ctx, gateway.Request{
		Method: http.MethodPost, Path: t.path + "/messages", Body: m, Into: &got, Again: m.Enforce, Grace: grace,
	})
	if err != nil {
		return 0, err
	}
	id = gateway.Number(got.ID)
	return id, nil
}

// take deletes a message, even if ctx has ended.
func (t *Text) take(ctx context.Context, message uint64) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer done()
	_ = t.cfg.REST.Do(ctx, gateway.Request{Method: http.MethodDelete, Path: t.path + "/messages/" + strconv.FormatUint(message, 10)})
}

// head is what a reply of an agent begins with.
func (t *Text) head(agent string) string {
	if agent == cmp.Or(t.cfg.Self, agent) {
		return ""
	}
	return "-# " + compose.Escape(brief(agent, 80)) + "\n"
}
