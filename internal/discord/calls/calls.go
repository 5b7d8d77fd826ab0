// Package calls is what the agent does in voice channels: it joins and leaves them as people ask, or
// by itself as people come and go, has an ear for each person, and plays what the agent says.
//
// From the bottom up: a membership decides where to be, a track turns somebody's packets into a
// sound with silence in it, an overlapTracker knows who spoke at the same time; these have neither
// a clock nor a goroutine. The voiceState is what is known of the voice channels. A roomHearing is
// the ears of one room, a callSession one stay in a call, and [Calls] all of them. A [Player] sends
// what is said: a soundBuffer, likewise without a clock, knows what the encoder has and what has left.
//
// When a reader is slow: packets that the decoder does not accept are dropped by it, and counted;
// frames that an ear does not accept wait for two seconds, then the oldest are dropped. Nothing
// waits for messages in text. Sound that is said waits: at most 100 ms are encoded in advance, and
// after five seconds in which nothing leaves the speech ends.
package calls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/voice"
	"earshot/providers"
)

// A Config says which calls are joined, and how.
type Config struct {
	Guilds   []string // in which voice channels are joined, by their numbers; empty means all
	Channels []string // that are joined; likewise
	Users    []string // who are heard; likewise

	Never          bool // it joins no channel, even if somebody asks
	ByItself       bool // it also joins where people are
	Announce       bool // it says, in text and aloud, that it listens
	EncryptedCalls bool // it leaves channels that Discord does not encrypt end to end
	IgnoreBots     bool // they are not heard
}

// Parts are the dependencies of Calls. None of the functions may be nil, unless its comment says
// so.
type Parts struct {
	// Call joins a voice channel, as [gateway.Session.Call] does.
	Call func(ctx context.Context, cfg voice.Config, use func(Call)) error

	// Ear makes the listener for one person in a room, and Decoder the decoder for everybody in one
	// call. Heard is called from one goroutine, and must not block.
	Ear     func(from earshot.Handle, room earshot.RoomID, c Capture) Ear
	Decoder func(heard func(speaker uint32, f *audio.Frame)) Decoder

	// Room opens the room of a channel. Listens reports whether listening is allowed there at
	// present, and returns a channel that is closed when that may have changed.
	Room    func(ctx context.Context, guild, channel uint64) (earshot.RoomID, error)
	Listens func(room earshot.RoomID) (bool, <-chan struct{})

	// Arrive makes a person known to the daemon before anything that they say arrives.
	Arrive func(ctx context.Context, guild, user uint64) error

	// Tell posts text in a channel; it must not ping anybody. Users and channels appear in it as
	// Discord writes them: <@1>, <#2>.
	Tell func(ctx context.Context, channel uint64, text string) error

	// Enter gives the agent a voice in a call that it has joined. It may be nil.
	Enter func(ctx context.Context, call Call, room earshot.RoomID) (RoomVoice, error)

	// OptOuts are the people who do not want to be heard.
	OptOuts interface {
		Out(user uint64) bool
		Set(user uint64, out bool) error
	}

	Report func(earshot.Notice) // receives faults; must not block; may be nil
	Log    *slog.Logger         // nil means none
}

// A Call is a call that has begun, a [*voice.Call].
type Call interface{ Status() voice.Status }

var _ voice.Absent = gateway.Line{} // else its gateway would count as always there

// RunCall joins a voice channel and stays in it until ctx ends, or until the call ends otherwise,
// which gives a [*voice.Ended]. It waits for the session to be open, which fills in the line and the
// bot's identity. Use receives the call before it begins. There is one call per guild; a second is
// [gateway.ErrBusy].
func RunCall(ctx context.Context, s *gateway.Session, cfg voice.Config, use func(*voice.Call)) error {
	line, err := s.Line(ctx)
	if err != nil {
		return err
	}
	cfg.Place.Self, cfg.Line = line.Self, line
	cfg.Log, cfg.HTTP = cmp.Or(cfg.Log, line.Log), cmp.Or(cfg.HTTP, line.HTTP)
	call := voice.New(cfg)
	if err := s.Attach(cfg.Place.Guild, call); err != nil {
		return err
	}
	defer s.Detach(cfg.Place.Guild)
	if use != nil {
		use(call)
	}
	return call.Run(ctx)
}

// A RoomVoice is the agent's voice in one room of a call.
type RoomVoice interface {
	Announce(ctx context.Context, text earshot.Text) error // says it aloud; it is not cut
	Leave()                                                // removes the agent's voice from the room
}

// A Status is what people may want to know about a call.
type Status struct {
	Guild, Channel uint64
	Room           earshot.RoomID // empty until it is there
	Listens        bool
	Trouble        []string // what is wrong, with the cure
	Voice          voice.Status
}

// Calls manages the voice channels that the agent is in: at most one per guild. It joins and
// leaves as people ask, or by itself as they come and go, and listens to each of them. Its methods
// may be called from any goroutine.
type Calls struct {
	cfg      Config
	guilds   gateway.Allowlist
	channels gateway.Allowlist
	users    gateway.Allowlist
	parts    Parts
	state    *voiceState
	news     bell // check again

	mu          sync.Mutex
	memberships map[uint64]*membership // by guild
	sessions    map[uint64]*callSession

	told map[uint64]string // owned by Run: why it does not join where people are
}

// New returns calls that join nothing until they run.
func New(cfg Config, parts Parts) *Calls {
	if parts.Log == nil {
		parts.Log = slog.New(slog.DiscardHandler)
	}
	return &Calls{
		cfg: cfg, guilds: gateway.NewAllowlist(cfg.Guilds), channels: gateway.NewAllowlist(cfg.Channels), users: gateway.NewAllowlist(cfg.Users),
		parts: parts, state: newVoiceState(), news: newBell(),
		memberships: make(map[uint64]*membership), sessions: make(map[uint64]*callSession), told: make(map[uint64]string),
	}
}

// Take takes an event of the gateway, in order. It does not block, and keeps nothing of the event.
func (c *Calls) Take(event any) {
	if c.state.take(event) {
		c.news.ring()
	}
}

// Run joins voice channels and leaves them until ctx ends. When it returns, it has left them all.
func (c *Calls) Run(ctx context.Context, emit providers.Emit) error {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		wait := c.look(ctx, &all, emit, time.Now())
		select {
		case <-c.news:
		case <-after(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// look checks every guild at now, and returns when to check again.
func (c *Calls) look(ctx context.Context, all *sync.WaitGroup, emit providers.Emit, now time.Time) (wait time.Duration) {
	for _, guild := range c.state.guilds() {
		if !c.guilds.Allows(guild) {
			continue
		}
		places := c.places(guild)
		c.mu.Lock()
		a := c.membershipOf(guild)
		v := c.sessions[guild]
		move := move{}
		if v == nil || !v.leaving() {
			move = a.step(now, places)
		}
		if move.leave && v != nil {
			v.leave("")
		}
		if a.in != 0 && v == nil {
			v = c.newSession(guild, a.in, emit)
			c.sessions[guild] = v
			all.Go(func() { c.attend(ctx, v) })
		}
		c.mu.Unlock()
		if v != nil {
			v.news.ring()
		}
		if move.wait > 0 && (wait == 0 || move.wait < wait) {
			wait = move.wait
		}
		c.complain(ctx, all, places)
	}
	return wait
}

// membershipOf returns the membership of a guild. The caller holds the lock.
func (c *Calls) membershipOf(guild uint64) *membership {
	a := c.memberships[guild]
	if a == nil {
		a = &membership{people: c.cfg.ByItself}
		c.memberships[guild] = a
	}
	return a
}

// attend runs one session, from joining to leaving.
func (c *Calls) attend(ctx context.Context, v *callSession) {
	err := v.run(ctx)
	var ended *voice.Ended
	thrown := errors.As(err, &ended) && (ended.Code == 4014 || ended.Code == 4022 || ended.Code == voice.Plain)
	c.mu.Lock()
	delete(c.sessions, v.guild)
	channel := v.channel
	if a := c.membershipOf(v.guild); !v.leaving() {
		a.ended(time.Now(), thrown)
	} else if a.in != 0 { // it left by itself, since it may not be there
		a.sent()
	}
	c.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		why := err.Error()
		if ended != nil && ended.Code == voice.Plain {
			channel = cmp.Or(ended.Channel, channel)
			why = cmp.Or(c.stage(v.guild, channel), why)
		}
		c.parts.Log.Warn("call has ended", "guild", v.guild, "channel", channel, "err", err)
		c.say(ctx, channel, sentence(why))
	}
	c.news.ring()
}

// stage says why the agent does not stay in a stage channel, where no call is encrypted; "" for
// another channel.
func (c *Calls) stage(guild, channel uint64) string {
	for _, h := range c.state.voiceChannels(guild) {
		if h.channel == channel && h.stage {
			return c.obstacle(h)
		}
	}
	return ""
}

// places returns the voice channels of a guild as the policy sees them.
func (c *Calls) places(guild uint64) (all []place) {
	seats, _ := c.state.occupants(guild)
	for _, h := range c.state.voiceChannels(guild) {
		p := place{channel: h.channel, why: c.obstacle(h)}
		for _, s := range seats {
			if s.channel == h.channel && !s.bot && c.users.Allows(s.user) {
				p.people++
			}
		}
		all = append(all, p)
	}
	return all
}

// obstacle says why the agent may not join a channel, and what helps; "" if it may.
func (c *Calls) obstacle(h voiceChannel) string {
	switch {
	case !c.channels.Allows(h.channel):
		return unlisted
	case h.stage:
		return "I do not come onto stages yet; ask me into a voice channel"
	case len(h.lacks) > 0:
		return fmt.Sprintf("I may not come into <#%d>: give my role there, under Edit Channel, Permissions: %s", h.channel, strings.Join(h.lacks, ", "))
	case h.full > 0:
		return fmt.Sprintf("<#%d> is full, with %d people; raise its limit, or give my role Move Members", h.channel, h.full)
	}
	return ""
}

// unlisted is why it does not join a channel that the configuration does not name. Only those who
// have asked are told.
const unlisted = "I may not come into that voice channel; whoever runs me can add it to providers.discord.voice_channels"

// complain reports once why the agent does not join where people are, if it would join by itself.
func (c *Calls) complain(ctx context.Context, all *sync.WaitGroup, places []place) {
	if !c.cfg.ByItself {
		return
	}
	for _, p := range places {
		if p.people == 0 || p.why == unlisted || c.told[p.channel] == p.why {
			continue
		}
		n := earshot.Notice{Key: fmt.Sprintf("discord channel %d", p.channel), Text: p.why}
		if c.told[p.channel] = p.why; p.why == "" {
			n.Text, n.Over = "a voice channel can be joined again", true
		} else {
			all.Go(func() { c.say(ctx, p.channel, sentence(p.why)) })
		}
		c.report(n)
	}
}

func (c *Calls) report(n earshot.Notice) {
	if c.parts.Report != nil {
		c.parts.Report(n)
	}
}

// sayWithin bounds how long posting a text may take.
const sayWithin = 30 * time.Second

// say posts text in a channel. If the agent may not write there, it says nothing.
func (c *Calls) say(ctx context.Context, channel uint64, text string) {
	ctx, done := context.WithTimeout(ctx, sayWithin)
	defer done()
	if err := c.parts.Tell(ctx, channel, text); err != nil && ctx.Err() == nil {
		c.parts.Log.Warn("not said in a channel", "channel", channel, "err", err)
	}
}

// Join makes the agent join a channel of a guild, or the one where a user is if channel is 0. It
// returns the answer. Later failures are reported in the text of the channel.
func (c *Calls) Join(guild, channel, user uint64) string {
	if c.cfg.Never || !c.guilds.Allows(guild) {
		return "I do not come into voice channels here; whoever runs me can allow it by providers.discord.join"
	}
	if channel == 0 {
		seats, _ := c.state.occupants(guild)
		i := slices.IndexFunc(seats, func(s occupant) bool { return s.user == user })
		if i < 0 {
			return "You are in no voice channel: go into one and ask again, or name one"
		}
		channel = seats[i].channel
	}
	places := c.places(guild)
	i := slices.IndexFunc(places, func(p place) bool { return p.channel == channel })
	switch {
	case i < 0:
		return "There is no such voice channel that I can see"
	case places[i].why != "":
		return sentence(places[i].why)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.membershipOf(guild)
	switch v := c.sessions[guild]; {
	case v != nil && v.leaving():
		return "I am just leaving; ask me again in a moment"
	case a.in == channel:
		return fmt.Sprintf("I am in <#%d> already", channel)
	case a.in != 0:
		return fmt.Sprintf("I am in <#%d>, and can be in one voice channel only; send me away there first, with /leave", a.in)
	}
	a.joins(time.Now(), channel)
	c.news.ring()
	return fmt.Sprintf("I am coming into <#%d>", channel)
}

// Leave makes the agent leave the voice channel of a guild, and returns the answer.
func (c *Calls) Leave(guild uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, v := c.membershipOf(guild), c.sessions[guild]
	if a.in == 0 {
		return "I am in no voice channel"
	}
	was := a.in
	a.sent()
	if v != nil {
		v.leave("")
	}
	c.news.ring()
	return fmt.Sprintf("I have left <#%d>", was)
}

// OptOut records whether a user refuses to be heard in any call, and returns the answer. It takes
// effect at once: what they are just saying is thrown away.
func (c *Calls) OptOut(user uint64, out bool) string {
	err := c.parts.OptOuts.Set(user, out)
	if out {
		c.mu.Lock()
		for _, v := range c.sessions {
			v.unhear(user)
		}
		c.mu.Unlock()
	}
	switch {
	case err != nil && out:
		c.parts.Log.Error("who does not want to be heard cannot be kept", "err", err)
		return "I do not listen to you any more. That could not be written down: when I am started again, ask me again"
	case err != nil:
		c.parts.Log.Error("who wants to be heard again cannot be kept", "err", err)
		return "I listen to you again, but could not write that down"
	case out:
		return "I do not listen to you any more, in no voice channel: what you say is dropped as it comes. /optout off ends this"
	}
	return "I listen to you again in voice channels"
}

// Status returns the current calls.
func (c *Calls) Status() (all []Status) {
	c.mu.Lock()
	sessions := slices.Collect(maps.Values(c.sessions))
	c.mu.Unlock()
	for _, v := range sessions {
		all = append(all, v.status())
	}
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.Guild, b.Guild) })
	return all
}

// sentence begins s with a capital letter and ends it with a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

// A bell wakes the goroutine that waits for it. It keeps one ring for a goroutine that is busy.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// after returns a channel that yields after a time; never if that is 0.
func after(wait time.Duration) <-chan time.Time {
	if wait <= 0 {
		return nil
	}
	return time.After(wait)
}
