// Package askers determines on whose behalf an agent acts: everybody who has asked for the answer,
// and everybody whose words are in its prompt in a way that a model could take for instructions. An
// agent may do only what each of them may do. The package knows nothing about rooms.
package askers

import (
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/dialogue"
	"earshot/participants"
)

// A Question is what an agent is answering.
type Question struct {
	Message   earshot.Event
	Agent     earshot.ParticipantID
	Askers    []participants.Participant // the author, and those who gave way to them
	Lines     []dialogue.Line            // what the agent remembers
	OwnWords  bool                       // it is answered on the basis of its author's words alone
	After     []dialogue.Line            // what others have written or changed since, if it is in the prompt
	Overheard []earshot.ParticipantID    // the authors of words in the prompt that were said aloud meanwhile
}

// A Tracker records on whose behalf agents acted in each turn. So an agent that another agent asks
// does nothing for that agent's askers that they may not do themselves. It is not safe for
// concurrent use.
type Tracker struct {
	People *participants.Registry

	by     map[earshot.TurnID][]participants.Participant
	recent []earshot.TurnID // the keys, oldest first
}

// All returns everybody whose words the answer to q answers: the asker, those who gave way to the
// asker, and others who have called the agent in this conversation since it last gave a complete
// answer. Other agents ask on behalf of those who asked them; a question that one of them asks
// within a turn is answered there. Anybody whose later words are in the prompt also counts as an
// asker, whomever those words addressed, because a model may take the last words for its
// instructions.
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

// Callers returns those who asked for the answer: the asker, those who gave way to the asker, and
// those who wait for an answer in this conversation.
func (t *Tracker) Callers(q Question) []participants.Participant {
	all := slices.Clone(q.Askers)
	answered := make(map[earshot.EventID]bool)
	for _, l := range slices.Backward(q.Lines) {
		switch mine := l.Author == q.Agent; {
		case q.OwnWords && l.Event != q.Message.ID: // nothing else in the prompt can ask for anything
		case mine && l.Replies && l.OwnWords:
			answered[l.About] = true // and nothing else was answered
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

// overheardFrom returns the participant who said something that was overheard. If it is not known
// who that was, it returns somebody who may do what every known participant may, so that an unknown
// speaker does not restrict that.
func (t *Tracker) overheardFrom(id earshot.ParticipantID) participants.Participant {
	who, _ := t.People.Get(id)
	if who = who.Aloud(); who.ID == "" {
		who = participants.Participant{ID: unseen, Name: "somebody", Capabilities: []participants.Capability{participants.SendMessages}, ByVoice: true}
	}
	return who
}

// unseen stands for a speaker who was overheard and about whom nothing else is known.
const unseen earshot.ParticipantID = "overheard"

// behind returns everybody on whose behalf l was said, including those who have changed its text.
func (t *Tracker) behind(l dialogue.Line) (all []participants.Participant) {
	switch {
	case l.Turn != "":
		if all = t.by[l.Turn]; len(all) == 0 { // it is forgotten, so somebody unknown asked
			all = []participants.Participant{{}}
		}
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

// writers returns the participant who wrote something by a handle, with the rights of that handle;
// see [participants.Registry.Merge]. If the handle is no longer theirs, its rights at the time are
// unknown. Then writers returns the author by each of their handles, and the present owner, so that
// the least rights of all these apply.
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

// Add returns askers with one more. The same person may ask by handles with more and with fewer
// rights, and aloud.
func Add(all []participants.Participant, who participants.Participant) []participants.Participant {
	if slices.ContainsFunc(all, func(p participants.Participant) bool {
		return p.ID == who.ID && p.Through == who.Through && p.ByVoice == who.ByVoice
	}) {
		return all
	}
	return append(slices.Clip(all), who)
}

// maxTurns is for how many turns the askers are remembered: more than the dialogues of a lively
// room contain. For older turns no asker is known.
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

// Restore rebuilds the tracker from past events. The askers of a turn are the authors of what it
// answered or, if an agent was the author, those on whose behalf that agent spoke.
func (t *Tracker) Restore(past []earshot.Event) {
	said := make(map[earshot.EventID]dialogue.Line)
	for _, e := range past {
		line := dialogue.Line{Author: e.Author, From: e.From}
		switch body := e.Body.(type) {
		case earshot.Message:
			line.Turn = body.Turn
		case earshot.Utterance:
			line.Aloud, line.Voice = true, body.Speaker
		case earshot.Reply:
			line.Turn = body.Turn
		case earshot.Decision:
			if about, ok := said[body.About]; ok && body.Turn != "" {
				t.Note(body.Turn, t.behind(about))
			}
			continue
		default:
			continue
		}
		said[e.ID] = line
	}
}

// OwnLines returns the part of the dialogue that one person has written to the agent alone, up to
// the message that asks for this. It leaves out everybody else's words, replies, because they may
// rest on others' words, and anything that may be somebody else's: what was said aloud, and what
// another person changed.
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

// theirs reports whether the author of q wrote a line to the agent by the same handle as q, and
// nobody else contributed to it.
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
