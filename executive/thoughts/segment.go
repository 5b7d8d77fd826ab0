package thoughts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/dialogue"
	"earshot/executive/generation"
	"earshot/executive/prompt"
	"earshot/executive/scene"
	"earshot/executive/think"
	"earshot/llm"
	"earshot/participants/agents"
)

const (
	// mostEvidence is how many lines of the dialogue a finding can point to: as many as a model can
	// keep apart.
	mostEvidence = 24

	// longestEvidence is how many bytes of each line are repeated for it.
	longestEvidence = 160

	// mostNews is how many lines of what happened meanwhile a thought is told, and longestNews how
	// many bytes of each. They stand in the dialogue too.
	mostNews    = 12
	longestNews = 600

	// mostRefuted is how many wrong findings a thought is told.
	mostRefuted = 4
)

// A Context is what a segment of a thought is made from. It begins like a reply to the same people.
type Context struct {
	Now      time.Time
	Settings executive.Config
	Agent    agents.Record
	Audience earshot.Audience // those for whom the thought is
	Messages []llm.Message    // who the agent is, and the dialogue
	Tools    []llm.Tool       // what a reply would be offered
	Used     []dialogue.Line  // the lines in Messages
	History  []dialogue.Line  // all that the agent remembers, whoever may see it
	Scene    []scene.Item     // the time, and what is going on
	Newest   int64            // the newest event
}

// A provenance is what a thought rests on. It is changed by the goroutine of the mind, and by the
// owner of the room while the mind waits for it.
type provenance struct {
	prompt.Provenance
	at time.Time // when its last recorded segment began
}

// restsOf returns what a thought rests on.
func (t *Thinker) restsOf(q think.Question) provenance { return t.update(q, nil) }

// update returns what a thought rests on, once that is changed: until any of it is recorded, that is
// what its question was made from.
func (t *Thinker) update(q think.Question, change func(*provenance)) provenance {
	t.mu.Lock()
	defer t.mu.Unlock()
	is, known := t.rests[q.ID]
	if !known {
		is.Provenance = prompt.Provenance{Visibility: q.Visibility, Sources: slices.Clone(q.Sources)}
	}
	if change != nil {
		change(&is)
		t.rests[q.ID] = is
	}
	return is
}

// Input implements [think.Host].
func (t *Thinker) Input(ctx context.Context, q think.Question, since int64) (in think.SegmentInput, err error) {
	bad := t.OnOwner(ctx, func(ctx context.Context) {
		if c, ok := t.Context(ctx, q); ok {
			in = t.input(c, q, since)
			return
		}
		err = errors.New("the earlier conversation cannot be read")
	})
	return in, errors.Join(err, bad)
}

// input is Input on the owner's goroutine.
func (t *Thinker) input(c Context, q think.Question, since int64) think.SegmentInput {
	refuted, rests := t.refuted(c)
	rests = rests.AndLines(c.Used, c.Agent.ID).AndScene(c.Scene)
	is := t.update(q, func(p *provenance) { p.Provenance = p.And(rests.Visibility, rests.Sources...) })
	in := think.SegmentInput{
		Messages: c.Messages, Tools: c.Tools, Situation: scene.Prompt(c.Scene, c.Now), Upto: c.Newest,
		Evidence: t.evidence(c), Refuted: refuted, Apart: t.HasSpareSlot(), Agent: c.Agent.ID,
	}
	for _, i := range t.Scene.For(c.Audience).Items(scene.Reasoning) {
		in.Buffered = append(in.Buffered, think.BufferedFinding{
			ID: i.Event, Text: i.Text, Confidence: i.Confidence, Until: i.Until, Same: conversation.SameCircle(i.Visibility, q.Visibility),
		})
	}
	in.Engine, in.Model = c.Settings.Reasoning.Engine, c.Settings.Reasoning.Model
	if in.Engine == "" {
		engine, model := c.Settings.LLM.For(string(c.Agent.Role), c.Agent.Engine, c.Agent.Model)
		in.Engine = engine
		if in.Model == "" {
			in.Model = model
		}
	}
	if since > 0 {
		in.Update = t.news(c, since, is.at)
	}
	return in
}

// evidence is what a finding can rest on: what was said, and what is noted.
func (t *Thinker) evidence(c Context) (all []think.Evidence) {
	for _, i := range c.Scene {
		if i.Event != "" && (i.Field == scene.Notes || i.Field == scene.Visual || i.Field == scene.User) {
			all = append(all, think.Evidence{Event: i.Event, Text: dialogue.Beginning(i.Line(), longestEvidence)})
		}
	}
	for _, l := range c.Used[max(0, len(c.Used)-mostEvidence):] {
		if l.Text != "" {
			text := t.People.Name(l.Author) + " (" + scene.Age(c.Now.Sub(l.At)) + "): " + string(dialogue.OneLine(l.Text))
			all = append(all, think.Evidence{Event: l.Source(), Text: dialogue.Beginning(text, longestEvidence)})
		}
	}
	return all
}

// refuted are the findings that somebody has said are wrong, and what they say instead; and what a
// thought that is told of them rests on.
func (t *Thinker) refuted(c Context) (all []string, rests prompt.Provenance) {
	rests.Visibility = earshot.Visibility{Scope: earshot.Public}
	list := t.Scene.For(c.Audience).Refuted(c.Now)
	for _, had := range list[max(0, len(list)-mostRefuted):] {
		text := string(dialogue.OneLine(had.Finding))
		if had.Instead != "" {
			text += " (" + had.Name + " says instead: " + string(dialogue.OneLine(had.Instead)) + ")"
		}
		rests = rests.And(had.Visibility, had.Event)
		all = append(all, text)
	}
	return all, rests
}

// news returns what has happened since an event; at is when the last segment of the thought began.
// If somebody has written what its audience may not see, the thought is told that without a word of
// it.
func (t *Thinker) news(c Context, since int64, at time.Time) think.Update {
	var by, answered, changed []string
	for _, l := range c.Used {
		switch text := t.People.Name(l.Author) + ": " + dialogue.Beginning(string(dialogue.OneLine(l.Text)), longestNews); {
		case l.Sequence <= since:
		case l.Announces:
			changed = append(changed, l.Note)
		case l.Text == "":
		case l.Author == c.Agent.ID:
			answered = append(answered, text)
		default:
			by = append(by, text)
		}
	}
	if slices.ContainsFunc(c.History, func(l dialogue.Line) bool {
		return l.Sequence > since && l.Author != c.Agent.ID && l.Text != "" && !slices.ContainsFunc(c.Used, func(u dialogue.Line) bool { return u.Event == l.Event })
	}) {
		by = append(by, "Somebody had a private word.")
	}
	for _, i := range c.Scene {
		if i.Event != "" && i.At.After(at) && (i.Field == scene.Notes || i.Field == scene.Visual || i.Field == scene.Environment) {
			changed = append(changed, fmt.Sprintf("%s: %s", i.Field, i.Line()))
		}
	}
	return think.Update{By: lately(by), Answered: lately(answered), Changed: lately(changed)}
}

// lately returns the last of some lines.
func lately(lines []string) string { return strings.Join(lines[max(0, len(lines)-mostNews):], "\n") }

// Keep implements [think.Host].
func (t *Thinker) Keep(ctx context.Context, q think.Question, s think.Segment) {
	e := t.event(q, s.Thought)
	e.ID = s.ID
	t.update(q, func(p *provenance) { p.at, p.Provenance = s.At, p.With(s.ID) }) // it holds the question, and what comes now continues from it
	if !s.At.IsZero() {
		e.At = s.At
	}
	t.Record(ctx, e)
}

// Found implements [think.Host].
func (t *Thinker) Found(ctx context.Context, q think.Question, a think.Answer) {
	for _, f := range a.Findings {
		f.Finding.Thought = a.Segment
		e := t.event(q, f.Finding)
		e.Sources = prompt.Provenance{}.With(append(append(f.Evidence, a.Segment), f.Merges...)...).Sources
		if f.Answers == "" {
			e.To = nil
		}
		t.Record(ctx, e)
	}
}

// Waits implements [think.Host].
func (t *Thinker) Waits(q think.Question, why error) {
	n, kind := generation.FaultNotice(why), generation.FaultKind(why)
	if q.Visibility.Scope == earshot.Private {
		n.Text = kind // a server may quote what it was asked, and others may read the notice
	}
	t.Tell(q.Via, earshot.Notice{Text: waits + " (" + n.Text + ")", Cure: n.Cure})
}

// waits is what the asker is told while no model answers.
const waits = "the model does not answer now; your question is kept, and I will think about it when the model is back"

// Over implements [think.Host]. Somebody who waits for an answer is told if nothing was found; not
// somebody who only used a word that starts a thought, and was answered already.
func (t *Thinker) Over(q think.Question, found int, stopped bool) {
	t.mu.Lock()
	delete(t.rests, q.ID)
	t.mu.Unlock()
	if q.Cause.Asked() && q.Cause != earshot.ByTrigger && found == 0 && !stopped {
		t.Tell(q.Via, earshot.Notice{Text: "I have thought about your question and found nothing worth saying; ask me again with more to go on"})
	}
}

// event is an event made from a thought, for those who may see what it rests on.
func (t *Thinker) event(q think.Question, body earshot.Body) earshot.Event {
	rests := t.restsOf(q)
	e := t.Event(rests.Visibility, body)
	e.Author = t.Agent().ID
	e.Sources = rests.With(q.About).Sources
	if q.By != "" {
		e.To = []earshot.ParticipantID{q.By}
	}
	return e
}
