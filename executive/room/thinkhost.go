package room

import (
	"cmp"
	"context"
	"earshot/executive/generation"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/dialogue"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/scene"
	"earshot/executive/seat"
	"earshot/executive/think"
	"earshot/internal/lockorder"
	"earshot/llm"
	"earshot/participants"
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
)

// A thinkHost is the room as its mind sees it. It belongs to the goroutine of the mind, and to the
// owner of the room while the mind waits for it.
type thinkHost struct {
	room *Room

	mu    lockorder.Mutex[lockorder.Leaf]        // held by the mind's goroutine to change the contents of rests, and by the owner
	rests map[earshot.EventID]*thoughtProvenance // by thought
}

// A thoughtProvenance is what a thought rests on.
type thoughtProvenance struct {
	rests prompt.Provenance
	at    time.Time // when its last recorded segment began
}

// restOf returns what a thought rests on: until any of it is recorded, that is what its question
// was made from. m.mu must be held.
func (m *thinkHost) restOf(q think.Question) *thoughtProvenance {
	if rests := m.rests[q.ID]; rests != nil {
		return rests
	}
	return &thoughtProvenance{rests: prompt.Provenance{Visibility: q.Visibility, Sources: slices.Clone(q.Sources)}}
}

// errForgotten says that the dialogue cannot be read, so that there is nothing to think about.
var errForgotten = errors.New("the earlier conversation cannot be read")

// Input implements [think.Host].
func (m *thinkHost) Input(ctx context.Context, q think.Question, since int64) (matter think.SegmentInput, err error) {
	bad := m.room.runOnOwner(ctx, func(ctx context.Context) { matter, err = m.buildInput(ctx, q, since) })
	return matter, errors.Join(err, bad)
}

// buildInput is Input on the owner's goroutine. It begins like a reply to the same people.
func (m *thinkHost) buildInput(ctx context.Context, q think.Question, since int64) (matter think.SegmentInput, err error) {
	r, s, now := m.room, m.room.seats[0], m.room.cfg.Now()
	if !r.ensureAwake(ctx, s) {
		return matter, errForgotten
	}
	set := r.set
	a := r.listeners(question.Question{Seat: s, Message: earshot.Event{ID: q.About, Visibility: q.Visibility}})
	prefix, used := r.dialogue(set, s, s.Writers, &s.History, a, now).Messages()
	r.tellPresence(now)
	going := r.now(set, s, a, now)
	refuted, rests := r.refuted(a, now)
	rests = rests.AndLines(used, s.ID).AndScene(going)
	m.mu.Lock()
	of := m.restOf(q)
	m.rests[q.ID] = of
	of.rests = of.rests.And(rests.Visibility, rests.Sources...)
	m.mu.Unlock()
	matter = think.SegmentInput{
		Messages: prefix, Tools: r.shown(s, q), Situation: scene.Prompt(going, now), Upto: r.newest,
		Evidence: r.evidence(used, going, now), Buffered: r.kept(a, q.Visibility), Refuted: refuted,
		Apart: r.hasSpareSlot(), Agent: s.ID,
	}
	matter.Engine, matter.Model = set.Reasoning.Engine, set.Reasoning.Model
	if matter.Engine == "" {
		engine, model := s.EngineAndModel(set)
		matter.Engine = engine
		if matter.Model == "" {
			matter.Model = model
		}
	}
	if since > 0 {
		matter.Update = r.news(s, used, going, since, of.at)
	}
	return matter, nil
}

// shown are the tools in the prompt of a reply to the asker; for a thought that nobody asked for,
// those of the last reply, or before the first reply those of the operator. A server has then read
// the prompt up to there. Thinking uses none of them.
func (r *Room) shown(s *seat.Seat, q think.Question) []llm.Tool {
	askers := s.Askers
	if q.By != "" || len(askers) == 0 {
		who, ok := r.cfg.People.Get(cmp.Or(q.By, participants.Owner))
		if !ok {
			return nil
		}
		askers = []participants.Participant{who}
	}
	p := toolContext{toolRun: &toolRun{room: r}, question: &question.Question{Seat: s, Rests: prompt.Provenance{Visibility: q.Visibility}}, who: s.Record, home: s.Path}
	return p.tools().For(askers)
}

// evidence is what a finding can rest on: what was said, and what is noted.
func (r *Room) evidence(used []dialogue.Line, going []scene.Item, now time.Time) (all []think.Evidence) {
	for _, i := range going {
		if i.Event != "" && (i.Field == scene.Notes || i.Field == scene.Visual || i.Field == scene.User) {
			all = append(all, think.Evidence{Event: i.Event, Text: dialogue.Beginning(i.Line(), longestEvidence)})
		}
	}
	for _, l := range used[max(0, len(used)-mostEvidence):] {
		if l.Text != "" {
			text := r.cfg.People.Name(l.Author) + " (" + scene.Age(now.Sub(l.At)) + "): " + string(dialogue.OneLine(l.Text))
			all = append(all, think.Evidence{Event: l.Source(), Text: dialogue.Beginning(text, longestEvidence)})
		}
	}
	return all
}

// kept are the findings that everybody in a may see, each with whether exactly the people who may
// see visibility v may see it.
func (r *Room) kept(a earshot.Audience, v earshot.Visibility) (all []think.BufferedFinding) {
	for _, i := range r.scene.For(a).Items(scene.Reasoning) {
		all = append(all, think.BufferedFinding{
			ID: i.Event, Text: i.Text, Confidence: i.Confidence, Until: i.Until, Used: i.Used, Same: conversation.SameCircle(i.Visibility, v),
		})
	}
	return all
}

// mostRefuted is how many wrong findings a thought is told.
const mostRefuted = 4

// refuted are the findings that somebody has said are wrong, and what they say instead; and what a
// thought that is told of them rests on.
func (r *Room) refuted(a earshot.Audience, now time.Time) (all []string, rests prompt.Provenance) {
	rests.Visibility = earshot.Visibility{Scope: earshot.Public}
	list := r.scene.For(a).Refuted(now)
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

// news returns what has happened since an event, as a thought is told it whose readers may see the
// lines used; at is when its last segment began. If somebody has written what these may not see,
// the thought is told that without a word of it.
func (r *Room) news(s *seat.Seat, used []dialogue.Line, going []scene.Item, since int64, at time.Time) (n think.Update) {
	var by, answered, changed []string
	for _, l := range used {
		switch text := r.cfg.People.Name(l.Author) + ": " + dialogue.Beginning(string(dialogue.OneLine(l.Text)), longestNews); {
		case l.Sequence <= since:
		case l.Announces:
			changed = append(changed, l.Note)
		case l.Text == "":
		case l.Author == s.ID:
			answered = append(answered, text)
		default:
			by = append(by, text)
		}
	}
	if slices.ContainsFunc(s.History.Lines, func(l dialogue.Line) bool {
		return l.Sequence > since && l.Author != s.ID && l.Text != "" && !slices.ContainsFunc(used, func(u dialogue.Line) bool { return u.Event == l.Event })
	}) {
		by = append(by, "Somebody had a private word.")
	}
	for _, i := range going {
		if i.Event != "" && i.At.After(at) && (i.Field == scene.Notes || i.Field == scene.Visual || i.Field == scene.Environment) {
			changed = append(changed, fmt.Sprintf("%s: %s", i.Field, i.Line()))
		}
	}
	return think.Update{By: lately(by), Answered: lately(answered), Changed: lately(changed)}
}

// lately returns the last of some lines.
func lately(lines []string) string { return strings.Join(lines[max(0, len(lines)-mostNews):], "\n") }

// Keep implements [think.Host].
func (m *thinkHost) Keep(ctx context.Context, q think.Question, s think.Segment) {
	e := m.event(q, s.Thought)
	e.ID = s.ID
	m.mu.Lock()
	rests := m.restOf(q)
	m.rests[q.ID] = rests
	rests.at, rests.rests = s.At, rests.rests.With(s.ID) // it holds the question, and what comes now continues from it
	m.mu.Unlock()
	if !s.At.IsZero() {
		e.At = s.At
	}
	m.room.record(ctx, e)
}

// Found implements [think.Host].
func (m *thinkHost) Found(ctx context.Context, q think.Question, a think.Answer) {
	for _, f := range a.Findings {
		f.Finding.Thought = a.Segment
		e := m.event(q, f.Finding)
		e.Sources = prompt.Provenance{}.With(append(append(f.Evidence, a.Segment), f.Merges...)...).Sources
		if f.Answers == "" {
			e.To = nil
		}
		m.room.record(ctx, e)
	}
}

// Waits implements [think.Host].
func (m *thinkHost) Waits(q think.Question, why error) {
	n := generation.FaultNotice(why)
	if q.Visibility.Scope == earshot.Private {
		n.Text = generation.FaultKind(why) // a server may quote what it was asked, and others may read the notice
	}
	m.room.tell(q.Via, earshot.Notice{Text: waits + " (" + n.Text + ")", Cure: n.Cure})
}

// waits is what the asker is told while no model answers.
const waits = "the model does not answer now; your question is kept, and I will think about it when the model is back"

// Over implements [think.Host]. Somebody who waits for an answer is told if nothing was found; not
// somebody who only used a word that starts a thought, and was answered already.
func (m *thinkHost) Over(q think.Question, found int, stopped bool) {
	m.mu.Lock()
	delete(m.rests, q.ID)
	m.mu.Unlock()
	if q.Cause.Asked() && q.Cause != earshot.ByTrigger && found == 0 && !stopped {
		m.room.tell(q.Via, earshot.Notice{Text: "I have thought about your question and found nothing worth saying; ask me again with more to go on"})
	}
}

// event is an event made from a thought, for those who may see what it rests on.
func (m *thinkHost) event(q think.Question, body earshot.Body) earshot.Event {
	m.mu.Lock()
	rests := m.restOf(q).rests
	m.mu.Unlock()
	e := m.room.event(rests.Visibility, body)
	e.Author = m.room.agents()[0].ID
	e.Sources = rests.With(q.About).Sources
	if q.By != "" {
		e.To = []earshot.ParticipantID{q.By}
	}
	return e
}
