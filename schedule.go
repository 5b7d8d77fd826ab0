package earshot

import "strings"

// Deed says in one line, as it follows the name of who set it, what became of a schedule for somebody. It
// is empty if that is to be seen otherwise: of a run, by its task.
func (s Schedule) Deed(whom string) Text {
	switch s.Act {
	case Created:
		return Text("scheduled for " + whom + " " + s.Often() + ": " + brief(string(s.Text)))
	case SchedulePaused, ScheduleResumed, Ended:
		return Text(string(s.Act) + " what is done by the clock for " + whom)
	case ScheduleSkipped:
		return "did not do it by the clock: " + s.Text
	}
	return ""
}

// Often says when it is done, in the words in which it was set, such as "every weekday at 7:30".
func (s Schedule) Often() string {
	when := string(s.When)
	first, _, _ := strings.Cut(strings.ToLower(when), " ")
	switch {
	case strings.EqualFold(when, s.Spec):
		return "at " + when
	case first == "on" || first == "every" || first == "each":
		return when
	}
	return "every " + when
}
