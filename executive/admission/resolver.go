package admission

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/dialogue"
	"earshot/executive/exchange"
	"earshot/executive/hearing"
	"earshot/executive/intake"
	"earshot/executive/mode"
	"earshot/executive/question"
	"earshot/executive/reason"
	"earshot/executive/record"
	"earshot/executive/revision"
	"earshot/executive/thoughts"
	"earshot/participants"
	"earshot/participants/agents"
)

// A Resolver determines what the events of a room mean. Every field is required unless it says
// otherwise. It is safe for concurrent use.
type Resolver struct {
	Room       earshot.RoomID
	People     *participants.Registry
	Addressing *addressing.Resolver
	Listener   *hearing.Listener
	Mode       *mode.Control
	Mind       *thoughts.Thinker
	Waits      *exchange.WaitList // the agents that other agents wait for
	Queue      *Queue
	Agents     func() []agents.Record // with a seat in the room, the main one first

	// Turn returns the question of the live turn, nil if there is none, and the agent that answers
	// it.
	Turn func() (*question.Question, agents.Record)

	Now   func() time.Time
	NewID func() earshot.EventID
	Log   *slog.Logger
}

// Resolve determines, for good, who said it, to whom, who may see it, and what it means for the
// floor and the work of the agents.
func (r *Resolver) Resolve(ctx context.Context, set *executive.Config, e earshot.Event) (in Input, err error) {
	if in, err = r.identify(ctx, e); err != nil {
		return in, err
	}
	if of, does := revision.Of(in.Event.Body); does {
		return in, r.resolveRevision(ctx, of, &in.Event, &in)
	}
	r.address(ctx, set, &in)
	r.judge(set, &in)
	return in, nil
}

// ResolveAgain is Resolve for a message by who that is on record and still unanswered: only its
// addressees are determined anew.
func (r *Resolver) ResolveAgain(ctx context.Context, set *executive.Config, e earshot.Event, who participants.Participant) Input {
	in := Input{Event: e, Who: who, Received: r.Now(), Heeded: r.heeds(set, who)}
	if m, written := e.Body.(earshot.Message); written {
		in.Addressees = r.addressMessage(ctx, &e, m, who)
	} else { // what was said aloud called somebody; whom it may have meant otherwise is not known any more
		in.Address, in.Addressees.Agents = conversation.Called, e.To
	}
	in.Signal = r.signal(in) // it only tells how urgent it is; it has acted long ago
	return in
}

// identify determines who an event is from, what it says in the form in which that may be kept, and
// who may see it.
func (r *Resolver) identify(ctx context.Context, e earshot.Event) (in Input, err error) {
	in.Received = r.Now()
	if e.Body, err = intake.Body(e.Body); err != nil {
		return in, err
	}
	if u, spoken := e.Body.(earshot.Utterance); spoken {
		u.Text = r.Listener.Correct(u.Text)
		e.Body = u
	}
	if e.From.ID != "" { // otherwise it is from the sense itself
		in.Who = r.People.Resolve(e.From)
	}
	if e.Body, err = intake.Noticed(e.From, in.Who, e.Body); err != nil {
		return in, err
	}
	if e.ID == "" {
		e.ID = r.NewID()
	}
	if e.At.IsZero() || e.At.After(r.Now()) {
		e.At = r.Now()
	}
	e.Room, e.Author, e.Sequence, e.Sources = r.Room, in.Who.ID, 0, nil
	e.To, e.Visibility = nil, earshot.Visibility{Scope: earshot.Public}
	switch c, _ := e.Body.(earshot.Command); {
	case strings.EqualFold(c.Name, addressing.WhisperCommand):
		err = r.whisper(&e, in.Who, c.Args)
	case strings.EqualFold(c.Name, earshot.OwnWords):
		err = ownWords(&e, in.Who, c.Args)
	case strings.EqualFold(c.Name, earshot.PostTo):
		err = r.post(ctx, &e, in.Who, c.Args)
	}
	in.Event = e
	return in, err
}

// whisper makes e the private message of a command.
func (r *Resolver) whisper(e *earshot.Event, who participants.Participant, args earshot.Text) error {
	to, members, text, err := r.Addressing.Whisper(who, args)
	if err != nil {
		return err
	}
	if text, err = dialogue.Wording(text, earshot.MaxText); err != nil {
		return err
	}
	e.Body, e.To = earshot.Message{Text: text}, to
	e.Visibility = earshot.Visibility{Scope: earshot.Private, Members: members}
	return nil
}

// post makes e the message of a command that names an address. It is as visible as one that calls
// its recipients by name.
func (r *Resolver) post(ctx context.Context, e *earshot.Event, who participants.Participant, args earshot.Text) error {
	to, text, err := r.Addressing.Post(ctx, who, args)
	if err != nil {
		return err
	}
	if text, err = dialogue.Wording(text, earshot.MaxText); err != nil {
		return err
	}
	e.Body, e.To, e.Visibility.Agents = earshot.Message{Text: text, Posted: true}, to, slices.Clone(to)
	return nil
}

// address determines for whom an event is. Who said something aloud is told by the voice.
func (r *Resolver) address(ctx context.Context, set *executive.Config, in *Input) {
	in.Heeded = r.heeds(set, in.Who)
	e := &in.Event
	in.Said = record.Words(e.Body)
	switch body := e.Body.(type) {
	case earshot.Presence:
		e.Visibility.Scope = earshot.System
	case earshot.Message:
		in.Addressees = r.addressMessage(ctx, e, body, in.Who)
		in.Addressees.Lost = in.Addressees.Lost && in.Heeded && !r.Listener.Cuts(body.Text) // "stop" is carried out
		if in.Addressees.Why == addressing.Alone && body.ReplyTo == "" && len(body.Attachments) == 0 && r.murmurs(*e, body.Text) {
			e.To, in.Addressees = nil, addressing.Addressees{Why: reason.Murmured}
		}
	case earshot.Utterance, earshot.Speech:
		a := r.Listener.Attribute(e, in.Who)
		in.Who, in.NewVoice, in.OwnVoice, in.UnlikeVoice = a.Who, a.New, a.Own, a.Unlike
		in.Heeded = r.heeds(set, in.Who)
		*e = r.Listener.CorrectOrder(*e)
		if in.Address, in.Addressees.Agents = r.Listener.Address(*e, in.UnlikeVoice); in.Address == conversation.Called {
			*e = r.Listener.CorrectName(*e, in.UnlikeVoice)
		}
		if in.OwnVoice {
			in.Address, in.Addressees.Agents = conversation.Own, nil
		}
		in.Address, in.Addressees.Agents = r.pressed(*e, in.Address, in.Addressees.Agents)
		r.rejoin(in, e)
		e.To = in.Addressees.Agents
	}
}

// addressMessage determines the addressees of a message.
func (r *Resolver) addressMessage(ctx context.Context, e *earshot.Event, m earshot.Message, who participants.Participant) addressing.Addressees {
	if e.Visibility.Scope == earshot.Private {
		return r.Addressing.Whispered(*e)
	}
	if m.Posted {
		return r.Addressing.Posted(*e)
	}
	a := r.answered(ctx, e, m, who, r.Addressing.Direct(e, who, m.Text))
	if m.OwnWords {
		a = r.withOwnWords(e, a)
	}
	return a
}

// heeds reports whether an agent answers somebody: everybody if several may talk; otherwise only
// somebody who operates the program or is alone.
func (r *Resolver) heeds(set *executive.Config, who participants.Participant) bool {
	return set.MultiParty.Enabled || who.Can(participants.Operate) || r.Addressing.Company(who) <= 1
}

// murmurs reports whether what somebody typed only shows that they read a reply in the same
// conversation, such as "ok" or "haha". If the last whole sentence of the reply is a question, it
// is an answer.
func (r *Resolver) murmurs(e earshot.Event, text earshot.Text) bool {
	live, _ := r.Turn()
	if live == nil || !conversation.SameCircle(live.Message.Visibility, e.Visibility) || !conversation.MurmuredInWriting(text) {
		return false
	}
	is := live.Trace.Tracker.Progress()
	heard := string(earshot.Reply{Offered: is.Text, Heard: is.Heard}.Delivered())
	end := strings.LastIndexAny(heard, ".!?…。！？")
	return end < 0 || !strings.HasPrefix(heard[end:], "?") && !strings.HasPrefix(heard[end:], "？")
}

// pressed returns for whom the spoken event e is: while somebody holds the key, what the microphone
// hears is for the main agent if it calls none. The agent's own voice is still for nobody.
func (r *Resolver) pressed(e earshot.Event, to conversation.Address, whom []earshot.ParticipantID) (conversation.Address, []earshot.ParticipantID) {
	words := false
	switch body := e.Body.(type) {
	case earshot.Utterance:
		words = true
	case earshot.Speech:
		words = body.Stage == earshot.VoiceWords
	}
	if !words || to == conversation.Own || to.ForAgent() || e.From.Provider != "microphone" || !r.Mode.Held() {
		return to, whom
	}
	return conversation.Pressed, addressing.IDs(r.Agents()[:1])
}

// rejoin makes an utterance that only continues the one before a part of it.
func (r *Resolver) rejoin(in *Input, e *earshot.Event) {
	c, ok := r.Listener.Continued(*e, in.Address)
	if !ok {
		return
	}
	switch body := e.Body.(type) {
	case earshot.Speech:
		in.Continues = body.Stage == earshot.VoiceWords
	case earshot.Utterance:
		body.Continues = c.Of
		e.Body, in.Before = body, c.Text
		in.Address, in.Addressees.Agents = conversation.Following, c.Agents
	}
}

// resolveRevision determines what e does to the message of, which is visible to the same people.
func (r *Resolver) resolveRevision(ctx context.Context, of earshot.EventID, e *earshot.Event, in *Input) error {
	was, err := r.Queue.original(ctx, *e, of)
	if err != nil {
		return err
	}
	if err := revision.Check(*e, was); err != nil {
		return err
	}
	e.To, e.Visibility = was.To, was.Visibility
	in.Change = Change{Of: of}
	live, _ := r.Turn()
	b, revises := e.Body.(earshot.Revision)
	if revises {
		e.Sources = []earshot.EventID{of}
		in.Change.Again = r.Outdated(b)
	}
	if in.Change.Again != nil || !revises && live.Answers(func(id earshot.EventID) bool { return id == of }) {
		in.Signal = revision.Signal(*e, in.Who.ID)
	}
	return nil
}

// Outdated returns the question that is being answered and whose words a revision changes, nil for
// none.
func (r *Resolver) Outdated(b earshot.Revision) *question.Question {
	live, _ := r.Turn()
	if live == nil || live.Message.ID != b.Of || live.Handover != nil || live.Candidate != nil || revision.Respelt(record.Words(live.Message.Body), b.Text) {
		return nil
	}
	q := *live
	return &q
}

// answered determines the addressees of a message that answers another. An answer to an agent of
// the room is for that agent, unless its words call somebody; an answer to somebody else is for
// them. An outlet may name a reply by its turn, which is all it knows; the message then gets the ID
// of the reply.
func (r *Resolver) answered(ctx context.Context, e *earshot.Event, m earshot.Message, who participants.Participant, a addressing.Addressees) addressing.Addressees {
	if m.ReplyTo == "" {
		return a
	}
	id, by := r.findAuthor(ctx, m.ReplyTo)
	m.ReplyTo = cmp.Or(id, m.ReplyTo)
	e.Body = m
	p, known := r.People.Get(by)
	if !known || by == who.ID || a.Named || a.Why == addressing.ToOthers {
		return a
	}
	agents := r.Addressing.Seated([]earshot.ParticipantID{by}, r.Agents())
	if len(agents) == 0 {
		if p.Type.Machine() {
			return a
		}
		e.To = []earshot.ParticipantID{by}
		return addressing.Addressees{Why: addressing.ToOthers, Hint: a.Hint}
	}
	e.To, e.Visibility.Agents = slices.Clone(agents), slices.Clone(agents)
	return addressing.Addressees{Agents: agents, Mine: true, Named: true, Why: reason.Replied, Hint: a.Hint}
}

// findAuthor returns the event called id, and its author: a message, a reply, or what is being said
// now, for which there is no event yet. Events that the room does not remember are looked up.
func (r *Resolver) findAuthor(ctx context.Context, id earshot.EventID) (event earshot.EventID, by earshot.ParticipantID) {
	if e := r.Queue.Recent(id); e.Author != "" {
		return id, e.Author
	}
	turn := earshot.TurnID(id)
	if live, agent := r.Turn(); live != nil && live.Turn == turn {
		return "", agent.ID
	}
	if reply := r.Queue.Reply(turn); reply.Author != "" {
		return reply.ID, reply.Author
	}
	if r.Queue.Lookup == nil {
		return "", ""
	}
	old, found, err := r.Queue.Lookup(ctx, id)
	if err != nil {
		r.Log.Warn("the message that another one replies to cannot be looked up", "err", err)
	}
	if !found || err != nil {
		return "", ""
	}
	return id, old.Author
}

var (
	errNobodysWords = errors.New("whose words? say who you are first: earshot chat --identity NAME")
	errNoQuestion   = errors.New("what do you want to ask? Write /" + earshot.OwnWords + " QUESTION; everybody here sees it")
)

// ownWords makes the message of the command "/mywords QUESTION" given by who. It keeps the event's
// ID, so that a command that is sent twice counts once. Everybody sees it, as if it had no command.
func ownWords(e *earshot.Event, who participants.Participant, args earshot.Text) error {
	if who.ID == "" || participants.Unnamed(who.ID) {
		return errNobodysWords
	}
	if dialogue.Valid(args) == "" {
		return errNoQuestion
	}
	text, err := dialogue.Wording(args, earshot.MaxText)
	if err != nil {
		return err
	}
	e.Body = earshot.Message{Text: text, OwnWords: true}
	return nil
}

// withOwnWords returns the addressees of a question with its author's own words alone: the agents
// that it calls, or the main one if it calls none.
func (r *Resolver) withOwnWords(e *earshot.Event, a addressing.Addressees) addressing.Addressees {
	if !a.Mine || a.Why == addressing.Alone {
		a = addressing.Addressees{Agents: []earshot.ParticipantID{agents.Met(e.From.Provider, r.Agents()).ID}, Mine: true, Named: true, Why: reason.OwnWords}
		e.To, e.Visibility.Agents = slices.Clone(a.Agents), nil
	}
	return a
}
