package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/mailbox"
	"earshot/internal/sound"
	"earshot/satellite"
)

// A session is one with the hub.
type session struct {
	server  *helper.Server
	stop    context.CancelCauseFunc
	start   func(func(context.Context)) context.CancelFunc // something that ends before the session has
	silence *time.Timer                                    // ends the session
	ready   bool                                           // the hub knows that there is sound
}

// A device is one life of earshot-sound. It serves one session; and the next one, too, if somebody is
// speaking meanwhile, unless the hub has begun anew and uses the same numbers for other streams.
type device struct {
	helper.Link
	queue  *mailbox.Queue[helper.Control] // for it; so nobody who holds the mutex waits for it
	stop   context.CancelCauseFunc
	start  func(func(context.Context)) context.CancelFunc // something that ends before the device has
	ready  bool
	newest uint32 // number that the hub gave to a stream
}

// starter returns what starts parts that end with ctx, or when they are cancelled.
func starter(ctx context.Context, parts *sync.WaitGroup) func(func(context.Context)) context.CancelFunc {
	return func(f func(context.Context)) context.CancelFunc {
		ctx, cancel := context.WithCancel(ctx)
		parts.Go(func() { f(ctx) })
		return cancel
	}
}

// mostWaiting bounds the controls that wait for the device; one that takes none is killed soon.
const mostWaiting = 256

// begin begins a session.
func (c *Client) begin(s *session, w satellite.Welcome, recogniser, spotter Recogniser) {
	if c.cfg.Wake && c.cfg.Spotter == nil {
		spotter = recogniser
	}
	c.kept, c.away = satellite.Keep{}, nil // it has arrived
	c.session, c.recogniser, c.spotter, c.recognises, c.utterances = s, recogniser, spotter, false, make(map[uint32]*utterance)
	c.status = Status{Connected: true, Since: time.Now(), Room: w.Room}
	c.box.rewind(time.Now())
	c.greet()
}

// greet tells the hub that there is sound, if there is.
func (c *Client) greet() {
	if c.session != nil && c.device != nil && c.device.ready {
		c.session.ready = true
		c.say(sound.SayReady, nil)
	}
}

// end ends the session: what is played is cut, and the device ends when what is being said has.
func (c *Client) end() {
	c.tell(sound.SayDo, sound.Do{Number: c.playing, Control: earshot.Cut})
	if c.output != 0 {
		c.tell(sound.SayClose, sound.Stream{Number: c.output})
	}
	c.unwatch()
	for _, u := range c.utterances {
		u.Cancel()
	}
	c.session, c.recogniser, c.spotter, c.utterances, c.playing, c.output, c.heard.hub = nil, nil, nil, nil, 0, 0, 0
	c.rest()
}

// rest closes a microphone that the hub has not opened, unless somebody is speaking into it; and
// without a session the device, since the next one begins with another.
func (c *Client) rest() {
	if c.mic != nil && (c.heard.hub != 0 || c.mic.busy) {
		return
	}
	c.closeMicrophone()
	if d := c.device; c.session == nil && d != nil && d.newest > 0 {
		d.queue.Close() // it ends when it has been told everything
		c.device = nil
	}
}

// closeMicrophone closes the microphone. Nothing of it is sent any more.
func (c *Client) closeMicrophone() {
	if c.mic != nil {
		c.mic.cancel()
		c.mic = nil
		c.tell(sound.SayClose, sound.Stream{Number: c.heard.device})
	}
}

// refuse closes the microphone, drops what waits to be sent, and tells the hub why.
func (c *Client) refuse(why sound.Fault) {
	c.box.remove(len(c.box.packets))
	clear(c.said) // which nobody is to hear any more
	c.said = c.said[:0]
	if c.mic != nil && c.heard.hub != 0 {
		c.say(sound.SayLost, sound.Lost{Number: c.heard.hub, Fault: why})
	}
	c.closeMicrophone()
}

// faultOf describes an error for the hub.
func faultOf(err error) sound.Fault {
	text, cure := earshot.Explain(err)
	return sound.Fault{Text: text, Fix: cure}
}

// say sends a control to the hub, if there is a session; that does not wait. If it cannot be sent,
// neither can the beats, which ends the session.
func (c *Client) say(name string, body any) {
	if c.session != nil {
		_ = c.session.server.Send(name, body)
	}
}

// tell sends a control to the device, if there is one.
func (c *Client) tell(name string, body any) {
	if b, err := json.Marshal(body); err == nil && c.device != nil {
		c.device.queue.Put(helper.Control{Name: name, Body: b})
	}
}

// hubControl handles a message of the hub.
func (c *Client) hubControl(s *session, m helper.Control) error {
	var b struct {
		Number  uint32        `json:"number"`
		For     time.Duration `json:"for"`
		Session uint64        `json:"session"`
		satellite.Keep
	}
	if err := m.Decode(&b); err != nil {
		return err
	}
	switch m.Name {
	case satellite.SayAsk:
		s.silence.Reset(satellite.Silence)
		c.box.confirm()
		c.say(satellite.SayTime, satellite.TimeReply{Number: b.Number, At: time.Now().UnixNano()})
		if is := c.recogniser != nil && c.recogniser.Loaded(); is != c.recognises {
			c.recognises = is
			c.sayState()
		}
		return nil
	case satellite.SayHear:
		var u satellite.Utterance
		if err := m.Decode(&u); err != nil {
			return err
		}
		c.hear(u, time.Now())
		return nil
	case sound.SayDown:
		s.stop(errEnded)
		return nil
	case satellite.SayWatch:
		c.watch(s, b.Session)
		return nil
	case satellite.SayKeep:
		c.kept = b.Keep
		return nil
	case satellite.SayGate:
		c.open(int(min(b.For, time.Hour) / audio.Time))
		return nil
	case sound.SayOpen, sound.SayPlay:
		if c.device == nil || !s.ready {
			return nil // the session is about to end
		}
		if b.Number <= c.device.newest {
			c.device.stop(errNext)
			return nil
		}
		c.device.newest = b.Number
	}
	switch m.Name {
	case sound.SayOpen:
		var o sound.Open
		if err := m.Decode(&o); err != nil {
			return err
		}
		c.openStream(o)
	case sound.SayClose:
		if b.Number == c.heard.hub {
			c.box.remove(len(c.box.packets)) // nobody wants it any more
			if c.mic != nil {
				c.closeMicrophone()
				return nil
			}
			b.Number = c.heard.device
		}
		c.tell(m.Name, sound.Stream{Number: b.Number})
	case sound.SayPlay:
		c.playing = b.Number
		fallthrough
	case sound.SayDo, sound.SayFinish:
		c.tell(m.Name, m.Body)
	default:
		return fmt.Errorf("%w: it said %q", helper.ErrProtocol, m.Name)
	}
	return nil
}

// openStream opens a stream for the hub.
func (c *Client) openStream(o sound.Open) {
	switch {
	case o.Output:
		c.output, o.Device = o.Number, c.cfg.Loudspeaker
	case c.unable != nil:
		c.say(sound.SayLost, sound.Lost{Number: o.Number, Fault: *c.unable})
		return
	case c.muted:
		c.say(sound.SayLost, sound.Lost{Number: o.Number, Fault: c.mutedFault()})
		return
	case c.mic != nil && c.mic.name != "" && c.heard.hub == 0: // somebody is speaking since the last session
		c.heard.hub = o.Number
		c.say(sound.SayOpened, sound.Opened{Number: o.Number, Device: c.mic.name})
		return
	default:
		c.closeMicrophone()
		c.heard = numbers{o.Number, o.Number}
		o.Device = c.cfg.Microphone
		c.want()
		c.startCapture()
	}
	c.tell(sound.SayOpen, o)
}

// hubSound passes sound of the hub on to the device.
func (c *Client) hubSound(m helper.Sound) error {
	c.mu.Lock()
	d := c.device
	c.mu.Unlock()
	if d != nil {
		_ = d.SendSound(m.Stream, m.Data) // if it is gone, so is the session soon
	}
	return nil
}

// runDevices runs earshot-sound, one life after the other, until one fails.
func (c *Client) runDevices(ctx context.Context) error {
	for {
		if err := c.runDevice(ctx); !errors.Is(err, errNext) {
			return err
		}
	}
}

// runDevice is one life of earshot-sound.
func (c *Client) runDevice(ctx context.Context) error {
	link, err := c.cfg.Sound()
	if err != nil {
		return err
	}
	alive, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d := &device{Link: link, stop: stop, queue: mailbox.New(func(all []helper.Control) ([]helper.Control, int) {
		return all[:min(len(all), mostWaiting)], max(0, len(all)-mostWaiting)
	})}
	var parts sync.WaitGroup
	d.start = starter(alive, &parts)
	c.change(func() { c.device = d })
	parts.Go(func() {
		for m, ok := d.queue.Take(alive); ; m, ok = d.queue.Take(alive) {
			if !ok {
				stop(errNext)
			}
			if !ok || link.Send(m.Name, m.Body) != nil {
				return
			}
		}
	})
	err = link.Run(alive, helper.Handler{
		Control: func(m helper.Control) (err error) {
			c.change(func() { err = c.deviceControl(d, m) })
			return err
		},
		Sound: c.deviceSound,
	})
	if why := context.Cause(alive); ctx.Err() == nil && errors.Is(why, errNext) {
		err = why
	}
	c.change(func() { c.deviceGone(d, err) })
	stop(nil)
	parts.Wait()
	return err
}

// deviceGone ends the session with a device, since the hub takes the two for one.
func (c *Client) deviceGone(d *device, err error) {
	if c.device != d {
		return
	}
	c.closeMicrophone()
	c.device, c.missing[cardKey] = nil, err != nil && !errors.Is(err, errNext)
	if err != nil && c.session != nil && c.session.ready {
		c.say(sound.SayDown, faultOf(err))
		c.session.stop(errDevice)
	}
}

// deviceControl handles a message of the device, and passes it on to the hub.
func (c *Client) deviceControl(d *device, m helper.Control) error {
	if c.device != d {
		return nil
	}
	if m.Name == sound.SayReady {
		d.ready, c.missing[cardKey] = true, false
		c.greet()
		return nil
	}
	var n struct {
		sound.Lost
		Device string `json:"device"`
	}
	if err := m.Decode(&n); err != nil {
		return err
	}
	switch m.Name {
	case sound.SayDown:
		return &n.Fault
	case sound.SayOpened, sound.SayLost:
		what := microphoneKey
		if n.Number == c.output {
			what = loudspeakerKey
		}
		c.tellDevice(what, m.Name == sound.SayLost, n.Fault)
	case sound.SayMoved, sound.SayClosed, sound.SayPlayed:
	default:
		return fmt.Errorf("%w: it said %q", helper.ErrProtocol, m.Name)
	}
	if n.Number != c.heard.device || n.Number == 0 {
		c.say(m.Name, m.Body)
		return nil
	}
	if c.mic != nil && m.Name == sound.SayOpened {
		c.mic.name = n.Device
	}
	if c.mic != nil && m.Name == sound.SayLost {
		c.mic.cancel()
		c.mic = nil
	}
	if n.Number = c.heard.hub; n.Number != 0 {
		c.say(m.Name, n)
	}
	return nil
}

// tellDevice tells people here, once, that a device cannot be used, and that it can again.
func (c *Client) tellDevice(what string, lost bool, why sound.Fault) {
	if c.missing[what] == lost {
		return
	}
	c.missing[what] = lost
	n := earshot.Notice{Key: what, Text: "the " + what + " is back", Over: true}
	if lost {
		n = earshot.Notice{Key: what, Text: why.Text, Cure: why.Fix}
	}
	c.cfg.Notice(n)
}
