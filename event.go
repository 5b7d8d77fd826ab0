package earshot

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// An Event is one thing that happened in a room: perceived by a provider, or
// done by the house itself.
//
// A provider fills in At, From and Body, and may choose the ID, so that an
// event that it sends twice is kept once; one of several rooms fills in Room, too.
// The room fixes Room, Author, To and
// Visibility when it admits the event; nothing changes them afterwards. The
// journal assigns the Sequence, and the ID where there is none yet.
type Event struct {
	ID         EventID         `json:"id"`
	Sequence   int64           `json:"sequence,omitempty"` // place in the journal, from 1; 0 is not stored
	At         time.Time       `json:"at"`                 // when it began, not when it was noticed
	Room       RoomID          `json:"room"`
	From       Handle          `json:"from"`          // as the provider knows them
	Via        string          `json:"via,omitempty"` // the outlet beside the provider, where an answer to this alone belongs
	Author     ParticipantID   `json:"author,omitempty"`
	To         []ParticipantID `json:"to,omitempty"` // whom it addresses
	Visibility Visibility      `json:"visibility"`
	Sources    []EventID       `json:"sources,omitempty"` // what it was derived from; deleted with any of them
	Body       Body            `json:"-"`
}

// End returns when something had been said or written.
func (e Event) End() time.Time {
	if u, aloud := e.Body.(Utterance); aloud {
		return e.At.Add(u.Lasted)
	}
	return e.At
}

// A Body is what an event says. The set is closed: see [Kind].
type Body interface {
	// Kind names the type of the body, in the journal and on the wire.
	Kind() Kind
}

// A Kind names one type of [Body].
type Kind string

// The kinds of events.
const (
	KindMessage    Kind = "message"
	KindRevision   Kind = "revision"
	KindWithdrawal Kind = "withdrawal"
	KindTyping     Kind = "typing"
	KindSpeech     Kind = "speech"
	KindUtterance  Kind = "utterance"
	KindPresence   Kind = "presence"
	KindCommand    Kind = "command"
	KindDecision   Kind = "decision"
	KindReply      Kind = "reply"
	KindNotice     Kind = "notice"
	KindMemo       Kind = "memo"
	KindMode       Kind = "mode"
	KindActor      Kind = "actor"
	KindAgent      Kind = "agent"
	KindUse        Kind = "use"
	KindReminder   Kind = "reminder"
	KindThought    Kind = "thought"
	KindFinding    Kind = "finding"
	KindEdit       Kind = "edit"
	KindSnooze     Kind = "snooze"
	KindWhose      Kind = "whose"
	KindErased     Kind = "erased"
	KindSettled    Kind = "settled"
	KindSight      Kind = "sight"
	KindGlance     Kind = "glance"
	KindForgotten  Kind = "forgotten"
	KindFact       Kind = "fact"
	KindSummary    Kind = "summary"
	KindTask       Kind = "task"
	KindStep       Kind = "step"
	KindSchedule   Kind = "schedule"
)

// Durable reports whether events of this kind are kept in the journal. Those
// that are not act at once or are of no use.
func (k Kind) Durable() bool {
	return k != KindTyping && k != KindSpeech && k != KindCommand && k != KindSettled && k != KindGlance
}

// A Message is text that somebody wrote. One that is shown without a sequence
// was written off the record: it is kept nowhere.
type Message struct {
	Text Text `json:"text"`

	// Of a message between agents, which one sends to another within its turn:
	// which turn that is and, if it answers one, which message.
	Turn  TurnID  `json:"turn,omitempty"`
	About EventID `json:"about,omitempty"`

	// ReplyTo is the event that it answers, if whoever wrote it said so.
	ReplyTo     EventID      `json:"reply_to,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"` // at most [MaxAttachments]

	// OwnWords says that an agent answers it with nobody's words before it but its
	// author's: it was asked by the command of that name.
	OwnWords bool `json:"own_words,omitempty"`

	// Posted says that it went to the address of its recipients, by the command
	// [PostTo], so that no names in it call anybody.
	Posted bool `json:"posted,omitempty"`

	// Revised is when its author changed it last; the text is what it was changed to,
	// and what it was before is kept nowhere. The journal fills it in.
	Revised time.Time `json:"revised,omitzero"`
}

// Typing says that somebody began to write, before it is known what. It is a
// signal for the floor and is not kept.
type Typing struct {
	// Began is true at the first key of a line, and false when the line was
	// emptied again without being sent.
	Began bool `json:"began"`
}

// Presence says that somebody came or went. A person with two terminals comes
// with the first and goes with the last. Nobody answers it.
type Presence struct {
	Session string `json:"session"` // one connection, such as one terminal
	Here    bool   `json:"here"`

	// Times is how often they came and went meanwhile without a word of it:
	// somebody whose connection flaps is announced once.
	Times int `json:"times,omitempty"`
}

// A Mode is what a room lets in.
type Mode string

// The modes. In each of them the senses that hear are stopped where they
// capture, except the first, so that no sound exists that could be kept; those
// that see are stopped likewise, except in the first two.
const (
	Live      Mode = "live"
	Muted     Mode = "muted"          // nothing is heard; text and pictures go on
	Paused    Mode = "paused"         // nothing is seen either, and nothing answered; text is kept
	OffRecord Mode = "off the record" // and what people write to each other is kept nowhere; no agent reads it
)

// Listens reports whether senses that hear may run in mode m.
func (m Mode) Listens() bool { return m == Live }

// Watches reports whether senses that see may run in mode m.
func (m Mode) Watches() bool { return m == Live || m == Muted }

// Answers reports whether an agent answers in mode m.
func (m Mode) Answers() bool { return m != Paused && m != OffRecord }

// Stricter reports whether m lets in less than another mode.
func (m Mode) Stricter(than Mode) bool {
	order := []Mode{Live, Muted, Paused, OffRecord}
	return slices.Index(order, m) > slices.Index(order, than)
}

// Means says what m means, to the people in the room.
func (m Mode) Means() string {
	switch m {
	case Muted:
		return "no sound is taken in, but a camera looks on where there is one; what you write is kept and answered; /resume ends this"
	case Paused:
		return "no sound and no picture is taken in; what you write is kept and not answered; /resume ends this"
	case OffRecord:
		return "no sound and no picture is taken in; what you write is shown to whoever is here, kept nowhere and read by no agent; /resume ends this"
	}
	return "what you say and write is kept and answered"
}

// A ModeChange says that somebody changed the mode of the room.
type ModeChange struct {
	Mode Mode `json:"mode"`

	// Returns is what the room is again when somebody lets go of the key that they hold to
	// talk; empty if it is no key that has changed it. No key outlasts the program.
	Returns Mode `json:"returns_to,omitempty"`
}

// Lasts returns the mode of the room when nobody holds a key.
func (m ModeChange) Lasts() Mode {
	if m.Returns != "" {
		return m.Returns
	}
	return m.Mode
}

// Tells says what the room is, to the people in it.
func (m ModeChange) Tells() string {
	if m.Returns != "" {
		return fmt.Sprintf("%s as long as somebody holds a key to talk, and then %s", m.Mode, m.Returns)
	}
	return fmt.Sprintf("%s from now on", m.Mode)
}

// A Memo is something that somebody wants an agent to keep in mind.
type Memo struct {
	Text Text `json:"text"`
}

// An Act is what happened to somebody in the registry.
type Act string

// The acts.
const (
	Created Act = "created" // somebody new is known
	Renamed Act = "renamed"
	Merged  Act = "merged" // they turned out to be Into, who has their handles from now on
	Split   Act = "split"  // they did not; they have their handles again
	Stayed  Act = "stayed" // somebody who was here once has come again
	Lapsed  Act = "lapsed" // somebody is known no longer, and their name is free
)

// An Actor says that something changed about who exists. Its author is who
// changed it.
type Actor struct {
	Act         Act           `json:"act"`
	Participant ParticipantID `json:"participant"`
	Name        string        `json:"name,omitempty"`
	Type        string        `json:"type,omitempty"` // see package participants
	Description string        `json:"description,omitempty"`
	Into        ParticipantID `json:"into,omitempty"`

	// Called is what a provider calls them, if it is why this happened.
	Called string `json:"called,omitempty"`

	// Once says of somebody who was created that a name is all that is known of them,
	// until they have [Stayed].
	Once bool `json:"once,omitempty"`
}

// The acts by which an agent changes; see also [Created].
const (
	Changed Act = "changed" // it is as Profile says from now on
	Ended   Act = "ended"   // it is gone for good, and so is what was below it
)

// An Agent says that something changed about an agent of the house. Its author
// is who changed it.
type Agent struct {
	Act      Act           `json:"act"` // Created, Changed or Ended
	ID       ParticipantID `json:"agent"`
	Path     Path          `json:"path"`
	User     ParticipantID `json:"user,omitempty"` // whose it is; empty for one of the house itself
	PathKind PathKind      `json:"kind,omitempty"`
	Role     Role          `json:"role,omitempty"`
	Profile  *Profile      `json:"profile,omitempty"`

	// Configured says that the configuration says what it is, and nobody else.
	Configured bool `json:"configured,omitempty"`
}

// A Profile is what an agent is, beside its path.
type Profile struct {
	Name        string `json:"name,omitempty"`
	Username    string `json:"username,omitempty"` // a further name by which it is called in writing, and found
	Description string `json:"description,omitempty"`

	// Prompt tells the model who it is, in its owner's words; empty means the
	// house's own. Version is that of the house's own which it was made from.
	Prompt  Text `json:"prompt,omitempty"`
	Version int  `json:"version,omitempty"`

	Engine string `json:"engine,omitempty"` // by name; empty means as its role has it
	Model  string `json:"model,omitempty"`  // likewise

	// Workspace is the folder of its files, a word, among those of its user; empty
	// means the one at its path.
	Workspace string `json:"workspace,omitempty"`

	Rooms     []RoomID `json:"rooms,omitempty"`      // where it has a seat; nobody listed means everywhere
	Main      bool     `json:"main,omitempty"`       // it answers there what is for nobody in particular
	AutoReply bool     `json:"auto_reply,omitempty"` // it calls the agent that it answers, so that their talk goes on
}

// A Use is a tool that an agent used in a turn, and what came of it.
type Use struct {
	Turn      TurnID        `json:"turn"`
	Tool      string        `json:"tool"`
	Arguments Text          `json:"arguments,omitempty"`
	Result    Text          `json:"result,omitempty"`  // what the model was told
	Refused   bool          `json:"refused,omitempty"` // it may not be done
	Failed    bool          `json:"failed,omitempty"`  // it could not be done
	Stopped   bool          `json:"stopped,omitempty"` // since the turn was cut, and for no other reason
	Took      time.Duration `json:"took,omitempty"`

	// By is who has confirmed the call, which the words of others had held back.
	By ParticipantID `json:"by,omitempty"`
}

// A Reminder is something that is to be said later.
type Reminder struct {
	Act  Act       `json:"act"`          // Created, Fired or Ended
	Of   EventID   `json:"of,omitempty"` // which one fired or ended
	Due  time.Time `json:"due,omitzero"`
	Text Text      `json:"text,omitempty"`
}

// Fired is what a reminder did that was said.
const Fired Act = "fired"

// A Thought is one stretch of what an agent thought beside the conversation: from
// where it began, or went on, to where it ended or gave way. The stretches of
// one thought follow one another in the journal, and their texts make up the
// whole. Its sources are what it was made of. What somebody wants to know begins with an
// empty one, written when they asked.
type Thought struct {
	Of       EventID `json:"of,omitempty"`       // the first stretch of the same thought; empty for that itself
	Cause    Cause   `json:"cause"`              // what made the agent think
	About    EventID `json:"about,omitempty"`    // the message that asked for it, or that it began with
	Question Text    `json:"question,omitempty"` // what it is to find out, if it was asked something

	Text    Text    `json:"text"`   // of this stretch alone
	Tokens  int     `json:"tokens"` // that the thought has come to, with this stretch
	Outcome Outcome `json:"outcome"`

	Took time.Duration `json:"took,omitempty"` // of this stretch

	// Cut is whom it gave way to, if it was interrupted. It goes on afterwards
	// unless Dropped says that it never will.
	Cut     *Interruption `json:"cut,omitempty"`
	Dropped bool          `json:"dropped,omitempty"`
}

// A Cause is what made an agent think.
type Cause string

// The causes.
const (
	ByNovelty    Cause = "novelty"    // something new happened
	ByCheckIn    Cause = "check-in"   // it had planned to look again about now
	ByTrigger    Cause = "trigger"    // somebody's words ask for thought
	ByCommand    Cause = "command"    // somebody gave the command
	ByDelegation Cause = "delegation" // the reply was not sure enough, and handed it on
)

// Asked reports whether somebody waits for what comes of a thought with cause c.
func (c Cause) Asked() bool { return c == ByTrigger || c == ByCommand || c == ByDelegation }

// A Finding is something that an agent takes to be so, or worth doing, after
// thought. What speaks for it are its sources, beside the thought.
type Finding struct {
	Thought    EventID   `json:"thought"` // the stretch in which it was found
	Text       Text      `json:"text"`
	Confidence float64   `json:"confidence"` // 0 to 1
	Until      time.Time `json:"until"`      // when it is stale

	Answers EventID   `json:"answers,omitempty"` // the message whose question it answers
	Worth   bool      `json:"worth,omitempty"`   // saying unasked
	Merges  []EventID `json:"merges,omitempty"`  // the findings that it stands for from now on
}

// An Edit changes one entry of what is known about what is going on. Its author is
// who changed it: a person, an agent, or a sense.
type Edit struct {
	Act    Act     `json:"act"`   // Created, Changed, Ended, or Undone
	Field  string  `json:"field"` // see package scene
	Item   string  `json:"item"`  // which entry of it
	Was    Text    `json:"was,omitempty"`
	Text   Text    `json:"text,omitempty"`
	Undoes EventID `json:"undoes,omitempty"` // the edit that is taken back

	// Source is the sense whose observation it corrects, if what was there is in no
	// journal. The correction stands until that sense observes something else.
	Source string `json:"source,omitempty"`
}

// MessagesField is the field of an [Edit] that corrects what was recently said or written.
const MessagesField = "recent_messages"

// UnmarshalJSON also reads the name that a field had before what was written stood in it.
func (e *Edit) UnmarshalJSON(data []byte) error {
	type plain Edit
	if err := json.Unmarshal(data, (*plain)(e)); err != nil {
		return err
	}
	if e.Field == "recent_audio" {
		e.Field = MessagesField
	}
	return nil
}

// Undone is what became of an edit that was taken back.
const Undone Act = "undone"

// A Snooze says that an agent is not to speak unasked for a while.
type Snooze struct {
	Until time.Time `json:"until"` // the zero time ends it
}

// A Command is a request to the program rather than to an agent, such as
// /why. It is answered where it was given and is not kept.
type Command struct {
	Name string `json:"name"` // without the slash
	Args Text   `json:"args,omitempty"`
}

// OwnWords is the command by which somebody asks an agent something before all, with
// nobody else's words in its prompt, so that nobody else's hold back what they may have
// done.
const OwnWords = "mywords"

// PostTo is the command by which somebody sends a message to the address of an agent,
// whatever names are in it: its path, its ID, or a pattern of paths.
const PostTo = "to"

// A Verdict is what attention decided about an event.
type Verdict string

// The verdicts.
const (
	Speak  Verdict = "speak"
	Wait   Verdict = "wait"   // perhaps later
	Silent Verdict = "silent" // not for the agent
	Note   Verdict = "note"   // worth remembering, not worth saying
)

// A Decision records why an agent spoke or kept silent.
type Decision struct {
	About   EventID       `json:"about"`
	Agent   ParticipantID `json:"agent"`
	Verdict Verdict       `json:"verdict"`
	Reasons []string      `json:"reasons"`        // from a fixed list, never what was said
	Turn    TurnID        `json:"turn,omitempty"` // the turn it begins, if the verdict is Speak
	By      ParticipantID `json:"by,omitempty"`   // who has confirmed a call of a tool, if it is taken for that
}

// An Outcome is how a turn ended.
type Outcome string

// The outcomes. Every turn has exactly one.
const (
	Completed   Outcome = "completed"
	Interrupted Outcome = "interrupted" // somebody cut in
	Failed      Outcome = "failed"      // the model or every outlet broke
	Suppressed  Outcome = "suppressed"  // nothing was offered, on purpose
	Asked       Outcome = "asked"       // of a thought: somebody wants it, and it has not begun
)

// A Reply is the truth about one turn, written once, when it has ended.
type Reply struct {
	Turn    TurnID  `json:"turn"`
	About   EventID `json:"about"` // what it answers
	Outcome Outcome `json:"outcome"`

	// Offered is all that was handed to the outlets, after thinking, envelopes
	// and control tags were taken out.
	Offered Text `json:"offered"`

	// Heard is how much of Offered came out of each outlet.
	Heard []Delivery `json:"heard,omitempty"`

	Cut       *Interruption `json:"cut,omitempty"`       // who ended it, if it was interrupted
	Took      time.Duration `json:"took,omitempty"`      // from where it began to where nothing of it came out any more
	Reflex    bool          `json:"reflex,omitempty"`    // answered without a model
	Truncated bool          `json:"truncated,omitempty"` // the model had more to say than it was allowed

	// Unfinished says that the reply was cut before the model had come to its end:
	// there is more to say than Offered.
	Unfinished bool `json:"unfinished,omitempty"`

	// Fault is what went wrong, if it failed. What was asked is not in it, which a server may
	// quote.
	Fault string `json:"fault,omitempty"`

	// Resumable is until when the agent can go on with a reply that was cut off. It is
	// zero if nothing was left to say.
	Resumable time.Time `json:"resumable,omitzero"`

	// Superseded is the message in whose favour it was suppressed: what was asked later, or is
	// more urgent, in the same conversation, and is answered with this in mind.
	Superseded EventID `json:"superseded,omitempty"`

	// Resumes is the reply that this one goes on with, if it does.
	Resumes EventID `json:"resumes,omitempty"`

	// Handover is set if the agents hand over to a person with this reply. It
	// is the house's word then, and not the agent's.
	Handover *Handover `json:"handover,omitempty"`
}

// A Handover says that agents, having talked among themselves, leave the floor
// to a person.
type Handover struct {
	Why Why           `json:"why"`
	To  ParticipantID `json:"to,omitempty"` // empty if nobody knows who it was
}

// A Why is the reason of a handover.
type Why string

// The reasons.
const (
	TurnLimit  Why = "limit"      // so many of their messages in a row are enough
	Passed     Why = "pass"       // the agent said so
	Repetition Why = "repetition" // they said the same again and again
	Apart      Why = "apart"      // what was said is for an agent of another user
)

// A Delivery is what one outlet did with a reply.
type Delivery struct {
	Outlet string `json:"outlet"`
	Bytes  int    `json:"bytes"` // of Reply.Offered, from its beginning
}

// An Interruption is who ended a turn before its end, and when.
type Interruption struct {
	By     ParticipantID `json:"by,omitempty"`
	Signal string        `json:"signal"` // what kind of evidence it was
	At     time.Time     `json:"at"`     // when the interruption began
}

// Delivered returns the longest part of the reply that came out of any outlet.
func (r Reply) Delivered() Text {
	n := 0
	for _, d := range r.Heard {
		n = max(n, d.Bytes)
	}
	return r.Offered[:min(n, len(r.Offered))]
}

// Remainder returns what nobody heard.
func (r Reply) Remainder() Text { return r.Offered[len(r.Delivered()):] }

// A Notice is something that the house has to say about itself: a fault with
// its cure, or that it is over. It never enters a prompt or a speech.
type Notice struct {
	Key  string `json:"key"` // names the fault, so that its end can be told
	Text string `json:"text"`
	Cure string `json:"cure,omitempty"` // the command or the step that mends it
	Over bool   `json:"over,omitempty"`

	Absent bool `json:"absent,omitempty"` // it is a device that is not there, which is no fault
}

// HintKey is the key of a notice that tells of no fault, but who wrote something whom it
// does not reach.
const HintKey = "nobody"

// Settled says where a message was written that nothing more will come to it: who
// was called has answered, or not, and so has everybody whom their answers called.
// It is for who waits for that, and is not kept.
type Settled struct {
	About EventID `json:"about"`
}

// Tombstone stands where an event was deleted, so that no sequence is missing.
type Tombstone struct {
	Was Kind `json:"was"`
}

func (Message) Kind() Kind       { return KindMessage }
func (Revision) Kind() Kind      { return KindRevision }
func (Withdrawal) Kind() Kind    { return KindWithdrawal }
func (Typing) Kind() Kind        { return KindTyping }
func (Speech) Kind() Kind        { return KindSpeech }
func (Utterance) Kind() Kind     { return KindUtterance }
func (Presence) Kind() Kind      { return KindPresence }
func (Command) Kind() Kind       { return KindCommand }
func (Decision) Kind() Kind      { return KindDecision }
func (Reply) Kind() Kind         { return KindReply }
func (Notice) Kind() Kind        { return KindNotice }
func (Memo) Kind() Kind          { return KindMemo }
func (ModeChange) Kind() Kind    { return KindMode }
func (Actor) Kind() Kind         { return KindActor }
func (Agent) Kind() Kind         { return KindAgent }
func (Use) Kind() Kind           { return KindUse }
func (Reminder) Kind() Kind      { return KindReminder }
func (Thought) Kind() Kind       { return KindThought }
func (Finding) Kind() Kind       { return KindFinding }
func (Edit) Kind() Kind          { return KindEdit }
func (Snooze) Kind() Kind        { return KindSnooze }
func (Attribution) Kind() Kind   { return KindWhose }
func (Tombstone) Kind() Kind     { return KindErased }
func (Settled) Kind() Kind       { return KindSettled }
func (Sight) Kind() Kind         { return KindSight }
func (Glance) Kind() Kind        { return KindGlance }
func (ErasureRecord) Kind() Kind { return KindForgotten }
func (Fact) Kind() Kind          { return KindFact }
func (Summary) Kind() Kind       { return KindSummary }
func (Task) Kind() Kind          { return KindTask }
func (Step) Kind() Kind          { return KindStep }
func (Schedule) Kind() Kind      { return KindSchedule }

// decoders are the types of the bodies, by their kinds.
var decoders = map[Kind]func(data []byte) (Body, error){
	KindMessage:    decode[Message],
	KindRevision:   decode[Revision],
	KindWithdrawal: decode[Withdrawal],
	KindTyping:     decode[Typing],
	KindSpeech:     decode[Speech],
	KindUtterance:  decode[Utterance],
	KindPresence:   decode[Presence],
	KindCommand:    decode[Command],
	KindDecision:   decode[Decision],
	KindReply:      decode[Reply],
	KindNotice:     decode[Notice],
	KindMemo:       decode[Memo],
	KindMode:       decode[ModeChange],
	KindActor:      decode[Actor],
	KindAgent:      decode[Agent],
	KindUse:        decode[Use],
	KindReminder:   decode[Reminder],
	KindThought:    decode[Thought],
	KindFinding:    decode[Finding],
	KindEdit:       decode[Edit],
	KindSnooze:     decode[Snooze],
	KindWhose:      decode[Attribution],
	KindErased:     decode[Tombstone],
	KindForgotten:  decode[ErasureRecord],
	KindSettled:    decode[Settled],
	KindSight:      decode[Sight],
	KindGlance:     decode[Glance],
	KindFact:       decode[Fact],
	KindSummary:    decode[Summary],
	KindTask:       decode[Task],
	KindStep:       decode[Step],
	KindSchedule:   decode[Schedule],
}

// DecodeBody returns the body of the given kind that encoding/json made data
// from. A kind that this version does not know is an error.
func DecodeBody(kind Kind, data []byte) (Body, error) {
	decode, known := decoders[kind]
	if !known {
		return nil, fmt.Errorf("decoding an event: unknown kind %q", kind)
	}
	return decode(data)
}

func decode[B Body](data []byte) (Body, error) {
	var b B
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("decoding a %s: %w", b.Kind(), err)
	}
	return b, nil
}

// bare is an Event without its methods.
type bare Event

// wire is an Event as JSON: the body beside its kind.
type wire struct {
	bare
	Kind Kind            `json:"kind"`
	Body json.RawMessage `json:"body"`
}

// MarshalJSON writes e with its kind and its body.
func (e Event) MarshalJSON() ([]byte, error) {
	if e.Body == nil {
		return nil, fmt.Errorf("encoding event %s: no body", e.ID)
	}
	body, err := json.Marshal(e.Body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wire{bare(e), e.Body.Kind(), body})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Event) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	body, err := DecodeBody(w.Kind, w.Body)
	if err != nil {
		return err
	}
	*e = Event(w.bare)
	e.Body = body
	return nil
}
