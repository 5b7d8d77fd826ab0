package calls

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/discord/voice"
	"earshot/models/hear"
	"earshot/providers"
)

// The users and channels of these tests.
const (
	guild   = 100
	lobby   = 101 // a voice channel
	attic   = 102 // another, for two people
	podium  = 103 // a stage
	self    = 1
	ann     = 2
	bob     = 3
	carl    = 4
	machine = 5 // a bot
)

// A scene is calls on a Discord made of events, with honest and simple decoders, ears and house.
type scene struct {
	*Calls
	emitted chan error // the result of Run
	stop    context.CancelFunc

	mu      sync.Mutex
	began   time.Time
	log     []string // what it did and said
	call    *fakeCall
	heard   []earshot.Event
	out     map[uint64]bool
	unread  error // the error of storing an opt-out
	unknown error // the error of registering somebody
	asked   int   // number of registrations
	mode    chan struct{}
	listens bool
	coders  []*coder
	slow    time.Duration // how long it takes to understand
}

// begin runs calls in a bubble.
func begin(t *testing.T, cfg Config) *scene {
	s := &scene{began: time.Now(), out: make(map[uint64]bool), mode: make(chan struct{}), listens: true, emitted: make(chan error, 1)}
	s.Calls = New(cfg, Parts{
		Call: s.calls,
		Ear:  func(from earshot.Handle, room earshot.RoomID, c Capture) Ear { return &ear{from, room, c, s.slow} },
		Decoder: func(heard func(uint32, *audio.Frame)) Decoder {
			c := &coder{heard: heard, made: make(chan made, 100)}
			s.coders = append(s.coders, c)
			return c
		},
		Room: func(_ context.Context, g, channel uint64) (earshot.RoomID, error) {
			return earshot.RoomID(fmt.Sprintf("discord-%d", channel)), nil
		},
		Listens: s.may,
		Arrive:  s.arrives,
		Tell: func(_ context.Context, channel uint64, text string) error {
			s.did("%d: %s", channel, text)
			return nil
		},
		Enter:   func(_ context.Context, _ Call, room earshot.RoomID) (RoomVoice, error) { return &mouth{s, room}, nil },
		OptOuts: s,
		Report: func(n earshot.Notice) {
			if n.Over {
				s.did("mended %s", n.Key)
			} else {
				s.did("trouble %s", n.Key)
			}
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	go func() { s.emitted <- s.Run(ctx, s.emit) }()
	s.Take(&discordgo.Ready{User: &discordgo.User{ID: id(self)}})
	s.Take(guildOf())
	synctest.Wait()
	return s
}

// arrives is Parts.Arrive.
func (s *scene) arrives(context.Context, uint64, uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.unknown
}

// end ends the calls.
func (s *scene) end() {
	s.stop()
	<-s.emitted
}

func id(n uint64) string { return strconv.FormatUint(n, 10) }

const ordinary = discordgo.PermissionViewChannel | discordgo.PermissionVoiceConnect | discordgo.PermissionVoiceSpeak

// guildOf returns the guild, with nobody in any channel.
func guildOf() *discordgo.GuildCreate {
	channel := func(n uint64, kind discordgo.ChannelType, limit int) *discordgo.Channel {
		return &discordgo.Channel{ID: id(n), GuildID: id(guild), Type: kind, UserLimit: limit}
	}
	return &discordgo.GuildCreate{Guild: &discordgo.Guild{
		ID: id(guild), OwnerID: id(ann), Roles: []*discordgo.Role{{ID: id(guild), Permissions: ordinary}},
		Channels: []*discordgo.Channel{
			channel(lobby, discordgo.ChannelTypeGuildVoice, 0), channel(attic, discordgo.ChannelTypeGuildVoice, 2),
			channel(podium, discordgo.ChannelTypeGuildStageVoice, 0),
		},
		Members: []*discordgo.Member{member(self)},
	}}
}

func member(user uint64) *discordgo.Member {
	return &discordgo.Member{User: &discordgo.User{ID: id(user), Bot: user == self || user == machine}}
}

// goes moves somebody into a channel, or out of all for 0.
func (s *scene) goes(user, channel uint64) {
	v := &discordgo.VoiceState{GuildID: id(guild), UserID: id(user), Member: member(user)}
	if channel != 0 {
		v.ChannelID = id(channel)
	}
	s.Take(&discordgo.VoiceStateUpdate{VoiceState: v})
	synctest.Wait()
}

// did notes something that was done.
func (s *scene) did(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := strings.NewReplacer(announcement, "(announcement)", aloud, "(aloud)").Replace(fmt.Sprintf(format, args...))
	s.log = append(s.log, line)
}

// since returns what was done since the last call of since, sorted.
func (s *scene) since() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.log
	s.log = nil
	slices.Sort(done)
	return strings.Join(done, "\n")
}

// said returns the utterances: by whom, in which room, the numbers heard, and + if somebody else
// spoke at the same time.
func (s *scene) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, e := range s.heard {
		if u, ok := e.Body.(earshot.Utterance); ok {
			line := fmt.Sprintf("%s in %s: %s", e.From.ID, strings.TrimPrefix(string(e.Room), "discord-"), string(u.Text))
			if u.Overlaps {
				line += " +"
			}
			if e.Via != string(e.Room) {
				line += ", as if in " + e.Via
			}
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func (s *scene) emit(_ context.Context, e earshot.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, e)
	return nil
}

// may is Parts.Listens; mutes changes its answer.
func (s *scene) may(earshot.RoomID) (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listens, s.mode
}

func (s *scene) mutes(muted bool) {
	s.mu.Lock()
	s.listens = !muted
	close(s.mode)
	s.mode = make(chan struct{})
	s.mu.Unlock()
	synctest.Wait()
}

// Out and Set make the scene a store of opt-outs.
func (s *scene) Out(user uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out[user]
}

func (s *scene) Set(user uint64, out bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out[user] = out
	return s.unread
}

// calls is Parts.Call.
func (s *scene) calls(ctx context.Context, cfg voice.Config, use func(Call)) error {
	c := &fakeCall{cfg: cfg, ends: make(chan error, 1), status: voice.Status{Phase: "in the call", Channel: cfg.Place.Channel}}
	s.mu.Lock()
	s.call = c
	s.mu.Unlock()
	s.did("joins %d", cfg.Place.Channel)
	use(c)
	cfg.Changed(c.Status())
	select {
	case <-ctx.Done():
		s.did("leaves %d", c.Status().Channel)
		return nil
	case err := <-c.ends:
		return err
	}
}

// A fakeCall is a call whose status a test sets.
type fakeCall struct {
	cfg  voice.Config
	ends chan error

	mu     sync.Mutex
	status voice.Status
}

func (c *fakeCall) Status() voice.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// becomes changes the status.
func (c *fakeCall) becomes(change func(*voice.Status)) {
	c.mu.Lock()
	change(&c.status)
	now := c.status
	c.mu.Unlock()
	c.cfg.Changed(now)
	synctest.Wait()
}

// plays plays a picture for each speaker, one character for 100 ms: # is speech, . is nothing. The
// frames hold the user's number.
func (s *scene) plays(pictures map[uint64]string) {
	n := 0
	for _, p := range pictures {
		n = max(n, len(p))
	}
	for i := range 5 * n {
		var batch []voice.Packet
		for user, p := range pictures {
			speaks := func(i int) bool { return i >= 0 && i/5 < len(p) && p[i/5] == '#' }
			switch at := time.Now().Add(-audio.Time); {
			case speaks(i):
				batch = append(batch, voice.Packet{User: user, SSRC: uint32(10 * user), At: at, Opus: []byte{byte(user)}})
			case !speaks(i-10) && speaks(i-11): // when a call notices the end
				batch = append(batch, voice.Packet{User: user, SSRC: uint32(10 * user), At: at.Add(-10 * audio.Time), Ends: true})
			}
		}
		s.mu.Lock()
		c := s.call
		s.mu.Unlock()
		if len(batch) > 0 {
			c.cfg.Heard(batch)
		}
		time.Sleep(audio.Time)
	}
	synctest.Wait()
}

// A coder makes a loud frame from each packet, and keeps what it was given.
type coder struct {
	heard func(uint32, *audio.Frame)
	made  chan made

	mu    sync.Mutex
	given []byte
}

// A made is a frame from a decoder.
type made struct {
	by uint32
	f  audio.Frame
}

func (c *coder) Decode(batch []codec.Packet) {
	for _, p := range batch {
		c.mu.Lock()
		c.given = append(c.given, p.Data...)
		c.mu.Unlock()
		f := audio.Frame{At: p.At, Voiced: true, Lost: uint16(p.Lost)}
		for i := range f.PCM {
			f.PCM[i] = 4000 * int16(1-2*(i/40&1))
		}
		f.PCM[0] = int16(p.Data[0])
		c.made <- made{p.Speaker, f}
	}
}

// takes returns how many packets of a user the coder was given so far.
func (c *coder) takes(user byte) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Count(c.given, []byte{user})
}

func (c *coder) Forget(uint32) {}

func (c *coder) Run(ctx context.Context) error {
	for {
		select {
		case m := <-c.made:
			c.heard(m.by, &m.f)
		case <-ctx.Done():
			return nil
		}
	}
}

// An ear understands the numbers in frames, and says so after a while.
type ear struct {
	from earshot.Handle
	room earshot.RoomID // the room that it was given
	c    Capture
	slow time.Duration
}

func (e *ear) Run(ctx context.Context, emit providers.Emit) error {
	h := hear.New(hear.DefaultConfig())
	heard := make(map[int16]int)
	say := func() {
		began, lasted, _ := h.Utterance()
		if e.slow > 0 {
			select {
			case <-time.After(e.slow):
			case <-ctx.Done():
				return
			}
		}
		_ = emit(ctx, earshot.Event{At: began, From: e.from, Via: string(e.room), Body: earshot.Utterance{Text: earshot.Text(fmt.Sprint(heard)), Lasted: lasted}})
		clear(heard)
	}
	open := false
	for f, err := range e.c.Frames(ctx) {
		if err != nil {
			if open {
				say()
			}
			return err
		}
		if f.Voiced {
			heard[f.PCM[0]]++
		}
		switch h.Step(f) {
		case hear.Began:
			_ = emit(ctx, earshot.Event{At: f.At, From: e.from, Body: earshot.Speech{Stage: earshot.VoiceBegan}})
			open = true
		case hear.End, hear.TooLong:
			say()
			open = false
		}
	}
	if open {
		_ = emit(context.WithoutCancel(ctx), earshot.Event{From: e.from, Body: earshot.Speech{Stage: earshot.VoiceOver}})
	}
	return ctx.Err()
}

// A mouth writes what it should say into the log.
type mouth struct {
	s    *scene
	room earshot.RoomID
}

func (m *mouth) Announce(_ context.Context, text earshot.Text) error {
	m.s.did("%s aloud: %s", m.room, string(text))
	return nil
}

func (m *mouth) Leave() { m.s.did("no voice in %s", m.room) }
