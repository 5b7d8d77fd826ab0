package console

import (
	"context"
	"errors"
	"sync"

	"earshot"
	"earshot/internal/terminal"
)

// Recorder is a console that follows the replies to what was said here, and the replies to those,
// where agents answer each other. It shows nothing of what others say meanwhile. Faults are
// printed at the end; see [faults].
type Recorder struct {
	*Console
	term    *terminal.Terminal
	several bool // agents may answer, so each reply names its agent
	ids     func() earshot.EventID

	// Outcomes are the replies, and the notices that say who was not reached, in order.
	Outcomes []earshot.Event

	mu    sync.Mutex
	own   map[earshot.EventID]bool // what was said here, and the replies to it
	turns map[earshot.TurnID]bool  // the turns of those replies
}

// NewRecorder returns a recorder that shows replies through console, on term. Several says whether
// agents may answer, so that each reply names its agent.
func NewRecorder(console *Console, term *terminal.Terminal, several bool, newID func() earshot.EventID) *Recorder {
	return &Recorder{
		Console: console, term: term, several: several, ids: newID,
		own: make(map[earshot.EventID]bool), turns: make(map[earshot.TurnID]bool),
	}
}

// errOthers is the reason for not printing a reply.
var errOthers = errors.New("this reply is meant for somebody else")

// NewID gives what is said here an ID, to which the reply refers.
func (r *Recorder) NewID() earshot.EventID {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.ids()
	r.own[id] = true
	return id
}

// SupersededElsewhere reports whether a reply was given up in favour of something that was not said here.
func (r *Recorder) SupersededElsewhere(reply earshot.Reply) bool {
	return reply.Superseded != "" && !r.here(reply.Superseded)
}

// CutUnheard reports whether a reply was cut off before anything of it came out.
func CutUnheard(reply earshot.Reply) bool {
	return reply.Outcome == earshot.Interrupted && reply.Delivered() == ""
}

// here reports whether the event was said here.
func (r *Recorder) here(id earshot.EventID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.own[id]
}

// Passes implements [attach.Passing]: saying one thing is not coming in.
func (r *Recorder) Passes() bool { return true }

// Open implements [earshot.Outlet].
func (r *Recorder) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	if !r.here(o.Root) {
		return nil, errOthers
	}
	r.mu.Lock()
	r.turns[o.Turn] = true
	r.mu.Unlock()
	if r.several {
		r.term.Note(terminal.Line{Text: o.Name + ":"})
	}
	return r.Console.Open(ctx, o, heard)
}

// Show implements [earshot.Board].
func (r *Recorder) Show(e earshot.Event) {
	if r.concerns(e) {
		r.Console.Show(e)
	}
}

// concerns reports whether e is about what was said here.
func (r *Recorder) concerns(e earshot.Event) bool {
	switch body := e.Body.(type) {
	case earshot.Message:
		return r.here(e.ID) || r.within(body.Turn)
	case earshot.Use:
		return r.within(body.Turn)
	case earshot.Decision:
		return r.here(body.About)
	case earshot.Reply:
		if !r.here(body.About) {
			return false
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.Outcomes, r.own[e.ID] = append(r.Outcomes, e), true
		return true
	case earshot.Notice:
		if body.Key == earshot.HintKey {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.Outcomes = append(r.Outcomes, e)
			return true
		}
		return body.Key == "" || body.Over
	case earshot.Utterance, earshot.Speech, earshot.Agent:
		return false
	}
	return true
}

// within reports whether something was done in a turn that answers what was said
// here.
func (r *Recorder) within(turn earshot.TurnID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turns[turn]
}
