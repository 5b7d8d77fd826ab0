package server

import (
	"container/list"
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// few is how many are woken at once: at most this many stand between the writer and the
	// processors.
	few = 2

	// perSecond is how many are woken in a second: the last of a thousand after 125 ms, and the
	// processors have time for something else meanwhile.
	perSecond = 8000

	// ahead is how many are woken without a pause, since a busy machine wakes sleepers late: by at
	// most 16 ms, which does no harm.
	ahead = 128

	// lagging is the time after which the next is woken while one is still being served: serving
	// takes some tens of microseconds, unless the reader is slow.
	lagging = 2 * time.Millisecond
)

// turns wakes the followers of the events a few at a time. A few wait for the next event; the
// others, in the order in which they came, wait until one of those has been served. So an event
// wakes a few, however many follow. The zero value is ready.
type turns struct {
	once sync.Once
	pace *rate.Limiter
	next line // those who wait for the next event
	late line // those to be served now, since something happened while they were being served
}

// wait returns true when something has happened, which closes grown or other, and the caller's
// turn has come; false when ctx or the time has ended before. A caller that was served ends the
// turn.
func (t *turns) wait(ctx context.Context, grown, other <-chan struct{}, until <-chan time.Time) (turn, bool) {
	t.once.Do(func() { t.pace = rate.NewLimiter(perSecond, ahead) })
	in, at := &t.next, t.next.come(grown, other)
	if at == nil {
		in, at = &t.late, t.late.come(nil, nil)
	}
	select {
	case <-at.front:
	case <-until:
		in.leave(at)
		return turn{}, false
	case <-ctx.Done():
		in.leave(at)
		return turn{}, false
	}
	happened := false
	select {
	case <-grown:
		happened = true
	case <-other:
		happened = true
	case <-until:
	case <-ctx.Done():
	}
	if happened && t.pace.Wait(ctx) == nil {
		return turn{in, at, time.AfterFunc(lagging, func() { in.leave(at) })}, true
	}
	in.leave(at)
	return turn{}, false
}

// A turn is the permission to be served. The zero turn has ended.
type turn struct {
	in  *line
	at  *place
	lag *time.Timer // ends the turn, too
}

// end ends it.
func (t turn) end() {
	if t.lag != nil && t.lag.Stop() {
		t.in.leave(t.at)
	}
}

// A line is a queue with room for a few in front. The zero line is empty.
type line struct {
	mu     sync.Mutex
	front  int
	behind list.List // of places
}

// A place is a place in a line.
type place struct {
	front chan struct{} // closed when the place is in front
	at    *list.Element // its place in behind, while it is not in front
}

// come returns a new place, or nil if something has happened already. A caller that knows less
// cannot stand behind one that knows more and waits for the next event: an event falls before the
// one arrives, or after the other has.
func (l *line) come(grown, other <-chan struct{}) *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-grown:
		return nil
	case <-other:
		return nil
	default:
	}
	p := &place{front: make(chan struct{})}
	if l.front < few {
		l.front++
		close(p.front)
	} else {
		p.at = l.behind.PushBack(p)
	}
	return p
}

// leave gives up a place, to the next in line if it was in front.
func (l *line) leave(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.at != nil {
		l.behind.Remove(p.at)
		return
	}
	first := l.behind.Front()
	if first == nil {
		l.front--
		return
	}
	next, _ := l.behind.Remove(first).(*place)
	next.at = nil
	close(next.front)
}
