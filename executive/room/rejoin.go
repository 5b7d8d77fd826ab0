package room

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/attention"
	"earshot/executive/midturn"
	"earshot/interrupt"
)

// rejoins is how soon after their last word somebody must go on to have only
// paused: longer, and they have waited for an answer.
const rejoins = 1500 * time.Millisecond

// A sentence is what a voice has said to agents of late, and what has come of it.
type sentence struct {
	last  earshot.Event     // its last utterance
	parts []earshot.EventID // those before it
	text  earshot.Text      // of all
	ends  time.Time
	whom  []earshot.ParticipantID
	heard bool     // something of the answer was
	done  []string // the tools that were used for answers to the parts, in order
}

// continuedSentence returns what the voice of e has said that e goes on with: it spoke to
// agents a moment ago, and nothing of the answer was heard yet.
func (r *Room) continuedSentence(e earshot.Event) (s sentence, ok bool) {
	r.mu.Lock()
	s, ok = r.sentences[e.From]
	r.mu.Unlock()
	pause := e.At.Sub(s.ends)
	return s, ok && !s.heard && pause >= 0 && pause <= rejoins && r.same(s.last, e)
}

// rejoin makes of an utterance that only goes on with the one before a part of it,
// for whom that was. Its words hold the answer back that is on its way, and the
// whole takes its place: nobody has heard anything of it. Who calls an agent by
// its name begins anew, and who tells it to be silent has told it all.
func (r *Room) rejoin(in *resolvedEvent, e *earshot.Event) {
	if in.to == conversation.Called || in.to == conversation.Own || r.silences(e.Body) {
		return
	}
	s, ok := r.continuedSentence(*e)
	if !ok {
		return
	}
	switch body := e.Body.(type) {
	case earshot.Speech:
		in.held = body.Stage == earshot.VoiceWords
	case earshot.Utterance:
		body.Continues = s.last.ID
		e.Body, in.before = body, s.text
		in.to, in.aim.agents = conversation.Following, s.whom
	}
}

// silences reports whether something was said that tells an agent to be silent.
func (r *Room) silences(b earshot.Body) bool {
	u, aloud := b.(earshot.Utterance)
	_, refuses := attention.Refusal(u.Text)
	return aloud && (refuses || r.cuts(u.Text))
}

// apart returns what in is to the work of an agent: where it goes on with the question
// that is worked on, it is nothing apart from that.
func (in *resolvedEvent) apart(a sideTalk) sideTalk {
	if in.before != "" && (a.kind == midturn.Side || a.kind == midturn.Task || a.kind == midturn.Steer) {
		return sideTalk{}
	}
	return a
}

// holds returns s as it is of words that go on with a sentence: they hold the
// answer back until it is known what they are.
func (in *resolvedEvent) holds(s *interrupt.Signal) *interrupt.Signal {
	if in.held && s != nil && s.Kind != interrupt.Command {
		s.Kind = interrupt.Voice
	}
	return s
}

// spokeTo notes that something was said to agents, which may be gone on with.
func (r *Room) spokeTo(in resolvedEvent) {
	u, aloud := in.event.Body.(earshot.Utterance)
	if aloud {
		r.mu.Lock()
		r.lastSpokenReply = lastSpokenReply{} // which this may have answered
		r.mu.Unlock()
	}
	if !aloud || !in.to.ForAgent() || !in.heeded || in.signal == nil || in.signal.Kind == interrupt.Command {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, before := r.cfg.Now(), r.sentences[in.event.From]
	maps.DeleteFunc(r.sentences, func(_ earshot.Handle, s sentence) bool { return now.Sub(s.ends) > time.Minute })
	is := sentence{last: in.event, text: joined(in.before, u.Text), ends: in.event.At.Add(u.Lasted), whom: slices.Clone(in.aim.agents)}
	if u.Continues != "" && u.Continues == before.last.ID {
		is.parts, is.done = append(slices.Clone(before.parts), before.last.ID), before.done
	}
	if len(r.sentences) < maxAnswered {
		r.sentences[in.event.From] = is
	}
}

// isHeard notes that something of the answer to e was.
func (r *Room) isHeard(e earshot.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.sentences[e.From]; ok && s.last.ID == e.ID {
		s.heard = true
		r.sentences[e.From] = s
	}
}

// premature reports whether a turn has answered somebody who had only paused, and
// was not heard. It is thrown away as if it had not begun; what it has done by tools is
// done, and noted.
func (r *Room) premature(e turnResult) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := e.question.message.From
	s := r.sentences[from]
	if e.reply.Outcome != earshot.Interrupted || e.reply.Delivered() != "" || !slices.Contains(s.parts, e.question.message.ID) {
		return false
	}
	if l := e.question.progress; l != nil {
		s.done = append(slices.Clip(s.done), l.work(r.cfg.Now()).Tools...)
		r.sentences[from] = s
	}
	return true
}

// doneBefore tells the model what was done already for the sentence that e ends.
func (r *Room) doneBefore(e earshot.Event) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sentences[e.From]
	if s.last.ID != e.ID || len(s.done) == 0 {
		return ""
	}
	return fmt.Sprintf("\nYou had begun to answer the last message before all of it was said, and had used %s for it: what was done by that is done. "+
		"Do what is missing, and change what they want otherwise.", strings.Join(s.done, ", "))
}

// joined returns two parts of a sentence as one.
func joined(a, b earshot.Text) earshot.Text {
	if a == "" {
		return b
	}
	return a + " " + b
}
