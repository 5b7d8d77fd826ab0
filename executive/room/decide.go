package room

import (
	"cmp"
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/admission"
	"earshot/executive/attention"
	"earshot/executive/decision"
	"earshot/executive/latency"
	"earshot/executive/prompt"
	"earshot/executive/question"
	"earshot/executive/reflex"
	"earshot/executive/seat"
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
		if s := r.seatOf(id); s != nil && e.Event().Visibility.AllowsAgent(id) && !slices.Contains(e.Had, id) {
			decisions = append(decisions, r.decide(e, s, text))
		}
	}
	if lasts, is := attention.Refusal(text); is && e.Heeded && (e.Addressees.Mine || e.Address.ForAgent() || r.unasked.JustSpoke(e.Event())) {
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
	private := e.Event().Visibility.Scope == earshot.Private
	e.Quiets = e.Quiets || s.Want == reflex.Quiet && (s.Known || e.Address.ForAgent() || s.Cut) && !private
	e.Wakes = e.Wakes || verdict == earshot.Speak && !private // what only some know is no reason to talk to everybody
	kept := earshot.Decision{About: e.Event().ID, Agent: by.ID, Verdict: verdict, Reasons: reasons}
	words := meant.Reply(r.mind.View(), r.cfg.Now())
	if verdict == earshot.Speak && by == r.seats[0] {
		words = cmp.Or(r.speech.ConsentAnswer(&e.Input, text, by.Name), words)
	}
	asksBack := verdict == earshot.Speak && s.To == conversation.Mumbled
	if asksBack {
		words = sorry
	}
	if verdict == earshot.Speak {
		kept.Turn = earshot.TurnID(r.cfg.NewID())
		e.Questions = append(e.Questions, question.Question{
			Seat: by, Message: e.Event(), Rank: e.Rank(), Ticket: e.Ticket, Turn: kept.Turn, Want: s.Want,
			Askers: []participants.Participant{e.Asker()}, Rests: prompt.Provenance{Visibility: e.Event().Visibility}, ToRoom: slices.Contains(reasons, attention.ToTheRoom),
			Chain: e.Machine(), Everybody: e.Addressees.Why == addressing.Everybody, Aloud: e.Event().Body.Kind() == earshot.KindUtterance, Follows: s.To == conversation.Following, Again: e.Again, SideTalk: meant, Words: words, AsksBack: asksBack,
			Trace: latency.NewTrace(e.Event(), e.Received, r.cfg.Now()),
		})
	}
	d := r.event(e.Event().Visibility, kept)
	d.Author, d.Sources = by.ID, []earshot.EventID{e.Event().ID}
	return d
}

// scenario returns the input of an agent's decision.
func (r *Room) scenario(e *admission.Entry, by *seat.Seat, text earshot.Text) decision.Input {
	s := decision.Input{
		Enabled: r.set.Enabled, Mode: r.mode.Current(), Want: reflex.Recognise(text, by.Name), Known: e.Event().Author != "", Heeded: e.Heeded, To: e.Address, Addressees: e.Addressees, Late: e.Late,
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
