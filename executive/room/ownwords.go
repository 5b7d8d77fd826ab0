package room

import (
	"errors"
	"slices"

	"earshot"
	"earshot/participants"
)

// OwnWords is the reason for a decision to answer what somebody asked with their own
// words alone.
const OwnWords = "it was asked with the asker's own words alone"

var (
	errNobodysWords = errors.New("whose words? say who you are first: earshot chat --identity NAME")
	errNoQuestion   = errors.New("what do you want to ask? Write /" + earshot.OwnWords + " QUESTION; everybody here sees it")
)

// ownWords makes the message of the command "/mywords QUESTION" that who gave. It is the
// same event, so that one that is sent twice is one. All see it, as if it had no command.
func ownWords(e *earshot.Event, who participants.Participant, args earshot.Text) error {
	if who.ID == "" || who.ID == participants.Generic {
		return errNobodysWords
	}
	if valid(args) == "" {
		return errNoQuestion
	}
	text, err := wording(args, earshot.MaxText)
	if err != nil {
		return err
	}
	e.Body = earshot.Message{Text: text, OwnWords: true}
	return nil
}

// withOwnWords is the aim of what somebody asks with their own words alone: it is for the agents
// that it calls, and for the main one if it calls none.
func (r *Room) withOwnWords(e *earshot.Event, a addressees) addressees {
	if !a.mine || a.why == Alone {
		all := r.agents()
		a = addressees{agents: ids(all[:1]), mine: true, named: true, why: OwnWords}
		e.To, e.Visibility.Agents = slices.Clone(a.agents), nil
	}
	return a
}

// ownWords reports whether q is answered with nobody's words but its author's.
func (q *question) ownWords() bool {
	m, _ := q.message.Body.(earshot.Message)
	return m.OwnWords
}

// apart reports whether q and another question wait beside each other, in the order in
// which they came: in different conversations. What is asked with somebody's own words is
// no context of what others asked; what was confirmed is done whatever else is asked.
func (q *question) apart(other *question) bool {
	if q.confirmed != nil || other.confirmed != nil || q.ownWords() != other.ownWords() {
		return true
	}
	return q.ownWords() && q.message.Author != other.message.Author || !together(q.message.Visibility, other.message.Visibility)
}

// answeredBefore tells the model what the rest of the dialogue is, where others' words
// are left out of it.
const answeredBefore = "Above stands only what the author of the last message wrote to you before. It has been dealt with, by replies that are left out here: do nothing of it again. Answer the last message."

// own returns the dialogue in the words of one person to the agent alone, up to the
// message that asks for that. What is anybody else's is left out, and so are the replies, which
// rest on others' words, perhaps; and what may be somebody else's: what was said aloud,
// or changed by another.
func (r *Room) own(q *question) *history {
	own := new(history)
	for _, l := range q.seat.history.lines {
		asks := l.event == q.message.ID
		if asks || r.theirs(l, q) {
			own.lines = append(own.lines, l)
		}
		if asks {
			break
		}
	}
	return own
}

// theirs reports whether the author of q wrote a line to the agent, as they wrote q, and
// nobody else has a part in it.
func (r *Room) theirs(l line, q *question) bool {
	if l.author != q.message.Author || l.aloud || l.replies || l.announces || l.turn != "" || l.text == "" || !slices.Contains(l.to, q.seat.ID) {
		return false
	}
	who := q.askers[0]
	return !slices.ContainsFunc(r.behind(l), func(p participants.Participant) bool { return p.ID != who.ID || p.Through != who.Through })
}
