package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/satellite"
)

// mostAsked is how many questions for the time may be open: by then a satellite whose beats still
// come answers none.
const mostAsked = 8

// A link is one session with a satellite. It implements [helper.Link].
type link struct {
	satellite *Satellite
	capture   capture
	over      chan struct{} // closed when it is to end
	gone      chan struct{} // closed when the satellite does not count as connected by it any more

	mu      sync.Mutex
	conn    *satellite.Conn // nil before it has joined
	peer    *helper.Peer    // likewise
	why     error           // it ended
	ended   bool
	asked   map[uint32]time.Time // questions without an answer
	number  uint32               // of the last one
	clock   satellite.Clock
	ready   *helper.Control // came before the clock was known
	newest  uint32          // number of an input that was opened
	strange bool            // people were told of impossible times

	utterance  uint32                // number of the last one that was to be recognised there
	utterances map[uint32]*Utterance // that are; nil when the session has ended
}

func newLink(s *Satellite) *link {
	l := &link{satellite: s, over: make(chan struct{}), gone: make(chan struct{}), asked: make(map[uint32]time.Time), utterances: make(map[uint32]*Utterance)}
	l.capture.hub = s.hub
	return l
}

// Send implements [helper.Link].
func (l *link) Send(name string, body any) error {
	p := l.joined()
	if p == nil {
		return helper.ErrGone
	}
	if o, ok := body.(sound.Open); ok && name == sound.SayOpen && !o.Output {
		l.mu.Lock()
		l.newest = max(l.newest, o.Number)
		l.mu.Unlock()
		l.capture.open(o.Number, time.Now())
	}
	return l.sent(p.Send(name, body))
}

// SendSound implements [helper.Link].
func (l *link) SendSound(stream uint32, data []byte) error {
	p := l.joined()
	if p == nil {
		return helper.ErrGone
	}
	return l.sent(p.SendSound(stream, data))
}

// sent ends the session if something could not be sent: what follows would make no sense.
func (l *link) sent(err error) error {
	if err != nil {
		l.end(err)
	}
	return err
}

// joined returns the peer, or nil before the satellite has joined.
func (l *link) joined() *helper.Peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.peer
}

// offset returns by how much the satellite's clock is ahead, and by how much that may be wrong.
func (l *link) offset() (ahead, within time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ahead, within, _ = l.clock.Offset()
	return ahead, within
}

// end ends the session for a reason; nil is none.
func (l *link) end(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended, l.why = true, why
	close(l.over)
	if l.conn != nil {
		l.conn.HangUp()
	}
}

// HangUp, Kill and Wait implement [helper.Life]: what is on the other machine lives on, but not
// for this session.
func (l *link) HangUp() { l.end(nil) }
func (l *link) Kill()   { l.end(nil) }

func (l *link) Wait(context.Context) error {
	<-l.over
	return l.why
}

// Run implements [helper.Link]. It waits until the satellite joins.
func (l *link) Run(ctx context.Context, h helper.Handler) error {
	s := l.satellite
	r, welcome, ok := s.await(ctx)
	if !ok {
		return nil
	}
	b, session := s.hub.next()
	welcome.Session = session
	conn, err := satellite.OpenHub(context.WithoutCancel(ctx), b, s.cfg.ID, welcome.Session, &s.old)
	if err != nil {
		return err
	}
	defer conn.Close()
	peer := helper.NewPeer("satellite "+s.cfg.ID, conn.Conn, l)
	l.mu.Lock()
	l.conn, l.peer = conn, peer
	l.mu.Unlock()
	inner, stop := context.WithCancel(ctx)
	defer stop()
	s.mute(r.Muted)
	s.connect(l, r.Join)
	answer(r.respond, welcome)
	if s.cfg.Joined != nil {
		s.cfg.Joined()
	}
	s.hub.cfg.Log.Info("a satellite joined", "satellite", s.cfg.ID, "build", r.Build)

	l.capture.start(h.Sound, l.end, s.speaker)
	var parts sync.WaitGroup
	parts.Go(func() { l.ask(inner, peer) })
	parts.Go(func() { l.capture.fill(inner) })
	parts.Go(func() {
		select {
		case <-l.over:
			stop()
		case <-inner.Done():
		}
	})
	err = peer.Run(ctx, helper.Handler{
		Control: func(c helper.Control) error { return l.control(c, h.Control) },
		Sound:   func(m helper.Sound) error { return l.sound(inner, m) },
	})
	stop()
	if ctx.Err() != nil { // it need not wait until it hears nothing, and looks for whoever has the room now
		_ = conn.Send(sound.SayDown, sound.Fault{Text: "the hub has ended the session"})
	}
	l.capture.stop()
	s.connect(nil, satellite.Join{})
	l.giveUp()
	close(l.gone)
	parts.Wait()
	if death, ok := errors.AsType[*helper.DeathError](err); ok {
		return &sessionError{s.cfg.ID, death.Err}
	}
	return err
}

// A sessionError is why a session ended.
type sessionError struct {
	id  string
	err error
}

// Error says what happened.
func (e *sessionError) Error() string {
	if errors.Is(e.err, helper.ErrHung) {
		return "nothing is heard from it any more"
	}
	return fmt.Sprintf("its session ended: %v", e.err)
}

// Unwrap returns how it ended.
func (e *sessionError) Unwrap() error { return e.err }

// Cure says what helps, besides that it joins again by itself.
func (e *sessionError) Cure() string {
	switch {
	case errors.Is(e.err, helper.ErrHung), errors.Is(e.err, satellite.ErrGap):
		return "look whether its machine is on and well connected; it joins again by itself"
	case errors.Is(e.err, helper.ErrProtocol):
		return "update earshot on both machines; or remove it: earshot pair remove " + e.id
	}
	return earshot.Cure(e.err)
}

// ask asks for the time again and again, from when the satellite receives.
func (l *link) ask(ctx context.Context, p *helper.Peer) {
	select {
	case <-p.Greeted():
	case <-ctx.Done():
		return
	}
	again := time.NewTicker(satellite.ClockEvery)
	defer again.Stop()
	for {
		l.mu.Lock()
		l.number++
		n := l.number
		l.asked[n] = time.Now()
		late := len(l.asked) > mostAsked
		l.mu.Unlock()
		if late {
			l.end(fmt.Errorf("%w: it does not say what time it is", helper.ErrProtocol))
			return
		}
		if l.Send(satellite.SayAsk, satellite.TimeRequest{Number: n}) != nil {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// control handles a message of the satellite, and passes on what is the sound card's.
func (l *link) control(c helper.Control, pass func(helper.Control) error) error {
	switch c.Name {
	case satellite.SayTime:
		return l.time(c, pass)
	case satellite.SayState:
		var is satellite.State
		if err := c.Decode(&is); err != nil {
			return err
		}
		return l.satellite.take(is)
	case satellite.SayWords:
		l.words(c)
		return nil
	case sound.SayReady:
		l.mu.Lock()
		_, _, known := l.clock.Offset()
		if !known {
			l.ready = &c
		}
		l.mu.Unlock()
		if !known {
			return nil // nothing is opened before its times can be understood
		}
	case sound.SayPlayed:
		var p sound.Played
		if err := c.Decode(&p); err != nil {
			return err
		}
		if p.End {
			_ = l.Send(satellite.SayGate, satellite.Gate{For: l.satellite.hub.cfg.FollowUp()}) // an error ends the session
		}
	}
	return pass(c)
}

// time takes the answer to a question for the time.
func (l *link) time(c helper.Control, pass func(helper.Control) error) error {
	var is satellite.TimeReply
	if err := c.Decode(&is); err != nil {
		return err
	}
	l.mu.Lock()
	asked, ok := l.asked[is.Number]
	delete(l.asked, is.Number)
	if ok {
		l.clock.Add(asked, time.Unix(0, is.At), time.Now())
	}
	ready := l.ready
	l.ready = nil
	l.mu.Unlock()
	if !ok {
		return fmt.Errorf("%w: it says the time without being asked", helper.ErrProtocol)
	}
	if ready != nil {
		return pass(*ready)
	}
	return nil
}

// sound takes a packet, and waits while frames are ahead of time.
func (l *link) sound(ctx context.Context, m helper.Sound) error {
	l.mu.Lock()
	newest := l.newest
	l.mu.Unlock()
	var p satellite.Packet
	switch err := p.Decode(m.Data); {
	case err != nil:
		return fmt.Errorf("%w: %w", helper.ErrProtocol, err)
	case m.Stream == 0 || m.Stream > newest:
		return fmt.Errorf("%w: it names stream %d, which never existed", helper.ErrProtocol, m.Stream)
	}
	at, ok := l.place(&p, time.Now())
	if !ok {
		l.satellite.repeated.Add(1)
		l.satellite.hub.dropped(1)
		return nil
	}
	return l.capture.take(ctx, m.Stream, &p, at)
}

// place returns when a packet was captured, by the hub's clock, or false if it is not after the last
// one: it came already, perhaps in another session. A time that cannot be true is clamped, counted
// and told once.
func (l *link) place(p *satellite.Packet, now time.Time) (time.Time, bool) {
	offset, within := l.offset()
	at, wrong := clamp(p.At.Add(-offset), now, within)
	s := l.satellite
	if !p.Quiet { // sound from before a quiet packet may come after it
		s.mu.Lock()
		fresh := s.taken.before(p.At, offset)
		if fresh {
			s.taken = clockReading{p.At, p.At.Sub(at)}
		}
		s.mu.Unlock()
		if !fresh {
			return time.Time{}, false
		}
	}
	if wrong != 0 {
		s.forged.Add(1)
		if !l.strange { // of one goroutine
			l.strange = true
			s.hub.cfg.Log.Warn("a satellite says impossible times", "satellite", s.cfg.ID, "ahead", wrong)
			s.say("The satellite %s says when it heard something, and that cannot be true: it is taken for heard when it came.", s.cfg.ID)
		}
	}
	return at, true
}
