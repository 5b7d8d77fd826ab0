package room

import (
	"cmp"
	"slices"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/admission"
	"earshot/executive/askers"
	"earshot/executive/attention"
	"earshot/executive/decision"
	"earshot/executive/latency"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reason"
	"earshot/executive/record"
	"earshot/executive/reflex"
	"earshot/executive/revision"
	"earshot/executive/seat"
	"earshot/executive/unasked"
	"earshot/interrupt"
	"earshot/participants"
)

// sorry is how an agent asks back when it has not understood somebody.
const sorry = "Sorry?"

// attend decides about what somebody wrote or said, for the main agent and for each agent that it
// calls, as far as they may see it. The silence of the others is no decision, and agents that have
// had their turn have decided already. It returns the decisions in the form in which they are kept.
func (r *Room) attend(e *admission.Entry, text earshot.Text) (decisions []earshot.Event) {
	if e.Addressees.Why == addressing.Alone || e.Address == conversation.Following || e.Address == conversation.Pressed {
		if s := r.resumer(e, text); s != nil {
			e.Addressees.Agents = []earshot.ParticipantID{s.ID}
		}
	}
	who := slices.Clone(e.Addressees.Agents)
	if main := r.seats[0].ID; !slices.Contains(who, main) {
		who = append(who, main)
	}
	for _, id := range who {
		if s := r.seatOf(id); s != nil && e.Event.Visibility.AllowsAgent(id) && !slices.Contains(e.Had, id) {
			decisions = append(decisions, r.decide(e, s, text))
		}
	}
	if lasts, is := attention.Refusal(text); is && e.Heeded && (e.Addressees.Mine || e.Address.ForAgent() || r.unasked.JustSpoke(e.Event)) {
		decisions = append(decisions, r.refused(e, lasts)...)
	}
	return decisions
}

// decide decides for one agent: it returns the decision, and adds the question to the entry.
func (r *Room) decide(e *admission.Entry, by *seat.Seat, text earshot.Text) earshot.Event {
	s := r.scenario(e, by, text)
	verdict, reasons := decision.Decide(s)
	meant := e.SideTalk.For(by.ID, by == r.seats[0])
	verdict, reasons = meant.Decide(verdict, reasons)
	if mine := s.Addressees.Mine || s.To.ForAgent(); verdict == earshot.Silent && by == r.seats[0] && !mine && !e.Late {
		verdict, reasons = r.overheard(e, reasons[0])
	}
	private := e.Event.Visibility.Scope == earshot.Private
	e.Quiets = e.Quiets || s.Want == reflex.Quiet && (s.Known || e.Address.ForAgent() || s.Cut) && !private
	e.Wakes = e.Wakes || verdict == earshot.Speak && !private // what only some know is no reason to talk to everybody
	kept := earshot.Decision{About: e.Event.ID, Agent: by.ID, Verdict: verdict, Reasons: reasons}
	if verdict == earshot.Speak {
		words, asksBack := meant.Reply(), s.To == conversation.Mumbled
		if by == r.seats[0] {
			words = cmp.Or(r.speech.ConsentAnswer(&e.Input, text, by.Name), words)
		}
		if asksBack {
			words = sorry
		}
		kept.Turn = earshot.TurnID(r.cfg.NewID())
		e.Questions = append(e.Questions, question.Question{
			Seat: by, Message: e.Event, Rank: e.Rank(), Ticket: e.Ticket, Turn: kept.Turn, Want: s.Want,
			Askers: []participants.Participant{e.Asker()}, Rests: prompt.Provenance{Visibility: e.Event.Visibility}, ToRoom: slices.Contains(reasons, attention.ToTheRoom),
			Chain: e.Machine(), Everybody: e.Addressees.Why == addressing.Everybody, Aloud: e.Event.Body.Kind() == earshot.KindUtterance, Follows: s.To == conversation.Following, Again: e.Again, SideTalk: meant, Words: words, AsksBack: asksBack,
			Trace: latency.NewTrace(e.Event, e.Received, r.cfg.Now()),
		})
	}
	d := r.event(e.Event.Visibility, kept)
	d.Author, d.Sources = by.ID, []earshot.EventID{e.Event.ID}
	return d
}

// scenario returns the input of an agent's decision.
func (r *Room) scenario(e *admission.Entry, by *seat.Seat, text earshot.Text) decision.Input {
	s := decision.Input{
		Enabled: r.set.Enabled, Mode: r.mode.Current(), Want: reflex.Recognise(text, by.Name), Known: e.Event.Author != "", Heeded: e.Heeded, To: e.Address, Addressees: e.Addressees, Late: e.Late,
		Cut: e.Address != "" && e.Signal != nil && e.Signal.Kind == interrupt.Command,
	}
	_, s.Refuses = attention.Refusal(text)
	if e.Addressees.Mine && !slices.Contains(e.Addressees.Agents, by.ID) { // another agent is called
		s.Addressees = addressing.Addressees{Why: addressing.ToOthers}
	}
	if (e.Address.ForAgent() || e.Address == conversation.Mumbled) && !slices.Contains(e.Addressees.Agents, by.ID) {
		s.To = conversation.Aside
	}
	s.Quiet = r.live.silent()
	return s
}

// overheard decides for the main agent about words that do not call it. why is the reason for which
// it would stay silent.
func (r *Room) overheard(e *admission.Entry, why string) (earshot.Verdict, []string) {
	if why != addressing.Elsewhere && why != reason.Overheard || !e.Heeded {
		return earshot.Silent, []string{why}
	}
	verdict, reasons := r.unasked.Overhear(r.moment(), unasked.Question{Event: e.Event, Asker: e.Asker(), Rank: e.Rank(), Agents: e.Machine()})
	switch {
	case verdict != earshot.Silent:
		e.Addressees.Lost = false // it may yet be answered
		return verdict, reasons
	case slices.Equal(reasons, []string{attention.NotForMe}):
		return verdict, []string{why}
	}
	return verdict, append([]string{why}, reasons...)
}

// refused takes in that somebody does not want to hear the agent: for lasts, if they say so. It
// returns the events to record for that.
func (r *Room) refused(e *admission.Entry, lasts time.Duration) (kept []earshot.Event) {
	r.unasked.Refused(e.Event.At, e.Event.Visibility)
	if lasts == 0 {
		return nil
	}
	s := r.event(e.Event.Visibility, earshot.Snooze{Until: e.Event.At.Add(lasts)})
	s.Author, s.Sources = e.Event.Author, []earshot.EventID{e.Event.ID}
	return []earshot.Event{s}
}

// reask returns the decision to answer a message again that was changed meanwhile, and records the
// question in the entry.
func (r *Room) reask(e *admission.Entry, b earshot.Revision) []earshot.Event {
	again := e.Change.Again
	if again == nil { // its turn may have begun meanwhile
		if again = r.resolver.Outdated(b); again != nil {
			e.Signal = revision.Signal(e.Event, e.Who.ID)
			r.actOnFloor(&r.set, e.Input)
			e.Ticket = r.floor.Ticket()
		}
	}
	if again == nil || !r.answers() || r.seatOf(again.Seat.ID) == nil {
		return nil
	}
	now, _ := revision.Reword(again.Message, e.Event)
	q := question.Question{
		Seat: again.Seat, Message: now, Rank: again.Rank, Chain: again.Chain, Root: again.Root,
		Ticket: e.Ticket, Turn: earshot.TurnID(r.cfg.NewID()), Want: reflex.Recognise(b.Text, again.Seat.Name),
		Everybody: again.Everybody, Aloud: again.Aloud, ToRoom: again.ToRoom,
		Askers: askers.Add(again.Askers, e.Who), Rests: prompt.Provenance{Visibility: again.Message.Visibility},
	}
	e.Questions = append(e.Questions, q)
	return []earshot.Event{r.decided(q, q.Decision(earshot.Speak, reason.Reworded))}
}

// resumer returns the agent whose reply somebody wants resumed who calls none by name: the one that
// was cut off last, by time, because a reply of this run has no sequence before it is kept. It is
// nil if they want something else, or nobody was cut off.
func (r *Room) resumer(e *admission.Entry, text earshot.Text) (last *seat.Seat) {
	if want := reflex.Recognise(text, r.seats[0].Name); want != reflex.Resume && want != reflex.Follow {
		return nil
	}
	var newest earshot.Event
	for _, s := range r.seats {
		a := r.listeners(question.Question{Seat: s, Message: e.Event, Rests: prompt.Provenance{Visibility: e.Event.Visibility}})
		cut, ok := s.History.Resumable(e.Event.Visibility, a, r.cfg.Now())
		if ok && e.Event.Visibility.AllowsAgent(s.ID) && (last == nil || cut.At.After(newest.At)) {
			last, newest = s, cut
		}
	}
	return last
}

// byReflex reports whether an entry is handled without a model: a command word, or a question such
// as what time it is.
func (r *Room) byReflex(e *admission.Entry) bool {
	for _, q := range e.Questions {
		if q.Want == reflex.None && q.Words == "" {
			return false
		}
	}
	return len(e.Questions) > 0 || r.speech.Listener.Cuts(record.Words(e.Event.Body))
}
