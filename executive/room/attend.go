package room

import (
	"strings"
	"unicode"

	"earshot"
	"earshot/executive/reflex"
	"earshot/participants"
)

// The reasons for a decision, as they stand in the journal.
const (
	Alone     = "text, and only one person is here"
	Named     = "it calls me by name"
	Elsewhere = "several people are here, and it does not call me"
	Stranger  = "I do not know who said it"
	Hushed    = "I was asked to be quiet"
	Commanded = "it tells me to stop"
	Disabled  = "executive.enabled is false"
)

// scenario is what "shall I speak?" is decided from.
type scenario struct {
	enabled bool
	want    reflex.Kind
	quiet   bool // somebody asked for silence
	known   bool // the author is
	named   bool // the agent is
	people  int  // who are here
}

// decide says whether to speak, and why. It is pure.
func decide(s scenario) (earshot.Verdict, []string) {
	switch {
	case !s.enabled:
		return earshot.Silent, []string{Disabled}
	case !s.known:
		return earshot.Silent, []string{Stranger}
	case s.want.Cuts():
		return earshot.Silent, []string{Commanded}
	case s.quiet && !s.named && s.want != reflex.Wake:
		return earshot.Silent, []string{Hushed}
	case s.named:
		return earshot.Speak, []string{Named}
	case s.people > 1:
		return earshot.Silent, []string{Elsewhere}
	}
	return earshot.Speak, []string{Alone}
}

// attend decides about a message: what it asks of the agent, and the decision
// as it is kept.
func (r *Room) attend(e *entry, m earshot.Message) earshot.Event {
	settings := r.cfg.Settings()
	want := reflex.Recognise(m.Text, settings.Name)
	r.mu.Lock()
	s := scenario{
		enabled: settings.Enabled, want: want, quiet: r.quiet, known: e.event.Author != "",
		named: named(m.Text, settings.Name), people: len(r.cfg.People.Here()),
	}
	r.mu.Unlock()
	verdict, reasons := decide(s)
	e.quiets = s.known && want == reflex.Quiet
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
