package model

import (
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/internal/search"
)

// seek searches for words, upwards or downwards from the chosen entry.
func (m *Model) seek(words string, way int) []Effect {
	if words == "" {
		m.said = "search first: /"
		return nil
	}
	k := len(m.past.all)
	if e := m.chosen(); e != nil {
		k = m.past.at(e.key)
	}
	for k += way; k >= 0 && k < len(m.past.all); k += way {
		e := m.past.all[k]
		if m.filter.shows(m.past, e) && m.past.holds(m.marks, e, m.query) {
			m.goes(e)
			return nil
		}
	}
	if way > 0 {
		m.said = "no match further down"
		if m.live != nil {
			m.said += "; End returns to the newest"
		}
		return nil
	}
	m.said = "no match further up; searching older events"
	return []Effect{Seek{words, m.past.oldest()}}
}

// meant replaces "me" by the ID of the reader, unless somebody has that name.
func (m *Model) meant(names []string) {
	me := func(name string) bool { return strings.EqualFold(name, "me") }
	for _, name := range m.past.called {
		if me(name) {
			return
		}
	}
	for i, name := range names {
		if me(name) && m.house.You.ID != "" {
			names[i] = string(m.house.You.ID)
		}
	}
}

// holds reports whether an entry matches a query.
func (p *transcript) holds(m marks, e *entry, q search.Query) bool {
	author := e.author()
	by := func(name string) bool { return strings.EqualFold(name, p.name(author)) || name == string(author) }
	if !q.Within(e.event.At) || len(q.From) > 0 && !slices.ContainsFunc(q.From, by) {
		return false
	}
	text, _ := p.tell(m, e)
	return q.Match(text.text()) || slices.ContainsFunc(e.decisions, func(d earshot.Event) bool {
		return q.Match(p.verdict(m, d.Body.(earshot.Decision), "").text())
	})
}

// found requests the events around the newest match, if the match is older than everything loaded
// and the search is still wanted.
func (m *Model) found(f Found) []Effect {
	if f.Words != m.sought {
		return nil
	}
	if f.Err != nil {
		m.said = "searching: " + f.Err.Error()
		return nil
	}
	oldest := m.past.oldest()
	for _, e := range f.Events {
		if (oldest == 0 || e.Sequence < oldest) && m.filter.shows(m.past, &entry{event: e}) {
			return []Effect{Around{e.Sequence}}
		}
	}
	m.said = "no older event has these words"
	return nil
}

// visits shows the events around a match. New events are collected meanwhile, and shown when the
// reader follows again.
func (m *Model) visits(w Surroundings) {
	if m.sought == "" {
		return // the search was cancelled
	}
	if w.Err != nil {
		m.said = "searching: " + w.Err.Error()
		return
	}
	now, then := m.newest(), newTranscript(m.past.directory)
	then.whole = w.Whole
	for _, e := range w.Events {
		then.add(e)
	}
	k := slices.IndexFunc(then.all, func(e *entry) bool { return e.event.Sequence == w.At })
	if k < 0 {
		m.said = "it no longer exists"
		return
	}
	came := m.view.came
	if m.view.follow {
		came = 0
	}
	m.past, m.live = then, now
	m.view.follow, m.view.chosen = true, none
	m.goes(then.all[k])
	m.view.came, m.said = came, ""
}

// jumps goes to a time of day, or to a day and a time.
func (m *Model) jumps(text string) []Effect {
	at, ok := Moment(text, m.at)
	if !ok {
		m.said = "this time is not understood; write 14:05, 14:05:30, yesterday 14:05 or 2026-11-22 14:05"
		return nil
	}
	if n := len(m.past.all); m.live != nil && at.After(m.past.all[n-1].event.At) {
		m.follows()
	}
	k, _ := slices.BinarySearchFunc(m.past.all, at, func(e *entry, at time.Time) int { return e.event.At.Compare(at) })
	if k == len(m.past.all) {
		m.said = "nothing has happened since"
		return nil
	}
	m.goes(m.past.all[k])
	if k == 0 && !m.past.whole {
		m.said = "this is the oldest line loaded; scroll up for more"
		return m.older()
	}
	return nil
}

// Moment reads a time as people write it. A time of day alone is the last such time before now.
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
