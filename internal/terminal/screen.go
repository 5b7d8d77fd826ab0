package terminal

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
)

const (
	eraseRow   = "\x1b[K" // from the cursor on
	eraseBelow = "\x1b[J" // from the cursor on
	wipe       = "\x1b[H\x1b[2J"
	hide, show = "\x1b[?25l", "\x1b[?25h" // the cursor
	bold, dim  = "\x1b[1m", "\x1b[2m"
	normal     = "\x1b[0m"

	pasteOn, pasteOff = "\x1b[?2004h", "\x1b[?2004l"
	keysNormal        = "\x1b[?1l\x1b>" // arrows and number pad as the decoder knows them
)

const (
	leastWidth  = 8 // narrower than this no terminal is used, but some say so
	leastHeight = 2
	unanswered  = 3   // rows of what was typed under a reply that is still coming
	thinking    = "…" // where the first words of a reply will stand
	caret       = "> "
	hang        = "  " // before the further rows of whatever there is
)

// A screen is the renderer of a terminal that understands escape sequences. What
// was said scrolls away upwards and is never touched again. At the bottom is
// the live region: the last row of the reply that is coming (row), and the
// block, which is what was typed since (below), what people are saying (words),
// and the prompt. Until the first words of a reply come, and while it stops for
// something else, the block begins with a sign that they are waited for, where
// they will stand. A model may think
// for long, and the sign is still, so that a machine which waits has nothing to
// do.
//
// Each change is one frame: go to the beginning of the live region, write what
// is new over it, and write the rest of the region again below. The reply's
// last row is written again as well, so that the terminal and we never
// disagree about the column for longer than one row, however wide it takes an
// emoji to be.
type screen struct {
	height int
	colour bool

	agent   string     // whose name comes before the next text, if any
	who     string     // whose reply it is
	resumes bool       // something was shown of it already, above what it waits for
	waiting bool       // for the first text of a reply
	busy    string     // what is waited for meanwhile, if that is known
	open    bool       // row is on the screen
	label   string     // at the beginning of row
	row     flow       // the reply's last row
	gate    runeFilter // of the reply
	breaks  int        // ends of lines that wait for something to stand after them
	below   []string
	words   []Line // that people are saying

	prompting bool
	line      string // safe
	at        int    // the cursor in line
	up        int    // rows from the beginning of the block down to the cursor
	painted   *block // as it is on the screen; nil if nothing is
	laid      *block // as it should be; nil if that must be found out
}

func newScreen(width, height int, colour bool) *screen {
	s := &screen{colour: colour}
	s.size(width, height)
	return s
}

func (s *screen) clone() renderer {
	c := *s
	c.below = slices.Clone(s.below)
	return &c
}

func (s *screen) size(width, height int) {
	if width <= 0 || height <= 0 { // what a terminal says that does not know
		width, height = 80, 24
	}
	s.row.width, s.height, s.laid = max(width, leastWidth), max(height, leastHeight), nil
}

func (s *screen) name(agent string) frame {
	s.agent, s.who, s.resumes, s.waiting, s.laid = agent, agent, false, !s.open, nil
	return s.repaint()
}

// wait says what is waited for; nothing any more, if what is empty.
func (s *screen) wait(what string) frame {
	s.busy, s.laid = what, nil
	return s.repaint()
}

func (s *screen) text(text string) frame {
	var f frame
	s.rest()
	s.home(&f)
	s.reopen(&f)
	f.mark(0)
	safe, ends := s.gate.trace(text)
	for done := 0; done < len(safe); {
		done += s.cluster(&f, safe[done:])
		f.mark(ends[done-1])
	}
	f.mark(len(text)) // with what is left out at its end
	f.put("\r\n")
	s.block(&f)
	return f
}

// rest forgets what was waited for.
func (s *screen) rest() {
	if s.busy != "" {
		s.busy, s.laid = "", nil
	}
}

// reopen goes to the end of the reply's last row, or begins one.
func (s *screen) reopen(f *frame) {
	if !s.open {
		s.breaks, s.waiting, s.laid = 0, false, nil
		s.label, s.agent = s.heading(), ""
		s.gate = runeFilter{}
		s.row.begin(Columns(s.label))
		s.row.wrap, s.resumes = s.resumes, false // it does not begin with a space where it goes on
		if s.label == "" {                       // it goes on where one was left
			s.row.fresh()
		}
		s.open = true
		f.put(eraseRow)
	}
	s.again(f)
}

// heading returns the agent's name as it stands before what it says.
func (s *screen) heading() string {
	if s.agent == "" {
		return ""
	}
	return label(s.agent, s.row.width/2) + ": "
}

// again writes the reply's last row.
func (s *screen) again(f *frame) {
	f.put(s.styled(bold, s.label))
	f.put(s.row.row)
}

// cluster puts the first cluster of a safe text on the reply, and returns its
// length.
func (s *screen) cluster(f *frame, safe string) int {
	if safe[0] == '\n' {
		s.breaks++
		return 1
	}
	s.breakRows(f)
	cluster, shown, width := s.row.next(safe)
	s.put(f, shown, width)
	return len(cluster)
}

// breakRows writes the ends of lines that waited, of which more than two in
// sequence are of no use, and those at the beginning of a reply of none.
func (s *screen) breakRows(f *frame) {
	if s.breaks == 0 {
		return
	}
	if s.row.row != "" || s.label == "" {
		f.put(strings.Repeat("\r\n"+eraseRow, min(s.breaks, 2)) + hang)
		s.row.fresh()
		s.label = ""
	}
	s.breaks = 0
}

// put writes one cluster, on a new row if the last one is full.
func (s *screen) put(f *frame, shown string, width int) {
	before, head := s.row.row, s.label
	moved, turned := s.row.add(shown, width)
	switch {
	case turned && moved != "":
		f.put("\r" + s.styled(bold, head) + strings.TrimSuffix(before, moved) + eraseRow)
		fallthrough
	case turned:
		s.label = ""
		f.put("\r\n" + eraseRow + s.row.row)
	case s.row.row != before:
		f.put(shown)
	}
}

func (s *screen) end(mark string) frame {
	if s.waiting && (!s.resumes || mark == "") { // nothing is shown of it, so nothing of it stays
		s.agent, s.waiting, s.busy, s.laid = "", false, "", nil
		return s.repaint()
	}
	var f frame
	if s.busy != "" {
		f = s.wait("")
	}
	if mark != "" && (s.open || s.waiting) {
		f.put(string(s.text(mark).bytes))
	}
	s.agent = ""
	s.commit(&f)
	return f
}

// commit leaves the reply's last row as it is. What was typed below it stands
// after it for good.
func (s *screen) commit(f *frame) {
	s.label, s.open = "", false
	below := s.below
	if len(below) == 0 {
		return
	}
	s.below, s.laid = nil, nil
	s.home(f)
	for _, text := range below {
		s.insert(f, Line{Head: caret, Text: text})
	}
	s.block(f)
}

func (s *screen) note(l Line) frame {
	var f frame
	s.home(&f)
	s.insert(&f, l)
	if s.open {
		f.put(eraseRow)
		s.again(&f)
		f.put("\r\n")
	}
	s.block(&f)
	return f
}

// after shows l below what there is of the reply, which then goes on below it.
func (s *screen) after(l Line) frame {
	if !s.open {
		return s.note(l)
	}
	var f frame
	s.commit(&f)
	s.agent, s.resumes, s.waiting, s.laid = s.who, true, true, nil
	f.put(string(s.note(l).bytes))
	return f
}

// insert writes l where the cursor is, at the beginning of a row.
func (s *screen) insert(f *frame, l Line) {
	head := ""
	if l.Head != "" {
		head = label(l.Head, s.row.width/2)
	}
	style, rest := bold, ""
	if l.Quiet {
		style, rest = dim, dim
	}
	for i, row := range rows(Safe(l.Text), s.row.width, Columns(head)) {
		f.put(eraseRow)
		if i == 0 {
			f.put(s.styled(style, head))
		}
		f.put(s.styled(rest, row) + "\r\n")
	}
}

func (s *screen) echo(text string) frame {
	if s.open {
		s.below, s.laid = append(s.below, text), nil
		return s.repaint()
	}
	return s.note(Line{Head: caret, Text: text})
}

func (s *screen) prompt(line string, at int) frame {
	safe, ends := new(runeFilter).trace(line)
	before, _ := slices.BinarySearch(ends, at+1)
	s.prompting, s.line, s.at, s.laid = true, safe, before, nil
	return s.repaint()
}

// hear shows what people are saying.
func (s *screen) hear(words []Line) frame {
	s.words, s.laid = words, nil
	return s.repaint()
}

// repaint writes the block again.
func (s *screen) repaint() frame {
	var f frame
	f.put(hide)
	s.rise(&f, s.up)
	s.block(&f)
	return f
}

// resize begins the block again after the terminal's size has changed. Most
// terminals break rows that no longer fit, so it may have become higher.
func (s *screen) resize(width, height int) frame {
	s.size(width, height)
	up := 0
	if s.painted != nil {
		up = uniseg.StringWidth(s.painted.lead) / s.row.width
		for _, n := range s.painted.widths[:s.up] {
			up += max(1, (n+s.row.width-1)/s.row.width)
		}
	}
	if s.row.col > s.row.width { // nobody knows how it looks now: leave it
		s.open = false
	}
	var f frame
	f.put(hide)
	s.rise(&f, up)
	s.block(&f)
	return f
}

// clear empties the screen but for the live region.
func (s *screen) clear() frame {
	var f frame
	f.put(hide + wipe)
	if s.open {
		s.again(&f)
		f.put("\r\n")
	}
	s.block(&f)
	return f
}

// enter makes the terminal ours, and leave makes it as it was.
func (s *screen) enter() frame {
	var f frame
	s.label, s.open = "", false // what others wrote may stand between
	f.put(pasteOn + keysNormal)
	s.rise(&f, s.up)
	s.block(&f)
	return f
}

func (s *screen) leave() frame {
	var f frame
	s.commit(&f)
	s.rise(&f, s.up)
	f.put(eraseBelow + pasteOff + show)
	s.up, s.painted = 0, nil
	return f
}

// home goes to the beginning of the live region.
func (s *screen) home(f *frame) {
	up := s.up
	if s.open {
		up++
	}
	f.put(hide)
	s.rise(f, up)
}

// rise goes to the beginning of the row that is n rows higher.
func (s *screen) rise(f *frame, n int) {
	f.put("\r")
	if n > 0 {
		f.put("\x1b[" + strconv.Itoa(n) + "A")
	}
}

// styled returns text in a style, if this terminal may have any.
func (s *screen) styled(style, text string) string {
	if !s.colour || style == "" || text == "" {
		return text
	}
	return style + text + normal
}
