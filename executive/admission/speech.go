package admission

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/activity"
	"earshot/executive/addressing"
	"earshot/executive/command"
	"earshot/executive/delivery"
	"earshot/executive/echo"
	"earshot/executive/hearing"
	"earshot/executive/midturn"
	"earshot/executive/mode"
	"earshot/executive/question"
	"earshot/internal/mailbox"
	"earshot/interrupt"
	"earshot/participants"
	"earshot/participants/agents"
	"earshot/speakers"
)

// A SpeechHost is the room of a [SpeechHandler]. All fields are required unless they say otherwise.
type SpeechHost struct {
	People   *participants.Registry
	Voices   hearing.Voices // may be nil
	Activity *activity.Tracker
	Outlets  *delivery.Set
	Queue    *Queue
	Mode     *mode.Control
	Floor    *interrupt.Floor

	Settings func() executive.Config
	Agents   func() []agents.Record                                                  // with a seat in the room, the main one first
	Turn     func() (*question.Question, agents.Record)                              // of the live turn, nil if there is none, and its agent
	Reader   func() func(earshot.Clause) earshot.Clause                              // returns how a voice says the clauses of one speech; may be nil
	Heed     func(*executive.Config, *interrupt.Signal) interrupt.Action             // lets a signal act on the floor
	Event    func(earshot.Visibility, earshot.Body) earshot.Event                    // returns an event by the room itself
	Announce func(e earshot.Event, who participants.Participant, p earshot.Presence) // announces who came or went
	Changed  func()                                                                  // called when a snapshot would differ
	Wake     func()                                                                  // called when the owner has something to do
	NewID    func() earshot.EventID
	Now      func() time.Time
	Log      *slog.Logger
}

// A SpeechHandler handles what is said aloud in one room. Use [NewSpeechHandler]. It is safe for concurrent use, except
// for the methods that belong to the owner of the room, as their comments say.
type SpeechHandler struct {
	SpeechHost
	Listener *hearing.Listener // what was said aloud, and by whom
	Echo     echo.Reference
	Presence *hearing.Presence // of the voices
	Interims hearing.Interims

	interimsChanged mailbox.Notifier
	cuts            hearing.PendingCuts[Input]
	pause           atomic.Pointer[Input] // the newest words after which somebody pauses

	backchannels hearing.Backchannels
	consent      hearing.Consent
}

// NewSpeechHandler returns the handler of a room.
func NewSpeechHandler(h SpeechHost) *SpeechHandler {
	s := &SpeechHandler{SpeechHost: h, Presence: hearing.NewPresence()}
	s.Listener = hearing.New(hearing.Host{
		People: h.People, Voices: h.Voices, Echo: &s.Echo, Activity: h.Activity, Settings: h.Settings, Agents: h.Agents, Now: h.Now,
		Turn: func() (asked earshot.Event, by agents.Record, ok bool) {
			q, by := h.Turn()
			if q == nil {
				return asked, by, false
			}
			return q.Message, by, true
		},
	})
	return s
}

// NoteUtterance takes in what was said aloud and is being kept.
func (s *SpeechHandler) NoteUtterance(in *Input) {
	if in.Event.Body.Kind() != earshot.KindUtterance {
		return
	}
	s.Listener.NoteUtterance(hearing.Utterance{
		Event: in.Event, Before: in.Before, To: in.Address, Agents: in.Addressees.Agents, Heeded: in.Heeded, Unlike: in.UnlikeVoice,
		Order: in.Signal == nil || in.Signal.Kind == interrupt.Command,
	})
}

// NoteReply notes how a reply ended to something that was said aloud.
func (s *SpeechHandler) NoteReply(q *question.Question, reply earshot.Reply) {
	said := reply.Delivered()
	if _, aloud := q.Message.Body.(earshot.Utterance); aloud && !q.Protected() && (said != "" || reply.Cut != nil) {
		s.Listener.Talked(hearing.Answer{Message: q.Message, By: q.Seat.ID, Follows: q.Follows, AsksBack: q.AsksBack}, s.Now())
	}
	if q.Aloud && reply.Outcome == earshot.Completed {
		s.Listener.SaidAloud(said)
	}
}

// Premature reports whether a reply was given to somebody who had only paused, and was not heard.
func (s *SpeechHandler) Premature(q *question.Question, reply earshot.Reply) bool {
	return reply.Outcome == earshot.Interrupted && reply.Delivered() == "" && s.Listener.Premature(q.Message, func() []string {
		if q.Progress == nil {
			return nil
		}
		return q.Progress.Work(s.Now()).Tools
	})
}

// NoteVoice notes that somebody is here whose voice is heard. They come with their first words,
// which follow their arrival in the journal.
func (s *SpeechHandler) NoteVoice(in *Input) {
	if in.Event.Body.Kind() != earshot.KindUtterance || !in.Who.Voice() {
		return
	}
	if s.Presence.Note(in.Who, s.Listener.End(in.Event)) {
		s.announce(in.Event.From, in.Who, in.Event.At, true)
	}
}

// announce announces that somebody came whose voice was heard, or went after a long silence.
func (s *SpeechHandler) announce(by earshot.Handle, who participants.Participant, at time.Time, here bool) {
	p := earshot.Presence{Session: string(who.Reader()), Here: here}
	e := s.Event(earshot.Visibility{Scope: earshot.System}, p)
	e.From, e.At = by, at
	s.Announce(e, who, p)
}

// ExpirePresence lets those go who have been silent for long; see [hearing.Presence.NextExpiry].
func (s *SpeechHandler) ExpirePresence() {
	now := s.Now()
	for _, who := range s.Presence.Expire(now) {
		if p, known := s.People.Get(who); known {
			s.announce(earshot.Handle{Provider: "earshot", ID: "silence"}, p, now, false)
		}
	}
}

// Voice returns how something is said aloud in the room. over says that the speech may begin while
// somebody speaks.
func (s *SpeechHandler) Voice(over bool) echo.Voice {
	v := echo.Voice{Now: s.Now}
	if s.Reader != nil {
		v.Read = s.Reader()
	}
	if !over {
		v.Speaks = s.Activity.Speaks
	}
	return v
}

// NoteWords shows the words that are being said, or that there are none any more.
func (s *SpeechHandler) NoteWords(in *Input) {
	said, _ := in.Event.Body.(earshot.Speech)
	own := in.Address == conversation.Own || in.Address == conversation.Unsure && said.Own
	shown, first := s.Interims.Note(in.Event, own, s.Now())
	s.show(shown)
	if first {
		s.Wake() // they may have to be forgotten
	}
	if first && !s.Mode.Current().Listens() { // since this moment
		s.ClearWords()
	}
}

// EndWords forgets the words that an utterance completes, whatever becomes of it.
func (s *SpeechHandler) EndWords(utterance earshot.Event) { s.show(s.Interims.End(utterance)) }

// ClearWords forgets all words that are being said.
func (s *SpeechHandler) ClearWords() { s.show(s.Interims.Expire(s.Now().Add(activity.VoiceExpiry))) }

// ExpireWords forgets words without an utterance.
func (s *SpeechHandler) ExpireWords() { s.show(s.Interims.Expire(s.Now())) }

// show shows changed words to those who may see them.
func (s *SpeechHandler) show(words []earshot.Event) {
	for _, e := range words {
		s.Outlets.Show(e)
	}
	if len(words) > 0 {
		s.interimsChanged.Notify()
		s.Changed()
	}
}

// WordsFor returns the words that are being said, as everybody in a may know them. changed is closed
// when they may have changed.
func (s *SpeechHandler) WordsFor(a earshot.Audience) (words []earshot.Event, changed <-chan struct{}) {
	changed = s.interimsChanged.Changed() // before reading, so that no change is missed
	return s.Interims.VisibleTo(a), changed
}

// ApplyVoiceChange applies a change of the owners of voices. Utterances that turned out to be
// somebody else's get an attribution on record; the name of a voice is looked up wherever it is
// shown.
func (s *SpeechHandler) ApplyVoiceChange(c speakers.Change) {
	said, w := s.Listener.Reattributed(c)
	for _, u := range said {
		s.attribute(u, w)
	}
}

// Reattribute records that something was said by somebody, on the word of the author of the
// command, who must be known by more than a voice.
func (s *SpeechHandler) Reattribute(c command.Call, u hearing.Record, who participants.Participant) (string, error) {
	if err := s.People.Vouches(c.By); err != nil {
		return "", err
	}
	var taught speakers.Change
	if book, ok := s.Voices.(hearing.VoiceRegistry); ok {
		taught, _ = book.Teach(u.Began, who.ID, speakers.Attestation{By: c.By.ID, At: s.Now()}) // nothing is learnt from an utterance that was too short
	}
	if !slices.ContainsFunc(taught.Moved, u.Began.Equal) {
		s.attribute(u, earshot.Attribution{Author: who.ID, Sure: 1, By: c.By.ID})
	}
	s.Outlets.Show(s.Event(u.Visibility, earshot.Notice{Text: who.Name + " said that (says " + c.By.Name + ")."}))
	return "", nil
}

// attribute records whose an utterance was: visible to those who may see the utterance, and deleted
// with it.
func (s *SpeechHandler) attribute(u hearing.Record, w earshot.Attribution) {
	w.Of = u.Event
	e := s.Event(u.Visibility, w)
	e.Author, e.Sources = w.By, []earshot.EventID{u.Event}
	if _, err := s.Queue.Enqueue(e, nil); err != nil {
		s.Log.Warn("the speaker of some words could not be recorded", "err", err)
	}
}

// ConsentAnswer returns what the agent says to somebody who asks aloud that it remember their voice,
// or agrees to that. It belongs to the owner of the room.
func (s *SpeechHandler) ConsentAnswer(in *Input, text earshot.Text, agent string) string {
	answer, err := s.consent.Answer(s.Voices, in.Event, in.Who, text, agent, s.Listener.End(in.Event))
	if err != nil {
		s.Log.Info("a voice could not be kept", "err", err)
	}
	return answer
}

// HeedWords lets words that are still being said act on the floor, and remembers them if they have
// cut a reply.
func (s *SpeechHandler) HeedWords(set *executive.Config, in *Input) {
	live, _ := s.Turn()
	unprotected := live != nil && !live.Protected()
	if cut := s.Heed(set, in.Signal) == interrupt.Cut; !cut || !unprotected {
		return
	}
	if said, is := in.Event.Body.(earshot.Speech); !is || said.Words == "" {
		return
	}
	s.cuts.Add(in.Event.From, in.Event.At, in.Received, *in)
	s.Wake() // to wait for what becomes of them
}

// DropEmpty drops a spoken event that says nothing, because it was noise or the agent's own voice
// came back, and reports whether it did. What has cut a reply is always kept.
func (s *SpeechHandler) DropEmpty(set *executive.Config, in *Input) bool {
	u, spoken := in.Event.Body.(earshot.Utterance)
	if !spoken {
		return false
	}
	_, cut := s.cuts.Take(in.Event.From, s.Listener.End(in.Event))
	switch {
	case cut:
		u.LikeAgent = u.LikeAgent || in.Address == conversation.Own
		in.Event.Body = u
		return false
	case u.Faint && in.Address != conversation.Mumbled:
		s.Heed(set, Sent(in.Event)) // the voice has ended
		return true
	case in.Address == conversation.Own:
		s.Heed(set, in.Signal)
		s.Log.Debug("the agent's own voice came back", "provider", in.Event.From.Provider)
		return true
	}
	return false
}

// EndCut keeps the words that had cut a reply and that the end of a voice ends without an utterance.
func (s *SpeechHandler) EndCut(voice earshot.Event) {
	if cut, is := s.cuts.Take(voice.From, s.Listener.End(voice)); is {
		s.keepCut(cut)
	}
}

// NextCutExpiry returns when [SpeechHandler.ExpireCuts] is due; the zero time if it is not.
func (s *SpeechHandler) NextCutExpiry() time.Time { return s.cuts.NextExpiry() }

// ExpireCuts keeps the words that no utterance has followed for long.
func (s *SpeechHandler) ExpireCuts() {
	for _, in := range s.cuts.Expire(s.Now()) {
		s.keepCut(in)
	}
}

// TakeCuts returns, as utterances, the words that have cut a reply and whose end does not come before
// the room closes.
func (s *SpeechHandler) TakeCuts() (utterances []earshot.Event) {
	for _, in := range s.cuts.Expire(s.Now().Add(activity.VoiceExpiry)) {
		if s.Mode.TakesIn(in.Event) {
			utterances = append(utterances, hearing.Uttered(in.Event, s.NewID(), s.Now()))
		}
	}
	return utterances
}

// keepCut keeps words that have cut a reply and were never completed, as they were understood.
func (s *SpeechHandler) keepCut(in Input) {
	if !s.Mode.TakesIn(in.Event) {
		return
	}
	in.Event = hearing.Uttered(in.Event, s.NewID(), s.Now())
	in.Address, in.Addressees, in.SideTalk, in.Before, in.Continues = conversation.Unsure, addressing.Addressees{}, midturn.SideTalk{}, "", false
	in.Signal = Sent(in.Event)
	en, first, err := s.Queue.Reserve(in)
	if err != nil {
		s.Log.Warn("what cut a reply off could not be kept", "err", err)
		return
	}
	if first {
		en.Ticket = s.Floor.Ticket()
		s.Queue.Push(en)
	}
}

// NotePause tells the owner of the room that somebody who tells an agent something has paused. If the
// owner has not handled the last pause yet, that one is too old and is replaced.
func (s *SpeechHandler) NotePause(set *executive.Config, in *Input) {
	said, is := in.Event.Body.(earshot.Speech)
	if !is || !said.Pause || !in.Heeded || !in.Address.ForAgent() || !set.Speech.Backchannels {
		return
	}
	s.pause.Store(in)
	s.Wake()
}

// ShowListening makes the voices of the room say quietly that the agent listens, if somebody has
// paused since the last call and allowed says so, on goroutines of parts. Nothing of it is kept, and
// a reply cuts it. It belongs to the owner of the room.
func (s *SpeechHandler) ShowListening(ctx context.Context, allowed func() bool, parts *sync.WaitGroup) {
	in := s.pause.Swap(nil)
	if in == nil || !allowed() {
		return
	}
	ctx, due := s.backchannels.Begin(ctx, in.Event.At, s.Now())
	if !due {
		return
	}
	for _, p := range s.Outlets.WithOneVoice(s.Outlets.Around(earshot.Visibility{Scope: earshot.Public}), in.Event.Author, in.Event.Via) {
		if p.Audible() {
			parts.Go(func() { s.Listener.Backchannel(ctx, p.Outlet, s.Voice(true)) })
		}
	}
}

// StopListening ends what [SpeechHandler.ShowListening] began. It belongs to the owner of the room.
func (s *SpeechHandler) StopListening() { s.backchannels.Stop() }
