// Package schedule has things done by the clock.
//
// What somebody wants done, and when, is an [earshot.Schedule]; [Parse] reads it from cron's syntax or from
// plain words, and a [Timetable] knows when that is, whatever is done to the clocks of a place. The table
// that [Projection] keeps is all that is known of a schedule: a [Runner] reads it, and has [Entry.Step] say
// what is due. Each run is a task, which is put on record in one step with the event that says that it ran.
// So a run is there once or not yet, whenever the program is killed; the rest is up to who works on tasks.
package schedule

import (
	"hash/fnv"
	"time"

	"earshot"
)

// What is done about runs that are due while earshot does not run or the machine sleeps.
const (
	MissedSkip = "skip" // nothing
	MissedOnce = "once" // one run stands for all
	MissedAll  = "all"  // each, one after the other
)

// What is done about a run that is due before the run before is over.
const (
	OverlapSkip  = "skip"
	OverlapQueue = "queue" // it waits; of several that wait, the last one stands for all
)

const (
	// punctual is how late a run may begin without counting as missed: as long as a start takes.
	punctual = 5 * time.Minute

	// setBack is how far a clock is set back by people, for a journey or because it was fast; meanwhile
	// nothing is done twice. If more is missing, the clock was wrong before.
	setBack = 24 * time.Hour

	// mostMissed is how many missed runs are made up for, and longestSleep the time within which.
	mostMissed   = 24
	longestSleep = 400 * 24 * time.Hour
)

// An Entry is a schedule as it stands.
type Entry struct {
	earshot.Schedule
	Event  earshot.Event // by which it was set
	For    earshot.ParticipantID
	N      int // its number among theirs, from 1
	Paused bool
	Cursor time.Time       // what was due until then is dealt with
	Last   earshot.EventID // the task that was its last run; empty if there was none
	Why    earshot.Text    // the run that was due last was skipped; else empty
}

// A RunState is what is known of a schedule only while the program runs.
type RunState struct {
	waits bool      // a run that was due waits for the one before
	since time.Time // the cursor instead of one that is far ahead of the clock
}

// An Action is what has to be done about a schedule.
type Action struct {
	Act earshot.Act // ScheduleRan, ScheduleSkipped or Ended; empty if it is nothing
	Due time.Time   // the run that it is; if there is nothing to do, when there is
	Why earshot.Text
}

// Step returns what has to be done about a schedule first. open says that the run before is not over.
func (e Entry) Step(t Timetable, now time.Time, open bool, m RunState) (Action, RunState) {
	if e.Paused {
		return Action{}, RunState{}
	}
	cursor := e.Cursor
	if !cursor.After(now.Add(setBack)) {
		m.since = time.Time{}
	} else {
		if m.since.IsZero() || m.since.After(now.Add(setBack)) {
			m.since = now
		}
		cursor = m.since
	}
	delay := e.delay()
	by := now.Add(-delay)
	if !e.Until.IsZero() && e.Until.Before(by) {
		by = e.Until
	}
	if longest := by.Add(-longestSleep); cursor.Before(longest) {
		cursor = longest
	}
	var missed []time.Time // with the one that is due now, if one is
	for at := range t.After(cursor) {
		if at.After(by) {
			break
		}
		missed = append(missed[max(0, len(missed)-mostMissed):], at)
	}
	if len(missed) == 0 {
		next := t.Next(cursor)
		switch ends := next.IsZero() || !e.Until.IsZero() && next.After(e.Until); {
		case ends && open: // it would take its last run with it
			return Action{}, m
		case ends:
			return Action{Act: earshot.Ended}, m
		}
		return Action{Due: next.Add(delay)}, m
	}
	due := missed[len(missed)-1]
	onTime := now.Sub(due.Add(delay)) <= punctual
	switch {
	case open && (e.Overlap == OverlapQueue || e.Missed == MissedAll):
		m.waits = m.waits || onTime
		return Action{}, m
	case open:
		return Action{Act: earshot.ScheduleSkipped, Due: due, Why: "the run before was not over"}, m
	case e.Missed == MissedAll && len(missed) > mostMissed:
		return Action{Act: earshot.ScheduleSkipped, Due: missed[0], Why: "too many were missed"}, m
	case e.Missed == MissedAll:
		return Action{Act: earshot.ScheduleRan, Due: missed[0]}, m
	case e.Missed == MissedSkip && !onTime && !m.waits:
		return Action{Act: earshot.ScheduleSkipped, Due: due, Why: "earshot did not run then"}, m
	}
	m.waits = false
	return Action{Act: earshot.ScheduleRan, Due: due}, m
}

// delay is by how much all runs of a schedule are late on purpose: it follows from its ID, so that a
// restart changes nothing.
func (e Entry) delay() time.Duration {
	if e.Jitter <= 0 {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(e.Event.ID))
	return time.Duration(h.Sum64() % uint64(e.Jitter)).Truncate(time.Second)
}
