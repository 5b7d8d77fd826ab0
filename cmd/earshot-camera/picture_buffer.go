//go:build cgo

package main

import (
	"sync"
	"time"

	"earshot"
	"earshot/models/see/wire"
)

// most is how many bytes of pictures are kept: ten seconds at ten a second, as a rule.
const most = 16 << 20

// unlike is how far in time the picture shown may be from the one requested, unless pictures are
// rarer than that.
const unlike = time.Second

// A bufferedPicture is one picture that is kept, as JPEG.
type bufferedPicture struct {
	at            time.Time
	width, height int
	jpeg          []byte         // at most earshot.MaxPicture
	seen          []earshot.Seen // what was found in it, or in one of the same second
	searched      bool           // in it, and in no other
}

// A pictureBuffer keeps the recent pictures, in memory. When it is full the oldest goes. It may be
// used from many goroutines; a page's content is not changed.
type pictureBuffer struct {
	mu      sync.Mutex
	pages   []*bufferedPicture // the oldest first
	bytes   int
	own     bool                     // the pictures have a time of their own
	waiting []func(*bufferedPicture) // for the next
	wish    chan struct{}            // holds a token when somebody waits
}

func newPictureBuffer() *pictureBuffer { return &pictureBuffer{wish: make(chan struct{}, 1)} }

// alone says whether the pictures have a time of their own: those of a recording that is read as
// fast as possible.
func (a *pictureBuffer) alone(own bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.own = own
}

// now is the time by which ages are counted.
func (a *pictureBuffer) now() time.Time {
	if n := len(a.pages); a.own && n > 0 {
		return a.pages[n-1].at
	}
	return time.Now()
}

// await calls show with the next picture, or with nil if that cannot be kept. Show must not block.
func (a *pictureBuffer) await(show func(*bufferedPicture)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, show)
	select {
	case a.wish <- struct{}{}:
	default:
	}
}

// wanted reports whether somebody waits for the next picture.
func (a *pictureBuffer) wanted() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting) > 0
}

// put keeps a picture and, if it was searched, shows it to those who wait: so the detections given
// with a requested picture are really in it.
func (a *pictureBuffer) put(p *bufferedPicture) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pages, a.bytes = append(a.pages, p), a.bytes+len(p.jpeg)
	gone := 0
	for a.bytes > most || p.at.Sub(a.pages[gone].at) > wire.Memory {
		a.bytes -= len(a.pages[gone].jpeg)
		a.pages[gone] = nil
		gone++
	}
	a.pages = a.pages[gone:]
	if p.searched {
		a.show(p)
	}
}

// miss tells those who wait that there is no picture: the next could not be kept.
func (a *pictureBuffer) miss() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.show(nil)
}

// show shows a page to who waits. Its mutex is held.
func (a *pictureBuffer) show(p *bufferedPicture) {
	for _, show := range a.waiting {
		show(p)
	}
	a.waiting = a.waiting[:0]
	select {
	case <-a.wish:
	default:
	}
}

// nearest returns the picture taken nearest to a time that long ago, nil if none is near enough.
func (a *pictureBuffer) nearest(age time.Duration) *bufferedPicture {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.now().Add(-age)
	var best *bufferedPicture
	for _, p := range a.pages {
		if best == nil || p.at.Sub(at).Abs() <= best.at.Sub(at).Abs() {
			best = p
		}
	}
	if best == nil || at.Before(a.pages[0].at.Add(-max(unlike, a.gap()))) {
		return nil
	}
	return best
}

// gap returns the usual time between two pictures.
func (a *pictureBuffer) gap() time.Duration {
	return a.pages[len(a.pages)-1].at.Sub(a.pages[0].at) / time.Duration(max(1, len(a.pages)-1))
}

// age returns how long ago a picture was taken.
func (a *pictureBuffer) age(p *bufferedPicture) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return bounded(a.now().Sub(p.at))
}

// bounded limits an age to what the daemon accepts.
func bounded(age time.Duration) time.Duration { return min(max(age, 0), wire.MaxAge) }
