package room

import (
	"cmp"
	"slices"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
	"earshot/executive/attention"
	"earshot/executive/prompt"
	"earshot/executive/reflex"
	"earshot/executive/unasked"
	"earshot/interrupt"
	"earshot/participants"
)

// The reasons for a decision, as they stand in the journal.
const (
	Unheeded  = "several people are here, and executive.multi_party.enabled is false"
	Follows   = "it was said aloud right after my answer"
	Pressed   = "it was said aloud while the talk key was held"
	Overheard = "it was said aloud, and not to me"
	Murmured  = "it only showed that somebody is listening"
	Unclear   = "it was said aloud, and I hardly understood it"
	AsksBack  = "it was said to me, but I hardly understood it, so I ask them to say it again"
	Echoed    = "it is the echo of my own voice, which cut me off"
	Stranger  = "I do not know who said it"
	Hushed    = "I was asked to be quiet"
	Commanded = "it tells me to stop"
	Disabled  = "executive.enabled is false"
	Unheard   = "the room is off the record"
	Late      = "it arrived long after it was written"
)

// A decisionInput is what "shall I speak?" is decided from.
type decisionInput struct {
	enabled bool
	mode    earshot.Mode // of the room
	want    reflex.Kind
	quiet   bool                  // somebody asked for silence
	late    bool                  // nobody waits for an answer any more
	known   bool                  // the author is known
	heeded  bool                  // the agent may answer the author
	cut     bool                  // it has cut the agent off, by a command word
	refuses bool                  // it says that the agent must not speak
	to      conversation.Address  // of a spoken event; empty for a written one
	aim     addressing.Addressees // of a written event
}

// sorry is how an agent asks back when it has not understood somebody.
const sorry = "Sorry?"

// decide says whether to speak, and why. It is pure.
func decide(s decisionInput) (earshot.Verdict, []string) {
	named := s.aim.Named || s.to == conversation.Called || s.to == conversation.Pressed
	switch {
	case !s.enabled:
		return earshot.Silent, []string{Disabled}
	case s.mode == earshot.Paused:
		return earshot.Silent, []string{unasked.OnHold}
	case s.mode == earshot.OffRecord: // it was admitted before that
		return earshot.Silent, []string{Unheard}
	case s.late:
		return earshot.Silent, []string{Late}
	case !s.known && s.to == "": // a voice need not be known to be answered
		return earshot.Silent, []string{Stranger}
	case s.cut: // whomever it was said to
		return earshot.Silent, []string{Commanded}
	case s.to == conversation.Aside:
		return earshot.Silent, []string{Overheard}
	case s.to == conversation.Backchannel:
		return earshot.Silent, []string{Murmured}
	case s.to == conversation.Own: // it is only kept if it has cut a reply
		return earshot.Silent, []string{Echoed}
	case s.to == conversation.Unsure, s.to == conversation.Mumbled && (s.quiet || !s.heeded):
		return earshot.Silent, []string{Unclear}
	case s.to == conversation.Mumbled:
		return earshot.Speak, []string{AsksBack}
	case s.want.Cuts():
		return earshot.Silent, []string{Commanded}
	case s.to == "" && !s.aim.Mine:
		return earshot.Silent, []string{s.aim.Why}
	case !s.heeded:
		return earshot.Silent, []string{Unheeded}
	case s.refuses:
		return earshot.Silent, []string{attention.ToldNo}
	case s.quiet && !named && s.want != reflex.Wake:
		return earshot.Silent, []string{Hushed}
	case s.to == conversation.Called:
		return earshot.Speak, []string{addressing.Named}
	case s.to == conversation.Following:
		return earshot.Speak, []string{Follows}
	case s.to == conversation.Pressed:
		return earshot.Speak, []string{Pressed}
	}
	return earshot.Speak, []string{s.aim.Why}
}

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
		if s := r.seatOf(id); s != nil && sees(e.event.Visibility, id) && !slices.Contains(e.had, id) {
			decisions = append(decisions, r.decide(e, s, text))
		}
	}
	if lasts, is := attention.Refusal(text); is && e.heeded && (e.aim.Mine || e.to.ForAgent() || r.unasked.JustSpoke(e.event)) {
		decisions = append(decisions, r.refused(e, lasts)...)
	}
	return decisions
}

// decide decides for one agent: it returns the decision, and adds the question to the entry.
func (r *Room) decide(e *entry, by *seat, text earshot.Text) earshot.Event {
	s := r.scenario(e, by, text)
	verdict, reasons := decide(s)
	meant := r.sideTalkFor(e.sideTalk, by)
	verdict, reasons = meant.decides(verdict, reasons)
	if mine := s.aim.Mine || s.to.ForAgent(); verdict == earshot.Silent && by == r.seats[0] && !mine && !e.late {
		verdict, reasons = r.overheard(e, reasons[0])
	}
	private := e.event.Visibility.Scope == earshot.Private
	e.quiets = e.quiets || s.want == reflex.Quiet && (s.known || e.to.ForAgent() || s.cut) && !private
	e.wakes = e.wakes || verdict == earshot.Speak && !private // what only some know is no reason to talk to everybody
	kept := earshot.Decision{About: e.event.ID, Agent: by.ID, Verdict: verdict, Reasons: reasons}
	words := r.atOnce(meant)
	if verdict == earshot.Speak && by == r.seats[0] {
		words = cmp.Or(r.consentAnswer(e, text, by.Name), words)
	}
	asksBack := verdict == earshot.Speak && s.to == conversation.Mumbled
	if asksBack {
		words = sorry
	}
	if verdict == earshot.Speak {
		kept.Turn = earshot.TurnID(r.cfg.NewID())
		e.asks = append(e.asks, question{
			seat: by, message: e.event, rank: rank(e), ticket: e.ticket, turn: kept.Turn, want: s.want,
			askers: []participants.Participant{e.asker()}, rests: prompt.Provenance{Visibility: e.event.Visibility}, toRoom: slices.Contains(reasons, attention.ToTheRoom),
			chain: e.machine(), everybody: e.aim.Why == addressing.Everybody, aloud: e.event.Body.Kind() == earshot.KindUtterance, follows: s.to == conversation.Following, again: e.again, sideTalk: meant, words: words, asksBack: asksBack,
			trace: r.startLatencyTrace(e),
		})
	}
	d := r.event(e.event.Visibility, kept)
	d.Author, d.Sources = by.ID, []earshot.EventID{e.event.ID}
	return d
}

// scenario returns the input of an agent's decision.
func (r *Room) scenario(e *entry, by *seat, text earshot.Text) decisionInput {
	s := decisionInput{
		enabled: r.set.Enabled, mode: r.is(), want: reflex.Recognise(text, by.Name), known: e.event.Author != "", heeded: e.heeded, to: e.to, aim: e.aim, late: e.late,
		cut: e.to != "" && e.signal != nil && e.signal.Kind == interrupt.Command,
	}
	_, s.refuses = attention.Refusal(text)
	if e.aim.Mine && !slices.Contains(e.aim.Agents, by.ID) { // another agent is called
		s.aim = addressing.Addressees{Why: addressing.ToOthers}
	}
	if (e.to.ForAgent() || e.to == conversation.Mumbled) && !slices.Contains(e.aim.Agents, by.ID) {
		s.to = conversation.Aside
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.quiet = r.quiet
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
