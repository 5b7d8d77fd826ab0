package scenetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/participants"
)

// A transcript is what happened, one line for each fact, in the order in which the facts began. Of
// two that end at the same time, either may be recorded first.
type transcript struct {
	began  time.Time
	people *participants.Registry
	facts  []fact
}

// A fact is one line. The line that says that a reply was cut follows what was said of the reply,
// and does not stand at the time of the cut.
type fact struct {
	began, at time.Time
	who, what string
}

func (t *transcript) add(at time.Time, who, format string, args ...any) {
	t.facts = append(t.facts, fact{at, at, who, fmt.Sprintf(format, args...)})
}

// String returns the lines. Lines of the same moment are in the order in which they were added.
func (t *transcript) String() string {
	slices.SortStableFunc(t.facts, func(a, b fact) int { return a.began.Compare(b.began) })
	var b strings.Builder
	for _, f := range t.facts {
		fmt.Fprintf(&b, "%.1fs  %s  %s\n", f.at.Sub(t.began).Seconds(), f.who, f.what)
	}
	return b.String()
}

// journal adds what was decided, said and thought.
func (t *transcript) journal(events []earshot.Event) {
	for _, e := range events {
		switch body := e.Body.(type) {
		case earshot.Decision:
			if body.Verdict != earshot.Speak {
				t.add(e.At, string(body.Verdict), "%s", strings.Join(body.Reasons, "; "))
			}
		case earshot.Notice:
			t.add(e.At, "notice", "%s", body.Text)
		case earshot.Reply:
			t.reply(e, body)
		case earshot.Thought:
			t.thought(e, body)
		case earshot.Finding:
			t.add(e.At, "found", "%s", string(body.Text))
		}
	}
}

// thought adds a segment of a thought, and what it gave way to.
func (t *transcript) thought(e earshot.Event, b earshot.Thought) {
	if b.Text != "" {
		t.add(e.At, "thinks", "%s", strings.TrimSpace(string(b.Text)))
	}
	switch {
	case b.Cut != nil:
		by := ""
		if b.Cut.By != "" {
			by = " by " + t.people.Name(b.Cut.By)
		}
		t.facts = append(t.facts, fact{e.At, b.Cut.At, "parked", b.Cut.Signal + by})
	case b.Outcome != earshot.Completed && b.Outcome != earshot.Asked: // otherwise what was said shows it
		t.add(e.At, string(b.Outcome), "a thought")
	}
}

func (t *transcript) reply(e earshot.Event, r earshot.Reply) {
	for _, d := range r.Heard {
		if d.Bytes > 0 {
			t.add(e.At, d.Outlet, "%s%s", t.agent(e.Author), strings.TrimSpace(string(r.Offered[:d.Bytes])))
		}
	}
	if h := r.Handover; h != nil {
		t.add(e.At, "handover", "by %s to %s: %s", t.people.Name(e.Author), t.people.Name(h.To), h.Why)
	}
	switch {
	case r.Cut != nil:
		how := fmt.Sprintf("%s by %s; kept %q", r.Cut.Signal, t.people.Name(r.Cut.By), strings.TrimSpace(string(r.Remainder())))
		t.facts = append(t.facts, fact{e.At, r.Cut.At, "cut", how})
	case r.Outcome != earshot.Completed:
		t.add(e.At, string(r.Outcome), "%d bytes offered", len(r.Offered))
	}
}

// agent returns the name of an agent before its words, unless it is the main one.
func (t *transcript) agent(id earshot.ParticipantID) string {
	if id == participants.Agent || id == "" {
		return ""
	}
	return t.people.Name(id) + ": "
}

// displays adds what could be seen, in order of time and then of outlet. What several outlets
// showed at the same moment is one line.
func (t *transcript) displays(all []display) {
	slices.SortStableFunc(all, func(a, b display) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.outlet, b.outlet))
	})
	first := len(t.facts)
	for _, s := range all {
		what := t.seen(s)
		same := func(f fact) bool { return f.at.Equal(s.at) && f.what == what }
		switch i := slices.IndexFunc(t.facts[first:], same); {
		case what == "":
		case i >= 0:
			t.facts[first+i].who += "," + s.outlet
		default:
			t.add(s.at, s.outlet, "%s", what)
		}
	}
}

// seen returns what s shows, unless the journal tells it anyway or it was written there.
func (t *transcript) seen(s display) string {
	e := s.event
	switch b := e.Body.(type) {
	case nil:
		return "(refused) " + s.fault
	case earshot.Message:
		if b.Turn != "" && e.Visibility.Scope != earshot.Private {
			return fmt.Sprintf("(sees) %s → %s: %s", t.heading(e), t.people.Name(e.To[0]), string(b.Text))
		}
		if e.Via == s.outlet && e.Visibility.Scope != earshot.Private {
			return ""
		}
		return fmt.Sprintf("(sees) %s: %s", t.heading(e), string(b.Whole()))
	case earshot.Revision:
		return fmt.Sprintf("(sees) %s (edited): %s", t.heading(e), string(b.Text))
	case earshot.Withdrawal:
		return fmt.Sprintf("(sees) %s took a message back", t.heading(e))
	case earshot.Utterance:
		return fmt.Sprintf("(sees) %s: %s", t.people.Name(e.Author), string(b.Text))
	case earshot.Memo:
		return fmt.Sprintf("(sees) %s notes: %s", t.people.Name(e.Author), string(b.Text))
	case earshot.ModeChange:
		return fmt.Sprintf("(sees) the room is %s, by %s", b.Mode, t.people.Name(e.Author))
	case earshot.Presence:
		return t.came(e, b)
	case earshot.Edit:
		if e.Author == "" {
			return ""
		}
		return t.deed(e, b.Deed())
	case earshot.Use:
		return t.deed(e, b.Deed())
	case earshot.Reminder:
		return t.deed(e, b.Deed(e.At, t.names(e.To)))
	case earshot.Agent:
		return "(sees) " + t.people.Name(b.ID) + " " + b.Fate()
	case earshot.Sight:
		return "(sees) " + b.Camera + ": " + string(b.Words())
	case earshot.Notice:
		if e.Sequence == 0 {
			return "(told) " + strings.ReplaceAll(b.Text, "\n", " / ")
		}
	}
	return ""
}

// deed returns what an agent did besides talking, if that is shown.
func (t *transcript) deed(e earshot.Event, what earshot.Text) string {
	if what == "" {
		return ""
	}
	return "(sees) " + t.people.Name(e.Author) + " " + string(what)
}

func (t *transcript) came(e earshot.Event, p earshot.Presence) string {
	text := "(sees) " + t.people.Name(e.Author) + map[bool]string{true: " has joined", false: " has left"}[p.Here]
	if p.Times > 0 {
		text += fmt.Sprintf(", having come and gone %d times", p.Times)
	}
	return text
}

// heading returns who wrote e, and in which way.
func (t *transcript) heading(e earshot.Event) string {
	head := t.people.Name(e.Author)
	if e.Sequence == 0 {
		head += " (off the record)"
	}
	if e.Visibility.Scope != earshot.Private {
		return head
	}
	return head + " (private) → " + t.names(e.To)
}

// names returns the names of some participants.
func (t *transcript) names(ids []earshot.ParticipantID) string {
	var names []string
	for _, id := range ids {
		names = append(names, t.people.Name(id))
	}
	return strings.Join(names, ", ")
}
