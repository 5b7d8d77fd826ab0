package transcript

import (
	"slices"
	"strings"

	"earshot"
	"earshot/participants"
	"earshot/store"
)

// Spoken are the kinds of what was said, by whomever.
var Spoken = []earshot.Kind{earshot.KindMessage, earshot.KindUtterance, earshot.KindReply}

// Told are the kinds that make a history: what was said, and among whom. What was seen
// meanwhile is added; see meanwhile.
var Told = append(slices.Clone(Spoken), earshot.KindPresence, earshot.KindMode, earshot.KindSnooze, earshot.KindMemo,
	earshot.KindUse, earshot.KindReminder, earshot.KindSchedule, earshot.KindEdit, earshot.KindAgent)

// IsHousekeeping reports whether e is of no interest to people: that there is the main
// agent and those of the program itself, and that agents come and go with a task.
func IsHousekeeping(e earshot.Event) bool {
	a, ok := e.Body.(earshot.Agent)
	if !ok {
		return false
	}
	switch a.PathKind {
	case earshot.PathTask, earshot.PathCron, earshot.PathSystem:
		return true
	}
	return a.ID == participants.Agent || a.PathKind.Below()
}

// MergeSeen adds what was seen to some events, the newest so many of those that there are:
// what came before the first of them only if there are no more. Somebody who comes and goes
// before a camera all day crowds out nothing that was said.
func MergeSeen(events, seen []earshot.Event, most int) []earshot.Event {
	if len(events) >= most {
		seen = slices.DeleteFunc(seen, func(e earshot.Event) bool { return e.Sequence < events[0].Sequence })
	}
	return store.Merge(slices.Concat(events, seen))
}

// Excerpt returns the beginning of what was said, in one line.
func Excerpt(text earshot.Text) string {
	line := []rune(strings.Join(strings.Fields(string(text)), " "))
	if len(line) > 60 {
		line = append(line[:59], '…')
	}
	return "“" + string(line) + "”"
}
