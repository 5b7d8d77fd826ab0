package room

import (
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/dialogue"
	"earshot/participants"
)

// askers returns everybody whose words are answered by the answer to q: the asker, those who gave
// way to them, and others who have called the agent in this conversation since it last answered to
// the end. Other agents ask in the name of those who asked them; a question that one of them asks
// within a turn is answered there. Anybody whose later words stand in its prompt counts as an asker
// too, whomever they addressed: a model may take the last words for its instructions.
func (r *Room) askers(q *question) []participants.Participant {
	all := r.callers(q)
	for _, l := range q.after {
		for _, who := range r.behind(l) {
			all = alsoAsks(all, who)
		}
	}
	for _, id := range q.overheard {
		all = alsoAsks(all, r.overheardFrom(id))
	}
	return all
}

// callers returns those of them who called for the answer: the asker, those who gave way to them,
// and those who wait for an answer in this conversation.
func (r *Room) callers(q *question) []participants.Participant {
	all := slices.Clone(q.askers)
	answered := make(map[earshot.EventID]bool)
	for _, l := range slices.Backward(q.seat.history.Lines) {
		switch mine := l.Author == q.seat.ID; {
		case q.ownWords() && l.Event != q.message.ID: // nothing else in its prompt could ask
		case mine && l.Replies && l.OwnWords:
			answered[l.About] = true // and nothing else
		case !conversation.SameCircle(l.Visibility, q.message.Visibility):
		case mine && l.Replies && l.Text != "" && l.Note == "":
			return all
		case mine && !l.Replies:
			answered[l.About] = true
		case (slices.Contains(l.To, q.seat.ID) || l.Event == q.message.ID) && !answered[l.Event]:
			for _, who := range r.behind(l) {
				all = alsoAsks(all, who)
			}
		}
	}
	return all
}

// overheardFrom returns who said something that was overheard. If nobody knows who it was, the
// unknown speaker does not restrict what every known participant may cause.
func (r *Room) overheardFrom(id earshot.ParticipantID) participants.Participant {
	who, _ := r.cfg.People.Get(id)
	if who = who.Aloud(); who.ID == "" {
		who = participants.Participant{ID: unseen, Name: "somebody", Capabilities: []participants.Capability{participants.SendMessages}, ByVoice: true}
	}
	return who
}

// unseen stands for an overheard speaker about whom nothing else is known.
const unseen earshot.ParticipantID = "overheard"

// behind returns in whose name l was said, including somebody who has changed its text.
func (r *Room) behind(l dialogue.Line) (all []participants.Participant) {
	switch {
	case l.Turn != "":
		all = r.sponsors.of(l.Turn)
	case l.Voice.ID != "": // a voice proves nothing, whosever it is
		all = []participants.Participant{r.cfg.People.Resolve(l.Voice)}
	case l.Aloud:
		for _, who := range r.writers(l.Author, l.From) {
			all = append(all, who.Aloud())
		}
	default:
		all = r.writers(l.Author, l.From)
	}
	for _, m := range l.Mends {
		all = append(slices.Clip(all), r.writers(m.By, m.From)...)
	}
	return all
}

// writers returns the participant who wrote something by a handle. They have the rights of that
// handle, see [participants.Registry.Merge]. If it is no longer theirs, those rights are unknown:
// then the least of their rights by any handle applies, and of the rights of the present owner.
func (r *Room) writers(author earshot.ParticipantID, by earshot.Handle) (all []participants.Participant) {
	has := r.cfg.People.Resolve(by)
	if has.ID == author {
		return []participants.Participant{has}
	}
	if has.ID != "" {
		all = append(all, has)
	}
	for _, id := range r.cfg.People.Identities(author) {
		who, _ := r.cfg.People.Get(id)
		all = append(all, who)
	}
	return all
}

// asker returns the author of something, as somebody who asks for something by it.
func (in resolvedEvent) asker() participants.Participant {
	if in.event.Body.Kind() == earshot.KindUtterance {
		return in.who.Aloud()
	}
	return in.who
}

// alsoAsks returns some askers with one more. One person may ask by handles with more and fewer
// rights, and aloud.
func alsoAsks(all []participants.Participant, who participants.Participant) []participants.Participant {
	if slices.ContainsFunc(all, func(p participants.Participant) bool {
		return p.ID == who.ID && p.Through == who.Through && p.ByVoice == who.ByVoice
	}) {
		return all
	}
	return append(slices.Clip(all), who)
}

// keepSponsors is for how many turns the askers are remembered: more than stand in the dialogues of
// a lively room. For older turns no asker is known.
const keepSponsors = 512

// sponsors records in whose name agents acted in each turn, so that an agent which is asked by
// another does nothing for them that they may not do themselves. It belongs to Run.
type sponsors struct {
	by     map[earshot.TurnID][]participants.Participant
	recent []earshot.TurnID // the keys, oldest first
}

// note adds the askers of a turn to those already known.
func (s *sponsors) note(turn earshot.TurnID, askers []participants.Participant) {
	had, known := s.by[turn]
	for _, who := range askers {
		had = alsoAsks(had, who)
	}
	if s.by == nil {
		s.by = make(map[earshot.TurnID][]participants.Participant)
	}
	s.by[turn] = had
	if known {
		return
	}
	if s.recent = append(s.recent, turn); len(s.recent) > keepSponsors {
		delete(s.by, s.recent[0])
		s.recent = s.recent[1:]
	}
}

// of returns who asked in a turn; for a forgotten turn, somebody unknown.
func (s *sponsors) of(turn earshot.TurnID) []participants.Participant {
	if all := s.by[turn]; len(all) > 0 {
		return all
	}
	return []participants.Participant{{}}
}

// sponsored rebuilds the sponsors from past events: the authors of what was answered, or those in
// whose name the agent spoke whose words these were.
func (r *Room) sponsored(past []earshot.Event) {
	said := make(map[earshot.EventID]earshot.Event)
	for _, e := range past {
		switch body := e.Body.(type) {
		case earshot.Message, earshot.Utterance, earshot.Reply:
			said[e.ID] = e
		case earshot.Decision:
			if about, ok := said[body.About]; ok && body.Turn != "" {
				r.sponsors.note(body.Turn, r.behind(dialogue.Line{Author: about.Author, From: about.From, Turn: turnOf(about.Body), Aloud: about.Body.Kind() == earshot.KindUtterance, Voice: voiceOf(about.Body)}))
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
