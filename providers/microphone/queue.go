package microphone

import (
	"slices"

	"earshot"
)

const (
	// mostUtterances is how many utterances wait for the room: half an hour of talk for a disk to
	// recover, in some hundred kilobytes.
	mostUtterances = 256

	// mostCalls is how often somebody may say "stop" before the room has taken one.
	mostCalls = 8
)

// An item is an event, and the number of its voice; 0 is none.
type item struct {
	earshot.Event
	voice int
}

// bound is the rule of a queue of events: it drops the oldest utterance if there are too many. A
// stage at the end is superseded by what follows it, and the oldest call by later ones.
func bound(all []item) (kept []item, dropped int) {
	last := len(all) - 1
	switch {
	case isUtterance(all[last]):
		return dropOldest(all, isUtterance, mostUtterances)
	case isCall(all[last]):
		kept, _ = dropOldest(all, isCall, mostCalls)
		return kept, 0
	case last > 0 && isStage(all[last-1]):
		return slices.Delete(all, last-1, last), 0
	}
	return all, 0
}

// dropOldest drops the oldest of a kind, if there are more than most.
func dropOldest(all []item, kind func(item) bool, most int) (kept []item, dropped int) {
	if count(all, kind) <= most {
		return all, 0
	}
	oldest := slices.IndexFunc(all, kind)
	return slices.Delete(all, oldest, oldest+1), 1
}

// count returns how many events are of a kind.
func count(all []item, kind func(item) bool) (n int) {
	for _, e := range all {
		if kind(e) {
			n++
		}
	}
	return n
}

func isUtterance(e item) bool { return e.Body.Kind() == earshot.KindUtterance }

func isCall(e item) bool {
	s, ok := e.Body.(earshot.Speech)
	return ok && s.Stage == earshot.VoiceCalls
}

// isStage reports whether the next event supersedes e.
func isStage(e item) bool { return !isUtterance(e) && !isCall(e) }
