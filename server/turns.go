package server

import (
	"container/list"
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// few are told at the same time: so many at most stand between whoever writes and the
	// processors.
	few = 2

	// perSecond is how many are told in a second: the last of a thousand after 125 ms, and
	// the processors have time for something else meanwhile.
	perSecond = 8000

	// ahead is how many are told without a pause, as a busy machine wakes who sleeps late: by
	// 16 ms at most that makes no difference.
	ahead = 128

	// lagging is after what time it is told to the next while one still is: it takes some tens
	// of microseconds, unless who reads is slow.
	lagging = 2 * time.Millisecond
)

// turns are how those who follow the events are told of them: a few at a time. A few wait
// for what happens, and the others, in the order in which they came, until one of these has
// been told. So what happens wakes a few, however many follow. The zero value is ready.
type turns struct {
	once sync.Once
	pace *rate.Limiter
	next line // who waits for what comes next
	late line // who is to be told already, since it happened while they were told of something
}

// wait returns true when something has happened, which closes grown or other, and it is
// somebody's turn to be told; false when ctx has ended or a time has come before. Who has been
// told ends the turn.
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

// A turn is somebody's turn to be told. The zero turn has ended.
type turn struct {
	in  *line
	at  *place
	lag *time.Timer // ends it, too
}

// end ends it.
func (t turn) end() {
	if t.lag != nil && t.lag.Stop() {
		t.in.leave(t.at)
	}
}

// A line is of those who wait to be in front, where a few may be. The zero line is empty.
type line struct {
	mu     sync.Mutex
	front  int
	behind list.List // of places
}

// A place is somebody's in a line.
type place struct {
	front chan struct{} // closed when they are in front
	at    *list.Element // before
}

// come returns the place of who comes, nil if something has happened already. Who knows
// less cannot come behind who knows more and waits for what is next: what happens lies
// before the one comes, or after the other has.
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

// leave gives up a place, for the next if it was in front.
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
