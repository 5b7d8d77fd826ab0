// Package roomset holds the rooms that a daemon runs.
package roomset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot"
	"earshot/executive"
	"earshot/internal/wait"
)

// ErrEnding is the error for a room that is added while the program ends.
var ErrEnding = errors.New("no more rooms are opened: earshot is stopping")

// LastWords is how long to wait for outlets that were cut when a room ended: a room gives them half
// a second to report how much was heard.
const LastWords = 700 * time.Millisecond

// A Room is what a [Set] needs of [earshot/executive/room.Room].
type Room interface {
	Run(context.Context) error
	Ping(context.Context) error
	Leave()
	Speaking() bool
}

// An Entry is a room and its configuration.
type Entry[R Room] struct {
	Room R
	Is   executive.Room

	*Run // nil if it runs for as long as the daemon
}

// A Run is the run of a room that may end before the daemon does.
type Run struct {
	Opened bool // for somebody, and may be closed for others

	number  int           // that no other run has
	touched atomic.Int64  // when it was last used, in nanoseconds
	end     func()        // ends the room, if it runs
	shut    chan struct{} // closed when the room has ended
}

// NewRun returns the run of a room that is used now.
func NewRun(opened bool) *Run {
	r := &Run{Opened: opened, shut: make(chan struct{})}
	r.touched.Store(time.Now().UnixNano())
	return r
}

// Touched returns when the room was last used, in nanoseconds since 1970.
func (r *Run) Touched() int64 { return r.touched.Load() }

// Number returns a number that no other run has had; 0 if the room runs for as long as the daemon.
func (e Entry[R]) Number() int {
	if e.Run == nil {
		return 0
	}
	return e.number
}

// Shut returns a channel that is closed when the room has ended, or nil if it stays.
func (e Entry[R]) Shut() <-chan struct{} {
	if e.Run == nil {
		return nil
	}
	return e.shut
}

// Respond returns when the loop of the room has come round.
func (e Entry[R]) Respond(ctx context.Context) error {
	if err := e.Room.Ping(ctx); err != nil {
		return fmt.Errorf("the room %s is stuck: %w", e.Is.ID, err)
	}
	return nil
}

// A List is rooms, the desk first.
type List[R Room] []Entry[R]

// Find returns the room with an ID; the desk if it is empty.
func (l List[R]) Find(id earshot.RoomID) (Entry[R], bool) {
	i := slices.IndexFunc(l, func(e Entry[R]) bool { return e.Is.ID == cmp.Or(id, earshot.Desk) })
	if i < 0 {
		return Entry[R]{}, false
	}
	return l[i], true
}

// A Set holds the current rooms. The zero value has none; its methods may be called from many goroutines.
type Set[R Room] struct {
	mu   sync.RWMutex
	all  List[R] // never changed, only replaced
	runs int     // that there were
	run  func(Entry[R])
	over bool // no more rooms are opened
}

// Now returns all current rooms, the desk first. The list is never changed.
func (s *Set[R]) Now() List[R] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.all
}

// Find returns the room with an ID, which counts as used now; the desk if the ID is empty.
func (s *Set[R]) Find(id earshot.RoomID) (Entry[R], bool) {
	e, ok := s.Now().Find(id)
	if ok && e.Run != nil {
		e.touched.Store(time.Now().UnixNano())
	}
	return e, ok
}

// List describes the rooms, the desk first.
func (s *Set[R]) List() (all []executive.Room) {
	for _, e := range s.Now() {
		all = append(all, e.Is)
	}
	return all
}

// Replace replaces the rooms, before they are started.
func (s *Set[R]) Replace(all List[R]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = all
}

// Start runs all rooms in g until ctx ends, and those that are added later.
func (s *Set[R]) Start(ctx context.Context, g *errgroup.Group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = func(e Entry[R]) {
		ctx, end := context.WithCancel(ctx)
		if e.Run != nil {
			e.end = end
		}
		g.Go(func() error {
			defer end()
			if e.Run != nil {
				defer close(e.shut)
			}
			return e.Room.Run(ctx)
		})
	}
	for _, e := range s.all {
		s.run(e)
	}
}

// Close prevents further rooms from being opened, and tells all that the program ends.
func (s *Set[R]) Close() {
	s.mu.Lock()
	s.over, s.run = true, nil
	all := s.all
	s.mu.Unlock()
	for _, e := range all {
		e.Room.Leave()
	}
}

// AwaitSilence waits until nothing is said in any room after [Set.Close].
func (s *Set[R]) AwaitSilence(ctx context.Context) {
	wait.Until(ctx, LastWords, func() bool {
		return !slices.ContainsFunc(s.Now(), func(e Entry[R]) bool { return e.Room.Speaking() })
	})
}

// Add adds a room, and runs it if the others run.
func (s *Set[R]) Add(e Entry[R]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return ErrEnding
	}
	if s.runs++; e.Run != nil {
		e.number = s.runs
	}
	if s.all = append(slices.Clip(s.all), e); e.Is.ID == earshot.Desk {
		s.all = append(List[R]{e}, s.all[:len(s.all)-1]...)
	}
	if s.run != nil {
		s.run(e)
	}
	return nil
}

// Update gives a room its current configuration.
func (s *Set[R]) Update(is executive.Room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.Clone(s.all)
	for i := range s.all {
		if s.all[i].Is.ID == is.ID {
			s.all[i].Is = is
		}
	}
}

// Remove removes a room that may end before the daemon does, and returns when it has ended.
func (s *Set[R]) Remove(e Entry[R]) {
	s.mu.Lock()
	s.all = slices.DeleteFunc(slices.Clone(s.all), func(other Entry[R]) bool { return other.Is.ID == e.Is.ID })
	runs := e.end != nil
	s.mu.Unlock()
	if !runs {
		close(e.shut)
		return
	}
	e.Room.Leave()
	e.end()
	<-e.shut
}
