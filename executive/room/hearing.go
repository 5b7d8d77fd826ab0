package room

import (
	"context"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/executive/activity"
	"earshot/executive/addressing"
	"earshot/executive/admission"
	"earshot/executive/command"
	"earshot/executive/echo"
	"earshot/executive/hearing"
	"earshot/executive/midturn"
	"earshot/interrupt"
	"earshot/participants"
	"earshot/speakers"
)

// newListener returns what knows the things that were said aloud here.
func (r *Room) newListener() *hearing.Listener {
	return hearing.New(hearing.Host{
		People: r.cfg.People, Voices: r.cfg.Voices, Echo: &r.echoReference, Activity: &r.activity,
		Settings: r.cfg.Settings, Agents: r.agents, Now: r.cfg.Now,
		Turn: func() (hearing.Turn, bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.activeTurn == nil {
				return hearing.Turn{}, false
			}
			return hearing.Turn{Message: r.activeTurn.Message, Agent: r.activeTurn.Seat.ID}, true
		},
	})
}

// noteHeard takes in what was said aloud and is being kept.
func (r *Room) noteHeard(in admission.Input) {
	if in.Event.Body.Kind() != earshot.KindUtterance {
		return
	}
	r.listener.NoteUtterance(hearing.Utterance{
		Event: in.Event, Before: in.Before, To: in.Address, Agents: in.Addressees.Agents, Heeded: in.Heeded, Unlike: in.UnlikeVoice,
		Order: in.Signal == nil || in.Signal.Kind == interrupt.Command,
	})
}

// noteSpoken notes how a reply ended to something that was said aloud.
func (r *Room) noteSpoken(e turnResult) {
	q, said := e.question, e.reply.Delivered()
	if _, aloud := q.Message.Body.(earshot.Utterance); aloud && !q.Protected() && (said != "" || e.reply.Cut != nil) {
		r.listener.Talked(hearing.Exchange{Message: q.Message, Agent: q.Seat.ID, Continues: q.Follows, AsksBack: q.AsksBack}, r.cfg.Now())
	}
	if q.Aloud && e.reply.Outcome == earshot.Completed {
		r.listener.SaidAloud(said)
	}
}

// premature reports whether a turn has answered somebody who had only paused, and was not heard.
func (r *Room) premature(e turnResult) bool {
	return e.reply.Outcome == earshot.Interrupted && e.reply.Delivered() == "" && r.listener.Premature(e.question.Message, func() []string {
		if e.question.Progress == nil {
			return nil
		}
		return e.question.Progress.Work(r.cfg.Now()).Tools
	})
}

// Asked returns the end of what an agent has just said aloud and nobody has answered yet, or
// nothing. A recogniser can tell from it what people may say. It returns at once, and is safe for
// concurrent use.
func (r *Room) Asked() earshot.Text { return r.listener.Asked() }

// noteVoicePresence notes that somebody is here whose voice is heard. They come with their first
// words, which follow their arrival in the journal.
func (r *Room) noteVoicePresence(in admission.Input) {
	if in.Event.Body.Kind() != earshot.KindUtterance || !in.Who.Voice() {
		return
	}
	if r.voicePresence.Note(in.Who, r.listener.End(in.Event)) {
		r.announceVoicePresence(in.Event.From, in.Who, in.Event.At, true)
	}
}

// announceVoicePresence announces that somebody came whose voice was heard, or went after a long
// silence.
func (r *Room) announceVoicePresence(by earshot.Handle, who participants.Participant, at time.Time, here bool) {
	p := earshot.Presence{Session: string(who.Reader()), Here: here}
	e := r.event(earshot.Visibility{Scope: earshot.System}, p)
	e.From, e.At = by, at
	_, _ = r.arrival(e, who, p) // if the room is closed, nobody is here
}

// expireVoicePresence lets those go who have been silent for long.
func (r *Room) expireVoicePresence(context.Context) {
	now := r.cfg.Now()
	for _, who := range r.voicePresence.Expire(now) {
		if p, known := r.cfg.People.Get(who); known {
			r.announceVoicePresence(earshot.Handle{Provider: "earshot", ID: "silence"}, p, now, false)
		}
	}
}

// nextTiredVoice returns when a voice without words has held the agent back for long enough.
func (r *Room) nextTiredVoice() time.Time { return r.floor.ExpireVoices(r.cfg.Now()) }

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

// noteWords shows the words that are being said, or that there are none any more.
func (r *Room) noteWords(in admission.Input) {
	said, _ := in.Event.Body.(earshot.Speech)
	own := in.Address == conversation.Own || in.Address == conversation.Unsure && said.Own
	shown, first := r.interims.Note(in.Event, own, r.cfg.Now())
	r.showInterims(shown)
	if first {
		r.nudge() // they may have to be forgotten
	}
	if first && !r.currentMode().Listens() { // since this moment
		r.clearInterims()
	}
}

// clearInterims forgets all words that are being said.
func (r *Room) clearInterims() {
	r.showInterims(r.interims.Expire(r.cfg.Now().Add(activity.VoiceExpiry)))
}

// expireInterims forgets words without an utterance.
func (r *Room) expireInterims(context.Context) { r.showInterims(r.interims.Expire(r.cfg.Now())) }

// showInterims shows changed interims to those who may see them.
func (r *Room) showInterims(shown []earshot.Event) {
	for _, e := range shown {
		r.show(e)
	}
	if len(shown) > 0 {
		r.interimChanges.Notify()
		r.changes.Notify()
	}
}

// Interim returns the words that are being said, as everybody in a may see them: events of the kind
// speech, one for each voice, which are not kept. changed is closed when they may have changed.
func (r *Room) Interim(a earshot.Audience) (words []earshot.Event, changed <-chan struct{}) {
	changed = r.interimChanges.Changed() // before reading, so that no change is missed
	return r.interims.VisibleTo(a), changed
}

// ApplyVoiceChange applies a change of the owners of voices. Utterances that turned out to be
// somebody else's get an attribution on record; the name of a voice is looked up wherever it is
// shown. It returns at once, and is safe for concurrent use.
func (r *Room) ApplyVoiceChange(c speakers.Change) {
	said, w := r.listener.Reattributed(c)
	for _, s := range said {
		r.revise(s, w)
	}
}

// reattribute records that something was said by somebody, on the word of the author of the
// command, who must be known by more than a voice.
func (r *Room) reattribute(c command.Call, s hearing.Record, who participants.Participant) (string, error) {
	if err := r.cfg.People.Vouches(c.By); err != nil {
		return "", err
	}
	var taught speakers.Change
	if book, ok := r.cfg.Voices.(hearing.VoiceRegistry); ok {
		taught, _ = book.Teach(s.Began, who.ID, speakers.Attestation{By: c.By.ID, At: r.cfg.Now()}) // nothing is learnt from an utterance that was too short
	}
	if !slices.ContainsFunc(taught.Moved, s.Began.Equal) {
		r.revise(s, earshot.Attribution{Author: who.ID, Sure: 1, By: c.By.ID})
	}
	r.show(r.event(s.Visibility, earshot.Notice{Text: who.Name + " said that (says " + c.By.Name + ")."}))
	return "", nil
}

// revise records whose an utterance was: visible to those who may see the utterance, and deleted
// with it.
func (r *Room) revise(s hearing.Record, w earshot.Attribution) {
	w.Of = s.Event
	e := r.event(s.Visibility, w)
	e.Author, e.Sources = w.By, []earshot.EventID{s.Event}
	if _, err := r.entries.Enqueue(e, nil); err != nil {
		r.cfg.Log.Warn("the speaker of some words could not be recorded", "err", err)
	}
}

// consentAnswer returns what the agent says to somebody who asks aloud that it remember their voice,
// or agrees to that.
func (r *Room) consentAnswer(e *admission.Entry, text earshot.Text, agent string) string {
	answer, err := r.consent.Answer(r.cfg.Voices, e.Event(), e.Who, text, agent, r.listener.End(e.Event()))
	if err != nil {
		r.cfg.Log.Info("a voice could not be kept", "err", err)
	}
	return answer
}

// heedWords lets words that are still being said act on the floor, and remembers them if they have
// cut a reply.
func (r *Room) heedWords(set *executive.Config, in admission.Input) {
	r.mu.Lock()
	live := r.activeTurn != nil && !r.activeTurn.Protected()
	r.mu.Unlock()
	if cut := r.heed(set, in.Signal) == interrupt.Cut; !cut || !live {
		return
	}
	if s, is := in.Event.Body.(earshot.Speech); !is || s.Words == "" {
		return
	}
	r.pendingCuts.Add(in.Event.From, in.Event.At, in.Received, in)
	r.nudge() // to wait for what becomes of them
}

// cutBy takes the words that had cut a reply and that e ends, and reports whether there were any.
func (r *Room) cutBy(e earshot.Event) (in admission.Input, cut bool) {
	return r.pendingCuts.Take(e.From, r.listener.End(e))
}

// keepEndedCut keeps the words that had cut a reply and that e ends without an utterance.
func (r *Room) keepEndedCut(e earshot.Event) {
	if cut, is := r.cutBy(e); is {
		r.keepCut(cut)
	}
}

// keepCut keeps words that have cut a reply and were never completed, as they were understood.
func (r *Room) keepCut(in admission.Input) {
	if !r.mode.TakesIn(in.Event) {
		return
	}
	in.Event = hearing.Uttered(in.Event, r.cfg.NewID(), r.cfg.Now())
	in.Address, in.Addressees, in.SideTalk, in.Before, in.Continues = conversation.Unsure, addressing.Addressees{}, midturn.SideTalk{}, "", false
	in.Signal = admission.Sent(in.Event)
	en, first, err := r.entries.Reserve(in)
	if err != nil {
		r.cfg.Log.Warn("what cut a reply off could not be kept", "err", err)
		return
	}
	if first {
		en.Ticket = r.floor.Ticket()
		r.entries.Push(en)
	}
}

// keepRemainingCuts keeps words that have cut a reply and whose end does not come before the room
// closes.
func (r *Room) keepRemainingCuts() {
	for _, in := range r.pendingCuts.Expire(r.cfg.Now().Add(activity.VoiceExpiry)) {
		if r.mode.TakesIn(in.Event) {
			r.unsaved.Add(hearing.Uttered(in.Event, r.cfg.NewID(), r.cfg.Now()))
		}
	}
}

// keepExpiredCuts keeps the words that no utterance has followed for long.
func (r *Room) keepExpiredCuts(context.Context) {
	for _, in := range r.pendingCuts.Expire(r.cfg.Now()) {
		r.keepCut(in)
	}
}

// notePause tells the owner that somebody who tells an agent something has paused. If the owner has
// not handled the last pause yet, that one is too old and is replaced.
func (r *Room) notePause(set *executive.Config, in admission.Input) {
	s, is := in.Event.Body.(earshot.Speech)
	if !is || !s.Pause || !in.Heeded || !in.Address.ForAgent() || !set.Speech.Backchannels {
		return
	}
	r.pause.Store(&in)
	r.nudge()
}

// showListening makes the voices of the room say quietly that the agent listens, unless somebody
// wants it to be quiet. Nothing of it is kept, and a reply cuts it.
func (r *Room) showListening(ctx context.Context, in admission.Input, parts *sync.WaitGroup) {
	r.mu.Lock()
	quiet := r.quiet
	r.mu.Unlock()
	if quiet || r.speaking() || !r.currentMode().Answers() || len(r.pending) > 0 {
		return
	}
	ctx, due := r.backchannels.Begin(ctx, in.Event.At, r.cfg.Now())
	if !due {
		return
	}
	for _, p := range r.places.Around(earshot.Visibility{Scope: earshot.Public}) {
		if p.Audible() {
			parts.Go(func() { r.listener.Backchannel(ctx, p.Outlet, r.voiceFor(true)) })
		}
	}
}
