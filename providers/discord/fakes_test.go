package discord_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/interaction"
	"earshot/internal/discord/roster"
	"earshot/internal/field"
	"earshot/internal/testkit"
	"earshot/providers/discord"
)

const patience = 15 * time.Second

// A house takes what the sense brings, as the real one does: it opens rooms, makes names unique,
// and takes an event with an ID only once.
type house struct {
	mu     sync.Mutex
	rooms  map[earshot.RoomID]roster.Place
	people map[earshot.Handle]roster.Person
	events []earshot.Event
	done   []earshot.Event // commands
	known  map[earshot.EventID]bool
	told   []earshot.Notice
	answer string
	err    error
	past   []roster.Past
}

func newHouse() *house {
	return &house{
		rooms: make(map[earshot.RoomID]roster.Place), people: make(map[earshot.Handle]roster.Person),
		known: make(map[earshot.EventID]bool), answer: "done",
	}
}

func (h *house) Room(_ context.Context, c roster.Place) (earshot.RoomID, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rooms[c.Room()] = c
	return c.Room(), nil
}

func (h *house) Past(context.Context) ([]roster.Past, error) { return h.past, nil }

func (h *house) Arrive(_ context.Context, who earshot.Handle, p roster.Person) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.people[who]; p.IfKnown && !known {
		return "", nil
	}
	h.people[who] = p
	return p.Name + "*", nil // the registry's name for somebody differs from their own
}

func (h *house) Do(_ context.Context, e earshot.Event) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = append(h.done, e)
	return h.answer, h.err
}

func (h *house) emit(_ context.Context, e earshot.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, open := h.rooms[e.Room]; !open {
		return errors.New("no such room")
	}
	if e.ID != "" && h.known[e.ID] {
		return nil
	}
	h.known[e.ID] = true
	h.events = append(h.events, e)
	return nil
}

func (h *house) tell(n earshot.Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, n)
}

// remembers makes the house look restarted: as its past it has the messages of before.
func (h *house) remembers() {
	h.mu.Lock()
	defer h.mu.Unlock()
	of := make(map[earshot.RoomID]*roster.Past)
	for _, e := range h.events {
		if e.Body.Kind() != earshot.KindMessage {
			continue
		}
		if of[e.Room] == nil {
			c := h.rooms[e.Room]
			of[e.Room] = &roster.Past{Channel: c.ID, With: c.With}
			if c.Private() {
				of[e.Room].Channel = 0 // not kept for direct messages
			}
		}
		of[e.Room].Written = append(of[e.Room].Written, roster.Written{Event: e.ID})
	}
	h.past, h.events = nil, nil
	clear(h.rooms)
	for _, p := range of {
		h.past = append(h.past, *p)
	}
}

// said returns the events of one kind, in one room or, for "", in all.
func (h *house) said(room earshot.RoomID, kind earshot.Kind) (all []earshot.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if (room == "" || e.Room == room) && e.Body.Kind() == kind {
			all = append(all, e)
		}
	}
	return all
}

// texts returns the messages written in a room.
func (h *house) texts(room earshot.RoomID) (all []string) {
	for _, e := range h.said(room, earshot.KindMessage) {
		all = append(all, string(e.Body.(earshot.Message).Text))
	}
	return all
}

// A scene is a sense on a test Discord of its own.
type scene struct {
	*discordtest.Server
	house    *house
	bot      discordtest.User
	ann      discordtest.User
	general  uint64
	intents  discordgo.Intent
	down     atomic.Bool                         // answers to commands do not get through
	answered atomic.Pointer[func(*http.Request)] // called with each request that Discord has answered, if set
	log      record
	session  *gateway.Session
	stop     func() error
}

// A record collects the log.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

var offers = []interaction.Command{{Name: "who", Help: "who is here"}, {Name: "join", Args: "[CHANNEL]", Help: "come into a voice channel"}, {Name: earshot.OwnWords, Args: "QUESTION", Help: "ask with your words alone"}}

// RoundTrip implements [http.RoundTripper]. It loses answers to interactions while s.down is set.
func (s *scene) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.down.Load() && strings.Contains(r.URL.Path, "/interactions/") {
		return nil, errors.New("the line is down")
	}
	answer, err := s.HTTP().Transport.RoundTrip(r)
	if f := s.answered.Load(); f != nil {
		(*f)(r)
	}
	return answer, err
}

// set makes a Discord without starting a sense on it.
func set(t *testing.T) *scene {
	t.Helper()
	s := &scene{Server: discordtest.New(t, discordtest.Config{}), house: newHouse(), intents: discord.Intents(config())}
	s.bot, s.ann = s.Bot("earshot"), s.AddUser(discordtest.User{Name: "ann", Human: true})
	s.general = s.Channel("general").ID
	return s
}

// play runs a sense until the test ends, or stop is called.
func (s *scene) play(t *testing.T, cfg discord.Config) {
	t.Helper()
	var sense *discord.Sense
	s.session = gateway.New(gateway.Config{
		Token: field.Secret(s.bot.Token), Intents: s.intents, Base: s.Base(), HTTP: &http.Client{Transport: s}, Events: func(e any) { sense.Take(e) },
	})
	sense = discord.New(cfg, discord.Parts{
		Session: s.session, House: s.house, Agent: func() string { return "Robin" }, Commands: offers, Tell: s.house.tell,
		Log: slog.New(slog.NewTextHandler(&s.log, nil)),
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- sense.Run(ctx, s.house.emit) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return testkit.Receive(t, testkit.Patience, "the end of the sense", ended)
	})
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
	await(t, "the guild", func() bool {
		return s.session.Status().Open && (len(cfg.Guilds) > 0 || slices.ContainsFunc(s.Requests(), func(r string) bool { return strings.HasSuffix(r, "/commands") && strings.Contains(r, "/guilds/") }))
	})
}

// begin calls set and play.
func begin(t *testing.T, cfg discord.Config) *scene {
	t.Helper()
	s := set(t)
	s.play(t, cfg)
	return s
}

// settle returns when everything that has happened so far was taken in: it presses a button, and
// waits for the answer to that.
func (s *scene) settle(t *testing.T) {
	t.Helper()
	last := s.Press(s.ann.ID, s.bot.ID, s.general)
	await(t, "the last of it", func() bool { return len(s.Interaction(last).Answers) == 1 })
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	testkit.Await(t, patience, what, ok)
}

func config() discord.Config {
	cfg := discord.DefaultConfig()
	cfg.Enabled = true
	return cfg
}

func dump(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

// offered waits until the commands are registered.
func (s *scene) offered(t *testing.T) {
	t.Helper()
	await(t, "the commands to be offered", func() bool { return registered(s) == 2 })
}
