package discord

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/internal/discord"
	"earshot/providers"
)

// name is that of the sense, and of the provider of its handles.
const name = "discord"

// A Session is the bot's, as far as the sense needs it; a [*discord.Session] is one.
type Session interface {
	// Run keeps the session open until ctx ends. While it runs, [Sense.Take] is called
	// with what happens.
	Run(ctx context.Context) error

	// Ask asks the REST interface, see [discord.Session.Ask].
	Ask(ctx context.Context, method, path string, body, into any) error
}

// A House is where what happens on Discord is brought. Its methods may be called from
// many goroutines and give up when ctx ends.
type House interface {
	// Room opens the room of a channel unless it is open, and returns its name.
	Room(ctx context.Context, c Channel) (earshot.RoomID, error)

	// Past returns what it has of channels from before it began to run. It is asked once a
	// run.
	Past(ctx context.Context) ([]Past, error)

	// Arrive makes somebody known, or says how they are called and what they are from now
	// on, and returns the name that they have here, which nobody else has; none if they are
	// not known and need not be. Discord has proved who they are.
	Arrive(ctx context.Context, who earshot.Handle, p Person) (name string, err error)

	// Do carries out a command, whose event has a room, and returns the answer, which only the
	// person who gave it sees.
	Do(ctx context.Context, e earshot.Event) (string, error)
}

// A Person is somebody as Discord knows them.
type Person struct {
	Name    string   // as people see it; not unique, and chosen by themselves
	Account string   // the name of their account, which may say more
	Bot     bool     // or a webhook
	Roles   []string // the names of their roles in the guild; at most [mostRoles]

	// Member says that a guild says so. What an account alone says of somebody who is
	// known already is less than that.
	Member bool

	// IfKnown says that nothing is done for somebody who is not known.
	IfKnown bool
}

// A Past is what the house has of a channel from before it began to run.
type Past struct {
	Channel string // Discord's number; empty for direct messages, of which nobody knows it
	With    string // of direct messages, the number of whom they are with

	Written []Written // what was written there, in order; of more than [mostRecent] the last
	Own     []uint64  // Discord's numbers of the messages of its own, in order; likewise

	// Since is when it begins to matter what was written there that the house has not: what
	// is older it did not want.
	Since time.Time

	// Waits says that something will be said in the room at some time, so the room must be open.
	Waits bool
}

// A Written is a message that the house has.
type Written struct {
	Event  earshot.EventID
	Edited time.Time // when it was last; zero if it never was
}

// A Command is one that people are offered where they type a slash.
type Command struct {
	Name string // without the slash
	Args string // how its arguments are written, for help; without any it takes none
	Help string
}

// Parts are what a sense is made of. All must be set but Event and Tell.
type Parts struct {
	Session  Session
	House    House
	Agent    func() string // what the agent is called that the bot is
	Commands []Command     // that are offered, besides /ask

	// Event returns the event of a message. If nil, it is [discord.EventOf]; a daemon whose own
	// replies have other names provides its own.
	Event func(channel, message uint64) earshot.EventID

	// Also is told what happens, before the sense has looked at it, by one goroutine; it
	// does not wait. It may be nil.
	Also func(event any)

	// Tell says what is wrong there, and how to mend it; each fault once. It may be nil.
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

// An eventIntake is where a run takes what happens.
type eventIntake struct {
	events chan any
	done   <-chan struct{} // closed when nothing is taken any more
}

// New returns the sense. The session's receiver of events must be its Take.
func New(cfg Config, parts Parts) *Sense {
	if parts.Event == nil {
		parts.Event = discord.EventOf
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

// Take takes in an event of the session. It waits for the room, and drops events while the sense
// does not run: a session that begins again repeats them.
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
