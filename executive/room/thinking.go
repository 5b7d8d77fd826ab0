package room

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/activity"
	"earshot/executive/prompt"
	"earshot/executive/think"
	"earshot/interrupt"
	"earshot/language"
	"earshot/llm"
)

// newMind returns the mind of the room, which is that of its main agent. It requests nothing before
// it runs.
func (r *Room) newMind() *think.Mind {
	r.thinkHost = &thinkHost{room: r, rests: make(map[earshot.EventID]*thoughtProvenance)}
	return &think.Mind{
		Model: r.cfg.Model, Host: r.thinkHost,
		Settings: r.cfg.Settings, Now: r.cfg.Now, NewID: r.cfg.NewID, Log: r.cfg.Log,
		Moved: r.pulse.beat,
	}
}

// thinks reports whether thinking is on at all.
func (r *Room) thinks() bool {
	set := r.cfg.Settings()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cfg.Model != nil && set.Enabled && set.Reasoning.Enabled && r.mode.Answers() && !r.leaving && !r.closed
}

// yield parks the mind when somebody begins to write or speak, or says something to an agent: a
// reply must not wait for a thought. It acts on the goroutine of the sense, as soon as the state
// that floorTaken reads shows it and before anything waits in a queue. The owner releases the mind
// when that is over.
func (r *Room) yield(in resolvedEvent) {
	if !r.begins(in) || r.hasSpareSlot() {
		return
	}
	by := earshot.Interruption{Signal: interrupt.Addressed.String(), At: in.event.At}
	if in.event.Visibility.Scope != earshot.Private { // nobody else is told of a private one
		by.By = in.who.ID
	}
	if in.signal != nil && in.signal.Kind != interrupt.Over { // this is its signal for the floor
		by.Signal = in.signal.Kind.String()
	}
	r.parkMu.Lock()
	r.mind.Park(by)
	r.parkMu.Unlock()
	r.nudge()
}

// begins reports whether in is the beginning of something that may be answered.
func (r *Room) begins(in resolvedEvent) bool {
	switch body := in.event.Body.(type) {
	case earshot.Typing:
		return body.Began
	case earshot.Speech:
		return body.Stage != earshot.VoiceOver && in.to != conversation.Own && in.to != conversation.Aside && in.to != conversation.Backchannel && in.signal != nil
	case earshot.Message:
		return in.aim.Mine
	case earshot.Utterance:
		return in.to.ForAgent()
	}
	return false
}

// hasSpareSlot reports whether a thought and a reply can be generated at the same time: the engine
// has a slot to spare, or each has an engine of its own.
func (r *Room) hasSpareSlot() bool {
	set := r.cfg.Settings()
	if !set.Parallel.Enabled {
		return false
	}
	main := r.agents()[0]
	talks, _ := set.LLM.For(string(main.Role), main.Engine, main.Model)
	engines := set.LLM.List()
	at := slices.IndexFunc(engines, func(e llm.EngineConfig) bool { return e.Name == talks })
	is := engines[max(at, 0)]
	return is.Slots > 1 || cmp.Or(set.Reasoning.Engine, is.Name) != is.Name
}

// admissions counts the events that are being admitted and have not parked the mind yet. The room
// knows such an event only in part: that somebody types is noted before the mind is parked in their
// name. The zero value counts none.
type admissions struct {
	count   atomic.Int32
	skipped atomic.Bool // the owner left the mind as it was, and must check again
}

// beginAdmission keeps the owner from parking or releasing the mind until settle is called. settle
// may be called more than once, by one goroutine.
func (r *Room) beginAdmission() (settle func()) {
	r.admissions.count.Add(1)
	settled := false
	return func() {
		if settled {
			return
		}
		settled = true
		if r.admissions.count.Add(-1); r.admissions.skipped.Swap(false) {
			r.nudge()
		}
	}
}

// pending reports whether an event is being admitted; if so, the owner is woken when it is
// settled.
func (a *admissions) pending() bool {
	a.skipped.Store(true) // before the count is read, so that whoever lowers it sees this
	if a.count.Load() > 0 {
		return true
	}
	a.skipped.Store(false)
	return false
}

// updateMind lets the mind think if nobody wants the floor, and parks it otherwise. Somebody who
// wants the floor meanwhile parks it afterwards.
func (r *Room) updateMind() {
	r.parkMu.Lock()
	defer r.parkMu.Unlock()
	r.mind.SetEnabled(r.thinks())
	by, taken := r.floorTaken()
	switch { // checked only now: an event that was noted before has parked the mind by then, or is found here
	case r.admissions.pending():
	case !taken:
		r.mind.Release()
	case !r.hasSpareSlot() && !r.mind.Held():
		r.mind.Park(by)
	}
}

// floorTaken reports whether somebody has the floor or is about to want it, and who.
func (r *Room) floorTaken() (by earshot.Interruption, is bool) {
	now := r.cfg.Now()
	types, voice := r.activity.About(now)
	by = earshot.Interruption{Signal: interrupt.Ambient.String(), At: now}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.activeTurn != nil:
		by.Signal = "turn"
	case len(r.pending)+r.coming+len(r.waiting) > 0:
		by.Signal = interrupt.Addressed.String()
	case types:
		by.Signal = interrupt.Typing.String()
	case voice:
		by.Signal = interrupt.Voice.String()
	default:
		return by, false
	}
	return by, true
}

// nextQuiet returns when a silent voice may have ended, if the mind or a question waits for that;
// the zero time otherwise.
func (r *Room) nextQuiet() time.Time {
	if !r.mind.Held() && len(r.pending) == 0 || r.speaking() {
		return time.Time{}
	}
	now := r.cfg.Now()
	if _, voice := r.activity.About(now); !voice {
		return time.Time{}
	}
	return now.Add(activity.VoiceExpiry)
}

// thinkAbout makes the mind think about something new that nobody has asked.
func (r *Room) thinkAbout(cause earshot.Cause, about earshot.EventID, what earshot.Text) {
	if r.thinks() {
		_ = r.mind.Ask(think.Question{ // an unasked question is always taken
			ID: r.cfg.NewID(), Cause: cause, About: about, Text: what,
			Visibility: earshot.Visibility{Scope: earshot.Public}, At: r.cfg.Now(),
		})
	}
}

// longestPause is how old a thought may be that continues after a start: the asker has forgotten an
// older one.
const longestPause = 24 * time.Hour

// resume continues the thoughts that somebody had asked for, and that were parked when earshot
// stopped, or not distilled yet.
func (r *Room) resume(past []earshot.Event) {
	var order []earshot.EventID
	open := make(map[earshot.EventID][]earshot.Event)
	sorted := make(map[earshot.EventID]bool)
	for _, e := range past {
		if f, is := e.Body.(earshot.Finding); is {
			sorted[f.Thought] = true
		}
		body, ok := e.Body.(earshot.Thought)
		if !ok || !body.Cause.Asked() {
			continue
		}
		id := cmp.Or(body.Of, e.ID)
		if open[id] == nil {
			order = append(order, id)
		}
		open[id] = append(open[id], e)
	}
	for _, id := range order {
		last := open[id][len(open[id])-1]
		is := last.Body.(earshot.Thought)
		open := open[id]
		goesOn := is.Outcome != earshot.Completed || !sorted[last.ID]
		if open[0].ID != id || !goesOn || is.Dropped || r.cfg.Now().Sub(last.At) > longestPause {
			continue
		}
		r.thinkHost.rests[id] = restOf(open)
		r.mind.Restore(r.questioned(open[0]), segments(open), last.Sequence)
	}
}

// restOf returns what the segments of a thought rest on.
func restOf(stretches []earshot.Event) *thoughtProvenance {
	is := &thoughtProvenance{rests: prompt.Provenance{Visibility: stretches[0].Visibility}}
	for _, e := range stretches {
		is.rests, is.at = is.rests.And(e.Visibility, e.Sources...).With(e.ID), e.At
	}
	return is
}

// questioned returns the question of the thought whose first segment is e.
func (r *Room) questioned(e earshot.Event) think.Question {
	is := e.Body.(earshot.Thought)
	q := think.Question{ID: e.ID, Cause: is.Cause, About: is.About, Text: is.Question, Visibility: e.Visibility, At: e.At}
	if len(e.To) > 0 {
		q.By, q.Name = e.To[0], r.cfg.People.Name(e.To[0])
	}
	return q
}

func segments(events []earshot.Event) (all []think.Segment) {
	for _, e := range events {
		all = append(all, think.Segment{ID: e.ID, At: e.At, Thought: e.Body.(earshot.Thought)})
	}
	return all
}

// triggered reports whether text contains one of the words that make an agent think: as a whole
// word, in any case.
func triggered(set executive.Reasoning, text earshot.Text) bool {
	all := language.Words(string(text))
	return slices.ContainsFunc(set.Triggers, func(trigger string) bool {
		words := language.Words(trigger)
		for i := 0; i+len(words) <= len(all); i++ {
			if slices.Equal(all[i:i+len(words)], words) {
				return len(words) > 0
			}
		}
		return false
	})
}
