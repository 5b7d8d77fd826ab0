// Package askers says in whose name an agent acts: whoever has called for an answer, and whoever's
// words stand in its prompt so that a model could take them for instructions. An agent may do no more
// than each of them may. It knows no room.
package askers

import (
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/dialogue"
	"earshot/participants"
)

// A Question is what an agent answers.
type Question struct {
	Message   earshot.Event
	Agent     earshot.ParticipantID
	Askers    []participants.Participant // the author, and those who gave way to them
	Lines     []dialogue.Line            // what the agent remembers
	OwnWords  bool                       // it is answered with its author's words alone
	After     []dialogue.Line            // what others wrote or changed since, as far as it is in the prompt
	Overheard []earshot.ParticipantID    // the authors of words in the prompt that were said aloud meanwhile
}

// A Tracker records in whose name agents acted in each turn, so that an agent which is asked by
// another does nothing for them that they may not do themselves. It is not safe for concurrent use.
type Tracker struct {
	People *participants.Registry

	by     map[earshot.TurnID][]participants.Participant
	recent []earshot.TurnID // the keys, oldest first
}

// All returns everybody whose words are answered by the answer to q: the asker, those who gave
// way to them, and others who have called the agent in this conversation since it last answered to
// the end. Other agents ask in the name of those who asked them; a question that one of them asks
// within a turn is answered there. Anybody whose later words stand in its prompt counts as an asker
// too, whomever they addressed: a model may take the last words for its instructions.
func (t *Tracker) All(q Question) []participants.Participant {
	all := t.Callers(q)
	for _, l := range q.After {
		for _, who := range t.behind(l) {
			all = Add(all, who)
		}
	}
	for _, id := range q.Overheard {
		all = Add(all, t.overheardFrom(id))
	}
	return all
}

// Callers returns those of them who called for the answer: the asker, those who gave way to them,
// and those who wait for an answer in this conversation.
func (t *Tracker) Callers(q Question) []participants.Participant {
	all := slices.Clone(q.Askers)
	answered := make(map[earshot.EventID]bool)
	for _, l := range slices.Backward(q.Lines) {
		switch mine := l.Author == q.Agent; {
		case q.OwnWords && l.Event != q.Message.ID: // nothing else in its prompt could ask
		case mine && l.Replies && l.OwnWords:
			answered[l.About] = true // and nothing else
		case !conversation.SameCircle(l.Visibility, q.Message.Visibility):
		case mine && l.Replies && l.Text != "" && l.Note == "":
			return all
		case mine && !l.Replies:
			answered[l.About] = true
		case (slices.Contains(l.To, q.Agent) || l.Event == q.Message.ID) && !answered[l.Event]:
			for _, who := range t.behind(l) {
				all = Add(all, who)
			}
		}
	}
	return all
}

// overheardFrom returns who said something that was overheard. If nobody knows who it was, the
// unknown speaker does not restrict what every known participant may cause.
func (t *Tracker) overheardFrom(id earshot.ParticipantID) participants.Participant {
	who, _ := t.People.Get(id)
	if who = who.Aloud(); who.ID == "" {
		who = participants.Participant{ID: unseen, Name: "somebody", Capabilities: []participants.Capability{participants.SendMessages}, ByVoice: true}
	}
	return who
}

// unseen stands for an overheard speaker about whom nothing else is known.
const unseen earshot.ParticipantID = "overheard"

// behind returns in whose name l was said, including somebody who has changed its text.
func (t *Tracker) behind(l dialogue.Line) (all []participants.Participant) {
	switch {
	case l.Turn != "":
		all = t.of(l.Turn)
	case l.Voice.ID != "": // a voice proves nothing, whosever it is
		all = []participants.Participant{t.People.Resolve(l.Voice)}
	case l.Aloud:
		for _, who := range t.writers(l.Author, l.From) {
			all = append(all, who.Aloud())
		}
	default:
		all = t.writers(l.Author, l.From)
	}
	for _, m := range l.Mends {
		all = append(slices.Clip(all), t.writers(m.By, m.From)...)
	}
	return all
}

// writers returns the participant who wrote something by a handle. They have the rights of that
// handle, see [participants.Registry.Merge]. If it is no longer theirs, those rights are unknown:
// then the least of their rights by any handle applies, and of the rights of the present owner.
func (t *Tracker) writers(author earshot.ParticipantID, by earshot.Handle) (all []participants.Participant) {
	has := t.People.Resolve(by)
	if has.ID == author {
		return []participants.Participant{has}
	}
	if has.ID != "" {
		all = append(all, has)
	}
	for _, id := range t.People.Identities(author) {
		who, _ := t.People.Get(id)
		all = append(all, who)
	}
	return all
}

// Add returns some askers with one more. One person may ask by handles with more and fewer
// rights, and aloud.
func Add(all []participants.Participant, who participants.Participant) []participants.Participant {
	if slices.ContainsFunc(all, func(p participants.Participant) bool {
		return p.ID == who.ID && p.Through == who.Through && p.ByVoice == who.ByVoice
	}) {
		return all
	}
	return append(slices.Clip(all), who)
}

// maxTurns is for how many turns the askers are remembered: more than stand in the dialogues of
// a lively room. For older turns no asker is known.
const maxTurns = 512

// Note adds the askers of a turn to those already known.
func (t *Tracker) Note(turn earshot.TurnID, askers []participants.Participant) {
	had, known := t.by[turn]
	for _, who := range askers {
		had = Add(had, who)
	}
	if t.by == nil {
		t.by = make(map[earshot.TurnID][]participants.Participant)
	}
	t.by[turn] = had
	if known {
		return
	}
	if t.recent = append(t.recent, turn); len(t.recent) > maxTurns {
		delete(t.by, t.recent[0])
		t.recent = t.recent[1:]
	}
}

// of returns who asked in a turn; for a forgotten turn, somebody unknown.
func (t *Tracker) of(turn earshot.TurnID) []participants.Participant {
	if all := t.by[turn]; len(all) > 0 {
		return all
	}
	return []participants.Participant{{}}
}

// Restore rebuilds the tracker from past events: the authors of what was answered, or those in
// whose name the agent spoke whose words these were.
func (t *Tracker) Restore(past []earshot.Event) {
	said := make(map[earshot.EventID]earshot.Event)
	for _, e := range past {
		switch body := e.Body.(type) {
		case earshot.Message, earshot.Utterance, earshot.Reply:
			said[e.ID] = e
		case earshot.Decision:
			if about, ok := said[body.About]; ok && body.Turn != "" {
				t.Note(body.Turn, t.behind(dialogue.Line{Author: about.Author, From: about.From, Turn: turnOf(about.Body), Aloud: about.Body.Kind() == earshot.KindUtterance, Voice: voiceOf(about.Body)}))
			}
		}
	}
}

// voiceOf returns the voice by which something was said; the zero Handle if unknown.
func voiceOf(b earshot.Body) earshot.Handle {
	u, _ := b.(earshot.Utterance)
	return u.Speaker
}

// turnOf returns the turn in which an agent said something; empty if none did.
func turnOf(b earshot.Body) earshot.TurnID {
	switch body := b.(type) {
	case earshot.Message:
		return body.Turn
	case earshot.Reply:
		return body.Turn
	}
	return ""
}

// OwnLines returns the dialogue in one person's words to the agent alone, up to the message that asks
// for that. Everybody else's words are left out; so are the replies, which may rest on others'
// words; and so is anything that may be somebody else's: what was said aloud, or changed by
// another.
func (t *Tracker) OwnLines(q Question) *dialogue.History {
	own := new(dialogue.History)
	for _, l := range q.Lines {
		asks := l.Event == q.Message.ID
		if asks || t.theirs(l, q) {
			own.Lines = append(own.Lines, l)
		}
		if asks {
			break
		}
	}
	return own
}

// theirs reports whether the author of q wrote a line to the agent, by the same handle as q, and
// nobody else has a part in it.
func (t *Tracker) theirs(l dialogue.Line, q Question) bool {
	if l.Author != q.Message.Author || l.Aloud || l.Replies || l.Announces || l.Turn != "" || l.Text == "" || !slices.Contains(l.To, q.Agent) {
		return false
	}
	who := q.Askers[0]
	return !slices.ContainsFunc(t.behind(l), func(p participants.Participant) bool { return p.ID != who.ID || p.Through != who.Through })
}

// Forget removes people from the askers.
func (t *Tracker) Forget(is func(earshot.ParticipantID) bool) {
	for turn, by := range t.by {
		t.by[turn] = slices.DeleteFunc(slices.Clone(by), func(p participants.Participant) bool { return is(p.ID) })
	}
}
