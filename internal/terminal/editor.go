package terminal

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"earshot"
)

// An Editor is one line that is being written, which may have several rows
// after a paste, and those that were written before. It never holds more than
// [earshot.MaxText] bytes. It has no goroutine: the caller steps it. The zero
// value is ready.
type Editor struct {
	text   string
	at     int    // the cursor, on a grapheme's edge
	killed string // what Yank brings back
	past   history
}

// Text returns the line.
func (e *Editor) Text() string { return e.text }

// Cursor returns how many bytes of the line are before the cursor.
func (e *Editor) Cursor() int { return e.at }

// Step does what k means, and reports false for what does not fit the line,
// which is then as it was. Strokes that are not about the line, such as Enter,
// do nothing.
func (e *Editor) Step(k Key) bool {
	switch k.Does {
	case Insert, Paste, Burst:
		return !k.Over && e.insert(k.Text)
	case Yank:
		return e.insert(e.killed)
	case Rubout:
		e.cut(e.at-e.left(), 0)
	case Delete:
		e.cut(0, e.right()-e.at)
	case KillLine:
		e.kill(e.at, 0)
	case KillEnd:
		e.kill(0, len(e.text)-e.at)
	case KillWord:
		e.kill(e.at-e.wordLeft(), 0)
	case Up:
		e.show(e.past.older(e.text))
	case Down:
		e.show(e.past.newer())
	default:
		e.at = e.target(k.Does)
	}
	return true
}

// Take returns the line, remembers it, and begins an empty one.
func (e *Editor) Take() string {
	text := e.text
	e.past.add(text)
	e.text, e.at = "", 0
	return text
}

// Drop empties the line. Yank brings it back.
func (e *Editor) Drop() {
	if e.text != "" {
		e.killed = e.text
	}
	e.past.leave()
	e.text, e.at = "", 0
}

// Replace puts text in the place of some bytes before the cursor, and reports false if that
// does not fit.
func (e *Editor) Replace(before int, text string) bool {
	if len(e.text)-before+len(text) > earshot.MaxText {
		return false
	}
	e.cut(before, 0)
	return e.insert(text)
}

// Past returns the lines that were taken, the newest last.
func (e *Editor) Past() []string { return slices.Clone(e.past.lines) }

// Restore makes text the line again, and reports false if another has been
// begun: then it is only in the history.
func (e *Editor) Restore(text string) bool {
	if e.text != "" {
		return false
	}
	e.past.leave()
	e.text, e.at = text, len(text)
	return true
}

// target returns where the cursor goes.
func (e *Editor) target(s Stroke) int {
	switch s {
	case Left:
		return e.left()
	case Right:
		return e.right()
	case WordLeft:
		return e.wordLeft()
	case WordRight:
		return e.wordRight()
	case Home:
		return 0
	case End:
		return len(e.text)
	}
	return e.at
}

func (e *Editor) insert(text string) bool {
	if len(e.text)+len(text) > earshot.MaxText {
		return false
	}
	e.text = e.text[:e.at] + text + e.text[e.at:]
	e.at += len(text)
	e.settle()
	return true
}

// cut takes out some bytes before the cursor and some after it.
func (e *Editor) cut(before, after int) {
	e.text = e.text[:e.at-before] + e.text[e.at+after:]
	e.at -= before
	e.settle()
}

// kill is cut, and keeps what was taken out.
func (e *Editor) kill(before, after int) {
	if before+after > 0 {
		e.killed = e.text[e.at-before : e.at+after]
	}
	e.cut(before, after)
}

// show makes text the line, if there is one to show.
func (e *Editor) show(text string, ok bool) {
	if ok {
		e.text, e.at = text, len(text)
	}
}

// settle moves the cursor to the end of the grapheme that it is in, since an
// edit may have joined two.
func (e *Editor) settle() {
	start := e.rowStart(e.at)
	for end := start; end < len(e.text); {
		if end >= e.at {
			e.at = end
			return
		}
		c, _, _, _ := uniseg.FirstGraphemeClusterInString(e.text[end:], -1)
		end += len(c)
	}
	e.at = len(e.text)
}

// left returns the edge before the cursor.
func (e *Editor) left() int {
	if e.at == 0 || e.text[e.at-1] == '\n' {
		return max(0, e.at-1)
	}
	return e.edge(e.at - 1)
}

// edge returns the last grapheme's edge that is not after position at.
func (e *Editor) edge(at int) int {
	last := e.rowStart(at)
	for end := last; end <= at && end < len(e.text); {
		last = end
		c, _, _, _ := uniseg.FirstGraphemeClusterInString(e.text[end:], -1)
		end += len(c)
	}
	return last
}

// rowStart returns where the row with position at begins. No grapheme reaches
// over it, so that is where one can begin to count.
func (e *Editor) rowStart(at int) int {
	return strings.LastIndexByte(e.text[:at], '\n') + 1
}

// right returns the edge after the cursor.
func (e *Editor) right() int {
	c, _, _, _ := uniseg.FirstGraphemeClusterInString(e.text[e.at:], -1)
	return e.at + len(c)
}

// wordLeft returns where the word before the cursor begins.
func (e *Editor) wordLeft() int {
	before := strings.TrimRightFunc(e.text[:e.at], unicode.IsSpace)
	i := strings.LastIndexFunc(before, unicode.IsSpace)
	if i < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(before[i:])
	return e.edge(i + size)
}

// wordRight returns where the word after the cursor ends.
func (e *Editor) wordRight() int {
	after := strings.TrimLeftFunc(e.text[e.at:], unicode.IsSpace)
	i := strings.IndexFunc(after, unicode.IsSpace)
	if i < 0 {
		return len(e.text)
	}
	return len(e.text) - len(after) + i
}

const (
	pastLines = 200     // more than anybody goes back by one key
	pastBytes = 1 << 20 // sixteen of the longest lines
)

// history is the lines that were sent, in memory only. While one of them is
// shown, what was being written is kept.
type history struct {
	lines []string
	bytes int
	back  int    // how many lines back; 0 is the draft
	draft string // while back is not 0
}

// add appends a line, and forgets the oldest beyond the bounds.
func (h *history) add(line string) {
	h.leave()
	if line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	h.bytes += len(line)
	for len(h.lines) > pastLines || h.bytes > pastBytes {
		h.bytes -= len(h.lines[0])
		h.lines = h.lines[1:]
	}
}

// leave returns to the draft, which is then somebody else's.
func (h *history) leave() { h.back, h.draft = 0, "" }

// older returns the line before the one that is shown, which is now.
func (h *history) older(now string) (string, bool) {
	if h.back == len(h.lines) {
		return "", false
	}
	if h.back == 0 {
		h.draft = now
	}
	h.back++
	return h.lines[len(h.lines)-h.back], true
}

// newer returns the line after the one that is shown, at last the draft.
func (h *history) newer() (string, bool) {
	switch h.back {
	case 0:
		return "", false
	case 1:
		draft := h.draft
		h.leave()
		return draft, true
	}
	h.back--
	return h.lines[len(h.lines)-h.back], true
}
