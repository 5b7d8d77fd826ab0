package dave

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A frameCrypto handles frames: which keys seal and open them now, and what may pass unencrypted.
// It has a lock of its own, so that a frame never waits for the computation of a commit.
type frameCrypto struct {
	mu      sync.Mutex
	version uint16 // executed
	plain   bool   // sent frames are not encrypted, since version 0 was executed
	live    *epoch // whose keys seal; nil if there are none
	epochs  []*epoch
	leaving time.Time // until when plain frames are accepted before version 0 is executed
	scratch scratch
}

// maxEpochs bounds how many epochs can open frames at a time: more than ten seconds of people
// coming and going produce.
const maxEpochs = 32

// add accepts frames of an epoch, before anybody seals with its keys.
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

// keep reports whether an epoch is not forgotten yet, and keeps it until the next is executed.
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

// execute switches to a version, with the keys of e, which may be nil. All epochs except e and
// future ones are forgotten after [Keep].
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

// leave accepts plain frames for a while, since version 0 is about to be executed.
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
	// A frame that ends like a protocol frame and is not one would be noise to a decoder, whatever
	// it was.
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
