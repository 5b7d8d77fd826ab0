package unasked

import (
	"fmt"
	"time"

	"earshot"
	"earshot/executive/reason"
	"earshot/executive/remind"
	"earshot/participants"
)

const (
	// maxSleep is how long the room sleeps at most while there are reminders, because meanwhile the
	// clock may be set, or the machine may sleep.
	maxSleep = time.Minute

	// minSleep is how long a due reminder is delayed while somebody is about to ask something.
	minSleep = 100 * time.Millisecond

	// late is how late a reminder may be said without mentioning when it was due.
	late = time.Minute
)

// NextReminder returns when to check whether a reminder may be said; the zero time if no reminder
// can reach anybody.
func (t *Tracker) NextReminder(m Moment) time.Time {
	at := t.Reminders.Next(func(has remind.Reminder) bool {
		who := t.People.Current(has.For)
		return participants.OfVoice(who) || m.reaches(who)
	})
	if at.IsZero() {
		return at
	}
	return m.Now.Add(min(max(at.Sub(m.Now), minSleep), maxSleep))
}

// nextReminder returns the reminder to say now, on behalf of the agent that set it. It is said
// aloud if its person is here to hear it. A reminder that nobody would hear waits.
func (t *Tracker) nextReminder(m Moment) (Decision, bool) {
	if !m.Answers {
		return Decision{}, false
	}
	for _, has := range t.Reminders.Due(m.Now, func(has remind.Reminder) bool { return m.reaches(has.For) }) {
		c := &Candidate{
			Kind: Reminder, Event: has.Event, Agent: has.Event.Author, Whom: has.For, Asked: true,
			Aloud: m.IsHere(has.For), Reminder: has, Words: t.reminds(m, has),
		}
		t.Reminders.Postpone(has.Event.ID, m.Now.Add(RetryDelay)) // unless it is heard
		if m.Reaches(c) {
			return Decision{Candidate: c, Verdict: earshot.Speak, Reasons: []string{reason.Due}}, true
		}
	}
	return Decision{}, false
}

// reminds returns the words of a reminder, which are the program's own. They mention the person
// with "@" if that person may not be looking.
func (t *Tracker) reminds(m Moment, has remind.Reminder) string {
	who := t.People.Name(has.For)
	if m.Lasts {
		who = "@" + who
	}
	if m.Now.Sub(has.Due) <= late {
		return fmt.Sprintf("%s, you wanted to be reminded: %s", who, string(has.Text))
	}
	when := has.Due.Local().Format("15:04")
	if m.Now.Sub(has.Due) > 12*time.Hour {
		when = has.Due.Local().Format("Monday, 2 January, 15:04")
	}
	return fmt.Sprintf("%s, you wanted to be reminded at %s: %s", who, when, string(has.Text))
}
