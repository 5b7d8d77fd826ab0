package sound

import (
	"context"
	"fmt"
	"sync"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
)

// A Position is how far a speech has come.
type Position struct {
	Samples int64 // that were played, by the device's own account
	End     bool  // nothing more of it will be played
}

// A Playing is one speech. Do may be called from any goroutine at any time; calls of Write and
// Finish must not overlap.
type Playing struct {
	line   *connection
	out    *stream
	number uint32
	most   int           // bytes that may be ahead of the device
	credit helper.Credit // granted when the helper has begun the speech: sound has a pipe of its own, and would overtake the beginning
	buf    []byte        // Write's own

	calls sync.Mutex // held while moved is called
	moved func(Position)
	told  bool // the end was reported

	mu       sync.Mutex
	sent     int64
	pos      int64
	looks    int // since something last moved, or became due
	paused   bool
	finished bool
	cut      bool
	ended    bool
}

// Write appends pcm to the speech. It waits for credit, until ctx ends. For a speech that was cut
// or is over it returns at once: [ErrOver], or why the output is over.
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

// sending records that n samples are about to be sent.
func (p *Playing) sending(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.cut || p.finished {
		p.credit.Grant(p.most, p.most) // so that the next call does not wait either
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

// Finish says that nothing more will be written. What was written is played to its end.
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

// Do applies a control to the speech, ahead of what was written and not played yet.
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
		p.credit.Grant(p.most, p.most) // wakes a waiting Write
	}
	p.mu.Unlock()
	p.send(SayDo, Do{p.number, c})
}

// send sends a message to the helper. If that fails the helper is gone, and the caller of Card.Run
// learns of it.
func (p *Playing) send(name string, body any) { _ = p.line.link.Send(name, body) }

// played handles the progress of the speech, and reports whether that is news.
func (p *Playing) played(r Played) (moved bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Samples < p.pos || r.Samples > p.sent || r.Credit < 0 || 2*r.Credit > p.most {
		return false, fmt.Errorf("%w: it played sound that it was not given", helper.ErrProtocol)
	}
	moved = r.Samples > p.pos
	p.pos, p.looks = r.Samples, 0
	p.credit.Grant(2*r.Credit, p.most)
	return moved, nil
}

// end ends the speech at its current position.
func (p *Playing) end() {
	p.mu.Lock()
	p.ended = true
	pos := p.pos
	p.mu.Unlock()
	p.credit.Grant(p.most, p.most) // wakes a waiting Write
	p.tell(Position{pos, true})
}

// tell reports the position, unless the end was reported.
func (p *Playing) tell(at Position) {
	p.calls.Lock()
	defer p.calls.Unlock()
	if !p.told {
		p.told = at.End
		p.moved(at)
	}
}

// stuck checks whether the speech should move and does not.
func (p *Playing) stuck() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	due := p.cut || !p.paused && (p.finished || p.pos < p.sent)
	if p.looks++; !due || p.ended {
		p.looks = 0
	}
	return p.looks >= stuck
}
