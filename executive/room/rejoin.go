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
	"earshot/executive/dialogue"
	"earshot/executive/midturn"
	"earshot/interrupt"
)

// rejoins is how soon after their last word somebody must continue to have only paused: after
// longer, they have waited for an answer.
const rejoins = 1500 * time.Millisecond

// A sentence is what a voice has recently said to agents, and the result.
type sentence struct {
	last  earshot.Event     // its last utterance
	parts []earshot.EventID // the earlier ones
	text  earshot.Text      // of all of them
	ends  time.Time
	whom  []earshot.ParticipantID
	heard bool     // something of the answer was heard
	done  []string // the tools that were used for answers to the parts, in order
}

// continuedSentence returns the words of the same voice that e continues: it spoke to agents a
// moment ago, and nothing of the answer was heard yet.
func (r *Room) continuedSentence(e earshot.Event) (s sentence, ok bool) {
	r.mu.Lock()
	s, ok = r.sentences[e.From]
	r.mu.Unlock()
	pause := e.At.Sub(s.ends)
	return s, ok && !s.heard && pause >= 0 && pause <= rejoins && r.same(s.last, e)
}

// rejoin makes an utterance that only continues the one before a part of it, for the same agents.
// Its words hold back the answer that is on its way, and the answer to the whole replaces that,
// because nobody has heard any of it. Somebody who calls an agent by its name begins anew, and an
// order to be silent is complete by itself.
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
		in.to, in.aim.Agents = conversation.Following, s.whom
	}
}

// silences reports whether the words tell an agent to be silent.
func (r *Room) silences(b earshot.Body) bool {
	u, aloud := b.(earshot.Utterance)
	_, refuses := attention.Refusal(u.Text)
	return aloud && (refuses || r.cuts(u.Text))
}

// apart returns what in means for the work of an agent: if it continues the question that is being
// worked on, it has no separate meaning.
func (in *resolvedEvent) apart(a sideTalk) sideTalk {
	if in.before != "" && (a.kind == midturn.Side || a.kind == midturn.Task || a.kind == midturn.Steer) {
		return sideTalk{}
	}
	return a
}

// holds returns the signal s of words that continue a sentence: they hold back the answer until
// their meaning is known.
func (in *resolvedEvent) holds(s *interrupt.Signal) *interrupt.Signal {
	if in.held && s != nil && s.Kind != interrupt.Command {
		s.Kind = interrupt.Voice
	}
	return s
}

// spokeTo notes that something was said to agents, which may be continued.
func (r *Room) spokeTo(in resolvedEvent) {
	u, aloud := in.event.Body.(earshot.Utterance)
	if aloud {
		r.mu.Lock()
		r.lastSpokenReply = lastSpokenReply{} // these words may have answered it
		r.mu.Unlock()
	}
	if !aloud || !in.to.ForAgent() || !in.heeded || in.signal == nil || in.signal.Kind == interrupt.Command {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, before := r.cfg.Now(), r.sentences[in.event.From]
	maps.DeleteFunc(r.sentences, func(_ earshot.Handle, s sentence) bool { return now.Sub(s.ends) > time.Minute })
	is := sentence{last: in.event, text: dialogue.Join(in.before, u.Text), ends: in.event.At.Add(u.Lasted), whom: slices.Clone(in.aim.Agents)}
	if u.Continues != "" && u.Continues == before.last.ID {
		is.parts, is.done = append(slices.Clone(before.parts), before.last.ID), before.done
	}
	if len(r.sentences) < maxAnswered {
		r.sentences[in.event.From] = is
	}
}

// isHeard notes that something of the answer to e was heard.
func (r *Room) isHeard(e earshot.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.sentences[e.From]; ok && s.last.ID == e.ID {
		s.heard = true
		r.sentences[e.From] = s
	}
}

// premature reports whether a turn has answered somebody who had only paused, and was not heard.
// Such a turn is discarded as if it had not begun; what its tools have done is noted.
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
