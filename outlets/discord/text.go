package discord

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"earshot"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/posts"
)

// TextName is the name of the outlet of a channel, which is the Via of what is written there.
const TextName = "discord"

// TextConfig configures the outlet of a channel. Its functions may be called from any goroutine,
// and must not block.
type TextConfig struct {
	Channel uint64
	REST    posts.REST

	// Dropped, if set, receives the number of lines that were not shown because Discord was slow.
	// It returns at once.
	Dropped func(n int)

	// Self is the name of the agent that owns the bot. A reply of another agent begins with its
	// name. If empty, no reply begins with a name.
	Self string

	// Beside says that the channel is the chat of a call: replies to what was said aloud do not
	// come out there.
	Beside bool

	// Names returns who may be mentioned there, in a reply to somebody. If nil, nobody may.
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
	channel  posts.Channel
	lines    *posts.Lines
	speeches sync.WaitGroup // their goroutines

	opening sync.Mutex // held while one speech replaces another
	mu      sync.Mutex
	last    *textSpeech
	running bool
}

// NewText returns the outlet of a channel. It can be opened while it runs.
func NewText(cfg TextConfig) *Text {
	if cfg.Names == nil {
		cfg.Names = func(earshot.ParticipantID) compose.Names { return nil }
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
	c := posts.Channel{ID: cfg.Channel, REST: cfg.REST}
	return &Text{cfg: cfg, channel: c, lines: posts.NewLines(c, cfg.Dropped)}
}

// Run keeps the outlet in the room until ctx ends, and posts the daemon's own messages there. When
// it returns, every speech has ended. If Discord refuses something, the speech ends.
func (t *Text) Run(ctx context.Context, enter func(earshot.Outlet) (leave func())) {
	t.run(true)
	leave := enter(t)
	t.lines.Run(ctx)
	leave()
	if last := t.run(false); last != nil {
		last.Do(earshot.Cut)
	}
	t.speeches.Wait()
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
	s := newTextSpeech(t, o, heard)
	t.last = s
	t.speeches.Go(func() { s.writer.Run(ctx) })
	return s, nil
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
	case <-last.writer.Over():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// head is what a reply of an agent begins with.
func (t *Text) head(agent string) string {
	if agent == cmp.Or(t.cfg.Self, agent) {
		return ""
	}
	return "-# " + compose.Escape(compose.Shorten(agent, longestName)) + "\n"
}
