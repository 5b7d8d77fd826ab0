package codec

import (
	"context"
	"errors"
	"fmt"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
)

const (
	// fastest is how many times as fast as it plays a source is read at most.
	// Nobody needs more, and a helper that says more in a second than package
	// helper believes would be killed.
	fastest = 1000

	// lump is what it is read ahead of that, since no timer is exact.
	lump = 10 * time.Millisecond
)

// errGone is that the helper is no more.
var errGone = errors.New("the helper ended")

// A player is one source that is being heard. Its frames go round: from free,
// through the helper's sound, to full, to the reader and back.
type player struct {
	source *Source
	most   int64 // frames

	free, full chan *audio.Frame // each has room for all frames
	opened     chan Info
	ended      chan Ended
	gone       chan struct{} // closed when the helper is no more

	stage stage // how far the helper has come; of the goroutine that takes control

	began time.Time // when the first frame was yielded
	base  time.Time // its At
	next  time.Time // when the next frame may be yielded, if not in real time
	pace  *time.Timer
}

// maxDetail is how much a helper may say about a problem, in bytes.
const maxDetail = 500

// lies reports whether e is nothing that a source can end with.
func (e *Ended) lies() bool {
	return e.Frames < 0 || e.Damaged < 0 || len(e.Detail) > maxDetail || e.Problem != "" && !e.Problem.known()
}

// A stage is what the helper has said.
type stage int

const (
	asked stage = iota
	open
	over
)

func newPlayer(s *Source, r Request) *player {
	p := &player{
		pace:   time.NewTimer(0),
		source: s, most: int64(r.Longest / audio.Time),
		free: make(chan *audio.Frame, ahead), full: make(chan *audio.Frame, ahead),
		opened: make(chan Info, 1), ended: make(chan Ended, 1), gone: make(chan struct{}),
	}
	p.pace.Stop()
	for range ahead {
		p.free <- new(audio.Frame)
	}
	return p
}

// control takes what the helper says, which may be each thing once.
func (p *player) control(c helper.Control) error {
	switch c.Name {
	case MsgOpened:
		var i Info
		if err := c.Decode(&i); err != nil {
			return err
		}
		if !p.advance(open) {
			return fmt.Errorf("%w: %q at this point", helper.ErrProtocol, c.Name)
		}
		p.opened <- i
	case MsgEnded:
		var e Ended
		if err := c.Decode(&e); err != nil {
			return err
		}
		early := p.advance(open) // only to say that it cannot be opened
		if e.lies() || early && (e.Problem == "" || e.Frames > 0) || !p.advance(over) {
			return fmt.Errorf("%w: %q at this point", helper.ErrProtocol, c.Name)
		}
		p.ended <- e
	default:
		return fmt.Errorf("%w: %q is not known", helper.ErrProtocol, c.Name)
	}
	return nil
}

// advance reports whether the helper may have come to a stage.
func (p *player) advance(to stage) bool {
	if p.stage >= to {
		return false
	}
	p.stage = to
	return true
}

// sound takes a frame, and waits for the reader.
func (p *player) sound(ctx context.Context, s helper.Sound) error {
	var f *audio.Frame
	select {
	case f = <-p.free:
	case <-ctx.Done():
		return nil
	}
	if err := f.Decode(s.Data); err != nil || s.Stream != 0 {
		return fmt.Errorf("%w: sound that is not a frame", helper.ErrProtocol)
	}
	p.full <- f // has room for all
	return nil
}

// play asks for the source and yields its frames until it ends.
func (p *player) play(ctx context.Context, link helper.Link, request Request, yield func(*audio.Frame, error) bool) error {
	_ = link.Send(MsgOpen, request) // if that fails the helper is gone, which is known soon
	limit := time.NewTimer(slow)
	defer limit.Stop()
	var full <-chan *audio.Frame // nil until the source is open
	var end *Ended
	for n := int64(0); end == nil || n < end.Frames; {
		limit.Reset(slow)
		select {
		case info := <-p.opened:
			p.tellOpened(info)
			full = p.full
		case e := <-p.ended:
			end = &e
			select {
			case info := <-p.opened: // which was said before
				p.tellOpened(info)
				full = p.full
			default:
			}
		case f := <-full:
			if err := p.hand(ctx, f, n, yield); err != nil {
				return err
			}
			n++
		case <-limit.C:
			return fmt.Errorf("playing %q: %w", p.source.name(), helper.ErrHung)
		case <-p.gone:
			return errGone
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return p.tellEnded(*end)
}

// hand yields frame n when it is due, and gives it back for the next.
func (p *player) hand(ctx context.Context, f *audio.Frame, n int64, yield func(*audio.Frame, error) bool) error {
	if n >= p.most {
		return p.source.wrong(TooLong, "")
	}
	if err := p.due(ctx, n); err != nil {
		return err
	}
	f.At = p.base.Add(time.Duration(n) * audio.Time)
	f.Own, f.EchoRatio, f.Beside, f.Lost = false, 0, false, 0 // a file has none of these
	if !yield(f, nil) {
		return errLeft
	}
	p.free <- f
	return nil
}

// due waits until frame n may be yielded.
func (p *player) due(ctx context.Context, n int64) error {
	now := time.Now()
	if n == 0 {
		p.began, p.base = now, p.source.Base
		if p.base.IsZero() {
			p.base = now
		}
	}
	if p.source.RealTime {
		return p.wait(ctx, p.began.Add(time.Duration(n)*audio.Time).Sub(now))
	}
	if p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(audio.Time / fastest)
	if wait := p.next.Sub(now); wait > lump {
		return p.wait(ctx, wait)
	}
	return nil
}

// wait waits for d, if there is anything to wait for.
func (p *player) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	p.pace.Reset(d)
	select {
	case <-p.pace.C:
		return nil
	case <-ctx.Done():
		p.pace.Stop()
		return context.Cause(ctx)
	}
}

func (p *player) tellOpened(i Info) {
	if p.source.Opened != nil {
		p.source.Opened(i)
	}
}

// tellEnded returns what was wrong with the source.
func (p *player) tellEnded(e Ended) error {
	if p.source.Ended != nil {
		p.source.Ended(e)
	}
	if e.Problem != "" {
		return p.source.wrong(e.Problem, e.Detail)
	}
	return nil
}
