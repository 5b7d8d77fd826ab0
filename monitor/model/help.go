package model

// helps lists the keys and what they do. An entry without a key is a heading or a sentence.
var helps = []struct{ key, does string }{
	{"", "What you see here"},
	{"", "Each line of the transcript has the time, who spoke, and to whom. (voice, 82%) is how sure it is whose voice that was, [words 61%] how sure what was said; without a note it was typed here. Below a message is what was decided about it, and why. In a reply, [not heard: …] marks what nobody heard of it."},
	{"", ""},
	{"", "The transcript"},
	{"Up Down", "choose a line (also k j)"},
	{"PgUp PgDn", "a page (also b and the space bar)"},
	{"Home End", "go to the oldest line; go to the newest and follow (also g G)"},
	{"r", "from a reply to what it answers, and back"},
	{"w", "why: what was decided about the chosen line"},
	{"/ n N", "search for words; the next match up, however old; the next match down"},
	{"t", "go to a time: 14:05, yesterday 14:05, 2026-11-22 14:05"},
	{"f", "show only: names, private, said, voice, replies, thoughts, tools, edits, sights, reminders, memory, work, presence, faults, decisions"},
	{"Esc", "clear the choice, the search and the filter"},
	{"", ""},
	{"", "The panes"},
	{"Tab 1–6", "Here, Thought, Why, Scene, Health, Speed"},
	{"[ ]", "scroll the pane"},
	{"z", "the pane on the whole screen, and back"},
	{"", ""},
	{"", "Taking part"},
	{"i, Enter", "a line for text or a /command. As at the console, the agent yields from the first key. Esc leaves the line."},
	{"q, ^C", "leave the monitor; earshot keeps running"},
}

// helpText returns the help in rows.
func (m *Model) helpText() (rows []row) {
	width := min(m.width, 100)
	for _, h := range helps {
		switch {
		case h.key == "" && h.does == "":
			rows = append(rows, nil)
		case h.key == "" && len(h.does) < 20:
			rows = append(rows, row{{plain, " "}, {strong, h.does}})
		case h.key == "":
			rows = append(rows, wrap(row{{plain, " " + m.marks.safe(h.does)}}, width-1, 1)...)
		default:
			key := m.marks.safe(h.key)
			for columns(key) < 12 {
				key += " "
			}
			rows = append(rows, wrap(row{{person, "  " + key}, {plain, m.marks.safe(h.does)}}, width-1, 14)...)
		}
	}
	return rows
}
