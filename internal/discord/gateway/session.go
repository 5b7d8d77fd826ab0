package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/supervise"
)

// home is the address of Discord's REST interface.
const home = "https://discord.com/"

// Config configures a session.
type Config struct {
	Token   field.Secret // of the bot, without the word "Bot"; never printed
	Intents discordgo.Intent

	// Shard says which part of the bot's guilds the session is for.
	Shard Shard

	// Base is the address of the REST interface; "" is https://discord.com/, tests have their own.
	// It gives the gateway's address.
	Base string

	// Events receives each event of the main gateway, in order, as discordgo's structs:
	// *discordgo.MessageCreate and so on; those without one, as *discordgo.Event; and *Lost. It may
	// block. It may be nil.
	Events func(event any)

	HTTP *http.Client // nil means http.DefaultClient
	Log  *slog.Logger // nil means none

	// Within is how long opening may take. If 0, 20 s.
	Within time.Duration
}

// A Shard is a part of a bot that is split into several, each with a session of its own. The zero value
// is all of it.
type Shard struct {
	Number, Of int // the number is from 0; guilds belong to shards by Discord's rule

	// Turn waits for the turn of the session to identify, and returns until when it can be used. Nil
	// means that there is no other session that might at the same time.
	Turn func(context.Context) (until time.Time, err error)
}

// A Lost marks where events were dropped because their receiver was slow.
type Lost struct {
	Messages int // messages and commands: REST still has them
	States   int // who is where, and what exists: it comes again by itself
	Minor    int // typing
}

func (l *Lost) add(o Lost) {
	l.Messages += o.Messages
	l.States += o.States
	l.Minor += o.Minor
}

// A Status is what people may want to know about a session.
type Status struct {
	Open      bool
	Since     time.Time     // when the state began
	Why       string        // why it is not open; empty while it opens for the first time
	RoundTrip time.Duration // of a heartbeat

	Identified, Resumed int   // how often it began anew, and how often it resumed
	Repeated            int64 // repeated events, which were ignored
	Lost                Lost  // in total
}

// A Session is one bot. Its methods may be called from any goroutine.
type Session struct {
	intents discordgo.Intent
	shard   Shard
	base    *url.URL
	token   func() string // a function, since a string would be printed with the session
	events  func(any)
	http    *http.Client // for websockets; knows no token
	rest    *http.Client // for REST; adds the token
	log     *slog.Logger
	within  time.Duration
	jitter  func() float64 // from 0 to 1
	limits  limits

	running sync.Mutex   // held by Run
	state   sessionState // owned by the goroutine of Run

	mu      sync.Mutex
	conn    *connection   // nil if it is not open
	changed chan struct{} // closed when conn or self changes
	self    uint64        // our number; 0 until it was open once
	calls   map[uint64]*callSlot
	coming  map[uint64]bool // guilds that READY named and that have not come yet
	status  Status
	outages supervise.Outages // decides what is reported of them
	steady  *time.Timer       // until the gateway is reported as back; nil if it was never lost

	inbox inbox
}

// New returns a session that does nothing until it runs. It panics if the base is not an address.
func New(cfg Config) *Session {
	base, err := url.Parse(cmp.Or(cfg.Base, home))
	if err != nil || base.Host == "" {
		panic("discord: Config.Base is not an address")
	}
	s := &Session{
		intents: cfg.Intents,
		shard:   cfg.Shard,
		base:    base,
		token:   func() string { return strings.TrimPrefix(strings.TrimSpace(cfg.Token.Reveal()), "Bot ") },
		events:  cfg.Events,
		http:    cmp.Or(cfg.HTTP, http.DefaultClient),
		log:     cmp.Or(cfg.Log, slog.New(slog.DiscardHandler)),
		within:  cmp.Or(cfg.Within, 20*time.Second),
		jitter:  rand.Float64,
		changed: make(chan struct{}),
		calls:   make(map[uint64]*callSlot),
		coming:  make(map[uint64]bool),
		status:  Status{Since: time.Now()},
		inbox:   inbox{queue: newQueue(), more: make(chan struct{}, 1)},
	}
	s.rest = client(s.http, s.base, s.token)
	return s
}

// Format prints a fixed text, for every verb: the contents change all the time.
func (s *Session) Format(f fmt.State, _ rune) { io.WriteString(f, "[discord session]") }

// Run opens the gateway and keeps it open until ctx ends, which is not an error, or until trying
// again is useless, which is a [*Fault]. It resumes where that is allowed. It returns only after
// all its goroutines have, so it waits for the receiver of events. It may be called again, but not
// twice at the same time.
func (s *Session) Run(ctx context.Context) error {
	if !s.running.TryLock() {
		panic("discord: a session runs twice")
	}
	defer s.running.Unlock()
	ctx, stop := context.WithCancel(ctx)
	handed := make(chan struct{})
	go func() {
		defer close(handed)
		s.deliver(ctx)
	}()
	defer func() {
		stop()
		<-handed
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.steady != nil {
			s.steady.Stop()
		}
	}()

	s.count(func(st *Status) { st.Why = "" })
	c := &s.state
	c.intents, c.jitter = s.intents, s.jitter
	c.forget() // the goodbye of the last run ended the resumable session
	for how := c.begin(time.Now()); ; {
		if how.fault != nil {
			return s.explain(ctx, how.fault)
		}
		if !Pause(ctx, how.wait) {
			return nil
		}
		e := s.attend(ctx, c, how)
		if ctx.Err() != nil {
			s.note("stopped")
			return nil
		}
		how = c.next(time.Now(), e)
		s.tell(e, how)
	}
}

// Pause waits for d, and returns false if ctx ended first.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}

// Status returns the status of the session.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.status
	if s.conn != nil {
		st.RoundTrip = time.Duration(s.conn.round.Load())
	}
	st.Lost = s.inbox.lostInTotal()
	return st
}

// opened records that conn is open, as the user self, or as the previous one.
func (s *Session) opened(conn *connection, self string, resumed bool) {
	s.mu.Lock()
	was := s.status.Why
	s.conn = conn
	s.status.Open, s.status.Why, s.status.Since = true, "", time.Now()
	if resumed {
		s.status.Resumed++
	} else {
		s.status.Identified++
		s.self = Number(self)
		for _, c := range s.calls {
			c.owed = c.wish.channel != 0
		}
	}
	s.change()
	s.mu.Unlock()
	s.inbox.fresh(!resumed)
	if was != "" {
		s.log.Debug("discord gateway is open", "resumed", resumed)
		if n := (earshot.Notice{Key: "gateway", Text: "discord gateway is back", Over: true}); s.outage(n) {
			s.log.Info(n.Text)
		}
	}
}

// outage records that the gateway is lost, or back, and reports whether that is reported at once.
// A connection that comes and goes is reported by the rules of [supervise.Outages].
func (s *Session) outage(n earshot.Notice) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outages.Change(time.Now(), n) {
		return true
	}
	if s.steady != nil {
		s.steady.Stop()
	}
	if at := s.outages.Next(); !at.IsZero() {
		s.steady = time.AfterFunc(time.Until(at), s.settles)
	}
	return false
}

// settles reports that the gateway is back, if it still is.
func (s *Session) settles() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.outages.Steady(time.Now()) {
		s.log.Info(n.Text)
	}
}

// closed records that conn has ended.
func (s *Session) closed(conn *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == conn {
		s.conn = nil
		s.change()
	}
}

// change wakes everybody who waits for another connection. The caller holds the lock.
func (s *Session) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// open waits for an open connection.
func (s *Session) open(ctx context.Context, but *connection) (*connection, uint64, error) {
	for {
		s.mu.Lock()
		conn, self, changed := s.conn, s.self, s.changed
		s.mu.Unlock()
		if conn != nil && conn != but {
			return conn, self, nil
		}
		select {
		case <-ctx.Done():
			return nil, 0, fmt.Errorf("waiting for the gateway: %w", ctx.Err())
		case <-changed:
		}
	}
}

// tell reports once that the gateway is lost, and counts.
func (s *Session) tell(e disconnection, how step) {
	text := e.cause.String()
	if e.err != nil {
		text = s.clean(e.err)
	}
	first := s.note(text)
	if first && how.fault == nil && s.outage(earshot.Notice{Key: "gateway", Text: "lost"}) {
		s.log.Warn("discord gateway is lost", "cause", e.cause.String(), "err", text, "wait", how.wait, "resume", how.resume)
		return
	}
	s.log.Debug("discord gateway is still lost", "cause", e.cause.String(), "err", text, "wait", how.wait, "resume", how.resume)
}

// note records why the session is not open, and reports whether it was until now.
func (s *Session) note(why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.status.Why == ""
	if s.status.Open {
		s.status.Open, s.status.Since = false, time.Now()
	}
	s.status.Why = why
	return first
}

// count changes the status.
func (s *Session) count(change func(*Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.status)
}

// clean returns the text of an error without the token, which a server's error could repeat.
func (s *Session) clean(err error) string {
	text := err.Error()
	if token := s.token(); token != "" {
		text = strings.ReplaceAll(text, token, "[secret]")
	}
	return text
}

// A Fault is what keeps a session from being open, with its cure.
type Fault struct {
	Code int // of the websocket or of HTTP
	What string
	Fix  string
}

func (f *Fault) Error() string { return f.What + "; " + f.Fix }

// Cure returns what to do about it.
func (f *Fault) Cure() string { return f.Fix }

// Is says that a restart does not help: each attempt costs one of the 1,000 session starts of the
// day.
func (f *Fault) Is(target error) bool { return target == errors.ErrUnsupported }
