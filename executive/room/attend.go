package room

import (
	"earshot"
	"earshot/conversation"
	"earshot/executive/reflex"
	"earshot/interrupt"
	"earshot/participants"
)

// The reasons for a decision, as they stand in the journal.
const (
	Alone     = "text, and only one person is here"
	Named     = "it calls me by name"
	Everybody = "it calls every agent"
	Whispered = "it was written to me in private"
	ToOthers  = "it calls somebody else"
	Elsewhere = "several people are here, and it does not call me"
	Unheeded  = "several people are here, and executive.multi_party.enabled is false"
	Follows   = "it was said aloud, just after I had answered"
	Overheard = "it was said aloud, and not to me"
	Unclear   = "it was said aloud, and I hardly understood it"
	Stranger  = "I do not know who said it"
	Hushed    = "I was asked to be quiet"
	Commanded = "it tells me to stop"
	Disabled  = "executive.enabled is false"
	OnHold    = "the room is paused"
	Unheard   = "the room is off the record"
)

// scenario is what "shall I speak?" is decided from.
type scenario struct {
	enabled bool
	mode    earshot.Mode // of the room
	want    reflex.Kind
	quiet   bool                 // somebody asked for silence
	known   bool                 // the author is
	heeded  bool                 // the agent may answer them
	cut     bool                 // it has cut the agent off, by a command word
	to      conversation.Address // of what was said aloud; empty for what was written
	aim     aim                  // of what was written
}

// decide says whether to speak, and why. It is pure.
func decide(s scenario) (earshot.Verdict, []string) {
	named := s.aim.named || s.to == conversation.Called
	switch {
	case !s.enabled:
		return earshot.Silent, []string{Disabled}
	case s.mode == earshot.Paused:
		return earshot.Silent, []string{OnHold}
	case s.mode == earshot.OffRecord: // it was admitted before
		return earshot.Silent, []string{Unheard}
	case !s.known && s.to == "": // a voice need not be known to be answered
		return earshot.Silent, []string{Stranger}
	case s.cut: // whoever it was said to
		return earshot.Silent, []string{Commanded}
	case s.to == conversation.Aside:
		return earshot.Silent, []string{Overheard}
	case s.to == conversation.Unsure:
		return earshot.Silent, []string{Unclear}
	case s.want.Cuts():
		return earshot.Silent, []string{Commanded}
	case s.to == "" && !s.aim.mine:
		return earshot.Silent, []string{s.aim.why}
	case !s.heeded:
		return earshot.Silent, []string{Unheeded}
	case s.quiet && !named && s.want != reflex.Wake:
		return earshot.Silent, []string{Hushed}
	case s.to == conversation.Called:
		return earshot.Speak, []string{Named}
	case s.to == conversation.Following:
		return earshot.Speak, []string{Follows}
	}
	return earshot.Speak, []string{s.aim.why}
}

// attend decides about what somebody wrote or said: what it asks of the agent,
// and the decision as it is kept.
func (r *Room) attend(e *entry, text earshot.Text) earshot.Event {
	settings := r.cfg.Settings()
	want := reflex.Recognise(text, settings.Name)
	r.mu.Lock()
	s := scenario{
		enabled: settings.Enabled, mode: r.mode, want: want, quiet: r.quiet, known: e.event.Author != "", heeded: e.heeded, to: e.to, aim: e.aim,
		cut: e.to != "" && e.signal != nil && e.signal.Kind == interrupt.Command,
	}
	r.mu.Unlock()
	verdict, reasons := decide(s)
	private := e.event.Visibility.Scope == earshot.Private
	e.quiets = want == reflex.Quiet && (s.known || e.to.ForAgent() || s.cut)
	e.wakes = verdict == earshot.Speak && !private // what only some know of is no reason to talk to all
	e.asks = question{message: e.event, rank: rank(e), ticket: e.ticket, want: want, visibility: e.event.Visibility}
	if verdict == earshot.Speak {
		e.asks.turn = earshot.TurnID(r.cfg.NewID())
	}
	d := r.event(e.event.Visibility, earshot.Decision{
		About: e.event.ID, Agent: participants.Agent, Verdict: verdict, Reasons: reasons, Turn: e.asks.turn,
	})
	d.Sources = []earshot.EventID{e.event.ID}
	return d
}

// rank is how urgent an entry is. What is written to the agent is as urgent
// when it cuts nothing.
func rank(e *entry) int {
	s := *e.signal
	if e.aim.mine && s.Kind == interrupt.Over {
		s.Kind = interrupt.Addressed
	}
	return s.Rank()
}

// sees reports whether the agent may see something of visibility v.
func sees(v earshot.Visibility) bool {
	return v.Allows(earshot.Audience{}.With(participants.Agent))
}
