package discord

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/internal/discord/gateway"
	"earshot/providers"
)

// name is the name of the provider, and of the provider in its handles.
const name = "discord"

// A Session is the bot's session, as far as the provider needs it; a [*gateway.Session] is one.
type Session interface {
	// Run keeps the session open until ctx ends. While it runs, it calls [Sense.Take] with the
	// events.
	Run(ctx context.Context) error

	// Ask asks the REST interface, see [gateway.Session.Ask].
	Ask(ctx context.Context, method, path string, body, into any) error
}

// A House receives what happens on Discord. Its methods may be called from many goroutines and
// give up when ctx ends.
type House interface {
	// Room opens the room of a channel if it is not open, and returns its name.
	Room(ctx context.Context, c Channel) (earshot.RoomID, error)

	// Past returns what the daemon has of channels from before this run. It is called once a run.
	Past(ctx context.Context) ([]Past, error)

	// Arrive makes a person known, or updates their name and properties. It returns their name
	// here, which is unique, or "" if they are not known and need not be. Discord has proved who
	// they are.
	Arrive(ctx context.Context, who earshot.Handle, p Person) (name string, err error)

	// Do carries out a command, whose event has a room, and returns the answer, which only its
	// giver sees.
	Do(ctx context.Context, e earshot.Event) (string, error)
}

// A Person is a user as Discord knows them.
type Person struct {
	Name    string   // the shown name; not unique, and chosen by themselves
	Account string   // the name of their account, which may say more
	Bot     bool     // or a webhook
	Roles   []string // the names of their roles in the guild; at most [mostRoles]

	// Member says that the data come from a guild. The data of an account alone are less complete,
	// and do not replace those of a known person.
	Member bool

	// IfKnown says that a person who is not known is ignored.
	IfKnown bool
}

// A Past is what the daemon has of a channel from before this run.
type Past struct {
	Channel string // Discord's number; empty for direct messages, whose channel is not known
	With    string // of direct messages, the number of the other person

	Written []Written // what was written there, in order; at most the last [mostRecent]
	Own     []uint64  // Discord's numbers of the agent's own messages, in order; likewise

	// Since is the time from which on a message that the daemon does not have was missed: older
	// ones it did not want.
	Since time.Time

	// Waits says that something is scheduled to be said in the room, so the room must be open.
	Waits bool
}

// A Written is a message that the house has.
type Written struct {
	Event  earshot.EventID
	Edited time.Time // the last edit; zero if there was none
}

// A Command is a command offered after a slash.
type Command struct {
	Name string // without the slash
	Args string // the arguments as help shows them; empty if it takes none
	Help string
}

// Parts are the dependencies of a Sense. All must be set except Event, Also and Tell.
type Parts struct {
	Session  Session
	House    House
	Agent    func() string // the name of the agent that owns the bot
	Commands []Command     // that are offered, besides /ask

	// Event returns the event of a message. If nil, it is [gateway.EventOf]; a daemon whose own
	// replies have other names provides its own.
	Event func(channel, message uint64) earshot.EventID

	// Also is called with each event before the provider looks at it, by one goroutine; it must not
	// block. It may be nil.
	Also func(event any)

	// Tell receives faults with their cures, each once. It may be nil.
	Tell func(earshot.Notice)

	Log *slog.Logger
}

// A Sense reads what people write on Discord.
type Sense struct {
	cfg   Config
	parts Parts

	mu     sync.Mutex
	intake *eventIntake // nil unless it runs
}

// An eventIntake is where a run receives events.
type eventIntake struct {
	events chan any
	done   <-chan struct{} // closed when nothing more is taken
}

// New returns the provider. The session must pass its events to Take.
func New(cfg Config, parts Parts) *Sense {
	if parts.Event == nil {
		parts.Event = gateway.EventOf
	}
	if parts.Also == nil {
		parts.Also = func(any) {}
	}
	if parts.Tell == nil {
		parts.Tell = func(earshot.Notice) {}
	}
	if parts.Log == nil {
		parts.Log = slog.New(slog.DiscardHandler)
	}
	return &Sense{cfg: cfg, parts: parts}
}

// Name implements [providers.Provider].
func (*Sense) Name() string { return name }

// Take takes an event of the session. It waits for the room, and drops events while the provider
// does not run: a new session repeats them.
func (s *Sense) Take(event any) {
	s.mu.Lock()
	in := s.intake
	s.mu.Unlock()
	if in == nil {
		return
	}
	select {
	case in.events <- event:
	case <-in.done:
	}
}

// Run implements [providers.Provider]. It runs the session.
func (s *Sense) Run(ctx context.Context, emit providers.Emit) error {
	g, ctx := errgroup.WithContext(ctx)
	r := &run{
		Sense: s, world: newWorld(s.cfg, s.parts), emit: emit, work: &errgroup.Group{}, slow: &errgroup.Group{},
		turns: make(chan struct{}, mostGuildsAtOnce), fed: make(chan *page),
	}
	r.work.SetLimit(mostAtOnce)
	r.slow.SetLimit(mostWaiting)
	past, err := s.parts.House.Past(ctx)
	if err != nil {
		r.failed(ctx, "finding out what was said before", err)
	}
	r.world.remember(past)
	in := &eventIntake{make(chan any), ctx.Done()}
	s.mu.Lock()
	s.intake = in
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.intake = nil
		s.mu.Unlock()
	}()
	g.Go(func() error { return s.parts.Session.Run(ctx) })
	g.Go(func() error { return r.loop(ctx, in.events) })
	err = g.Wait()
	_ = r.work.Wait() // both give up with ctx, and have no error of their own
	_ = r.slow.Wait()
	return err
}
