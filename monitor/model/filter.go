package model

import (
	"slices"
	"strings"

	"earshot"
)

// A filter selects the part of the transcript that is shown. The zero value shows all.
type filter struct {
	text    string
	who     []string // prefixes of names, in lower case
	kinds   []earshot.Kind
	private bool
}

// kinds are the names that people use for the kinds of events.
var kinds = map[string][]earshot.Kind{
	"said":      {earshot.KindMessage, earshot.KindUtterance, earshot.KindReply},
	"message":   {earshot.KindMessage},
	"messages":  {earshot.KindMessage},
	"voice":     {earshot.KindUtterance},
	"voices":    {earshot.KindUtterance},
	"reply":     {earshot.KindReply},
	"replies":   {earshot.KindReply},
	"thought":   {earshot.KindThought, earshot.KindFinding},
	"thoughts":  {earshot.KindThought, earshot.KindFinding},
	"findings":  {earshot.KindFinding},
	"tools":     {earshot.KindUse},
	"edits":     {earshot.KindEdit, earshot.KindMemo},
	"sights":    {earshot.KindSight},
	"reminders": {earshot.KindReminder},
	"memory":    {earshot.KindFact, earshot.KindSummary},
	"work":      {earshot.KindTask, earshot.KindStep, earshot.KindSchedule},
	"presence":  {earshot.KindPresence},
	"modes":     {earshot.KindMode, earshot.KindSnooze},
	"agents":    {earshot.KindAgent},
	"faults":    {earshot.KindNotice},
	"decisions": {earshot.KindDecision},
}

// parseFilter reads a filter. Words that name no kind are prefixes of names.
func parseFilter(text string) (f filter) {
	f.text = strings.TrimSpace(text)
	for _, word := range strings.Fields(strings.ToLower(f.text)) {
		switch all, is := kinds[word]; {
		case word == "private":
			f.private = true
		case is:
			f.kinds = append(f.kinds, all...)
		default:
			f.who = append(f.who, strings.TrimPrefix(word, "@"))
		}
	}
	return f
}

// shows reports whether an entry is shown.
func (f filter) shows(p *transcript, e *entry) bool {
	if f.text == "" || e.answer != "" {
		return true
	}
	if f.private && e.event.Visibility.Scope != earshot.Private {
		return false
	}
	if len(f.kinds) > 0 && !slices.Contains(f.kinds, e.event.Body.Kind()) &&
		!(len(e.decisions) > 0 && slices.Contains(f.kinds, earshot.KindDecision)) {
		return false
	}
	return len(f.who) == 0 || slices.ContainsFunc(f.who, func(who string) bool { return p.concerns(e, who) })
}

// concerns reports whether an entry involves a participant whose name begins with a prefix.
func (p *transcript) concerns(e *entry, who string) bool {
	is := func(id earshot.ParticipantID) bool {
		return id != "" && strings.HasPrefix(strings.ToLower(p.name(id)), who)
	}
	if is(e.event.Author) || slices.ContainsFunc(e.event.To, is) {
		return true
	}
	if a, ok := e.event.Body.(earshot.Agent); ok && is(a.ID) {
		return true
	}
	return slices.ContainsFunc(e.decisions, func(d earshot.Event) bool { return is(d.Body.(earshot.Decision).Agent) })
}
