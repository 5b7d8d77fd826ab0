package dave

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A frameCrypto is where frames go through: which keys seal and open them now, and what
// may pass without. It has a lock of its own, so that a frame never waits for a
// commit to be computed.
type frameCrypto struct {
	mu      sync.Mutex
	version uint16 // executed
	plain   bool   // what is sent is not encrypted, as version 0 was executed
	live    *epoch // whose keys seal; nil if none do
	epochs  []*epoch
	leaving time.Time // until when plain frames are let in before version 0 is executed
	scratch scratch
}

// maxEpochs bounds how many epochs can open frames at a time. In ten seconds of
// people coming and going there are not more.
const maxEpochs = 32

// add lets frames of an epoch in, before anybody seals with its keys.
func (p *frameCrypto) add(e *epoch, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep(now)
	if slices.Contains(p.epochs, e) {
		return
	}
	p.epochs = append(p.epochs, e)
	if len(p.epochs) > maxEpochs {
		i := slices.IndexFunc(p.epochs, func(x *epoch) bool { return x != p.live })
		p.drop(i)
	}
}

// keep reports whether an epoch is not forgotten yet, and sees to it that it is not
// until the next is executed.
func (p *frameCrypto) keep(e *epoch, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep(now)
	if !slices.Contains(p.epochs, e) {
		return false
	}
	e.until = time.Time{}
	return true
}

// execute makes version the one that is spoken, with the keys of e, which may be nil.
// All epochs but e and those that are still to come are forgotten after [Keep].
func (p *frameCrypto) execute(version uint16, e *epoch, coming []*epoch, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = version
	p.plain = version == 0
	p.live = nil
	if version != 0 && e != nil && slices.Contains(p.epochs, e) {
		p.live = e
		e.until = time.Time{}
	}
	p.leaving = time.Time{}
	for _, x := range p.epochs {
		if x != p.live && !slices.Contains(coming, x) && x.until.IsZero() {
			x.until = now.Add(Keep)
		}
	}
	p.sweep(now)
}

// leave lets plain frames in for a while, as version 0 is about to be executed.
func (p *frameCrypto) leave(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaving = now.Add(Keep)
}

// sweep forgets what is too old.
func (p *frameCrypto) sweep(now time.Time) {
	for i := 0; i < len(p.epochs); {
		if u := p.epochs[i].until; !u.IsZero() && !now.Before(u) {
			p.drop(i)
		} else {
			i++
		}
	}
}

func (p *frameCrypto) drop(i int) {
	p.epochs[i].clear()
	p.epochs = slices.Delete(p.epochs, i, i+1)
}

func (p *frameCrypto) seal(dst, opus []byte) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.plain:
		return append(dst, opus...), nil
	case p.live == nil:
		return dst, ErrNotReady
	case len(opus) > maxFrame-maxSupplement:
		return dst, fmt.Errorf("dave: a frame of %d bytes", len(opus))
	}
	return p.live.send.seal(dst, opus), nil
}

func (p *frameCrypto) open(dst []byte, user uint64, b []byte, now time.Time) ([]byte, error) {
	if string(b) == silence {
		return append(dst, b...), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep(now)
	if f, ok := parse(b, &p.scratch); ok {
		if plain, ok := p.unseal(user, &f, now); ok {
			return f.join(dst, plain), nil
		}
		return dst, ErrClosed
	}
	// What ends as a protocol frame and is none is noise to a decoder, whatever it
	// was meant to be.
	if (p.plain || now.Before(p.leaving)) && len(b) <= maxFrame && !marked(b) {
		return append(dst, b...), nil
	}
	return dst, ErrClosed
}

func (p *frameCrypto) whose(dst []byte, users []uint64, b []byte, now time.Time) (uint64, []byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep(now)
	f, ok := parse(b, &p.scratch)
	if !ok {
		return 0, dst, false
	}
	for _, user := range users {
		if plain, ok := p.unseal(user, &f, now); ok {
			return user, f.join(dst, plain), true
		}
	}
	return 0, dst, false
}

// unseal tries the keys of a user, the newest first.
func (p *frameCrypto) unseal(user uint64, f *frame, now time.Time) ([]byte, bool) {
	for _, e := range slices.Backward(p.epochs) {
		if r := e.receivers[user]; r != nil {
			if plain, ok := r.open(&p.scratch, f, now); ok {
				return plain, true
			}
		}
	}
	return nil, false
}

// close forgets everything, for good.
func (p *frameCrypto) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.epochs {
		e.clear()
	}
	s := &p.scratch
	for _, b := range [][]byte{s.plain, s.again, s.sealed, s.aad} {
		clear(b[:cap(b)])
	}
	p.epochs, p.live, p.plain, p.leaving = nil, nil, false, time.Time{}
}
