package sound

import (
	"context"
	"fmt"
	"sync"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/sound/deck"
)

// A Position is how far a speech has come.
type Position struct {
	Samples int64 // that were played, by the device's own account
	End     bool  // nothing more of it will be
}

// credit is how many bytes may be ahead of the device. The helper gives it when
// it has begun the speech: sound has a pipe of its own, and would overtake the
// beginning.
const credit = 2 * deck.Most

// A Playing is one speech. Do may be called from any goroutine at any time;
// calls of Write and Finish do not overlap each other.
type Playing struct {
	line   *connection
	out    *stream
	number uint32
	credit helper.Credit
	buf    []byte // Write's own

	calls sync.Mutex // held while moved is called
	moved func(Position)
	told  bool // the end

	mu       sync.Mutex
	sent     int64
	pos      int64
	looks    int // since something moved last, or began to be due
	paused   bool
	finished bool
	cut      bool
	ended    bool
}

func newPlaying(l *connection, out *stream, number uint32, moved func(Position)) *Playing {
	return &Playing{line: l, out: out, number: number, moved: moved}
}

// Write plays pcm behind what was written before. It waits for credit, until
// ctx ends. A speech that is cut or over takes no more: [ErrOver], at once, or
// why the output is over.
func (p *Playing) Write(ctx context.Context, pcm []int16) error {
	for len(pcm) > 0 {
		n, err := p.credit.Take(ctx, 2*len(pcm))
		if err != nil {
			return err
		}
		n /= 2 // credit is in whole samples
		if err := p.sending(n); err != nil {
			return err
		}
		p.buf = audio.AppendPCM(p.buf[:0], pcm[:n])
		if p.line.link.SendSound(p.number, p.buf) != nil {
			return ErrCard
		}
		pcm = pcm[n:]
	}
	return nil
}

// sending notes that n samples are about to be sent.
func (p *Playing) sending(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.cut || p.finished {
		p.credit.Grant(credit, credit) // so that the next call does not wait either
		return p.why()
	}
	p.sent += int64(n)
	p.looks = 0
	return nil
}

// why returns why nothing more can be written.
func (p *Playing) why() error {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	if p.out.err != nil {
		return p.out.err
	}
	return ErrOver
}

// Finish says that nothing more is written. What was is played to its end.
func (p *Playing) Finish() {
	p.mu.Lock()
	if p.finished || p.ended {
		p.mu.Unlock()
		return
	}
	p.finished, p.looks = true, 0
	sent := p.sent
	p.mu.Unlock()
	p.send(SayFinish, Finish{p.number, sent})
}

// Do acts on the speech before what was written earlier is played.
func (p *Playing) Do(c earshot.Control) {
	p.mu.Lock()
	if p.cut || p.ended {
		p.mu.Unlock()
		return
	}
	p.looks = 0
	switch c {
	case earshot.Pause:
		p.paused = true
	case earshot.Resume, earshot.Duck:
		p.paused = false
	case earshot.Cut:
		p.paused, p.cut = false, true
		p.credit.Grant(credit, credit) // who waits in Write learns of it
	}
	p.mu.Unlock()
	p.send(SayDo, Do{p.number, c})
}

// send tells the helper. One that cannot be told is gone, and whoever runs the
// card learns of it.
func (p *Playing) send(name string, body any) { _ = p.line.link.Send(name, body) }

// played takes how far the speech has come, and reports whether that is news.
func (p *Playing) played(r Played) (moved bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Samples < p.pos || r.Samples > p.sent || r.Credit < 0 || r.Credit > deck.Most {
		return false, fmt.Errorf("%w: it played sound that it was not given", helper.ErrProtocol)
	}
	moved = r.Samples > p.pos
	p.pos, p.looks = r.Samples, 0
	p.credit.Grant(2*r.Credit, credit)
	return moved, nil
}

// end ends the speech where it is.
func (p *Playing) end() {
	p.mu.Lock()
	p.ended = true
	pos := p.pos
	p.mu.Unlock()
	p.credit.Grant(credit, credit) // who waits in Write learns of it
	p.tell(Position{pos, true})
}

// tell tells the position, unless the end was told.
func (p *Playing) tell(at Position) {
	p.calls.Lock()
	defer p.calls.Unlock()
	if !p.told {
		p.told = at.End
		p.moved(at)
	}
}

// stuck looks whether the speech should move and does not.
func (p *Playing) stuck() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	due := p.cut || !p.paused && (p.finished || p.pos < p.sent)
	if p.looks++; !due || p.ended {
		p.looks = 0
	}
	return p.looks >= stuck
}
