package discord

import (
	"context"
	"log/slog"
	"sync"

	"github.com/bwmarrin/discordgo"
	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/interaction"
	"earshot/internal/discord/roster"
	"earshot/internal/field"
	"earshot/providers"
)

// name is the name of the provider, and of the provider in its handles.
const name = gateway.Provider

// NewSession returns the session of the bot in c. Events is called for each event that the gateway
// delivers.
func NewSession(c Config, token field.Secret, shard gateway.Shard, log *slog.Logger, events func(any)) *gateway.Session {
	return gateway.New(gateway.Config{Token: token, Shard: shard, Intents: Intents(c), Base: c.Base, Events: events, Log: log})
}

// Intents are what a session must request. Discord shows a bot no members and no message contents
// unless its owner has switched that on.
func Intents(cfg Config) discordgo.Intent {
	in := discordgo.IntentGuilds | discordgo.IntentGuildMembers | discordgo.IntentGuildVoiceStates |
		discordgo.IntentGuildMessages | discordgo.IntentGuildMessageTyping | discordgo.IntentMessageContent
	if cfg.DirectMessages {
		in |= discordgo.IntentDirectMessages | discordgo.IntentDirectMessageTyping
	}
	return in
}

// A Session is the bot's session, as far as the provider needs it; a [*gateway.Session] is one.
type Session interface {
	roster.Client

	// Run keeps the session open until ctx ends. While it runs, it calls [Sense.Take] with the
	// events.
	Run(ctx context.Context) error
}

// A House receives what happens on Discord. Its methods may be called from many goroutines and
// give up when ctx ends.
type House interface {
	// Room opens the room of a channel if it is not open, and returns its name.
	Room(ctx context.Context, c roster.Place) (earshot.RoomID, error)

	// Past returns what the daemon has of channels from before this run. It is called once a run.
	Past(ctx context.Context) ([]roster.Past, error)

	// Arrive makes a person known, or updates their name and properties. It returns their name
	// here, which is unique, or "" if they are not known and need not be. Discord has proved who
	// they are.
	Arrive(ctx context.Context, who earshot.Handle, p roster.Person) (name string, err error)

	// Do carries out a command, whose event has a room, and returns the answer, which only its
	// giver sees.
	Do(ctx context.Context, e earshot.Event) (string, error)
}

// Parts are the dependencies of a Sense. All must be set except Event, Also and Tell.
type Parts struct {
	Session  Session
	House    House
	Agent    func() string         // the name of the agent that owns the bot
	Commands []interaction.Command // that are offered, besides /ask

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

// mostWaiting is how many requests about whole guilds may wait: each guild has its commands and its
// missed messages, and so have the direct messages.
const mostWaiting = 2*roster.MostGuilds + 2

// Run implements [providers.Provider]. It runs the session.
func (s *Sense) Run(ctx context.Context, emit providers.Emit) error {
	g, ctx := errgroup.WithContext(ctx)
	background := gateway.NewBackground(mostWaiting, s.parts.Log)
	known := roster.New(roster.Config{
		Guilds: s.cfg.Guilds, Channels: s.cfg.Channels, Users: s.cfg.Users, DirectMessages: s.cfg.DirectMessages, Bots: s.cfg.Bots == Agents,
	})
	r := &run{
		Sense: s, emit: emit, background: background, roster: known,
		translator: &translator{roster: known, agent: s.parts.Agent, eventOf: s.parts.Event, commands: s.parts.Commands},
		fetcher:    roster.NewFetcher(s.parts.Session, background),
		responder:  &interaction.Responder{Client: s.parts.Session, Background: background, Tell: s.parts.Tell},
	}
	past, err := s.parts.House.Past(ctx)
	if err != nil {
		background.LogFailure(ctx, "finding out what was said before", err)
	}
	known.Remember(past)
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
	background.Wait() // it gives up with ctx
	return err
}
