package room

import (
	"slices"

	"earshot"
	"earshot/participants"
)

// askers returns all whose words are answered by the answer to q: who asked, who
// gave way to that, and whoever else has called the agent in this conversation since
// it last answered to the end. Other agents ask in the name of those who asked them;
// what one of them asks within a turn is answered there. Whoever has said anything since
// it was asked that stands in its prompt asks too, to whomever they said it: a model may
// take the last word for what it is to do.
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

// callers returns those of them who called for the answer: who asked, who gave way to
// that, and whoever waits for an answer in this conversation.
func (r *Room) callers(q *question) []participants.Participant {
	all := slices.Clone(q.askers)
	answered := make(map[earshot.EventID]bool)
	for _, l := range slices.Backward(q.seat.history.lines) {
		switch mine := l.author == q.seat.ID; {
		case q.ownWords() && l.event != q.message.ID: // nothing else stands in its prompt that could ask
		case mine && l.replies && l.ownWords:
			answered[l.about] = true // and nothing else
		case !together(l.visibility, q.message.Visibility):
		case mine && l.replies && l.text != "" && l.note == "":
			return all
		case mine && !l.replies:
			answered[l.about] = true
		case (slices.Contains(l.to, q.seat.ID) || l.event == q.message.ID) && !answered[l.event]:
			for _, who := range r.behind(l) {
				all = alsoAsks(all, who)
			}
		}
	}
	return all
}

// overheardFrom returns who has said something that was overheard. That nobody knows who
// it was holds nobody back from what everybody may have done who is known.
func (r *Room) overheardFrom(id earshot.ParticipantID) participants.Participant {
	who, _ := r.cfg.People.Get(id)
	if who = who.Aloud(); who.ID == "" {
		who = participants.Participant{ID: unseen, Name: "somebody", Capabilities: []participants.Capability{participants.SendMessages}, ByVoice: true}
	}
	return who
}

// unseen stands for whoever was overheard, of whom nothing else is known.
const unseen earshot.ParticipantID = "overheard"

// behind returns in whose name l was said: also in that of who has changed what it says.
func (r *Room) behind(l line) (all []participants.Participant) {
	switch {
	case l.turn != "":
		all = r.sponsors.of(l.turn)
	case l.voice.ID != "": // which proves nothing, whosever it is
		all = []participants.Participant{r.cfg.People.Resolve(l.voice)}
	case l.aloud:
		for _, who := range r.writers(l.author, l.from) {
			all = append(all, who.Aloud())
		}
	default:
		all = r.writers(l.author, l.from)
	}
	for _, m := range l.mends {
		all = append(slices.Clip(all), r.writers(m.by, m.from)...)
	}
	return all
}

// writers returns who somebody is who wrote something by a handle. They may do what
// the handle may by which they came, see [participants.Registry.Merge]. Once that is
// theirs no longer, nobody knows how much that was: it is the least of what they may
// by any, and of what may do whoever has it.
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

// asker returns who something is from, as somebody who asks for something by it.
func (in resolvedEvent) asker() participants.Participant {
	if in.event.Body.Kind() == earshot.KindUtterance {
		return in.who.Aloud()
	}
	return in.who
}

// alsoAsks returns some askers with one more. One person may ask by handles that may
// do more and less, and aloud.
func alsoAsks(all []participants.Participant, who participants.Participant) []participants.Participant {
	if slices.ContainsFunc(all, func(p participants.Participant) bool {
		return p.ID == who.ID && p.Through == who.Through && p.ByVoice == who.ByVoice
	}) {
		return all
	}
	return append(slices.Clip(all), who)
}

// keepSponsors is of how many turns it is remembered who asked: more than stand in
// the dialogues of a lively room. Of what is older nobody is known to have asked.
const keepSponsors = 512

// Sponsors are in whose name agents did what they did in each turn, so that an agent
// which is asked by another does nothing for them that they may not have done. It
// belongs to Run.
type sponsors struct {
	by     map[earshot.TurnID][]participants.Participant
	recent []earshot.TurnID // the keys, the oldest first
}

// note notes who asks in a turn, besides those who are known to already.
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

// of returns who asked in a turn: of one that nobody remembers, somebody unknown.
func (s *sponsors) of(turn earshot.TurnID) []participants.Participant {
	if all := s.by[turn]; len(all) > 0 {
		return all
	}
	return []participants.Participant{{}}
}

// sponsored makes the sponsors again of the past: whoever wrote what was answered, or
// in whose name the agent spoke whose words these were.
func (r *Room) sponsored(past []earshot.Event) {
	said := make(map[earshot.EventID]earshot.Event)
	for _, e := range past {
		switch body := e.Body.(type) {
		case earshot.Message, earshot.Utterance, earshot.Reply:
			said[e.ID] = e
		case earshot.Decision:
			if about, ok := said[body.About]; ok && body.Turn != "" {
				r.sponsors.note(body.Turn, r.behind(line{author: about.Author, from: about.From, turn: turnOf(about.Body), aloud: about.Body.Kind() == earshot.KindUtterance, voice: voiceOf(about.Body)}))
			}
		}
	}
}

// voiceOf returns by which voice something was said; none if that cannot be told.
func voiceOf(b earshot.Body) earshot.Handle {
	u, _ := b.(earshot.Utterance)
	return u.Speaker
}

// turnOf returns in which turn an agent said something; empty if none did.
func turnOf(b earshot.Body) earshot.TurnID {
	switch body := b.(type) {
	case earshot.Message:
		return body.Turn
	case earshot.Reply:
		return body.Turn
	}
	return ""
}
