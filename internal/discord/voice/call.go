package voice

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A Packet is what one speaker said in 20 ms, the usual length.
type Packet struct {
	User uint64    // who; a packet of an unknown speaker is not delivered
	SSRC uint32    // the stream it came by
	At   time.Time // when it was due: 20 ms after the previous one, while somebody speaks
	Lost int       // how many before it are missing; silence replaces them
	Opus []byte    // one packet of Opus, valid until the batch is taken; empty if it only ends
	Ends bool      // the speaker has stopped: nothing follows for a while
}

// A Place is a channel of a guild and our user there, by Discord's numbers.
type Place struct{ Guild, Channel, Self uint64 }

// A Line is what a call needs of the main gateway.
type Line interface {
	// Move asks to be in a channel, or in none if it is 0.
	Move(ctx context.Context, guild, channel uint64, mute, deaf bool) error
}

// An Absent is a line that knows whether the main gateway is away. A client whose main gateway is
// lost for good is disconnected as for a move, and let in again when it is back: a call waits for
// that, for a minute. It is optional.
type Absent interface{ Away() bool }

// Config configures a call.
type Config struct {
	Place Place
	Line  Line

	// Heard receives a batch every 20 ms in which somebody speaks. It must not block.
	Heard func(batch []Packet)

	// Changed is called after each change of the status, except of its numbers, within 20 ms. It
	// must not block. It may be nil.
	Changed func(Status)

	// Encrypted ends the call, with the code [Plain], before anything is said or heard in it that
	// is not encrypted end to end.
	Encrypted bool

	// HTTP opens websockets; nil means http.DefaultClient. Tests have their own certificates.
	HTTP *http.Client

	Log *slog.Logger
}

const (
	answerWithin = 15 * time.Second // of the main gateway, to a request to join a channel
	moveWithin   = 5 * time.Second  // after a connection was closed as for a move
	serverWithin = 30 * time.Second // after a voice server was announced
	leaveWithin  = 2 * time.Second
	asks         = 3  // without an answer, once a call has been open
	waits        = 12 // for a move, while the main gateway is away: a minute
	wellAfter    = 30 * time.Second
	longestPause = 30 * time.Second // between attempts
	longestFrame = 1275             // bytes of an Opus frame (RFC 6716 §3.2.1)
)

var (
	errDeaf  = errors.New("voice: nothing can be heard")
	errMoved = errors.New("voice: there are new credentials")
	errOver  = errors.New("voice: the call is over")
)

// A Call is the agent in one voice channel. Its methods may be called from any
// goroutine.
type Call struct {
	cfg Config

	// connect runs a link; tests replace it.
	connect func(context.Context, *link) error

	dirty atomic.Bool // the status may have changed since it was reported

	mu            sync.Mutex
	ticketBuilder ticketBuilder
	news          chan struct{} // closed and replaced when the ticketBuilder changes
	over          chan struct{} // closed when Run has ended
	phase         string
	deaf          string
	live          *media
	link          *link
	past          counts // of sessions that are over
	stats         struct {
		held              int64
		resumed, rejoined int
		trip              time.Duration
		waited            [steps]float64
	}
	ending batch // of speakers of a session that is over

	schedule *schedule
	room     chan struct{} // closed and replaced when a frame has left

	leaving sync.Mutex // held while a frame leaves; taken before mu

	guard watchdog
}

// New returns a call that does nothing until it runs, once.
func New(cfg Config) *Call {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Heard == nil {
		cfg.Heard = func([]Packet) {}
	}
	return &Call{
		cfg: cfg, connect: func(ctx context.Context, l *link) error { return l.run(ctx) },
		news: make(chan struct{}), over: make(chan struct{}), room: make(chan struct{}),
		schedule: newSchedule(time.Now()), phase: "joining",
	}
}

// Run joins and stays until ctx ends, which leaves the channel and is not an error; or until it
// ends otherwise, with an [*Ended]. It returns only after all its goroutines have.
func (c *Call) Run(ctx context.Context) error {
	within, stop := context.WithCancel(context.WithoutCancel(ctx))
	var loops sync.WaitGroup
	loops.Go(func() { c.speak(within) })
	loops.Go(func() { c.listen(within) })
	err := c.stay(ctx)
	c.mu.Lock()
	c.phase = "left"
	c.dirty.Store(true)
	c.mu.Unlock()
	stop() // only now: the speakers at the end of the session must be reported
	loops.Wait()
	close(c.over)

	if known, _ := c.tickets(); !known.gone {
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
		defer cancel()
		if err := c.cfg.Line.Move(leaving, c.cfg.Place.Guild, 0, false, false); err != nil {
			c.cfg.Log.Warn("voice channel not left in order", "err", err)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// A callState is what a call keeps from one connection to the next.
type callState struct {
	do     action // next
	code   int    // of the last close
	fails  int    // failed connections in a row
	asked  int    // requests in a row without an answer
	been   bool   // the call was ever open
	ticket ticket
	serial int // of the ticket

	session *media
	seq     int64 // of the session: up to which message we have received
}

// stay keeps a session with a voice server.
func (c *Call) stay(ctx context.Context) error {
	v := callState{do: ask}
	defer func() { c.retire(v.session) }() // whichever is the last
	for {
		if v.do != continued {
			c.retire(v.session)
			v.session, v.seq = nil, -1
		}
		in, err := c.admit(ctx, &v)
		if err != nil {
			return err
		}
		if !in {
			continue
		}
		if v.session == nil {
			v.session = newMedia(c.cfg.Place.Self, v.ticket.channel)
			c.enter(v.session)
		}
		began := time.Now()
		up, err := c.follow(ctx, &v)
		if err := c.judge(ctx, &v, up && time.Since(began) >= wellAfter, err); err != nil {
			return err
		}
	}
}

// admit gets the ticket for the next action. It returns false if another action is needed first.
func (c *Call) admit(ctx context.Context, v *callState) (in bool, err error) {
	switch v.do {
	case ask:
		v.ticket, v.serial, err = c.ask(ctx)
	case await:
		within := moveWithin
		if known, _ := c.tickets(); known.promised {
			within = serverWithin
		}
		v.ticket, v.serial, err = c.await(ctx, v.serial, within)
	}
	known, _ := c.tickets()
	late := errors.Is(err, errLate)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err == nil:
		v.asked = 0
		return true, nil
	case errors.As(err, new(*Ended)):
		return false, err
	case late && v.do == await && known.promised:
		v.do = ask
		return false, nil
	case late && v.do == await && c.away():
		if v.asked++; v.asked > waits {
			return false, unanswered(v.been, err)
		}
		return false, nil
	case late && v.do == await:
		return false, ended(v.code)
	}
	// Nobody answers, or the main gateway is away.
	v.asked++
	if !v.been || v.asked >= asks && late {
		return false, unanswered(v.been, err)
	}
	v.do = ask
	return false, rest(ctx, v.asked)
}

// judge decides what to do after a connection has ended with an error, and waits as long as is
// polite. Well says that the connection was open for a while.
func (c *Call) judge(ctx context.Context, v *callState, well bool, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errMoved):
	case well:
		v.fails = 1
	default:
		v.fails++
	}
	v.do, v.code = next(err, v.session.ready.Load(), v.fails)
	switch known, _ := c.tickets(); {
	case known.serial > v.serial, known.gone:
		v.do = await // it has come already
	case v.do == end:
		over := ended(v.code)
		over.Channel = v.ticket.channel // it may have been moved there
		return over
	case !v.been && v.fails >= 2*tries:
		return &Ended{Code: v.code, Why: "Discord's voice server cannot be reached: " + err.Error()}
	}
	c.lost(v.do, err)
	if v.fails > 1 && v.do != await {
		return rest(ctx, v.fails-1)
	}
	return nil
}

// next decides what to do after a connection has ended with an error.
func next(err error, resumable bool, fails int) (action, int) {
	var by *closed
	switch {
	case errors.Is(err, errMoved):
		return await, 0
	case errors.Is(err, errDeaf), errors.Is(err, errSpent):
		return ask, 0
	case errors.As(err, &by):
		return after(by.code, resumable, fails), by.code
	}
	return after(0, resumable, fails), 0
}

// follow runs a link until it ends, or until there are newer credentials, and reports whether it
// opened the session.
func (c *Call) follow(ctx context.Context, v *callState) (up bool, err error) {
	l := newLink(Place{c.cfg.Place.Guild, v.ticket.channel, c.cfg.Place.Self}, v.ticket, v.session, v.seq, v.do == continued)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.http, l.log, l.encrypted = c.cfg.HTTP, c.cfg.Log, c.cfg.Encrypted
	l.changed = func() { c.dirty.Store(true) }
	l.speaks = c.announced
	l.up = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		up = true
		c.phase = "in the call"
		if l.resume {
			c.stats.resumed++
		}
		c.dirty.Store(true)
	}
	c.mu.Lock()
	c.link = l
	if !l.resume {
		c.phase = "connecting"
	}
	c.dirty.Store(true)
	c.mu.Unlock()

	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			known, news := c.tickets()
			if known.serial != v.serial || known.gone {
				stop(errMoved)
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-news:
			}
		}
	})
	err = c.connect(ctx, l)
	if moved := context.Cause(ctx); errors.Is(moved, errMoved) {
		err = moved
	}
	stop(nil)
	watch.Wait()

	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = nil
	c.stats.trip = l.roundTrip()
	v.seq = l.seq.Load()
	v.been = v.been || up
	return up, err
}

// ask requests to join the channel, and waits for the answer of the main gateway.
func (c *Call) ask(ctx context.Context) (ticket, int, error) {
	c.mu.Lock()
	c.ticketBuilder.ask()
	serial, channel := c.ticketBuilder.serial, c.ticketBuilder.channel
	c.mu.Unlock()
	if channel == 0 {
		channel = c.cfg.Place.Channel
	}
	asking, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := c.cfg.Line.Move(asking, c.cfg.Place.Guild, channel, false, false); err != nil {
		return ticket{}, 0, fmt.Errorf("asking to be in the voice channel: %w", err)
	}
	return c.await(ctx, serial, answerWithin)
}

// await waits for a ticket that is newer.
func (c *Call) await(ctx context.Context, serial int, within time.Duration) (ticket, int, error) {
	late := time.NewTimer(within)
	defer late.Stop()
	for {
		known, news := c.tickets()
		if known.gone {
			return ticket{}, serial, ended(4014)
		}
		if t, ok := known.ticket(); ok && known.serial > serial {
			return t, known.serial, nil
		}
		select {
		case <-ctx.Done():
			return ticket{}, serial, ctx.Err()
		case <-late.C:
			return ticket{}, serial, errLate
		case <-news:
		}
	}
}

// tickets returns what is known of tickets, and a channel that is closed when that changes.
func (c *Call) tickets() (known ticketBuilder, news <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ticketBuilder, c.news
}

// away reports whether the main gateway is known to be away.
func (c *Call) away() bool {
	l, ok := c.cfg.Line.(Absent)
	return ok && l.Away()
}

// unanswered is the end of a call that nobody lets us into.
func unanswered(been bool, err error) error {
	switch {
	case !errors.Is(err, errLate):
		return &Ended{Code: 0, Why: "the bot could not ask for the voice channel: " + err.Error()}
	case been:
		return &Ended{Code: 0, Why: "Discord does not answer the request to rejoin the voice channel; ask the bot to join again"}
	}
	return &Ended{Code: 0, Why: "Discord did not let the bot into the voice channel: it may lack the right to view it or to connect, or the channel is full or gone"}
}

// rest waits before another attempt: 1 s, 2 s, 4 s and so on, give or take a quarter.
func rest(ctx context.Context, attempt int) error {
	pause := min(longestPause, time.Second<<min(attempt-1, 10))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(float64(pause) * (0.75 + rand.Float64()/2))):
		return nil
	}
}

// enter makes a session the current one.
func (c *Call) enter(m *media) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live = m
	c.guard.quiet()
	c.dirty.Store(true)
}

// retire ends a session. Its speakers have stopped.
func (c *Call) retire(m *media) {
	if m == nil {
		return
	}
	m.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live, c.deaf = nil, ""
	m.finish(time.Now(), &c.ending)
	c.past.add(m.counts(&c.stats.waited))
	c.dirty.Store(true)
}

// lost records that a connection has ended.
func (c *Call) lost(do action, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if do != continued {
		c.stats.rejoined++
	}
	switch {
	case errors.Is(err, errMoved):
		c.phase = "joining"
	default:
		c.phase = "lost: " + err.Error()
		c.cfg.Log.Warn("voice connection lost", "err", err, "then", do)
	}
	c.dirty.Store(true)
}

// State handles our own VOICE_STATE_UPDATE: our channel, 0 for none, and the session's name.
// Server handles a VOICE_SERVER_UPDATE; an empty endpoint means that another will come. Neither
// blocks.
func (c *Call) State(channel uint64, session string) {
	c.learn(func(now time.Time) bool { return c.ticketBuilder.state(now, channel, session) })
}

func (c *Call) Server(token, endpoint string) {
	c.learn(func(now time.Time) bool { return c.ticketBuilder.server(now, token, endpoint) })
}

func (c *Call) learn(change func(now time.Time) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if change(time.Now()) {
		close(c.news)
		c.news = make(chan struct{})
		c.dirty.Store(true)
	}
}

// Say queues one Opus frame of 20 ms, and waits until there is room: at most 200 ms are ahead.
// While frames may not leave, they wait. Five frames of silence follow when Say is not called in
// time.
func (c *Call) Say(ctx context.Context, opus []byte) error {
	if len(opus) == 0 || len(opus) > longestFrame {
		return fmt.Errorf("voice: a frame of %d bytes", len(opus))
	}
	for {
		select {
		case <-c.over:
			return errOver
		default:
		}
		c.mu.Lock()
		ok, room := c.schedule.say(opus), c.room
		c.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.over:
			return errOver
		case <-room:
		}
	}
}

// Hush drops the frames that have not left, and returns how many: none of them will leave any
// more, and [Call.Sent] does not change. Five frames of silence follow.
func (c *Call) Hush() (dropped int) {
	c.leaving.Lock()
	defer c.leaving.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stir()
	return c.schedule.hush()
}

// stir wakes everybody who waits for frames to leave; c.mu is held.
func (c *Call) stir() {
	close(c.room)
	c.room = make(chan struct{})
}

// Sent returns how many frames have left: the position of what is being heard.
func (c *Call) Sent() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.schedule.sent
}

// Moved returns a channel that is closed when the next frame has left or was dropped.
func (c *Call) Moved() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.room
}

// Over returns a channel that is closed when Run has ended.
func (c *Call) Over() <-chan struct{} { return c.over }

// An Ended call has ended in a way that a retry does not help.
type Ended struct {
	Code int    // of the websocket, or [Plain], or 0
	Why  string // for a person, with the cure

	Channel uint64 // of the last connection, if there was one
}

func (e *Ended) Error() string { return e.Why }
