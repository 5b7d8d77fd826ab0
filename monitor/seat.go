package monitor

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/monitor/model"
	"earshot/providers"
	"earshot/server/attach"
	"earshot/server/client"
)

// A Door lets a terminal into the room, as [client.Client.Attach] does.
type Door interface {
	Attach(ctx context.Context, p providers.Provider, o earshot.Outlet, names *attach.Names) error
}

// unsent is how many typed lines may wait for a room that accepts nothing: more than anybody types
// meanwhile.
const unsent = 16

// A seat is the place in the room of a person who types at the monitor. It is an input and an
// outlet, like any terminal. The monitor shows the replies; the outlet acknowledges what was drawn
// while the screen follows the newest.
type seat struct {
	door   Door
	handle earshot.Handle
	via    string
	newID  func() earshot.EventID
	to     *inbox

	mu     sync.Mutex
	queue  []earshot.Event // to be sent, the oldest first
	more   chan struct{}   // holds one if something was queued
	taken  chan struct{}   // closed when somebody sits down
	sits   bool
	speech *speech
}

func newSeat(door Door, handle earshot.Handle, via string, newID func() earshot.EventID, to *inbox) *seat {
	return &seat{door: door, handle: handle, via: via, newID: newID, to: to, more: make(chan struct{}, 1), taken: make(chan struct{})}
}

// sit takes the place. Only the first call has an effect.
func (s *seat) sit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sits {
		s.sits = true
		close(s.taken)
	}
}

// say queues something to be sent. Something that is only of interest at the moment replaces an
// earlier one of its kind.
func (s *seat) say(b earshot.Body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := earshot.Event{ID: s.newID(), At: time.Now(), From: s.handle, Via: s.via, Body: b}
	if n := len(s.queue); n > 0 && b.Kind() == earshot.KindTyping && s.queue[n-1].Body.Kind() == earshot.KindTyping && n > 1 {
		s.queue[n-1] = e
	} else if n >= unsent {
		s.to.put(model.Told{Text: "not sent: an earlier message is still waiting; is the connection lost?"})
		return
	} else {
		s.queue = append(s.queue, e)
	}
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// run holds the place from the moment when somebody takes it until ctx ends. It reconnects after
// every loss.
func (s *seat) run(ctx context.Context) error {
	select {
	case <-s.taken:
	case <-ctx.Done():
		return nil
	}
	for ctx.Err() == nil {
		err := s.door.Attach(ctx, s, s, new(attach.Names))
		if r, ok := client.Refused(err); ok {
			s.to.put(model.Told{Text: "you cannot take part: " + r.Error()})
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(least): // the status line reports it
		}
	}
	return nil
}

// Run implements [providers.Provider].
func (s *seat) Run(ctx context.Context, emit providers.Emit) error {
	for {
		e, ok := s.next()
		if !ok {
			select {
			case <-s.more:
				continue
			case <-ctx.Done():
				return nil
			}
		}
		err := emit(ctx, e)
		if err != nil && ctx.Err() != nil || errors.Is(err, attach.ErrLost) {
			return err // it will be sent again, with the same ID, and kept only once
		}
		if err != nil && e.Body.Kind() != earshot.KindTyping {
			s.to.put(model.Told{Text: "not sent: " + err.Error() + "; the up arrow brings it back"})
		}
		s.sent(e.ID)
	}
}

func (s *seat) next() (earshot.Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return earshot.Event{}, false
	}
	return s.queue[0], true
}

func (s *seat) sent(id earshot.EventID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = slices.DeleteFunc(s.queue, func(e earshot.Event) bool { return e.ID == id })
}

// Name implements [earshot.Outlet] and [providers.Provider].
func (s *seat) Name() string { return s.via }

// Flows implements [earshot.Flowing].
func (s *seat) Flows() bool { return true }

// Show implements [earshot.Board]. Events of the journal come from the journal. Show takes the
// others, which are only for the person at this terminal.
func (s *seat) Show(e earshot.Event) {
	switch b := e.Body.(type) {
	case earshot.Notice:
		if b.Key != "" && b.Key != earshot.HintKey && !b.Over {
			return // the health pane shows it
		}
		text := b.Text
		if b.Cure != "" {
			text += "\n→ " + b.Cure
		}
		s.to.put(model.Told{Text: text})
	case earshot.Message:
		if e.Sequence == 0 {
			s.to.put(model.Told{Text: "(off the record) " + string(b.Whole())})
		}
	}
}

// Open implements [earshot.Outlet]. It cuts a speech that is still going on.
func (s *seat) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	sp := &speech{seat: s, heard: heard, piece: model.Piece{Opening: o, Since: time.Now()}}
	sp.change = sync.NewCond(&sp.mu)
	s.mu.Lock()
	was := s.speech
	s.speech = sp
	s.mu.Unlock()
	if was != nil {
		was.Do(earshot.Cut)
	}
	context.AfterFunc(ctx, func() { sp.Do(earshot.Cut) })
	s.to.put(sp.piece)
	return sp, nil
}

// drawn notes that a piece was on the screen.
func (s *seat) drawn(p model.Piece) {
	s.mu.Lock()
	sp := s.speech
	s.mu.Unlock()
	if sp != nil && p.Opening.Turn == sp.piece.Opening.Turn {
		sp.drawn(len(p.Text))
	}
}

// A speech is one reply that comes out at this terminal. Its mutex guards all fields except those
// that never change.
type speech struct {
	seat  *seat
	heard func(earshot.Heard)

	mu       sync.Mutex
	change   *sync.Cond
	piece    model.Piece
	ends     []int // of each clause, in bytes of the text
	shown    int
	paused   bool
	finished bool
	over     bool
}

// Say implements [earshot.Speaking].
func (sp *speech) Say(c earshot.Clause) error {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	for sp.paused && !sp.over {
		sp.change.Wait()
	}
	if sp.over {
		return nil
	}
	sp.piece.Text += c.Text
	sp.ends = append(sp.ends, len(sp.piece.Text))
	sp.seat.to.put(sp.piece)
	return nil
}

// drawn acknowledges what was on the screen.
func (sp *speech) drawn(bytes int) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if sp.over {
		return
	}
	bytes = min(bytes, len(sp.piece.Text))
	all := sp.finished && bytes == len(sp.piece.Text)
	if bytes <= sp.shown && !all {
		return
	}
	sp.shown = max(sp.shown, bytes)
	sp.tell(all)
}

// tell reports how far the reply has come. The caller holds the lock.
func (sp *speech) tell(end bool) {
	h := earshot.Heard{End: end}
	began := 0
	for n, ends := range sp.ends {
		if sp.shown >= began {
			h.Clause, h.Byte = n, min(sp.shown, ends)-began
		}
		began = ends
		if sp.shown < ends {
			break
		}
	}
	sp.over = sp.over || end
	sp.heard(h)
	if end {
		sp.change.Broadcast()
	}
}

// Do implements [earshot.Speaking].
func (sp *speech) Do(c earshot.Control) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	switch {
	case sp.over:
	case c == earshot.Cut:
		sp.tell(true)
	default:
		sp.paused = c == earshot.Pause
		sp.change.Broadcast()
	}
}

// unwatched is how long the end of a reply waits for a person who is looking back.
const unwatched = time.Second

// Finish implements [earshot.Speaking].
func (sp *speech) Finish() {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.finished = true
	if sp.over {
		return
	}
	if sp.shown == len(sp.piece.Text) {
		sp.tell(true)
		return
	}
	time.AfterFunc(unwatched, func() { // nobody is looking: what was not drawn was not heard
		sp.mu.Lock()
		defer sp.mu.Unlock()
		if !sp.over {
			sp.tell(true)
		}
	})
}
