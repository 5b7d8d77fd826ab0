package room

import (
	"cmp"
	"fmt"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/echo"
	"earshot/participants"
	"earshot/speakers"
)

// Voices knows whose voices these are: a [speakers.Registry]. It answers within microseconds, and
// is safe for concurrent use. A voice proves nothing: a person who is known only by voice has the
// rights of an unknown person.
//
// A voice like the agent's own is evidence, not proof. While the agent's sound is there, or was a
// moment ago, the voice is that sound come back, and is nobody's word. At any other time it is
// somebody unknown who sounds like the agent: a recording of it, or another machine with the same
// voice. They are heard like anybody else, but are never a known person.
type Voices interface {
	// Whose judges whose voice it is that began at a time, and learns from it.
	Whose(v *earshot.Voice, began time.Time) speakers.Judgement

	// Guess does the same for a voice that still speaks, without learning from it.
	Guess(v *earshot.Voice, began time.Time) speakers.Judgement

	// Speaker returns what is known about a voice.
	Speaker(earshot.Handle) (speakers.Speaker, bool)
}

// comesBack is what share of an utterance with the agent's own voice must have coincided with its
// sound, as the sense has heard it, for the utterance to be that sound. An echo coincides except
// for its tail; somebody who makes the agent pause talks in silence most of the time.
const comesBack = 0.5

// attribute determines who has said something aloud, as far as that is known: the person whom the
// provider knows, or else the owner of the voice. The author is then the ID of the voice, even if
// its owner is known: their name is looked up where it is shown, and their other rights do not
// extend to the voice. The voice itself goes no further.
func (r *Room) attribute(e *earshot.Event, in *resolvedEvent) {
	var j speakers.Judgement
	asks := r.cfg.Voices != nil && in.who.ID == "" && r.cfg.Settings().MultiParty.SpeakerAttribution
	switch body := e.Body.(type) {
	case earshot.Utterance:
		switch v := body.Voice; {
		case !asks || v == nil:
		case body.Faint: // it may be noise, from which nothing must be learnt
			j = r.cfg.Voices.Guess(v, e.At)
		default:
			j = r.cfg.Voices.Whose(v, e.At)
			in.strange = j.New
		}
		in.own = j.Own && (body.Own >= comesBack || r.echoReference.Echoes(e.At, r.ends(*e)))
		body.LikeAgent = j.Own && !in.own
		body.Voice, body.Speaker, body.Sure = nil, j.Speaker, share(j.Sure)
		if j.Speaker.ID == "" {
			body.Sure = 0
		}
		e.Body = body
	case earshot.Speech:
		if v := body.Voice; asks && v != nil {
			j = r.cfg.Voices.Guess(v, e.At)
		}
		in.own = j.Own && r.echoReference.Echoes(e.At, r.ends(*e))
		body.LikeAgent = j.Own && !in.own
		body.Voice = nil
		e.Body = body
	}
	in.unlike = j.Strange
	if !j.Own && j.Speaker.ID != "" {
		in.who = r.meet(j.Speaker)
		e.Author = in.who.Reader()
	}
}

// machine reports whether something is from a machine, as far as that is known: two machines with
// one voice must not talk for ever.
func (in resolvedEvent) machine() bool { return in.who.Type.Machine() || likeAgent(in.event) }

// meet returns who has a voice: somebody unknown, if nobody has said whose it is.
func (r *Room) meet(h earshot.Handle) participants.Participant {
	name := "voice"
	if s, known := r.cfg.Voices.Speaker(h); known && s.Number > 0 {
		name = fmt.Sprintf("voice %d", s.Number)
	}
	return r.cfg.People.Meet(h, name)
}

// person returns who somebody is, after mergers of handles and voices.
func (r *Room) person(id earshot.ParticipantID) earshot.ParticipantID {
	p, _ := r.cfg.People.Get(id)
	return cmp.Or(p.ID, id)
}

// A counterpart is the other side of a conversation with an agent: a person or, if the person is
// unknown, the device that hears them. A voice like the agent's own is a counterpart of its own.
type counterpart struct {
	who  earshot.ParticipantID
	by   earshot.Handle
	like bool
}

// likeAgent reports whether something was said by somebody who sounds like the agent.
func likeAgent(e earshot.Event) bool {
	switch body := e.Body.(type) {
	case earshot.Utterance:
		return body.LikeAgent
	case earshot.Speech:
		return body.LikeAgent
	}
	return false
}

// counterpart returns who has said something aloud.
func (r *Room) counterpart(e earshot.Event) counterpart {
	if e.Author != "" {
		return counterpart{who: r.person(e.Author)}
	}
	return counterpart{by: e.From, like: likeAgent(e)}
}

// same reports whether two utterances may be by one person. Where an author is unknown, they may be
// if they were heard through the same device.
func (r *Room) same(a, b earshot.Event) bool {
	if a.Author != "" && b.Author != "" {
		return r.person(a.Author) == r.person(b.Author)
	}
	return a.From == b.From && !(likeAgent(a) && b.Author != "" || likeAgent(b) && a.Author != "")
}

// lastTalk returns the last exchange with the speaker of e. A voice of which too little was heard
// may be anybody's who is heard through the same device, so it continues the last exchange there. A
// known person continues the exchange of such a voice, and so does somebody who sounds like the
// agent. r.mu must be held.
func (r *Room) lastTalk(e earshot.Event, p counterpart) lastExchange {
	t, through := r.answered[p], r.answered[counterpart{by: e.From}]
	if (p.who != "" || p.like) && through.with == "" && (!through.like || p.like) && through.ended.After(t.ended) {
		return through
	}
	return t
}

// ownVoice returns the address of the agent's own voice come back, and otherwise to.
func (in *resolvedEvent) ownVoice(to conversation.Address) conversation.Address {
	if !in.own {
		return to
	}
	in.aim.Agents = nil
	return conversation.Own
}

// voiceFor returns how something is said aloud in the room. over says that the speech may begin
// while somebody speaks.
func (r *Room) voiceFor(over bool) echo.Voice {
	v := echo.Voice{Now: r.cfg.Now}
	if r.cfg.Reader != nil {
		v.Read = r.cfg.Reader()
	}
	if !over {
		v.Speaks = r.activity.Speaks
	}
	return v
}
