package room

import (
	"context"
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/attention"
	"earshot/executive/prompt"
	"earshot/executive/scene"
	"earshot/interrupt"
)

const (
	// maxFound is how many findings of one conversation may wait to be said: as many as are kept in
	// mind. Beyond that the oldest is dropped, preferably one for which nobody waits.
	maxFound = 8

	// maxWhispers is how many private findings may wait, of all conversations together; the oldest
	// is dropped likewise.
	maxWhispers = 32
)

// A pendingFinding is a finding that may be said.
type pendingFinding struct {
	event   earshot.Event
	whom    earshot.ParticipantID // who asked; empty if nobody did
	asked   bool
	gone    bool            // what it rests on no longer holds
	verdict earshot.Verdict // the one on record
	turn    earshot.TurnID  // the turn in which it was last tried
	tried   time.Time       // it waits until then after that
}

// noteForUnasked takes in an event, as far as it matters for what may be said unasked.
func (r *Room) noteForUnasked(e earshot.Event) {
	switch body := e.Body.(type) {
	case earshot.Snooze:
		r.attentionState.snoozed.note(mark{at: body.Until, visibility: e.Visibility})
	case earshot.Finding:
		r.addFinding(e, body)
	case earshot.Decision:
		r.attentionState.told(e, body)
	case earshot.Reply:
		if body.Delivered() != "" {
			r.attentionState.heard(body.Turn)
		}
	case earshot.Edit:
		r.attentionState.markOutdated(earshot.EventID(body.Item), r.madeBy(body, e.Visibility))
	case earshot.Tombstone:
		r.attentionState.drop(func(f *pendingFinding) bool { return f.event.ID == e.ID })
		r.attentionState.markOutdated(e.ID)
	}
}

// madeBy returns the event that made an entry of the scene what it was before an edit: whatever
// rests on the entry rests on that event.
func (r *Room) madeBy(edit earshot.Edit, v earshot.Visibility) earshot.EventID {
	if i, ok := r.scene.For(r.knowers(v)).Find(scene.Field(edit.Field), edit.Item); ok {
		return i.Event
	}
	return ""
}

// knowers returns who may see something of visibility v, with the agent.
func (r *Room) knowers(v earshot.Visibility) earshot.Audience {
	return r.listeners(question{seat: r.seats[0], message: earshot.Event{Visibility: v}})
}

// addFinding takes in a finding. A merged finding is only for the prompt: each of its parts is said
// by itself, or has been.
func (r *Room) addFinding(e earshot.Event, body earshot.Finding) {
	if len(body.Merges) > 0 || !sees(e.Visibility, r.seats[0].ID) || r.scene.Denied(body.Text, e.Visibility) {
		return
	}
	f := &pendingFinding{event: e, asked: body.Answers != "" && !r.attentionState.answered.has(body.Answers, e.Visibility)}
	if f.asked {
		f.whom = r.asker(e, body.Answers)
		r.attentionState.outdated(body.Answers, e.Visibility)
	}
	r.attentionState.found = append(r.attentionState.found, f)
	r.sooner(r.cfg.Now())
	r.attentionState.bound(maxFound, func(o *pendingFinding) bool { return conversation.SameCircle(o.event.Visibility, e.Visibility) })
	r.attentionState.bound(maxWhispers, func(o *pendingFinding) bool { return o.event.Visibility.Scope == earshot.Private })
}

// outdated notes that there is a newer answer to something than the waiting findings, for all
// people for whom that answer is.
func (g *attentionState) outdated(answers earshot.EventID, v earshot.Visibility) {
	for _, f := range g.found {
		f.gone = f.gone || f.answers() == answers && v.Reaches(f.event.Visibility)
	}
}

// bound forgets the oldest of the findings that match among, if there are too many: first those for
// which nobody waits.
func (g *attentionState) bound(most int, among func(*pendingFinding) bool) {
	n := 0
	for _, f := range g.found {
		if among(f) {
			n++
		}
	}
	for ; n > most; n-- {
		i := slices.IndexFunc(g.found, func(f *pendingFinding) bool { return among(f) && !f.asked })
		if i < 0 {
			i = slices.IndexFunc(g.found, among)
		}
		g.found = slices.Delete(g.found, i, i+1)
	}
}

// heard notes that the finding of a turn was heard. What it answers is answered.
func (g *attentionState) heard(turn earshot.TurnID) {
	i := slices.IndexFunc(g.found, func(f *pendingFinding) bool { return f.turn != "" && f.turn == turn })
	if i < 0 {
		return
	}
	if answers, to := g.found[i].answers(), g.found[i].event.Visibility; answers != "" {
		g.answered.note(mark{of: answers, visibility: to})
		for _, f := range g.found {
			f.asked = f.asked && !(f.answers() == answers && to.Reaches(f.event.Visibility))
		}
	}
	g.found = slices.Delete(g.found, i, i+1)
}

// answers returns the event that f answers; empty if none.
func (f *pendingFinding) answers() earshot.EventID { return f.event.Body.(earshot.Finding).Answers }

// asker returns who waits for a finding that answers something: the addressee, or else the author
// of what it answers.
func (r *Room) asker(e earshot.Event, answers earshot.EventID) earshot.ParticipantID {
	if len(e.To) > 0 {
		return e.To[0]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if en, ok := r.known.get(answers); ok {
		return r.person(en.event.Author)
	}
	return ""
}

// told takes in a decision, including those before the program began.
func (g *attentionState) told(e earshot.Event, d earshot.Decision) {
	for _, f := range g.found {
		if f.event.ID == d.About {
			f.verdict, f.turn = d.Verdict, d.Turn
		}
	}
	g.drop(func(f *pendingFinding) bool { return f.verdict == earshot.Silent || f.verdict == earshot.Note })
}

// markOutdated notes that events no longer hold: findings, or what they may rest on.
func (g *attentionState) markOutdated(events ...earshot.EventID) {
	for _, f := range g.found {
		f.gone = f.gone || slices.ContainsFunc(events, func(id earshot.EventID) bool {
			return id != "" && (id == f.event.ID || slices.Contains(f.event.Sources, id))
		})
	}
}

func (g *attentionState) drop(fits func(*pendingFinding) bool) {
	g.found = slices.DeleteFunc(g.found, fits)
}

// chooseUnasked returns the finding to say now, as a question without an asker. The decision about
// each of the others is recorded once, unless it changes.
func (r *Room) chooseUnasked(ctx context.Context, since interrupt.Ticket) (question, bool) {
	if !r.answers() {
		return question{}, false
	}
	for _, f := range slices.Clone(r.attentionState.found) {
		now := r.cfg.Now()
		if f.tried.After(now) {
			r.sooner(f.tried)
			continue
		}
		q := r.saying(f, since)
		facts := r.attentionFacts(f.event.Visibility, f.whom)
		facts.Finding = r.weighed(f, now)
		verdict, why := attention.Decide(facts)
		if verdict == earshot.Speak && len(r.outlets(q, r.set)) == 0 {
			verdict, why = earshot.Wait, []string{attention.NobodyHere}
		}
		if verdict != f.verdict || verdict == earshot.Speak {
			if !r.settle(ctx, r.decided(q, verdict, why)) {
				return question{}, false // the disk is full
			}
		}
		switch {
		case verdict == earshot.Wait:
			r.sooner(attention.Again(facts))
		case verdict == earshot.Speak:
			if !f.asked {
				r.spokeUp(facts.Now, f.event.Visibility)
			}
			return q, true
		}
	}
	return question{}, false
}

// weighed returns a finding in the form in which it is decided about.
func (r *Room) weighed(f *pendingFinding, now time.Time) *attention.Finding {
	is := f.event.Body.(earshot.Finding)
	return &attention.Finding{
		Asked: f.asked, Worth: is.Worth, Confidence: is.Confidence,
		Stale: f.gone || !is.Until.IsZero() && !now.Before(is.Until), Told: r.used(f.event),
	}
}

// used reports whether a reply has relied on a finding.
func (r *Room) used(e earshot.Event) bool {
	all := r.scene.For(r.knowers(e.Visibility)).Items(scene.Reasoning)
	return slices.ContainsFunc(all, func(i scene.Item) bool {
		return i.Used && (i.Event == e.ID || conversation.SameWords(i.Text, e.Body.(earshot.Finding).Text))
	})
}

// saying returns the turn that says a finding, in its own words.
func (r *Room) saying(f *pendingFinding, since interrupt.Ticket) question {
	return question{
		seat: r.seats[0], message: f.event, ticket: since, turn: earshot.TurnID(r.cfg.NewID()),
		aloud: true, found: f, words: string(f.event.Body.(earshot.Finding).Text), rests: prompt.Provenance{Visibility: f.event.Visibility},
	}
}

// saidUnasked notes how a turn ended that nobody had asked for, or not just now, including one that
// was cut before it began. What nobody heard is tried again later.
func (r *Room) saidUnasked(q question, reply earshot.Reply) {
	if (q.found != nil || q.unasked || q.arrival != nil) && stopped(reply) {
		r.attentionState.toldNo.note(mark{at: r.cfg.Now(), visibility: q.rests.Visibility})
	}
	switch {
	case q.remind != nil:
		r.reminded(q, reply)
	case q.found == nil:
	case reply.Delivered() == "":
		q.found.tried = r.cfg.Now().Add(again)
	default:
		r.attentionState.drop(func(f *pendingFinding) bool { return f == q.found })
	}
}
