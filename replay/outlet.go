package replay

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
)

// An outlet is one of somebody's, out of which each reply comes as far as it came then.
type outlet struct {
	house *simulation
	name  string
}

var (
	_ earshot.Audible = (*outlet)(nil)
	_ earshot.Flowing = (*outlet)(nil)
)

// Name implements [earshot.Outlet].
func (o *outlet) Name() string { return o.name }

// Audible implements [earshot.Audible].
func (o *outlet) Audible() bool {
	return o.name == loudspeaker || o.name == call || strings.HasPrefix(o.name, satellite)
}

// Flows implements [earshot.Flowing].
func (o *outlet) Flows() bool { return !o.Audible() }

// Open implements [earshot.Outlet].
func (o *outlet) Open(ctx context.Context, is earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	s := &speech{heard: heard, began: time.Now(), most: -1, wake: make(chan struct{}, 1)}
	if p := o.house.record.turns[o.house.names.recorded(string(is.Turn))]; p != nil {
		s.as = p
		r := p.event.Body.(earshot.Reply)
		if i := slices.IndexFunc(r.Heard, func(d earshot.Delivery) bool { return d.Outlet == o.name }); i >= 0 {
			s.most = r.Heard[i].Bytes
		}
	}
	o.house.doing.Go(func() { s.play(ctx) })
	return s, nil
}

// A speech is one reply coming out of one outlet.
type speech struct {
	heard func(earshot.Heard)
	as    *recordedSpeech // on record; nil if it is not
	most  int             // bytes that came out of this outlet; -1 if that is not known
	began time.Time

	mu       sync.Mutex
	ends     []int // where each clause does, in bytes
	finished bool
	cut      bool
	wake     chan struct{}
}

// Say implements [earshot.Speaking].
func (s *speech) Say(c earshot.Clause) error {
	s.change(func() { s.ends = append(s.ends, s.size()+len(c.Text)) })
	return nil
}

// Do implements [earshot.Speaking]. What held a reply back is on record by how far it
// came.
func (s *speech) Do(c earshot.Control) { s.change(func() { s.cut = s.cut || c == earshot.Cut }) }

// Finish implements [earshot.Speaking].
func (s *speech) Finish() { s.change(func() { s.finished = true }) }

func (s *speech) change(f func()) {
	s.mu.Lock()
	f()
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// size returns how much there is to say. It wants s.mu.
func (s *speech) size() int {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

// moves is how often what is said aloud tells how far it has come: as often as a person
// would notice.
const moves = 200 * time.Millisecond

// play lets the reply come out, until it has ended as it did then.
func (s *speech) play(ctx context.Context) {
	over, told := make(<-chan struct{}), 0
	if s.as != nil {
		over = s.as.over
	}
	for ended := s.as == nil; ; {
		s.mu.Lock()
		size, cut, finished := s.size(), s.cut, s.finished
		at := s.position(time.Now(), size, ended, finished && !cut)
		heard := s.heardAt(at)
		s.mu.Unlock()
		switch {
		case cut || ctx.Err() != nil || ended && finished:
			heard.End = true
			s.heard(heard)
			return
		case at > told:
			s.heard(heard)
			told = at
		}
		var again <-chan time.Time
		if !ended && at < size && (s.most < 0 || at < s.most) {
			again = time.After(moves)
		}
		select {
		case <-s.wake:
		case <-over:
			ended, over = true, nil
		case <-again:
		case <-ctx.Done():
		}
	}
}

// position returns how many bytes have come out at a time, of so many. It wants s.mu.
func (s *speech) position(now time.Time, size int, ended, whole bool) int {
	if s.as == nil || s.most < 0 && ended {
		return size
	}
	most := s.most
	if most < 0 {
		most = len(s.as.event.Body.(earshot.Reply).Offered)
	}
	if reply := s.as.event.Body.(earshot.Reply); reply.Cut == nil && ended && whole && reply.Outcome == earshot.Completed {
		return size
	}
	lasts, since := s.as.at.Sub(s.began), now.Sub(s.began)
	if reply := s.as.event.Body.(earshot.Reply); !ended && lasts > since && reply.Cut == nil {
		return min(size, int(float64(most)*float64(since)/float64(lasts)))
	} else if !ended && lasts > since {
		return min(size, max(1, int(float64(most)*float64(since)/float64(lasts))), most)
	}
	return min(size, most)
}

// heardAt returns how far that is. It wants s.mu.
func (s *speech) heardAt(at int) (h earshot.Heard) {
	from := 0
	for i, end := range s.ends {
		if h = (earshot.Heard{Clause: i, Byte: min(at, end) - from}); at <= end {
			break
		}
		from = end
	}
	return h
}
