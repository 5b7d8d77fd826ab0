package room

import (
	"context"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/addressing"
	"earshot/executive/command"
	"earshot/executive/decision"
	"earshot/executive/dialogue"
	"earshot/executive/hearing"
	"earshot/executive/intake"
	"earshot/executive/midturn"
	"earshot/executive/revision"
	"earshot/executive/scene"
	"earshot/interrupt"
	"earshot/participants"
)

// An Input is an event whose author, addressees and audience are known.
type Input struct {
	Event    earshot.Event
	Who      participants.Participant
	Address       conversation.Address  // of what was said aloud: why it is for an agent
	Addressees      addressing.Addressees // for which agents it is
	Heeded   bool                  // an agent may answer its author
	NewVoice  bool                  // it is the first that was heard of a voice
	OwnVoice      bool                  // it is the agent's own voice, come back
	Late     bool                  // it was written so long ago that nobody waits for an answer
	UnlikeVoice   bool                  // its voice is unlike all known ones
	SideTalk midturn.SideTalk      // what it means for the work of the agent that it calls
	Signal   *interrupt.Signal     // nil if it is none
	Received     time.Time             // when the room received it
	Said     earshot.Text          // its words, before a name in them is corrected

	Change Change // what it does to a message that was admitted before

	Before earshot.Text // the words before it that it continues
	Continues   bool         // it continues what was said before, as far as anybody can tell
}

// Admit takes an event into the room. For an event that is kept it returns after the commit, or
// with the reason why it was not kept; for any other, as soon as the event has acted. When the
// queue for the journal is full, a message waits until there is space. If ctx ends, the wait ends:
// the event may or may not be kept, and sending it again with the same ID is safe and waits for the
// same commit. Admit is safe for concurrent use.
func (r *Room) Admit(ctx context.Context, e earshot.Event) error {
	set := r.cfg.Settings() // one event sees one configuration
	if style, ok := interrupt.ParseStyle(set.MultiParty.TurnTakingProtocol); ok {
		r.floor.Adopt(style)
	}
	in, err := r.resolve(ctx, &set, e)
	switch {
	case err != nil && revision.Needless(e.Body, err):
		return nil
	case err != nil:
		return err
	case !r.mode.TakesIn(in.Event):
		return nil
	}
	if in.BeginsTyping() { // before it is noted: otherwise a line that is sent at the same time could end the note, and then not the signal
		r.heed(&set, in.Signal)
	}
	settle := r.mind.BeginAdmission()
	defer settle()
	defer r.observe(in)()
	if k := in.Event.Body.Kind(); !k.Durable() || k == earshot.KindPresence {
		return r.act(ctx, &set, in, settle)
	}
	if r.dropEmpty(&set, &in) {
		return nil
	}
	return r.reserveAndQueue(ctx, &set, in, settle)
}

// resolve determines, for good, who said it, to whom, who may see it, and what it means for the
// floor and the work of the agents.
func (r *Room) resolve(ctx context.Context, set *executive.Config, e earshot.Event) (in Input, err error) {
	if in, err = r.identify(e); err != nil {
		return in, err
	}
	if of, does := revision.Of(in.Event.Body); does {
		return in, r.resolveRevision(ctx, of, &in.Event, &in)
	}
	r.address(ctx, set, &in)
	r.judge(set, &in)
	return in, nil
}

// observe takes in what an event tells although it is not kept yet: that somebody types or speaks,
// and is here. The returned function is called when the event has been admitted.
func (r *Room) observe(in Input) (admitted func()) {
	changes := r.activity.Note(in.Event, r.cfg.Now())
	r.observePresence(in)
	if in.Event.Body.Kind() == earshot.KindSpeech {
		r.noteWords(in)
	}
	return func() {
		if in.Event.Body.Kind() == earshot.KindUtterance {
			r.showInterims(r.interims.End(in.Event)) // whatever becomes of it
		}
		if changes {
			r.nudge() // something may have waited for that, or must wait now
		}
	}
}

// act carries out an event that is not kept, or not as it came.
func (r *Room) act(ctx context.Context, set *executive.Config, in Input, settle func()) error {
	r.yield(in)
	settle()
	if !in.BeginsTyping() {
		r.heedWords(set, in)
	}
	switch body := in.Event.Body.(type) {
	case earshot.Speech:
		if body.Stage == earshot.VoiceOver {
			r.keepEndedCut(in.Event)
		}
		r.prepareReply(in)
		r.notePause(set, in)
	case earshot.Command:
		return r.command(ctx, in.Event, in.Who, body)
	case earshot.Typing:
		r.setUserState(in.Event, in.Who, map[bool]string{true: typing, false: "here"}[body.Began])
	case earshot.Presence:
		return r.arrive(ctx, in.Event, in.Who, body)
	case earshot.Glance:
		r.updateCameraLight(in.Event, body)
	}
	return nil
}

// dropEmpty drops a spoken event that says nothing, because it was noise or the agent's own voice
// came back, and reports whether it did. What has cut a reply is always kept.
func (r *Room) dropEmpty(set *executive.Config, in *Input) bool {
	u, spoken := in.Event.Body.(earshot.Utterance)
	if !spoken {
		return false
	}
	_, cut := r.cutBy(in.Event)
	switch {
	case cut:
		u.LikeAgent = u.LikeAgent || in.Address == conversation.Own
		in.Event.Body = u
		return false
	case u.Faint && in.Address != conversation.Mumbled:
		r.heed(set, sent(in.Event)) // the voice has ended
		return true
	case in.Address == conversation.Own:
		r.heed(set, in.Signal)
		r.cfg.Log.Debug("the agent's own voice came back", "provider", in.Event.From.Provider)
		return true
	}
	return false
}

// reserveAndQueue has an event kept, lets it act on the floor, and waits for the result. settle is
// called as soon as the room has the event.
func (r *Room) reserveAndQueue(ctx context.Context, set *executive.Config, in Input, settle func()) error {
	entry, first, waited, err := r.reserveWhenFree(ctx, set, in, settle)
	if err != nil {
		if in.Change.Again == nil && !waited { // a repeated change acts again only when it is kept
			r.actOnFloor(set, in) // a message that cannot be kept may still cut
		}
		return err
	}
	if first { // it also counts as coming, so that no thought continues before the room has it
		r.yield(in)
	}
	settle()
	switch {
	case first && entry.OffRecord:
		r.showOffRecord(set, in)
	case first:
		r.noteHeard(in)
		if !waited {
			r.actOnFloor(set, in)
		}
		r.noteVoicePresence(in)
		entry.Ticket = r.floor.Ticket()
		r.queue(entry)
	case in.Event.Body.Kind() == earshot.KindMessage: // it came before
		r.heed(set, sent(in.Event))
	}
	return entry.Wait(ctx)
}

// BeginsTyping reports whether somebody begins to type.
func (in *Input) BeginsTyping() bool {
	typing, _ := in.Event.Body.(earshot.Typing)
	return typing.Began
}

// heed lets a signal act on the floor, if the user wants to be able to interrupt like this. A
// command word always counts, and a signal that ends something always counts, so that it holds
// nobody back.
func (r *Room) heed(set *executive.Config, s *interrupt.Signal) (done interrupt.Action) {
	if s == nil {
		return interrupt.Leave
	}
	if s.Kind == interrupt.Command || s.Kind == interrupt.Over || interrupts(set, s.From) {
		if done = r.floor.Signal(s); done == interrupt.Pause {
			r.nudge() // not for ever
		}
	}
	return done
}

// interrupts reports whether the user wants to be able to interrupt by the connection through which
// somebody is present.
func interrupts(set *executive.Config, who earshot.Handle) bool {
	return set.Interruption.Enabled && slices.Contains(set.Interruption.Sources, intake.Source(who))
}

// identify determines who an event is from, what it says in the form in which that may be kept, and
// who may see it.
func (r *Room) identify(e earshot.Event) (in Input, err error) {
	in.Received = r.cfg.Now()
	if e.Body, err = intake.Body(e.Body); err != nil {
		return in, err
	}
	if u, spoken := e.Body.(earshot.Utterance); spoken {
		u.Text = r.listener.Correct(u.Text)
		e.Body = u
	}
	if e.From.ID != "" { // otherwise it is from the sense itself
		in.Who = r.cfg.People.Resolve(e.From)
	}
	if e.Body, err = intake.Noticed(e.From, in.Who, e.Body); err != nil {
		return in, err
	}
	if e.ID == "" {
		e.ID = r.cfg.NewID()
	}
	if e.At.IsZero() || e.At.After(r.cfg.Now()) {
		e.At = r.cfg.Now()
	}
	e.Room, e.Author, e.Sequence, e.Sources = r.cfg.ID, in.Who.ID, 0, nil
	e.To, e.Visibility = nil, earshot.Visibility{Scope: earshot.Public}
	switch c, _ := e.Body.(earshot.Command); {
	case strings.EqualFold(c.Name, addressing.WhisperCommand):
		err = r.whisper(&e, in.Who, c.Args)
	case strings.EqualFold(c.Name, earshot.OwnWords):
		err = ownWords(&e, in.Who, c.Args)
	}
	in.Event = e
	return in, err
}

// whisper makes e the private message of a command.
func (r *Room) whisper(e *earshot.Event, who participants.Participant, args earshot.Text) error {
	to, members, text, err := r.addressing.Whisper(who, args)
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

// address determines for whom an event is. Who said something aloud is told by the voice.
func (r *Room) address(ctx context.Context, set *executive.Config, in *Input) {
	in.Heeded = r.heeds(set, in.Who)
	e := &in.Event
	in.Said = saidIn(e.Body)
	switch body := e.Body.(type) {
	case earshot.Presence:
		e.Visibility.Scope = earshot.System
	case earshot.Message:
		if e.Visibility.Scope == earshot.Private {
			in.Addressees = r.addressing.Whispered(*e)
			return
		}
		in.Addressees = r.answering(ctx, e, body, in.Who, r.addressing.Direct(e, in.Who, body.Text))
		if body.OwnWords {
			in.Addressees = r.withOwnWords(e, in.Addressees)
		}
		in.Addressees.Lost = in.Addressees.Lost && in.Heeded && !r.listener.Cuts(body.Text) // "stop" is carried out
		if in.Addressees.Why == addressing.Alone && body.ReplyTo == "" && len(body.Attachments) == 0 && r.murmurs(*e, body.Text) {
			e.To, in.Addressees = nil, addressing.Addressees{Why: decision.Murmured}
		}
	case earshot.Utterance, earshot.Speech:
		r.attribute(e, in)
		in.Heeded = r.heeds(set, in.Who)
		*e = r.listener.CorrectOrder(*e)
		if in.Address, in.Addressees.Agents = r.listener.Address(*e, in.UnlikeVoice); in.Address == conversation.Called {
			*e = r.listener.CorrectName(*e, in.UnlikeVoice)
		}
		in.Address, in.Addressees.Agents = r.pressed(*e, in.ownVoice(in.Address), in.Addressees.Agents)
		r.rejoin(in, e)
		e.To = in.Addressees.Agents
	}
}

// judge determines what an event means for the work of an agent, and for the floor.
func (r *Room) judge(set *executive.Config, in *Input) {
	e := in.Event
	if in.Late = r.stale(e); in.Late {
		in.Signal = sent(e)
		return
	}
	switch body := e.Body.(type) {
	case earshot.Message:
		if in.Heeded && !body.OwnWords { // own words say nothing about the current work
			in.SideTalk = r.resolveSideTalk(set, e, in.Who, in.Addressees.Agents, body.Text)
		}
	case earshot.Utterance:
		if in.Heeded && in.Address.ForAgent() {
			in.SideTalk = in.apart(r.resolveSideTalk(set, e, in.Who, in.Addressees.Agents, in.Said))
		}
	case earshot.Speech:
		if in.Heeded && in.Address.ForAgent() {
			in.SideTalk = r.resolveSideTalk(set, e, in.Who, in.Addressees.Agents, "") // nobody knows yet what it will be
			in.SideTalk.Begins = in.SideTalk.Works
		}
	}
	in.Signal = in.holds(in.SideTalk.Signal(r.signal(*in)))
}

// answerable is for how long after it was written a message is answered. A provider that was cut
// off, for example from a chat room, later brings in what it has missed.
const answerable = 10 * time.Minute

// stale reports whether nobody waits any more for an answer to e. It is still kept, and cuts
// nothing.
func (r *Room) stale(e earshot.Event) bool {
	return e.Body.Kind() == earshot.KindMessage && r.cfg.Now().Sub(e.At) > answerable
}

// sent is the signal of a line that means nothing else to the speakers: it is no longer being
// typed.
func sent(e earshot.Event) *interrupt.Signal {
	return &interrupt.Signal{Kind: interrupt.Over, From: e.From, Via: e.Via, By: e.Author, Confidence: 1, At: e.At}
}

// heeds reports whether an agent answers somebody: everybody if several may talk; otherwise only
// somebody who operates the program or is alone.
func (r *Room) heeds(set *executive.Config, who participants.Participant) bool {
	return set.MultiParty.Enabled || who.Can(participants.Operate) || r.addressing.Company(who) <= 1
}

// signal returns the signal of an event for the floor, or nil if it has none. Only something that
// is for an agent of the room, or a command word, cuts, whichever agent talks.
func (r *Room) signal(in Input) *interrupt.Signal {
	e := in.Event
	s := &interrupt.Signal{From: e.From, Via: e.Via, By: e.Author, Operator: in.Who.Can(participants.Operate), Confidence: 1, At: e.At}
	switch body := e.Body.(type) {
	case earshot.Message:
		return r.wrote(s, body, in)
	case earshot.Utterance:
		sounding := body.Own > 0 || r.echoReference.Sounds(e.At, e.At.Add(body.Lasted))
		return unheeded(hearing.UtteranceSignal(s, body, in.Address, sounding, r.listener.Cuts(body.Text)), in.Heeded)
	case earshot.Speech:
		return unheeded(hearing.SpeechSignal(s, body, in.Address, r.listener.Cuts(body.Words)), in.Heeded)
	case earshot.Edit, earshot.Sight, earshot.Glance: // nobody speaks
		return nil
	case earshot.Command:
		if !strings.EqualFold(body.Name, "stop") {
			return nil
		}
		s.Kind = interrupt.Command
	case earshot.Typing:
		s.Kind = interrupt.Over
		if body.Began {
			s.Kind = interrupt.Typing
		}
	case earshot.Presence:
		if body.Here {
			return nil
		}
		s.Kind = interrupt.Over
	}
	return s
}

// wrote returns the signal of a message for the floor. A private message that is not for an agent
// has none. One that is for an agent cuts a private reply to the same people, and no other: what an
// agent says to everybody is not cut for a reason that they may not know.
func (r *Room) wrote(s *interrupt.Signal, m earshot.Message, in Input) *interrupt.Signal {
	private := in.Event.Visibility.Scope == earshot.Private
	s.Kind, s.Words = interrupt.Bystanders, m.Text
	switch {
	case private && !in.Addressees.Mine:
		s.Kind, s.Words = interrupt.Over, ""
	case r.listener.Cuts(m.Text):
		s.Kind = interrupt.Command
	case in.Addressees.Why == decision.Murmured:
		s.Kind = interrupt.Backchannel
	case in.Addressees.Why == addressing.Misses: // the author is told so, and listens on
		s.Kind, s.Words = interrupt.Over, ""
	case !in.Addressees.Mine:
	case private && !r.among(in.Event.Visibility):
		s.Kind = interrupt.Over
	case in.Who.Type.Machine(): // a machine waits its turn; what it was typing is sent
		s.Kind = interrupt.Over
	default:
		s.Kind = interrupt.Addressed
	}
	return unheeded(s, in.Heeded)
}

// murmurs reports whether what somebody typed only shows that they read a reply in the same
// conversation, such as "ok" or "haha". If the last whole sentence of the reply is a question, it
// is an answer.
func (r *Room) murmurs(e earshot.Event, text earshot.Text) bool {
	r.mu.Lock()
	live := r.activeTurn
	r.mu.Unlock()
	if live == nil || !conversation.SameCircle(live.Message.Visibility, e.Visibility) || !conversation.MurmuredInWriting(text) {
		return false
	}
	is := live.Trace.Tracker.Progress()
	heard := string(earshot.Reply{Offered: is.Text, Heard: is.Heard}.Delivered())
	end := strings.LastIndexAny(heard, ".!?…。！？")
	return end < 0 || !strings.HasPrefix(heard[end:], "?") && !strings.HasPrefix(heard[end:], "？")
}

// among reports whether what an agent is saying now is part of the same conversation as something
// of visibility v.
func (r *Room) among(v earshot.Visibility) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.activeTurn != nil && conversation.SameCircle(r.activeTurn.Message.Visibility, v)
}

// unheeded returns s as a signal of somebody whom the agent does not answer.
func unheeded(s *interrupt.Signal, heeded bool) *interrupt.Signal {
	if s != nil && !heeded && (s.Kind == interrupt.Addressed || s.Kind == interrupt.Words) {
		s.Kind = interrupt.Bystanders
	}
	return s
}

// command answers a command where it was given.
func (r *Room) command(ctx context.Context, e earshot.Event, who participants.Participant, c earshot.Command) error {
	answer, err := r.ordered(ctx, e, who, c)
	if err == nil && answer != "" {
		r.tell(e.Via, earshot.Notice{Text: answer})
	}
	return err
}

// ordered carries out a command, and returns the answer.
func (r *Room) ordered(ctx context.Context, e earshot.Event, who participants.Participant, c earshot.Command) (string, error) {
	return r.commands.Do(ctx, c, command.Call{By: who, Event: e, Audience: r.readers(e.Via, who)})
}

// Do carries out a command that is not given at an outlet, for example in a shell, and returns the
// answer. A private message is sent; the answer is that of [Room.Advice]. Do is safe for concurrent
// use.
func (r *Room) Do(ctx context.Context, e earshot.Event) (string, error) {
	set := r.cfg.Settings()
	in, err := r.resolve(ctx, &set, e)
	if err != nil {
		return "", err
	}
	c, ok := in.Event.Body.(earshot.Command)
	if !ok {
		e.ID = in.Event.ID
		if err := r.Admit(ctx, e); err != nil {
			return "", err
		}
		return r.Advice(e.ID), nil
	}
	r.heed(&set, in.Signal)
	return r.ordered(ctx, in.Event, in.Who, c)
}

// typing is the state of somebody who is writing a line.
const typing = "typing"

// setUserState records in the scene what somebody is doing.
func (r *Room) setUserState(e earshot.Event, who participants.Participant, what string) {
	if who.ID == "" || who.ID == participants.Generic {
		return
	}
	was, over := r.scene.Observe(scene.Item{
		Field: scene.User, Of: who.ID, Source: e.From.Provider, At: e.At,
		Text: earshot.Text(who.Name + " is " + what), Passing: what == typing, Visibility: earshot.Visibility{Scope: earshot.Public},
	})
	if over {
		r.overruled(was, e.From.Provider)
	}
}

// saidIn returns what somebody said or wrote.
func saidIn(b earshot.Body) earshot.Text {
	switch body := b.(type) {
	case earshot.Message:
		return body.Text
	case earshot.Utterance:
		return body.Text
	case earshot.Reply:
		return body.Delivered()
	}
	return ""
}
