package discord

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"

	"earshot"
	"earshot/internal/discord"
	"earshot/internal/discord/compose"
)

// TextName is the name of the outlet of a channel, which is the Via of what is written
// there.
const TextName = "discord"

// REST is Discord's. [discord.Session] is one.
type REST interface {
	Do(ctx context.Context, r discord.Request) error
}

// TextConfig is what the outlet of a channel is made of. Its functions may be called
// from any goroutine, and must not block.
type TextConfig struct {
	Channel uint64
	REST    REST

	// Dropped, if set, is told how many lines were not shown, since Discord was slow. It
	// returns at once.
	Dropped func(n int)

	// Self is the name of the agent whose bot it is. What another one says begins with
	// its name. Empty means that nothing does.
	Self string

	// Beside says that it is the chat of a call: what answers something that was said
	// aloud does not come out of it.
	Beside bool

	// Names returns who and what may be mentioned there, in what is said to somebody. If
	// nil, that is nobody.
	Names func(to earshot.ParticipantID) compose.Names

	// Calls reports whether a reply pings the author of the message that it answers. If
	// nil, none does.
	Calls func(o earshot.Opening) bool

	// Called returns what people call a participant. If nil, their ID is used.
	Called func(earshot.ParticipantID) string

	// Posted is told which message is a part of which turn's reply, as soon as it is
	// there. It may be nil.
	Posted func(turn earshot.TurnID, message uint64)

	// Refused is told why a reply was not posted to its end, unless it was cut; such an
	// error may have a cure. It may be nil.
	Refused func(error)
}

// ErrClosed is a speech in a channel whose outlet does not run.
var ErrClosed = errors.New("the channel is closed")

// A Text is the outlet and the board of a text channel, a thread or a direct message.
// Its methods may be called from any goroutine.
type Text struct {
	cfg      TextConfig
	path     string         // of its messages
	speeches sync.WaitGroup // their goroutines

	opening sync.Mutex // held while one speech takes the place of another
	mu      sync.Mutex
	last    *textSpeech
	running bool
	board   lineQueue
}

// NewText returns the outlet of a channel, which can be opened while it runs.
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

// Run keeps the outlet in the room until ctx ends, and posts what the house has to say
// there. When it returns, every speech has ended. It never fails: what Discord refuses
// is the end of a speech.
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

// run says whether it runs from now on, and returns the last speech.
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

// Open implements [earshot.Outlet]. A speech that is still going on is cut, and its end
// waited for.
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

// A message is one as it is posted.
type message struct {
	Content   string     `json:"content"`
	Allowed   allowed    `json:"allowed_mentions"`
	Reference *reference `json:"message_reference,omitempty"`
	Nonce     string     `json:"nonce,omitempty"`
	Enforce   bool       `json:"enforce_nonce,omitempty"`
}

// allowed says whom a message tells: nobody but these users and, if replied is set, the
// author of the message that it refers to. Discord's default is everybody.
type allowed struct {
	Parse   []string `json:"parse"` // none; not left out
	Users   []string `json:"users"`
	Replied bool     `json:"replied_user"`
}

// reference says which message one answers.
type reference struct {
	Message string `json:"message_id"`
	Fail    bool   `json:"fail_if_not_exists"` // not: it may be deleted meanwhile
}

// tells returns that a message tells these users alone.
func tells(users []uint64) allowed {
	a := allowed{Parse: []string{}, Users: []string{}}
	for _, id := range users {
		a.Users = append(a.Users, strconv.FormatUint(id, 10))
	}
	return a
}

// post posts m and returns which message it has become.
func (t *Text) post(ctx context.Context, m message) (id uint64, err error) {
	var got struct{ ID string }
	err = t.cfg.REST.Do(ctx, discord.Request{
		Method: http.MethodPost, Path: t.path + "/messages", Body: m, Into: &got, Again: m.Enforce, Grace: grace,
	})
	if err != nil {
		return 0, err
	}
	id, _ = discord.Number(got.ID)
	return id, nil
}

// take takes a message back, although ctx has ended.
func (t *Text) take(ctx context.Context, message uint64) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer done()
	_ = t.cfg.REST.Do(ctx, discord.Request{Method: http.MethodDelete, Path: t.path + "/messages/" + strconv.FormatUint(message, 10)})
}

// head is what a reply of an agent begins with.
func (t *Text) head(agent string) string {
	if agent == cmp.Or(t.cfg.Self, agent) {
		return ""
	}
	return "-# " + compose.Escape(brief(agent, 80)) + "\n"
}
