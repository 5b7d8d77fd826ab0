package model

import (
	"strings"
	"unicode/utf8"

	"earshot/internal/terminal"
)

// A tone is the look of a piece of text. Its meaning is also said in words, so nothing is lost
// without colour.
type tone uint8

const (
	plain   tone = iota
	dim          // times, and side remarks
	strong       // headings
	person       // the name of somebody
	machine      // the name of an agent
	secret       // not everybody may see it
	unheard      // it should have been said, and nobody heard it
	good         // answered, well
	wary         // kept silent, unsure
	bad          // ill, failed, cut off
	marked       // matches of the search, and the chosen row
	tones
)

// looks are the escape sequences of the tones, in the sixteen colours that every terminal lets its
// user choose.
var looks = [tones]string{
	plain:   "",
	dim:     "\x1b[2m",
	strong:  "\x1b[1m",
	person:  "\x1b[1;36m",
	machine: "\x1b[1;32m",
	secret:  "\x1b[35m",
	unheard: "\x1b[2;3m",
	good:    "\x1b[32m",
	wary:    "\x1b[33m",
	bad:     "\x1b[31m",
	marked:  "\x1b[1;7m",
}

const reset = "\x1b[m"

// A span is a piece of text in one tone. Its text is safe, and within one row.
type span struct {
	tone tone
	text string
}

// A row is one row of the screen, or of a part of it.
type row []span

// marks are the symbols that the monitor draws. Nothing else that it writes itself goes beyond
// ASCII.
type marks struct {
	ascii                                bool
	yes, no, wait, sub, dot, open        string
	across, down, half, more, to, chosen string
}

var unicodeMarks = marks{
	yes: "✓", no: "✗", wait: "…", sub: "└", dot: "●", open: "○",
	across: "─", down: "│", half: "▌", more: "…", to: "→", chosen: "▶",
}

var asciiMarks = marks{
	ascii: true,
	yes:   "+", no: "x", wait: "~", sub: "`-", dot: "*", open: "o",
	across: "-", down: "|", half: ">", more: "...", to: "->", chosen: ">",
}

// safe returns foreign text in a form that may be shown on the screen: see [terminal.Safe]. If the
// terminal shows only ASCII, anything else becomes a question mark.
func (m marks) safe(text string) string {
	text = strings.ReplaceAll(terminal.Safe(text), "\t", "    ")
	if !m.ascii {
		return text
	}
	text = strings.ReplaceAll(text, "…", asciiMarks.more)
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			return r
		case strings.ContainsRune("“”„", r):
			return '"'
		case strings.ContainsRune("‘’", r):
			return '\''
		case r == '–' || r == '—' || r == '─':
			return '-'
		}
		return '?'
	}, text)
}

// name returns somebody's name in one row, and not too long.
func (m marks) name(text string) string {
	return m.cut(m.safe(strings.Join(strings.Fields(text), " ")), longestName)
}

// longestName is the greatest width of a name that is shown.
const longestName = 24

// cut returns safe text no wider than width.
func (m marks) cut(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	end, used := 0, columns(m.more)
	for rest := text; rest != ""; {
		cluster, wide := first(rest)
		if used+wide > width {
			break
		}
		used, end, rest = used+wide, end+len(cluster), rest[len(cluster):]
	}
	if columns(m.more) > width {
		return strings.Repeat(".", max(0, width))
	}
	return strings.TrimRight(text[:end], " ") + m.more
}

// first and columns measure the width of safe text.
var first, columns = terminal.Cluster, terminal.Columns

func (r row) columns() (width int) {
	for _, s := range r {
		width += columns(s.text)
	}
	return width
}

// text returns the text of r, without its tones.
func (r row) text() string {
	var b strings.Builder
	for _, s := range r {
		b.WriteString(s.text)
	}
	return b.String()
}

// fit returns r with exactly this width: cut off, or filled with blanks.
func (m marks) fit(r row, width int) row {
	used, fits := 0, make(row, 0, len(r)+1)
	for k, s := range r {
		s.text = strings.ReplaceAll(s.text, "\n", " ")
		wide := columns(s.text)
		if used+wide > width || used+wide == width && k+1 < len(r) && r[k+1:].columns() > 0 {
			fits = append(fits, span{s.tone, m.cut(s.text+" ", width-used)})
			used = fits.columns()
			break
		}
		used, fits = used+wide, append(fits, s)
	}
	if used < width {
		fits = append(fits, span{plain, strings.Repeat(" ", width-used)})
	}
	return fits
}

// coloured returns the text of r with escape sequences.
func (r row) coloured() string {
	var b strings.Builder
	for _, s := range r {
		if look := looks[s.tone]; look != "" && s.text != "" {
			s.text = look + s.text + reset
		}
		b.WriteString(s.text)
	}
	return b.String()
}

// with returns r with more text at its end.
func (r row) with(t tone, text string) row {
	if n := len(r); n > 0 && r[n-1].tone == t {
		r[n-1].text += text
		return r
	}
	return append(r, span{t, text})
}

// fill returns rows with empty ones below: as many as the height.
func fill(rows []row, height int) []row {
	return append(rows, make([]row, max(0, height-len(rows)))...)[:height:height]
}

// wrap breaks text into rows of a width, at blanks where possible. The rows after the first are
// indented by hang blanks, so that nobody can write a line that looks like another person's. The
// first row has the full width, and begins with the beginning of the text.
func wrap(text row, width, hang int) []row {
	if width <= hang+1 {
		hang = 0
	}
	w := wrapper{width: max(1, width), hang: hang}
	for _, s := range text {
		w.add(s)
	}
	w.word()
	return append(w.rows, w.row)
}

// A wrapper is a text that is being broken into rows.
type wrapper struct {
	width, hang int
	rows        []row
	row         row
	col         int
	held        row // the last word, which may have to go on the next row
	wide        int
}

func (w *wrapper) add(s span) {
	for rest := s.text; rest != ""; {
		cluster, wide := first(rest)
		rest = rest[len(cluster):]
		switch cluster {
		case "\n":
			w.word()
			w.turn()
		case " ":
			w.word()
			if w.col < w.width {
				w.row, w.col = w.row.with(s.tone, " "), w.col+1
			}
		default:
			w.hold(s.tone, cluster, wide)
		}
	}
}

// hold adds a cluster to the current word. A word that is wider than a row is broken.
func (w *wrapper) hold(t tone, cluster string, wide int) {
	if wide > w.width-w.hang { // the screen is too narrow for it
		cluster, wide = "?", 1
	}
	if w.wide+wide > w.width-w.hang {
		w.word()
	}
	w.held, w.wide = w.held.with(t, cluster), w.wide+wide
}

// word puts the current word on a row.
func (w *wrapper) word() {
	if w.wide == 0 && len(w.held) == 0 {
		return
	}
	if w.col+w.wide > w.width {
		w.turn()
	}
	for _, s := range w.held {
		w.row = w.row.with(s.tone, s.text)
	}
	w.col += w.wide
	w.held, w.wide = w.held[:0:0], 0
}

// turn begins a new row.
func (w *wrapper) turn() {
	w.rows = append(w.rows, w.row)
	w.row, w.col = nil, 0
	if w.hang > 0 {
		w.row, w.col = row{{plain, strings.Repeat(" ", w.hang)}}, w.hang
	}
}
