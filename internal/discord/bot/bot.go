// Package bot is the daemon on Discord: it opens a room for each channel, writes there, joins
// voice channels, and answers slash commands.
package bot

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"earshot"
	"earshot/config"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/discord/calls"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/roster"
	"earshot/internal/supervise"
	"earshot/models/sense"
	"earshot/models/stt"
	"earshot/participants"
	"earshot/providers/discord"
	"earshot/store"
)

// Rooms are the rooms of the daemon. Its methods may be called from many goroutines.
type Rooms interface {
	// Open returns the room of a channel, with the name in is. A closed one is opened, and another
	// may be closed for that.
	Open(ctx context.Context, is executive.Room) (Room, error)

	// Find returns an open room.
	Find(id earshot.RoomID) (Room, bool)

	// Channel returns the room of a channel, whether or not it is open; false if an ID belongs to
	// no channel.
	Channel(id earshot.RoomID) (executive.Room, bool)

	// Audiences returns each agent of a room as an audience, and an empty one.
	Audiences(id earshot.RoomID) []earshot.Audience

	// Waiting returns the rooms that must be open, since something is to be said or done there later. Some are on
	// no channel.
	Waiting(ctx context.Context) ([]earshot.RoomID, error)

	// Commands returns the commands that every room has.
	Commands() command.Table

	// Admit brings an event into its room; Do also waits for its result.
	Admit(ctx context.Context, e earshot.Event) error
	Do(ctx context.Context, e earshot.Event) (string, error)
}

// A Conversation is a room as the bot needs it.
type Conversation interface {
	// Enter adds an outlet, until leave is called.
	Enter(o earshot.Outlet, around earshot.Audience) (leave func())

	// Mode returns whether the room listens and answers, and a channel that is closed when that
	// changes.
	Mode() (mode earshot.Mode, changed <-chan struct{})

	// Asked returns the end of what an agent has just said aloud and nobody has answered, or nothing.
	Asked() earshot.Text
}

// A Room is an open room.
type Room struct {
	Room   Conversation
	ID     earshot.RoomID
	Closed <-chan struct{} // closed when the room has ended; nil if it stays
}

// A Config is what a bot needs of the daemon.
type Config struct {
	Settings func() *config.Config // the configuration in force
	People   *participants.Registry
	Store    *store.Store
	Rooms    Rooms
	Report   func(earshot.Notice)
	Dropped  func(queue string) func(int) // counts what a queue drops
	Restarts supervise.Config             // how patiently its parts are restarted
	Log      *slog.Logger

	// Hears says whether it joins voice channels, and Speaks whether it also speaks there.
	Hears, Speaks bool
}

// A Bot is the daemon on Discord: one session of a bot, shared by the text provider, the calls and
// the outlets.
type Bot struct {
	c       Config
	session *gateway.Session
	sense   *discord.Sense
	calls   *calls.Calls  // nil if it does not hear
	pool    *stt.Pool     // likewise
	turns   *sense.Sensor // likewise, or if nothing senses voices

	channels channelSet // whose rooms were opened
	own      *PostLog
	refusals *OptOuts // nil if it does not hear

	whole  *Bot // of which this is a shard; nil if it is none
	mu     sync.Mutex
	shards []*Bot // that run
}

// New returns a bot, which connects once it runs. What is missing may still come; the error is
// what a person has to fix.
func New(ctx context.Context, c Config) (*Bot, error) {
	directory := c.Settings().Store.Directory
	b := &Bot{c: c, own: OpenPostLog(directory, c.Log)}
	if c.Hears {
		var err error
		if b.refusals, err = OpenOptOuts(directory); err != nil {
			return nil, err
		}
	}
	return b, b.open(ctx, gateway.Shard{})
}

// NewShard returns the part of a bot for some of its guilds, which runs by itself: it has rooms and a session
// of its own, and shares with the others who refuses to be heard, and what was posted.
func (b *Bot) NewShard(ctx context.Context, is gateway.Shard, rooms Rooms) (*Bot, error) {
	s := &Bot{c: b.c, own: b.own, refusals: b.refusals, whole: b}
	s.c.Rooms = rooms
	return s, s.open(ctx, is)
}

// open makes the session of a bot, and what uses it.
func (b *Bot) open(ctx context.Context, shard gateway.Shard) error {
	ctx = context.WithoutCancel(ctx) // it is used as long as the bot runs
	c, set := b.c, b.c.Settings().Providers.Discord
	token, err := set.Secret()
	if err != nil {
		return err
	}
	if shard.Number > 0 {
		set.DirectMessages = false // they come to the first shard: their rooms must not be opened for another
	}
	b.session = discord.NewSession(set, token, shard, c.Log, func(event any) { b.sense.Take(event) })
	also := func(any) {}
	if c.Hears {
		b.openCalls(c.Speaks)
		also = b.calls.Take
	}
	b.sense = discord.New(set, discord.Parts{
		Session: b.session, House: b, Agent: func() string { return c.People.Name(participants.Agent) },
		Event:    func(channel, message uint64) earshot.EventID { return b.eventOf(ctx, channel, message) },
		Commands: b.offeredCommands(), Also: also, Tell: c.Report, Log: c.Log,
	})
	return nil
}

// ReadRefusals reads again who refuses to be heard, which people may have said at another daemon.
func (b *Bot) ReadRefusals() error {
	if b.refusals == nil {
		return nil
	}
	return b.refusals.Read()
}

// in returns the shard that has the channel of a room, or the bot itself.
func (b *Bot) in(room earshot.RoomID) *Bot {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.shards {
		if _, has := s.channels.place(room); has {
			return s
		}
	}
	return b
}

// runs notes that a shard runs, until ended is called.
func (b *Bot) runs(s *Bot) (ended func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shards = append(b.shards, s)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.shards = slices.DeleteFunc(b.shards, func(is *Bot) bool { return is == s })
	}
}

// Recognise runs the speech recognition for calls, and what senses voices in them, until ctx ends. Only
// a bot that hears has it.
func (b *Bot) Recognise(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var sensing sync.WaitGroup
	defer sensing.Wait()
	defer stop()
	if b.turns != nil {
		restarts := b.c.Restarts
		restarts.Report = b.c.Report
		sensing.Go(func() { supervise.Run(ctx, "sensing of voices in calls", b.turns.Run, restarts) })
	}
	return b.pool.Run(ctx)
}

// Shards returns into how many shards Discord wants the bot to be split, and how many may identify at a
// time.
func (b *Bot) Shards(ctx context.Context) (n, atOnce int, err error) { return b.session.Shards(ctx) }

// Forget forgets which messages were parts of some replies.
func (b *Bot) Forget(turns map[earshot.TurnID]bool) error { return b.own.Forget(turns) }

// Room implements [discord.House].
func (b *Bot) Room(ctx context.Context, c roster.Place) (earshot.RoomID, error) {
	room, err := b.c.Rooms.Open(ctx, executive.Room{ID: c.Room(), Name: c.Name})
	if err != nil {
		return "", err
	}
	b.post(ctx, room, c)
	return room.ID, nil
}

// Run runs the bot until ctx ends. The session goes last, since calls are left through it, and
// pending posts are sent through it.
func (b *Bot) Run(ctx context.Context) error {
	if b.whole != nil {
		defer b.whole.runs(b)()
	}
	last, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var inCall sync.WaitGroup
	calls, hangUp := context.WithCancel(ctx)
	defer hangUp()
	if b.calls != nil {
		inCall.Go(func() {
			b.supervise(calls, "calls", func(ctx context.Context) error { return b.calls.Run(ctx, b.c.Rooms.Admit) })
		})
	}
	ended := make(chan struct{})
	var rest sync.WaitGroup
	rest.Go(func() {
		defer stop()
		select {
		case <-ctx.Done():
		case <-ended:
		}
		hangUp()
		inCall.Wait()
		b.channels.close()
	})
	err := b.sense.Run(last, b.admit)
	close(ended)
	rest.Wait()
	b.channels.close() // what came in meanwhile
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// supervise runs a part until ctx ends.
func (b *Bot) supervise(ctx context.Context, part string, run func(context.Context) error) {
	cfg := b.c.Restarts
	cfg.Report = b.c.Report
	if err := supervise.Run(ctx, part, run, cfg); err != nil {
		b.c.Log.Error("a part cannot run", "part", part, "err", err)
	}
}

// Arrive implements [discord.House].
func (b *Bot) Arrive(ctx context.Context, who earshot.Handle, p roster.Person) (string, error) {
	if is := b.c.People.Resolve(who); !p.Member && is.ID != "" || p.IfKnown && is.ID == "" {
		return is.Name, nil
	}
	n := participants.Newcomer{Names: []string{p.Name, p.Account}, Type: participants.Human, Description: strings.Join(p.Roles, ", ")}
	if p.Bot {
		n.Type = participants.AIAssistant
	}
	is, err := b.c.People.Arrive(ctx, who, n)
	return is.Name, err
}

// Do implements [discord.House].
func (b *Bot) Do(ctx context.Context, ev earshot.Event) (string, error) {
	return b.c.Rooms.Do(ctx, ev)
}
