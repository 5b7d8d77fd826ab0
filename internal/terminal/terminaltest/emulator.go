package terminaltest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"
)

// An Emulator is a small terminal: what a person would see of the bytes that
// are written to it. It knows what [earshot/internal/terminal] may send, and
// remembers whatever else comes as a fault. The zero value is not usable; see
// [NewEmulator].
type Emulator struct {
	Apart bool // it shows each part of an emoji beside the one before, as many terminals do

	width, height int
	rows          [][]string // cells; the further ones of a wide sign are ""
	past          []string   // rows that have scrolled away
	row, col      int
	full          bool // the last column was written, and the cursor has not moved
	held          []byte
	faults        []string
	bells         int
}

// NewEmulator returns an empty screen.
func NewEmulator(width, height int) *Emulator {
	e := &Emulator{width: width, height: height}
	for range height {
		e.rows = append(e.rows, e.blank())
	}
	return e
}

// Write takes in what is sent to the terminal.
func (e *Emulator) Write(b []byte) (int, error) {
	rest := append(e.held, b...)
	for len(rest) > 0 {
		n := e.step(rest)
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	e.held = append([]byte(nil), rest...)
	return len(b), nil
}

// Screen returns what is on the screen, with | for the cursor and without the
// empty rows below.
func (e *Emulator) Screen() string {
	var shown []string
	for i, cells := range e.rows {
		if i == e.row {
			shown = append(shown, strings.TrimRight(join(cells[:e.col])+"|"+join(cells[e.col:]), " "))
			continue
		}
		shown = append(shown, strings.TrimRight(join(cells), " "))
	}
	return strings.TrimRight(strings.Join(shown, "\n"), "\n")
}

// All returns everything that was ever shown and not overwritten.
func (e *Emulator) All() string {
	shown := append([]string(nil), e.past...)
	for _, cells := range e.rows {
		shown = append(shown, strings.TrimRight(join(cells), " "))
	}
	return strings.TrimRight(strings.Join(shown, "\n"), "\n")
}

// Faults returns what no earshot should have sent.
func (e *Emulator) Faults() []string { return e.faults }

// Bells returns how often the bell rang.
func (e *Emulator) Bells() int { return e.bells }

// Resize changes the size as most terminals do: rows that are too long are
// broken, and the cursor stays on its letter.
func (e *Emulator) Resize(width, height int) {
	var lines [][]string
	row, col := 0, 0
	for i, cells := range e.rows {
		text := trim(cells)
		if i == e.row {
			row, col = len(lines)+e.col/width, e.col%width
		}
		for len(text) > width {
			lines = append(lines, text[:width:width])
			text = text[width:]
		}
		lines = append(lines, text)
	}
	e.width, e.height, e.rows, e.full = width, height, nil, false
	for _, cells := range lines {
		e.rows = append(e.rows, append(cells, e.blank()[len(cells):]...))
	}
	for len(e.rows) > height && row < len(e.rows)-1 && len(trim(e.rows[len(e.rows)-1])) == 0 {
		e.rows = e.rows[:len(e.rows)-1]
	}
	for len(e.rows) > height {
		e.past = append(e.past, strings.TrimRight(join(e.rows[0]), " "))
		e.rows = e.rows[1:]
		row--
	}
	for len(e.rows) < height {
		e.rows = append(e.rows, e.blank())
	}
	e.row, e.col = max(row, 0), col
}

func (e *Emulator) step(b []byte) int {
	switch c := b[0]; {
	case c == 0x1b:
		return e.escape(b)
	case c == '\r':
		e.col, e.full = 0, false
	case c == '\n':
		e.down()
	case c == '\a':
		e.bells++
	case c < 0x20 || c == 0x7f:
		e.fault("control character %#x", c)
	case !utf8.FullRune(b):
		return 0
	default:
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			e.fault("broken rune %#x", c)
		}
		e.put(r)
		return n
	}
	return 1
}

func (e *Emulator) put(r rune) {
	width := uniseg.StringWidth(string(r))
	if e.Apart {
		width = ansi.StringWidthWc(string(r))
	}
	if cell := e.last(); cell != nil && !(e.Apart && width > 0) {
		if joined := *cell + string(r); uniseg.GraphemeClusterCount(joined) == 1 && uniseg.StringWidth(joined) == uniseg.StringWidth(*cell) {
			*cell = joined
			return
		}
	}
	width = max(1, width)
	if e.full || e.col+width > e.width {
		e.col, e.full = 0, false
		e.down()
	}
	e.rows[e.row][e.col] = string(r)
	for i := 1; i < width; i++ {
		e.rows[e.row][e.col+i] = ""
	}
	e.col += width
	if e.col == e.width {
		e.col, e.full = e.width-1, true
	}
}

// last returns the cell that was written last.
func (e *Emulator) last() *string {
	col := e.col - 1
	if e.full {
		col = e.col
	}
	for col > 0 && e.rows[e.row][col] == "" {
		col--
	}
	if col < 0 || e.rows[e.row][col] == " " {
		return nil
	}
	return &e.rows[e.row][col]
}

func (e *Emulator) down() {
	e.full = false
	if e.row++; e.row == e.height {
		e.past = append(e.past, strings.TrimRight(join(e.rows[0]), " "))
		e.rows = append(e.rows[1:], e.blank())
		e.row--
	}
}

func (e *Emulator) escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] == '>' {
		return 2
	}
	if b[1] != '[' {
		e.fault("escape sequence %q", b[:2])
		return 2
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 {
			e.sequence(string(b[2:i]), b[i])
			return i + 1
		}
	}
	return 0
}

func (e *Emulator) sequence(params string, final byte) {
	n := 1
	if v, err := strconv.Atoi(params); err == nil {
		n = v
	}
	switch final {
	case 'A':
		if n > e.row {
			e.fault("%d rows up from row %d", n, e.row)
		}
		e.row, e.full = max(0, e.row-n), false
	case 'C':
		e.col, e.full = min(e.width-1, e.col+n), false
	case 'H':
		e.row, e.col, e.full = 0, 0, false
	case 'K':
		e.erase(e.row, e.col)
	case 'J':
		e.below(params)
	case 'h', 'l', 'm':
	default:
		e.fault("sequence %q %q", params, final)
	}
}

func (e *Emulator) below(params string) {
	row, col := e.row, e.col
	if params == "2" {
		row, col = 0, 0
	}
	e.erase(row, col)
	for i := row + 1; i < e.height; i++ {
		e.erase(i, 0)
	}
}

func (e *Emulator) erase(row, col int) {
	for i := col; i < e.width; i++ {
		e.rows[row][i] = " "
	}
}

func (e *Emulator) blank() []string {
	return strings.Split(strings.Repeat(" ", e.width), "")
}

func (e *Emulator) fault(format string, args ...any) {
	e.faults = append(e.faults, fmt.Sprintf(format, args...))
}

func join(cells []string) string { return strings.Join(cells, "") }

// trim returns cells without the empty ones at the end.
func trim(cells []string) []string {
	for len(cells) > 0 && cells[len(cells)-1] == " " {
		cells = cells[:len(cells)-1]
	}
	return cells
}
