package room

import (
	"cmp"
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/admission"
	"earshot/executive/delivery"
	"earshot/executive/latency"
	"earshot/executive/question"
	"earshot/executive/record"
	"earshot/interrupt"
)

// restorePast continues from the past: the dialogue of the main agent, and what was under way when
// earshot stopped without a word.
func (r *Room) restorePast() {
	r.seats[0].Awake = true
	for _, e := range r.cfg.Past {
		r.remember(e)
		r.entries.RememberKept(e)
		r.records.newest = max(r.records.newest, e.Sequence)
		switch body := e.Body.(type) {
		case earshot.ModeChange:
			r.mode.Restore(body.Lasts())
		case earshot.Reply:
			if len(e.To) > 0 {
				r.live.latencies.Add(latency.Record{Latency: api.Latency{Turn: body.Turn, Agent: e.Author, About: body.About}, Whom: e.To[0], Visibility: e.Visibility, Unmeasured: true})
			}
			if s := r.seatOf(e.Author); s != nil {
				s.History.Spoke(e) // also for sleeping agents: a "go on" that calls nobody may mean them
			}
		}
	}
	r.mind.Resume(r.cfg.Past)
	r.exchange.Askers.Restore(r.cfg.Past)
	r.chain.Overdue = record.LastWords(r.cfg.Past, r.exchange.Kind)
	r.unanswered.messages, r.unanswered.had = record.CutShort(r.cfg.Past, r.cfg.Lost)
	r.records.began = r.records.newest
	for _, s := range r.seats {
		s.History.EndPresence()
	}
	for _, e := range record.Unended(r.cfg.Past) {
		d := e.Body.(earshot.Decision)
		fault, lately := "earshot stopped in the middle of it; ask again", !r.cfg.Lost.IsZero() && !e.At.Before(r.cfg.Lost)
		if lately {
			fault = "the daemon that said it was lost in the middle of it; it is said again"
		}
		lost := r.event(e.Visibility, earshot.Reply{Turn: d.Turn, About: d.About, Outcome: earshot.Failed, Fault: fault})
		lost.Author, lost.Sources = d.Agent, []earshot.EventID{d.About}
		if lately && r.cfg.Sealer != nil {
			r.lost.Add(lost, r.cfg.Now())
			continue
		}
		r.records.unsaved.Add(lost)
	}
}

// reunion is how long people who were waiting for an answer when earshot stopped may take to come
// back: a terminal does within a second or two. After that the answer is for those who read it
// later.
const reunion = 15 * time.Second

// unanswered are the messages that would have been answered if the program had not ended, oldest
// first, and until when their authors are waited for. It belongs to Run. A program that was killed
// has left no word of how far it came, so the question that it was answering is not asked again:
// the answer may have been heard. Where another daemon takes over at once, it is: they still wait for the rest.
type unanswered struct {
	messages []earshot.Event
	had      map[earshot.EventID][]earshot.ParticipantID // the agents that have had their turn about a message; other agents that it calls have not
	until    time.Time                                   // zero before the first check
}

// askUnanswered has the unanswered messages answered as soon as their author is present again and
// reads the answer somewhere, or need not be waited for any longer: what somebody wrote first is asked
// first, also if they arrive in the middle of this. Whether and by whom is decided again, among the
// agents that have not had their turn.
func (r *Room) askUnanswered(ctx context.Context) {
	if len(r.unanswered.messages) == 0 {
		return
	}
	now := r.cfg.Now()
	if r.unanswered.until.IsZero() {
		r.unanswered.until = now.Add(reunion)
	}
	var absent []earshot.ParticipantID
	r.unanswered.messages = slices.DeleteFunc(r.unanswered.messages, func(e earshot.Event) bool {
		switch {
		case admission.Stale(e, r.cfg.Now()):
			return true
		case !r.mode.Current().Answers():
			return false
		case now.Before(r.unanswered.until) && (slices.Contains(absent, e.Author) || !r.receives(e)):
			absent = append(absent, e.Author)
			return false
		}
		r.askAgain(ctx, e)
		return true
	})
}

// receives reports whether the author of a message is here and reads, at an outlet, what is
// answered: a terminal comes a moment after whoever sits at it. Who has spoken is still there, and hears
// what comes out of a loudspeaker.
func (r *Room) receives(e earshot.Event) bool {
	if e.Body.Kind() == earshot.KindUtterance {
		return slices.ContainsFunc(r.outlets(question.Question{Message: e, Aloud: true}), (*delivery.Outlet).Audible)
	}
	return r.resolver.Addressing.IsHere(e.Author) && slices.ContainsFunc(r.outlets(question.Question{Message: e}), func(p *delivery.Outlet) bool {
		return r.notices.ReadsAt(p, r.cfg.People.Current(e.Author))
	})
}

// askAgain admits a message that is on record once more.
func (r *Room) askAgain(ctx context.Context, e earshot.Event) {
	who, known := r.cfg.People.Get(e.Author)
	if u, spoken := e.Body.(earshot.Utterance); spoken && e.Author == "" {
		known = true // nobody knows whose voice it is, as when it was said first
	} else if spoken && !known { // a voice that only the daemon that was lost has met
		who, known = r.cfg.People.MeetAgain(u.Speaker, e.Author)
	}
	if !known {
		return
	}
	in := r.resolver.ResolveAgain(ctx, &r.set, e, who)
	if !r.entries.Forget(e.ID) {
		return // it was withdrawn, or is so old that it is no longer known
	}
	en, first, err := r.entries.Reserve(in)
	if err != nil || !first {
		return
	}
	en.Again, en.Had = true, r.unanswered.had[e.ID]
	en.Ticket = r.floor.Ticket()
	r.noteSent(in)
	r.entries.Push(en)
}

// nextUnanswered returns when the authors of unanswered messages need not be waited for any longer.
func (r *Room) nextUnanswered() time.Time {
	if until := r.unanswered.until; len(r.unanswered.messages) > 0 && until.After(r.cfg.Now()) {
		return until
	}
	return time.Time{} // something else may hold it up, and wakes the room when that is over
}

// Replay keeps an event that is on record elsewhere, exactly as it stands there: for example the
// result of a command, when a day is replayed. Its consequences follow. It returns when the event
// is kept.
func (r *Room) Replay(ctx context.Context, e earshot.Event) error { return r.entries.Keep(ctx, e) }

// ReplayCut repeats an interruption. The journal only has that it happened, since keys and voices
// are not kept. An interrupted thought gives way.
func (r *Room) ReplayCut(c earshot.Interruption, from earshot.Handle) {
	s := &interrupt.Signal{Kind: interrupt.Command, From: from, By: c.By, Confidence: 1, At: c.At}
	style := r.floor.CurrentStyle()
	for k := interrupt.Ambient; k <= interrupt.Over; k++ {
		if k.String() == c.Signal && interrupt.Judge(style, k) == interrupt.Cut {
			s.Kind = k
		}
	}
	s.From.Provider = cmp.Or(s.From.Provider, "earshot")
	r.floor.Signal(s)
}

// ReplayYield makes the thought under way give way, as it did.
func (r *Room) ReplayYield(c earshot.Interruption) {
	r.mind.Park(c)
	r.owner.Wake()
}
