package room

import (
	"strings"
	"unicode"

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
	Elsewhere = "several people are here, and it does not call me"
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
	named   bool                 // the agent is
	cut     bool                 // it has cut the agent off, by a command word
	people  int                  // who are here
	to      conversation.Address // of what was said aloud; empty for what was written
}

// decide says whether to speak, and why. It is pure.
func decide(s scenario) (earshot.Verdict, []string) {
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
	case s.quiet && !s.named && s.want != reflex.Wake:
		return earshot.Silent, []string{Hushed}
	case s.named:
		return earshot.Speak, []string{Named}
	case s.to == conversation.Following:
		return earshot.Speak, []string{Follows}
	case s.people > 1:
		return earshot.Silent, []string{Elsewhere}
	}
	return earshot.Speak, []string{Alone}
}

// attend decides about what somebody wrote or said: what it asks of the agent,
// and the decision as it is kept.
func (r *Room) attend(e *entry, text earshot.Text) earshot.Event {
	settings := r.cfg.Settings()
	want := reflex.Recognise(text, settings.Name)
	r.mu.Lock()
	s := scenario{
		enabled: settings.Enabled, mode: r.mode, want: want, quiet: r.quiet, known: e.event.Author != "",
		named: e.to == conversation.Called || e.to == "" && named(text, settings.Name), people: len(r.cfg.People.Here(r.cfg.ID)), to: e.to,
		cut: e.to != "" && e.signal != nil && e.signal.Kind == interrupt.Command,
	}
	r.mu.Unlock()
	verdict, reasons := decide(s)
	e.quiets = want == reflex.Quiet && (s.known || e.to.ForAgent() || s.cut)
	e.wakes = verdict == earshot.Speak
	e.asks = question{message: e.event, rank: e.signal.Rank(), ticket: e.ticket, want: want, visibility: e.event.Visibility}
	if verdict == earshot.Speak {
		e.asks.turn = earshot.TurnID(r.cfg.NewID())
	}
	d := r.event(e.event.Visibility, earshot.Decision{
		About: e.event.ID, Agent: participants.Agent, Verdict: verdict, Reasons: reasons, Turn: e.asks.turn,
	})
	d.Sources = []earshot.EventID{e.event.ID}
	return d
}

// named reports whether text has the agent's name in it, as words.
func named(text earshot.Text, name string) bool {
	return strings.Contains(words(string(text)), words(name))
}

// words returns text in lower case, with one space around each word.
func words(text string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), " ") + " "
}
