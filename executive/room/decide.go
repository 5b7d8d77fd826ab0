package room

import (
	"cmp"
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
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
func (r *Room) attend(e *entry, text earshot.Text) (decisions []earshot.Event) {
	if e.aim.Why == addressing.Alone || e.to == conversation.Following || e.to == conversation.Pressed {
		if s := r.resumer(e, text); s != nil {
			e.aim.Agents = []earshot.ParticipantID{s.ID}
		}
	}
	who := slices.Clone(e.aim.Agents)
	if main := r.seats[0].ID; !slices.Contains(who, main) {
		who = append(who, main)
	}
	for _, id := range who {
		if s := r.seatOf(id); s != nil && e.event.Visibility.AllowsAgent(id) && !slices.Contains(e.had, id) {
			decisions = append(decisions, r.decide(e, s, text))
		}
	}
	if lasts, is := attention.Refusal(text); is && e.heeded && (e.aim.Mine || e.to.ForAgent() || r.unasked.JustSpoke(e.event)) {
		decisions = append(decisions, r.refused(e, lasts)...)
	}
	return decisions
}

// decide decides for one agent: it returns the decision, and adds the question to the entry.
func (r *Room) decide(e *entry, by *seat.Seat, text earshot.Text) earshot.Event {
	s := r.scenario(e, by, text)
	verdict, reasons := decision.Decide(s)
	meant := e.sideTalk.For(by.ID, by == r.seats[0])
	verdict, reasons = meant.Decide(verdict, reasons)
	if mine := s.Addressees.Mine || s.To.ForAgent(); verdict == earshot.Silent && by == r.seats[0] && !mine && !e.late {
		verdict, reasons = r.overheard(e, reasons[0])
	}
	private := e.event.Visibility.Scope == earshot.Private
	e.quiets = e.quiets || s.Want == reflex.Quiet && (s.Known || e.to.ForAgent() || s.Cut) && !private
	e.wakes = e.wakes || verdict == earshot.Speak && !private // what only some know is no reason to talk to everybody
	kept := earshot.Decision{About: e.event.ID, Agent: by.ID, Verdict: verdict, Reasons: reasons}
	words := meant.Reply(r.mind.View(), r.cfg.Now())
	if verdict == earshot.Speak && by == r.seats[0] {
		words = cmp.Or(r.consentAnswer(e, text, by.Name), words)
	}
	asksBack := verdict == earshot.Speak && s.To == conversation.Mumbled
	if asksBack {
		words = sorry
	}
	if verdict == earshot.Speak {
		kept.Turn = earshot.TurnID(r.cfg.NewID())
		e.asks = append(e.asks, question.Question{
			Seat: by, Message: e.event, Rank: rank(e), Ticket: e.ticket, Turn: kept.Turn, Want: s.Want,
			Askers: []participants.Participant{e.asker()}, Rests: prompt.Provenance{Visibility: e.event.Visibility}, ToRoom: slices.Contains(reasons, attention.ToTheRoom),
			Chain: e.machine(), Everybody: e.aim.Why == addressing.Everybody, Aloud: e.event.Body.Kind() == earshot.KindUtterance, Follows: s.To == conversation.Following, Again: e.again, SideTalk: meant, Words: words, AsksBack: asksBack,
			Trace: latency.NewTrace(e.event, e.came, r.cfg.Now()),
		})
	}
	d := r.event(e.event.Visibility, kept)
	d.Author, d.Sources = by.ID, []earshot.EventID{e.event.ID}
	return d
}

// scenario returns the input of an agent's decision.
func (r *Room) scenario(e *entry, by *seat.Seat, text earshot.Text) decision.Input {
	s := decision.Input{
		Enabled: r.set.Enabled, Mode: r.currentMode(), Want: reflex.Recognise(text, by.Name), Known: e.event.Author != "", Heeded: e.heeded, To: e.to, Addressees: e.aim, Late: e.late,
		Cut: e.to != "" && e.signal != nil && e.signal.Kind == interrupt.Command,
	}
	_, s.Refuses = attention.Refusal(text)
	if e.aim.Mine && !slices.Contains(e.aim.Agents, by.ID) { // another agent is called
		s.Addressees = addressing.Addressees{Why: addressing.ToOthers}
	}
	if (e.to.ForAgent() || e.to == conversation.Mumbled) && !slices.Contains(e.aim.Agents, by.ID) {
		s.To = conversation.Aside
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Quiet = r.quiet
	return s
}

// rank is how urgent an entry is. A message to the agent is as urgent if it cuts nothing.
func rank(e *entry) int {
	s := *e.signal
	if e.aim.Mine && s.Kind == interrupt.Over {
		s.Kind = interrupt.Addressed
	}
	return s.Rank()
}
