package sound

import (
	"context"
	"fmt"
	"sync"
	"time"

	"earshot/internal/helper"
)

// A connection is the connection to one life of the helper.
type connection struct {
	card *Card
	link helper.Link
	stop context.CancelCauseFunc // ends the helper, for a *Fault
	gone chan struct{}           // closed when it has ended

	mu      sync.Mutex
	input   *stream // or nil
	output  *stream
	playing *Playing // the speech that is not over
	newest  uint32   // number of a stream or speech
}

// slot returns the field for s.
func (l *connection) slot(s *stream) **stream {
	if s.output {
		return &l.output
	}
	return &l.input
}

// open opens a stream.
func (l *connection) open(ctx context.Context, o Open) (*stream, error) {
	s := newStream(l, o)
	l.mu.Lock()
	slot := l.slot(s)
	if *slot != nil {
		l.mu.Unlock()
		return nil, ErrBusy
	}
	*slot = s
	l.newest = max(l.newest, o.Number)
	l.mu.Unlock()
	if l.link.Send(SayOpen, o) != nil {
		return nil, ErrCard
	}
	limit := time.NewTimer(opening)
	defer limit.Stop()
	select {
	case <-s.opened:
		return s, nil
	case <-s.lost:
		return nil, s.err
	case <-l.gone: // before the stream was there to be lost
		return nil, ErrCard
	case <-limit.C:
		l.stop(frozen)
		return nil, ErrCard
	case <-ctx.Done():
		l.close(s)
		return nil, context.Cause(ctx)
	}
}

// close closes s and waits until the helper has done so, or is gone: then no sound goes in or out
// any more.
func (l *connection) close(s *stream) {
	s.lose(ErrOver)
	l.endPlaying(s)
	if l.link.Send(SayClose, Stream{s.number}) == nil {
		limit := time.NewTimer(opening)
		defer limit.Stop()
		select {
		case <-s.closed:
		case <-l.gone:
		case <-limit.C:
			l.stop(frozen)
			<-l.gone
		}
	}
	l.forget(s)
}

// forget makes room for the next stream.
func (l *connection) forget(s *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slot := l.slot(s); *slot == s {
		*slot = nil
	}
}

// find returns the open stream with a number, or nil if it is gone.
func (l *connection) find(number uint32) *stream {
	for _, s := range []*stream{l.input, l.output} {
		if s != nil && s.number == number {
			return s
		}
	}
	return nil
}

// control handles the helper's messages.
func (l *connection) control(c helper.Control) error {
	switch c.Name {
	case SayReady:
		l.card.set(l)
		return nil
	case SayDown:
		f := new(Fault)
		if err := c.Decode(f); err != nil {
			return err
		}
		return f
	case SayPlayed:
		var p Played
		if err := c.Decode(&p); err != nil {
			return err
		}
		return l.played(p)
	case SayOpened, SayMoved, SayLost, SayClosed:
		return l.news(c)
	}
	return fmt.Errorf("%w: it said %q", helper.ErrProtocol, c.Name)
}

// news handles what happened to a stream.
func (l *connection) news(c helper.Control) error {
	var n struct {
		Lost
		Device string `json:"device"`
	}
	if err := c.Decode(&n); err != nil {
		return err
	}
	l.mu.Lock()
	err, s := l.known(n.Number), l.find(n.Number)
	l.mu.Unlock()
	if s == nil || err != nil {
		return err // it is late, or wrong
	}
	switch c.Name {
	case SayOpened:
		s.open(time.Now())
		l.card.log.Info("opened a sound device", "device", n.Device, "output", s.output)
	case SayMoved:
		l.card.log.Info("the sound server moved a stream", "device", n.Device, "output", s.output)
	case SayLost:
		l.forget(s) // first: whoever learns of it may open the next at once
		s.lose(&n.Fault)
		l.endPlaying(s)
		s.close() // for a caller that is just closing it
	case SayClosed:
		s.close()
	}
	return nil
}

// endPlaying ends the speech that is on s, if any.
func (l *connection) endPlaying(s *stream) {
	l.mu.Lock()
	p := l.playing
	if p == nil || p.out != s {
		l.mu.Unlock()
		return
	}
	l.playing = nil
	l.mu.Unlock()
	p.end()
}

// known reports a number that was never given out.
func (l *connection) known(number uint32) error {
	if number == 0 || number > l.newest {
		return fmt.Errorf("%w: it names stream %d, which never existed", helper.ErrProtocol, number)
	}
	return nil
}

// sound handles a frame.
func (l *connection) sound(m helper.Sound) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.known(m.Stream); err != nil {
		return err
	}
	s := l.input
	if s == nil || s.number != m.Stream {
		return nil // it is late
	}
	return s.frame(m.Data, time.Now())
}

// played handles the progress of a speech.
func (l *connection) played(r Played) error {
	l.mu.Lock()
	p := l.playing
	err := l.known(r.Play)
	l.mu.Unlock()
	if p == nil || p.number != r.Play || err != nil {
		return err // it is late, or wrong
	}
	moved, err := p.played(r)
	switch {
	case err != nil:
		return err
	case r.End:
		l.endPlaying(p.out)
	case moved:
		p.tell(Position{Samples: r.Samples})
	}
	return nil
}

// watch ends a helper that does not do its work.
func (l *connection) watch(ctx context.Context) {
	look := time.NewTicker(glance)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if l.still() {
				l.stop(frozen)
				return
			}
		}
	}
}

// still checks for things that should move and do not.
func (l *connection) still() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.input != nil && l.input.deaf() || l.playing != nil && l.playing.stuck()
}

// end ends everything that was open. The helper is gone.
func (l *connection) end() {
	l.mu.Lock()
	in, out := l.input, l.output
	l.mu.Unlock()
	for _, s := range []*stream{in, out} {
		if s != nil {
			l.forget(s)
			s.lose(ErrCard)
			l.endPlaying(s)
		}
	}
	close(l.gone)
}
