package monitor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
)

// seek looks for words, upwards or downwards from what is chosen.
func (m *Model) seek(words string, way int) []Effect {
	if words == "" {
		m.said = "search first: /"
		return nil
	}
	k := len(m.past.all)
	if e := m.chosen(); e != nil {
		k = m.past.at(e.key)
	}
	low := strings.ToLower(words)
	for k += way; k >= 0 && k < len(m.past.all); k += way {
		e := m.past.all[k]
		if m.filter.shows(m.past, e) && m.past.holds(m.marks, e, low) {
			m.goes(e)
			return nil
		}
	}
	if way > 0 {
		m.said = "nothing further down"
		return nil
	}
	m.said = "nothing further up; asking for what is older"
	return []Effect{Seek{words}}
}

// holds reports whether an entry has words, which are in lower case.
func (p *past) holds(m marks, e *entry, words string) bool {
	text, _ := p.tell(m, e)
	if strings.Contains(strings.ToLower(text.text()), words) {
		return true
	}
	return slices.ContainsFunc(e.decisions, func(d earshot.Event) bool {
		return strings.Contains(strings.ToLower(p.verdict(m, d.Body.(earshot.Decision), "").text()), words)
	})
}

// found shows what was found that is older than what is here.
func (m *Model) found(f Found) {
	if f.Err != nil {
		m.said = "searching: " + f.Err.Error()
		return
	}
	var lines []string
	oldest := m.past.oldest()
	for _, e := range slices.Backward(f.Events) {
		if oldest == 0 || e.Sequence < oldest {
			text, _ := m.past.tell(m.marks, &entry{event: e})
			lines = append(lines, e.At.Local().Format("2006-01-02 15:04  ")+text.text())
		}
	}
	if len(lines) == 0 {
		m.said = "nothing older has these words"
		return
	}
	m.past.answered(m.at, fmt.Sprintf("older, with %q:\n%s", f.Words, strings.Join(lines, "\n")))
	m.follows()
}

// jumps goes to a time of day, or to a day and a time.
func (m *Model) jumps(text string) []Effect {
	at, ok := Moment(text, m.at)
	if !ok {
		m.said = "that is no time; write 14:05, 14:05:30, yesterday 14:05 or 2026-11-22 14:05"
		return nil
	}
	k, _ := slices.BinarySearchFunc(m.past.all, at, func(e *entry, at time.Time) int { return e.event.At.Compare(at) })
	if k == len(m.past.all) {
		m.said = "nothing happened since"
		return nil
	}
	m.goes(m.past.all[k])
	if k == 0 && !m.ended {
		m.said = "this is the oldest that is here; more comes by scrolling up"
		return m.older()
	}
	return nil
}

// Moment reads a time as people write it, which is not after now.
func Moment(text string, now time.Time) (time.Time, bool) {
	text, now = strings.ToLower(strings.TrimSpace(text)), now.Local()
	day := now
	if rest, ok := strings.CutPrefix(text, "yesterday"); ok {
		text, day = strings.TrimSpace(rest), now.AddDate(0, 0, -1)
	}
	for _, form := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, text, now.Location()); err == nil {
			return t, true
		}
	}
	for _, form := range []string{"15:04:05", "15:04", "15"} {
		t, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		at := time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at, true
	}
	return time.Time{}, false
}
