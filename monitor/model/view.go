package model

import "math"

// none is the key that no entry has.
const none = math.MinInt64

// A view is the part of the transcript that is on the screen: the entry in the bottom row, and how
// many rows of that entry are below it.
type view struct {
	follow bool // the newest is at the bottom
	bottom int64
	below  int
	chosen int64
	came   int // new entries that were not seen yet

	height int // of the transcript, when it was last drawn
	width  int
}

// follows goes to the newest entry, and follows it.
func (m *Model) follows() {
	if m.live != nil {
		m.past, m.live = m.live, nil
	}
	m.view.follow, m.view.came, m.view.chosen, m.view.below = true, 0, none, 0
}

// moves scrolls, or moves the choice.
func (m *Model) moves(key string) []Effect {
	switch key {
	case "up", "k":
		return m.choose(-1)
	case "down", "j":
		return m.choose(+1)
	case "pgup", "b":
		return m.scroll(-max(1, m.view.height-1))
	case "pgdown", "space":
		return m.scroll(max(1, m.view.height-1))
	case "home", "g":
		if len(m.past.all) == 0 {
			return nil
		}
		if k := m.seen(0, +1); k >= 0 {
			m.goes(m.past.all[k])
		}
		return m.older()
	case "end", "G", "shift+g":
		m.follows()
	}
	return nil
}

// seen returns the position of the first entry from k on that the filter shows; -1 if there is
// none.
func (m *Model) seen(k, way int) int {
	for ; k >= 0 && k < len(m.past.all); k += way {
		if m.filter.shows(m.past, m.past.all[k]) {
			return k
		}
	}
	return -1
}

// last returns the position of the newest entry that is shown; -1 if there is none.
func (m *Model) last() int { return m.seen(len(m.past.all)-1, -1) }

// anchor returns the position of the entry at the bottom; -1 if there is none.
func (m *Model) anchor() int {
	if m.view.follow {
		return m.last()
	}
	k := min(m.past.at(m.view.bottom), len(m.past.all)-1)
	if up := m.seen(k, -1); up >= 0 {
		return up
	}
	return m.seen(max(0, k), +1)
}

// rowsAt returns the rows of the entry at position k.
func (m *Model) rowsAt(k int) []row {
	return m.past.draw(m.marks, m.past.all[k], max(1, m.view.width), m.at)
}

// choose moves the choice up or down, and keeps it on the screen.
func (m *Model) choose(way int) []Effect {
	e := m.chosen()
	if e == nil {
		if way > 0 && m.view.follow {
			return nil
		}
		if k := m.anchor(); k >= 0 {
			m.sets(k)
			m.view.chosen = m.past.all[k].key
		}
		return nil
	}
	k := m.seen(m.past.at(e.key)+way, way)
	if k < 0 && way < 0 {
		return m.older()
	}
	if k < 0 { // below the newest entry, so follow again
		m.follows()
		return nil
	}
	m.goes(m.past.all[k])
	return nil
}

// sets stops following, and puts the entry at k at the bottom.
func (m *Model) sets(k int) {
	if m.view.follow {
		m.view.came = 0
	}
	m.view.follow, m.view.bottom, m.view.below = false, m.past.all[k].key, 0
}

// goes chooses an entry and scrolls to it.
func (m *Model) goes(e *entry) {
	to, at := m.past.at(e.key), m.anchor()
	m.view.chosen = e.key
	if at < 0 {
		return
	}
	if m.view.follow {
		m.sets(at)
	}
	if to > at {
		m.sets(to)
		return
	}
	if !m.fits(to, at) || to == at && m.view.below >= len(m.rowsAt(to)) {
		m.tops(to)
	}
}

// tops puts the entry at k at the top of the screen.
func (m *Model) tops(k int) {
	rows := 0
	for at := k; at < len(m.past.all); at++ {
		if !m.filter.shows(m.past, m.past.all[at]) {
			continue
		}
		rows += len(m.rowsAt(at))
		m.view.follow, m.view.bottom, m.view.below = false, m.past.all[at].key, 0
		if rows >= m.view.height {
			m.view.below = rows - m.view.height
			return
		}
	}
}

// scroll moves the screen by some rows, downwards if rows is positive.
func (m *Model) scroll(rows int) []Effect {
	at := m.anchor()
	if at < 0 {
		return nil
	}
	if m.view.follow {
		if rows > 0 {
			return nil
		}
		m.sets(at)
	}
	m.view.chosen = none
	m.view.below -= rows
	for m.view.below < 0 {
		next := m.seen(at+1, +1)
		if next < 0 {
			m.follows()
			return nil
		}
		at = next
		m.view.below += len(m.rowsAt(at))
	}
	var effects []Effect
	for m.view.below >= len(m.rowsAt(at)) {
		up := m.seen(at-1, -1)
		if up < 0 {
			m.view.below = len(m.rowsAt(at)) - 1
			effects = m.older()
			break
		}
		m.view.below -= len(m.rowsAt(at))
		at = up
	}
	m.view.bottom = m.past.all[at].key
	if m.fits(0, at) {
		m.tops(max(0, m.seen(0, +1)))
		return append(effects, m.older()...)
	}
	return effects
}

// fits reports whether the screen has room for the entries from to down to at, which is at the bottom.
func (m *Model) fits(to, at int) bool {
	rows := -m.view.below
	for k := at; k >= to && rows <= m.view.height; k-- {
		if m.filter.shows(m.past, m.past.all[k]) {
			rows += len(m.rowsAt(k))
		}
	}
	return rows <= m.view.height
}
