//go:build lockorder && !race

package room_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/internal/testkit"
	"earshot/interrupt"
)

// A witness is an outlet that knows what of each turn came out of it, and when.
type witness struct {
	testkit.Voice

	seen   sync.Mutex // guards the following
	turns  map[earshot.TurnID]*said
	live   earshot.TurnID // empty if nothing comes out
	faults []string
}

// said is what an outlet was given of a turn, and how much of it came out.
type said struct {
	clauses []earshot.Clause
	heard   earshot.Heard
	came    time.Time // the last of it
}

// text returns what came out.
func (s *said) text() (text earshot.Text) {
	for i, c := range s.clauses {
		switch {
		case i < s.heard.Clause:
			text += c.Text
		case i == s.heard.Clause:
			text += c.Text[:s.heard.Byte]
		}
	}
	return text
}

// Open implements [earshot.Outlet].
func (w *witness) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	w.seen.Lock()
	mine := new(said)
	if w.live != "" {
		w.faults = append(w.faults, fmt.Sprintf("two turns come out of %s at once", w.Called))
	}
	if w.turns[o.Turn] != nil {
		w.faults = append(w.faults, fmt.Sprintf("a turn comes out of %s twice", w.Called))
	}
	w.turns[o.Turn], w.live = mine, o.Turn
	w.seen.Unlock()
	speaking, err := w.Voice.Open(ctx, o, func(h earshot.Heard) {
		w.seen.Lock()
		if h.Clause != mine.heard.Clause || h.Byte != mine.heard.Byte {
			mine.came = time.Now()
		}
		if mine.heard = h; h.End {
			w.live = ""
		}
		w.seen.Unlock()
		heard(h)
	})
	return &witnessed{speaking, w, mine}, err
}

// A witnessed speech notes what it is given.
type witnessed struct {
	earshot.Speaking
	by   *witness
	mine *said
}

// Say implements [earshot.Speaking].
func (s *witnessed) Say(c earshot.Clause) error {
	s.by.seen.Lock()
	s.mine.clauses = append(s.mine.clauses, c)
	s.by.seen.Unlock()
	return s.Speaking.Say(c)
}

// rest lets everything come to its end that the acts have left open, and checks that the room comes
// to rest, and then answers as before.
func (s *performance) rest(fault func(string, ...any)) {
	s.journal.Fail(nil)
	s.mind.stayOpen()
	s.shelf.stayOpen()
	open := !s.left && !s.ended
	if open { // invariant 3: it listens, whatever it does
		s.admit(by("carol", earshot.Typing{}))
		mode("it is live again", earshot.Live).do(s)
	}
	late := 20 * time.Second
	if s.typed() {
		late = 3 * time.Minute // that is when she has abandoned the line
	}
	rests(late)
	s.unanswered(fault)
	if busy := func() bool { return s.Busy() || s.state().Waiting > 0 }; open && busy() {
		rests(10 * time.Minute)
		fault("after %v the room is not at rest; ten minutes later it is: %v", late, !busy())
	}
	if open && room.Parked(s.Room) {
		fault("after %v the mind still waits for somebody to write or speak", late)
	}
	if open {
		s.admit(by("ann", earshot.Message{Text: "@Earshot are you there?"}))
		rests(10 * time.Second)
		if n := len(s.replies()); n == 0 || s.replies()[n-1].Outcome != earshot.Completed {
			fault("afterwards a question is not answered")
		}
	}
	s.stop()
	s.unanswered(fault)
}

// typed reports whether ann has pressed a key.
func (s *performance) typed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.attempts, func(a *attempt) bool {
		b, is := a.event.Body.(earshot.Typing)
		return is && b.Began && a.event.From == ann
	})
}

// unanswered checks that nobody waits any more.
func (s *performance) unanswered(fault func(string, ...any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.attempts {
		if !a.done {
			fault("%s still waits", a.what)
		}
	}
	for _, w := range s.outlets {
		w.seen.Lock()
		if w.live != "" {
			fault("something still comes out of %s", w.Called)
		}
		w.seen.Unlock()
	}
}

// check checks the invariants that hold whatever has happened.
func (s *performance) check(fault func(string, ...any)) {
	var history []earshot.Event // without events that came twice
	on := make(map[earshot.EventID]earshot.Event)
	for _, e := range s.history {
		if _, had := on[e.ID]; !had {
			history = append(history, e)
			on[e.ID] = e
		}
	}
	for _, e := range s.journal.Events() { // some were refused
		if _, is := on[e.ID]; !is {
			fault("%s is on record and was never given to the journal", e.ID)
		}
	}
	s.checkAttempts(on, fault)
	s.checkAnswers(history, on, fault)
	s.checkTexts(fault)
	for _, w := range s.outlets {
		for _, f := range w.faults {
			fault("%s", f)
		}
	}
	for _, took := range s.took {
		fault("%s", took)
	}
}

// checkAttempts checks that everybody was told what became of what they did: a message is on
// record, or its author has an error, and only what may be dropped was refused because there was too
// much.
func (s *performance) checkAttempts(on map[earshot.EventID]earshot.Event, fault func(string, ...any)) {
	for _, a := range s.attempts {
		kind := a.event.Body.Kind()
		_, kept := on[a.event.ID]
		switch {
		case a.err == nil && kind == earshot.KindMessage && !kept:
			fault("%s was admitted, and is not on record", a.what)
		case errors.Is(a.err, room.ErrBusy) && kind != earshot.KindUtterance && kind != earshot.KindRevision:
			fault("%s was dropped", a.what)
		case errors.Is(a.err, room.ErrClosed) && !s.ended && !s.left:
			fault("%s was refused by a room that is open", a.what)
		}
	}
}

// checkAnswers checks what came of each message, and the end of each turn.
func (s *performance) checkAnswers(history []earshot.Event, on map[earshot.EventID]earshot.Event, fault func(string, ...any)) {
	promised, decided := make(map[earshot.TurnID]earshot.Decision), make(map[earshot.EventID]bool)
	ends, used := make(map[earshot.TurnID]int), make(map[earshot.TurnID]bool)
	changed, putOff := make(map[earshot.EventID]bool), make(map[earshot.EventID]bool) // until the program runs again
	for _, e := range history {
		switch b := e.Body.(type) {
		case earshot.Decision:
			if decided[b.About] = true; b.Turn != "" {
				promised[b.Turn] = b
			}
		case earshot.Withdrawal:
			changed[b.Of] = true
		case earshot.Revision:
			changed[b.Of] = true
		}
	}
	n := 0
	for _, e := range history {
		switch b := e.Body.(type) {
		case earshot.Use:
			if ends[b.Turn] > 0 {
				fault("the use of a tool is on record after the end of the turn")
			}
			if used[b.Turn] = true; b.Refused { // somebody took part in the question who may not have it used
				continue
			}
			if n++; b.Result != "milk" && !b.Failed {
				fault("the tool returned %q", string(b.Result))
			}
		case earshot.Reply:
			ends[b.Turn]++
			putOff[b.About] = b.Cut != nil && b.Cut.Signal == interrupt.Shutdown.String()
			d, is := promised[b.Turn]
			if !is {
				fault("a turn ended that had not begun")
			}
			s.checkReply(e, b, used[b.Turn], fault)
			switch command := putOff[b.About] || b.Cut != nil && b.Cut.Signal == interrupt.Command.String(); {
			case s.bobLeft && on[d.About].Author == "bob": // nobody is there who could read the answer
			case b.Outcome == earshot.Failed && !s.broke:
				fault("the answer to %s failed: %s", b.About, b.Fault)
			case b.Outcome == earshot.Suppressed && b.Superseded == "" && !changed[d.About]:
				fault("the answer to %s was given up for nothing", d.About)
			case b.Outcome == earshot.Interrupted && len(b.Heard) == 0 && !command && !changed[d.About]:
				fault("%s was not answered, since %s had cut in", d.About, b.Cut.By)
			}
		}
	}
	lost := s.ended && s.filled // what no disk has kept is lost when the program has ended
	if n != s.read && !lost {
		fault("of %d uses of the tool %d are on record", s.read, n)
	}
	for turn, d := range promised {
		if ends[turn] != 1 && !lost {
			fault("the answer to %s has %d ends", d.About, ends[turn])
		}
	}
	settled := make(map[earshot.EventID]int)
	for _, e := range s.outlets["console"].Shown() {
		if b, is := e.Body.(earshot.Settled); is {
			settled[b.About]++
		}
	}
	for _, e := range s.journal.Events() {
		if e.Body.Kind() != earshot.KindMessage && e.Body.Kind() != earshot.KindUtterance {
			continue
		}
		cut := e.Body.Kind() == earshot.KindUtterance && strings.HasPrefix(string(e.ID), "e") // words that cut a reply and were never completed
		if !decided[e.ID] && !cut {
			fault("nobody decided whether %s is answered", e.ID)
		}
		if e.Via == "console" && e.Body.Kind() == earshot.KindMessage && settled[e.ID] != 1 && !((putOff[e.ID] || lost) && settled[e.ID] == 0) {
			fault("that nothing more comes to %s was told %d times", e.ID, settled[e.ID])
		}
	}
}

// checkReply checks that what is on record of a turn is what was heard of it.
func (s *performance) checkReply(e earshot.Event, b earshot.Reply, used bool, fault func(string, ...any)) {
	if b.Delivered()+b.Remainder() != b.Offered {
		fault("of %q %q was heard and %q remains", string(b.Offered), string(b.Delivered()), string(b.Remainder()))
	}
	if b.Outcome == earshot.Completed && !b.Reflex && used != strings.HasPrefix(string(b.Offered), "five") {
		fault("the answer to %s is %q, and a tool was used: %v", b.About, string(b.Offered), used)
	}
	for name, w := range s.outlets {
		heard := 0
		if i := slices.IndexFunc(b.Heard, func(d earshot.Delivery) bool { return d.Outlet == name }); i >= 0 {
			heard = b.Heard[i].Bytes
		}
		came := w.turns[b.Turn]
		switch {
		case came == nil && heard > 0:
			fault("%d bytes were heard of what did not come out of %s", heard, name)
		case came == nil:
		case came.came.After(e.At.Add(b.Took)):
			fault("something of the answer to %s came %v after its end", b.About, came.came.Sub(e.At.Add(b.Took)))
		case heard > len(b.Offered) || came.text() != b.Offered[:heard]:
			fault("%q came out of %s; on record are %d bytes of %q", string(came.text()), name, heard, string(b.Offered))
		}
	}
}

// checkTexts checks that no error and no thinking came into a prompt, a reply or a dialogue.
func (s *performance) checkTexts(fault func(string, ...any)) {
	var texts []string
	for _, req := range s.model.Seen() {
		for _, m := range req.Messages {
			texts = append(texts, m.Text)
		}
	}
	for _, r := range s.replies() {
		texts = append(texts, string(r.Offered))
	}
	for _, w := range s.outlets {
		texts = append(texts, w.Played())
	}
	for _, text := range texts {
		for _, no := range []string{errDiskFull.Error(), errModelLost.Engine, string(errModelLost.Fault), secretThought} {
			if strings.Contains(text, no) {
				fault("%q came into a prompt or a speech: %q", no, text)
			}
		}
	}
}
