// Package client is a satellite: the microphone and the loudspeaker of this machine, and its camera if
// that is wanted, for the hub.
//
// It captures through earshot-sound and sends what is heard around voices, as Opus made by
// earshot-speech; what the hub plays, and the controls, it passes on between the hub and
// earshot-sound, so that credit and positions are those of the device. When the connection is lost,
// what is being played is cut at once, and what is being said is kept for the next session. What is
// muted is closed, and nothing that the hub sends opens it.
//
// What happens when a reader is slow: captured frames wait for the encoder for [sound.Late], packets
// for the hub for half a minute; then the oldest are dropped and counted. Played sound waits for
// credit, at the hub. Pictures wait for their pace; when the bus takes nothing, the camera is closed, and the
// hub opens it anew.
package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/internal/supervise"
	"earshot/models/stt"
	"earshot/satellite"
)

// A Config is what a [Client] is made of.
type Config struct {
	ID    string
	Build string        // of this program, for people at the hub
	Sound helper.Dialer // starts earshot-sound
	Media helper.Dialer // starts the media role of earshot-speech

	// Connect connects to the bus. It is called until it returns one, which stays the caller's.
	Connect func(context.Context) (bus.Bus, error)

	Microphone, Loudspeaker string  // devices; empty are the system's defaults
	Camera                  *Camera // nil if nobody may watch
	Muted                   bool    // at first

	// Wake says that no sound leaves this machine until a name of the hub's agents was said. Spotter makes
	// what seeks it, and calls called; if nil, the recogniser seeks it.
	Wake    bool
	Spotter func(names []string, called func()) Recogniser

	// Recogniser, if set, makes what recognises speech here, for the hub.
	Recogniser func(names []string, called func()) Recogniser

	// Notice is told of what fails here, and when it is over; Changed of the status, when that is
	// another. Neither may wait, or call the client.
	Notice  func(earshot.Notice)
	Changed func(Status)
}

// A Recogniser is one of models/stt.
type Recogniser interface {
	Run(ctx context.Context) error
	Loaded() bool
	Spot(f *audio.Frame)
	Begin(on func(stt.Result)) *stt.Session
}

// A Microphone is the state of the microphone.
type Microphone string

// The states of the microphone.
const (
	Listening Microphone = "listening"
	Waiting   Microphone = "waiting" // for a name; no sound leaves
	Muted     Microphone = "muted"   // somebody here has closed it
	Paused    Microphone = "paused"  // the hub has not opened it
	Missing   Microphone = "missing" // it cannot be opened
)

// A Status is how a satellite is, for people.
type Status struct {
	Connected  bool        `json:"connected"`
	Since      time.Time   `json:"since"`          // when it was connected, or lost
	Why        string      `json:"why,omitempty"`  // it is not connected
	Cure       string      `json:"cure,omitempty"` // of that
	Room       string      `json:"room,omitempty"` // that the hub has put it into
	Microphone Microphone  `json:"microphone"`
	Camera     CameraState `json:"camera,omitempty"`
}

// The reasons for which a session ends.
var (
	errSilent       = errors.New("the hub does not answer")
	errDisconnected = errors.New("the connection was lost")
	errEnded        = errors.New("the hub has ended the session")
	errDevice       = errors.New("the sound card was lost")
	errNext         = errors.New("another session begins") // with another device
)

// The keys of what fails.
const (
	cardKey        = "sound card"
	microphoneKey  = "microphone"
	loudspeakerKey = "loudspeaker"
	cameraKey      = "camera"
)

const (
	// joining is how long the hub may take to answer who joins.
	joining = 5 * time.Second

	// askAgain is after how long the request is repeated meanwhile: of several daemons the one that has the
	// room answers, and it may be about to change. It is doubled after each session that was not to be had, since
	// an answer may take longer on its way.
	askAgain = 500 * time.Millisecond
)

// A Client is a satellite. Its methods may be called from any goroutine.
type Client struct {
	cfg     Config
	encoder *encoder
	wanted  chan struct{} // closed when the hub first opens the microphone
	want    func()        // closes it
	old     atomic.Int64  // messages of other sessions
	process string        // a random name of it

	// The following belong to the goroutine that joins.
	bus   bus.Bus       // nil until it is connected
	again time.Duration // after which it asks again

	mu      sync.Mutex
	status  Status
	muted   bool
	unable  *sound.Fault      // why no microphone can be opened; nil if one can
	missing map[string]bool   // devices that could not be opened
	session *session          // nil while there is none
	device  *device           // nil while there is none
	mic     *capture          // nil while it is closed
	heard   numbers           // of the microphone, or of the last one
	last    chan struct{}     // closed when the last capture is over
	output  uint32            // the number of the loudspeaker
	fenced  satellite.Welcome // the last, if several daemons share the room
	playing uint32            // the number of the last speech
	unwatch func()            // closes the camera
	closed  <-chan struct{}   // closed when the camera is
	away    error             // why the bus is away, if somebody knows
	watched int               // cameras that are open; one is, at most
	kept    satellite.Keep    // of what was played, for the next hub
	box     outbox

	recognition
}

// New returns a satellite that does nothing until it runs.
func New(cfg Config) *Client {
	c := &Client{process: rand.Text(), cfg: cfg, muted: cfg.Muted, encoder: newEncoder(cfg.Media), wanted: make(chan struct{}), missing: make(map[string]bool), again: askAgain}
	c.want = sync.OnceFunc(func() { close(c.wanted) })
	none := make(chan struct{})
	close(none)
	c.unwatch, c.closed = func() {}, none
	return c
}

// Run runs the satellite until ctx ends. It must be called once.
func (c *Client) Run(ctx context.Context) {
	c.change(func() { c.status.Since = time.Now() })
	var parts sync.WaitGroup
	defer parts.Wait()
	run := func(name string, run func(context.Context) error, cfg supervise.Config) {
		if err := supervise.Run(ctx, name, run, cfg); err != nil {
			c.change(func() {
				f := faultOf(err)
				c.unable = &f
				c.refuse(f)
			})
		}
	}
	parts.Go(func() { run(cardKey, c.runDevices, supervise.Config{Report: c.cfg.Notice}) })
	parts.Go(func() {
		select {
		case <-c.wanted:
			run("encoding of sound", c.encoder.Run, supervise.Config{Report: c.cfg.Notice})
		case <-ctx.Done():
		}
	})
	run("connection", c.join, supervise.Config{Most: 10 * time.Second})
}

// Mute closes the microphone and the camera, whatever the hub says, or lets the hub open them.
func (c *Client) Mute(on bool) {
	c.change(func() {
		if c.muted == on {
			return
		}
		c.muted = on
		c.sayState()
		if on {
			c.unwatch()
			c.refuse(c.mutedFault())
		}
	})
}

// Muted reports whether the microphone is muted.
func (c *Client) Muted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.muted
}

// Away tells the client why the bus is away, which people see until it is there again.
func (c *Client) Away(why error) {
	c.change(func() {
		if c.away = why; !c.status.Connected {
			c.status.Why, c.status.Cure = earshot.Explain(why)
		}
	})
}

// Dropped returns how many packets were dropped, since the hub was away for too long.
func (c *Client) Dropped() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.box.dropped
}

func (c *Client) mutedFault() sound.Fault {
	return sound.Fault{Text: fmt.Sprintf("the microphone of satellite %s is muted there", c.cfg.ID), Fix: "unmute it there: press m, or start it without --muted"}
}

// change changes the client, and tells of its status if that is another.
func (c *Client) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.status
	f()
	if c.status.Microphone, c.status.Camera = c.microphone(), c.camera(); c.status != before && c.cfg.Changed != nil {
		c.cfg.Changed(c.status)
	}
}

// microphone returns the state of the microphone.
func (c *Client) microphone() Microphone {
	switch {
	case c.muted:
		return Muted
	case c.mic != nil && c.mic.name != "" && c.cfg.Wake && !c.mic.busy:
		return Waiting
	case c.mic != nil && c.mic.name != "":
		return Listening
	case c.unable != nil, c.missing[microphoneKey], c.missing[cardKey]:
		return Missing
	}
	return Paused
}

// join is one session, from asking for it to its end. When the hub ends it, since another has the room, the
// next one follows without a pause.
func (c *Client) join(ctx context.Context) error {
	for {
		began := time.Now()
		err := c.joined(ctx)
		if err == nil {
			err = errSilent
		}
		if ctx.Err() != nil {
			return nil // nobody wants to know
		}
		c.change(func() {
			if c.status.Connected {
				c.status = Status{Since: time.Now()}
			}
			if c.away != nil && errors.Is(err, errDisconnected) {
				err = c.away
			}
			c.status.Why, c.status.Cure = earshot.Explain(err)
		})
		if !errors.Is(err, errEnded) || time.Since(began) < satellite.ClockEvery {
			return err
		}
	}
}

func (c *Client) joined(ctx context.Context) error {
	if c.bus == nil {
		b, err := c.cfg.Connect(ctx)
		if err != nil {
			return err
		}
		c.bus = b
	}
	if !c.connected(ctx, true) {
		return context.Cause(ctx)
	}
	welcome, err := c.ask(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	conn, err := satellite.Open(ctx, c.bus, c.cfg.ID, welcome.Session, &c.old)
	if err != nil {
		return err
	}
	defer conn.Close()
	var parts sync.WaitGroup
	defer parts.Wait()
	s := &session{stop: stop, start: starter(ctx, &parts), silence: time.AfterFunc(satellite.Silence, func() { stop(errSilent) })}
	defer s.silence.Stop()
	defer stop(nil)
	parts.Go(func() {
		if c.connected(ctx, false) {
			stop(errDisconnected)
		}
	})
	recogniser, spotter := c.newRecogniser(c.cfg.Recogniser, welcome.Names), c.newRecogniser(c.cfg.Spotter, welcome.Names)
	for name, r := range map[string]Recogniser{"recognition": recogniser, "noticing of names": spotter} {
		if r != nil {
			parts.Go(func() { _ = supervise.Run(ctx, name, r.Run, supervise.Config{Report: c.cfg.Notice}) }) // it was told of
		}
	}
	err = helper.Serve(ctx, "satellite", conn.Conn, func(ctx context.Context, server *helper.Server) error {
		s.server = server
		c.change(func() { c.begin(s, welcome, recogniser, spotter) })
		defer c.change(c.end)
		var sounds sync.WaitGroup
		defer sounds.Wait()
		sounds.Go(func() { _ = server.Sounds(c.hubSound) }) // ends with the controls
		return server.Controls(func(m helper.Control) (err error) {
			c.change(func() { err = c.hubControl(s, m) })
			return err
		})
	})
	if why := context.Cause(ctx); why != nil {
		return why
	}
	return err
}

// connected waits until the bus is connected, or is not; it reports false if ctx ends before that.
func (c *Client) connected(ctx context.Context, is bool) bool {
	for {
		now, changed := c.bus.Connected()
		if now == is {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// ask asks the hub for a session.
func (c *Client) ask(ctx context.Context) (w satellite.Welcome, err error) {
	ctx, stop := context.WithTimeoutCause(ctx, joining, errSilent)
	defer stop()
	c.mu.Lock()
	request, err := json.Marshal(satellite.Join{Version: satellite.Version, Build: c.cfg.Build, Muted: c.muted, Camera: c.cfg.Camera != nil, Keep: &c.kept, Process: c.process})
	c.mu.Unlock()
	if err != nil {
		return w, err
	}
	var answer []byte
	for again := true; again; {
		bounded, stop := context.WithTimeout(ctx, c.again)
		answer, err = c.bus.Request(bounded, satellite.JoinSubject(c.cfg.ID), request)
		again = err != nil && bounded.Err() != nil && ctx.Err() == nil
		stop()
	}
	switch {
	case errors.Is(err, errSilent):
		c.again = min(2*c.again, joining)
	case err == nil:
		c.again = askAgain
	}
	switch {
	case errors.Is(err, bus.ErrNobody):
		return w, errors.New("no earshot that has satellites is on the bus")
	case err != nil:
		if is, _ := c.bus.Connected(); !is {
			return w, errDisconnected // which says more than how a request fails then
		}
		return w, fmt.Errorf("asking the hub to join: %w", err)
	case json.Unmarshal(answer, &w) != nil:
		return w, errors.New("the answer of the hub cannot be read; update earshot on both machines")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.Fence > 0 && w.Room == c.fenced.Room && w.Fence < c.fenced.Fence {
		c.old.Add(1)
		return w, errors.New("it was answered by a daemon that has lost the room to another one")
	}
	if err = w.Err(); err == nil {
		c.fenced = w
	}
	return w, err
}

// newRecogniser returns what by makes, or nil if nothing does.
func (c *Client) newRecogniser(by func([]string, func()) Recogniser, names []string) Recogniser {
	if by == nil || len(names) == 0 {
		return nil
	}
	return by(names, func() { c.change(func() { c.open(asked) }) })
}
