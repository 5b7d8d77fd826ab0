package unasked

import (
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/attention"
	"earshot/executive/scene"
	"earshot/language"
)

const (
	// maxFindings is how many findings of one conversation may wait to be said: as many as are kept
	// in mind. Beyond that the oldest is dropped, preferably one that nobody waits for.
	maxFindings = 8

	// maxPrivate is how many private findings may wait, over all conversations; the oldest is
	// dropped likewise.
	maxPrivate = 32
)

// A finding is a result of a thought that may be said.
type finding struct {
	event   earshot.Event
	whom    earshot.ParticipantID // who asked; empty if nobody did
	asked   bool
	gone    bool            // what it rests on no longer holds
	verdict earshot.Verdict // the verdict on record
	turn    earshot.TurnID  // the turn in which it was last tried
	tried   time.Time       // until when it waits after that
}

// answers returns the event that f answers; empty if it answers none.
func (f *finding) answers() earshot.EventID { return f.event.Body.(earshot.Finding).Answers }

// madeBy returns the event that gave an entry of the scene its form before an edit. Whatever rests
// on the entry has that event among its sources.
func (t *Tracker) madeBy(edit earshot.Edit, v earshot.Visibility) earshot.EventID {
	if i, ok := t.Scene.For(t.Audience(v)).Find(scene.Field(edit.Field), edit.Item); ok {
		return i.Event
	}
	return ""
}

// addFinding takes in a finding. A merged finding is only for the prompt: its parts are said one by
// one, or have been said.
func (t *Tracker) addFinding(e earshot.Event, body earshot.Finding, now time.Time) {
	if len(body.Merges) > 0 || !e.Visibility.Allows(earshot.Audience{}.With(t.Agent())) || t.Scene.Denied(body.Text, e.Visibility) {
		return
	}
	f := &finding{event: e, asked: body.Answers != "" && !t.answered.has(body.Answers, e.Visibility)}
	if f.asked {
		f.whom = t.asker(e, body.Answers)
		for _, old := range t.found { // this is a newer answer, and everybody who may know the old one may know it
			old.gone = old.gone || old.answers() == body.Answers && e.Visibility.Reaches(old.event.Visibility)
		}
	}
	t.found = append(t.found, f)
	t.schedule(now)
	t.boundFindings(maxFindings, func(o *finding) bool { return conversation.SameCircle(o.event.Visibility, e.Visibility) })
	t.boundFindings(maxPrivate, func(o *finding) bool { return o.event.Visibility.Scope == earshot.Private })
}

// asker returns who waits for a finding that answers something: the addressee, or otherwise the
// author of what it answers.
func (t *Tracker) asker(e earshot.Event, answers earshot.EventID) earshot.ParticipantID {
	if len(e.To) > 0 {
		return e.To[0]
	}
	return t.People.Current(t.Author(answers))
}

// boundFindings forgets the oldest of the findings that match among if there are too many,
// beginning with those that nobody waits for, and counts them.
func (t *Tracker) boundFindings(most int, among func(*finding) bool) {
	n := 0
	for _, f := range t.found {
		if among(f) {
			n++
		}
	}
	if n > most {
		t.Dropped(n - most)
	}
	for ; n > most; n-- {
		i := slices.IndexFunc(t.found, func(f *finding) bool { return among(f) && !f.asked })
		if i < 0 {
			i = slices.IndexFunc(t.found, among)
		}
		t.found = slices.Delete(t.found, i, i+1)
	}
}

// findingOf returns the finding that was last tried in a turn, or nil.
func (t *Tracker) findingOf(turn earshot.TurnID) *finding {
	if i := slices.IndexFunc(t.found, func(f *finding) bool { return f.turn != "" && f.turn == turn }); i >= 0 {
		return t.found[i]
	}
	return nil
}

// heard notes that a finding was heard, so that what it answers has been answered. f may be nil.
func (t *Tracker) heard(f *finding) {
	if f == nil {
		return
	}
	if answers, to := f.answers(), f.event.Visibility; answers != "" {
		t.answered.note(mark{of: answers, visibility: to})
		for _, other := range t.found {
			other.asked = other.asked && !(other.answers() == answers && to.Reaches(other.event.Visibility))
		}
	}
	t.dropFindings(func(other *finding) bool { return other == f })
}

// decided takes in a decision about a finding.
func (t *Tracker) decided(d earshot.Decision) {
	for _, f := range t.found {
		if f.event.ID == d.About {
			f.verdict, f.turn = d.Verdict, d.Turn
		}
	}
	t.dropFindings(func(f *finding) bool { return f.verdict == earshot.Silent || f.verdict == earshot.Note })
}

// markOutdated notes that events no longer hold. They are findings, or may be sources of findings.
func (t *Tracker) markOutdated(events ...earshot.EventID) {
	for _, f := range t.found {
		f.gone = f.gone || slices.ContainsFunc(events, func(id earshot.EventID) bool {
			return id != "" && (id == f.event.ID || slices.Contains(f.event.Sources, id))
		})
	}
}

func (t *Tracker) dropFindings(fits func(*finding) bool) {
	t.found = slices.DeleteFunc(t.found, fits)
}

// nextFinding returns the decision about the first finding whose verdict has changed, or that must
// be said now.
func (t *Tracker) nextFinding(m Moment) (Decision, bool) {
	if !m.Answers {
		return Decision{}, false
	}
	for _, f := range t.found {
		if f.tried.After(m.Now) {
			t.schedule(f.tried)
			continue
		}
		c := &Candidate{
			Kind: Finding, Event: f.event, Whom: f.whom, Answers: f.answers(), Asked: f.asked, Aloud: true,
			Words: string(f.event.Body.(earshot.Finding).Text), finding: f,
		}
		facts := t.facts(m, f.event.Visibility, f.whom)
		facts.Finding = t.weighed(f, m.Now)
		d := decide(m, c, facts, earshot.Wait)
		if d.Verdict == f.verdict && d.Verdict != earshot.Speak {
			t.schedule(d.again)
			continue
		}
		return d, true
	}
	return Decision{}, false
}

// decide decides about a candidate. If the candidate would reach nobody, the verdict is unheard.
func decide(m Moment, c *Candidate, facts attention.Facts, unheard earshot.Verdict) Decision {
	d := Decision{Candidate: c}
	d.Verdict, d.Reasons = attention.Decide(facts)
	if d.Verdict == earshot.Speak && !m.Reaches(c) {
		d.Verdict, d.Reasons = unheard, []string{attention.NobodyHere}
	}
	d.again = attention.Again(facts)
	return d
}

// weighed returns a finding in the form that the decision needs.
func (t *Tracker) weighed(f *finding, now time.Time) *attention.Finding {
	is := f.event.Body.(earshot.Finding)
	return &attention.Finding{
		Asked: f.asked, Worth: is.Worth, Confidence: is.Confidence,
		Stale: f.gone || !is.Until.IsZero() && !now.Before(is.Until), Told: t.used(f.event),
	}
}

// used reports whether a reply has relied on a finding.
func (t *Tracker) used(e earshot.Event) bool {
	all := t.Scene.For(t.Audience(e.Visibility)).Items(scene.Reasoning)
	return slices.ContainsFunc(all, func(i scene.Item) bool {
		return i.Used && (i.Event == e.ID || language.SameWords(i.Text, e.Body.(earshot.Finding).Text))
	})
}
