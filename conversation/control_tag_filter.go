package conversation

import "strings"

const (
	// mostTag is how long a tag may be in bytes, with everything in it.
	mostTag = 32

	// mostTold is how many bytes may be between two tags: several names.
	mostTold = 256
)

// A ControlTagFilter filters a streamed reply, piece by piece, and removes what a model says to the
// program. <world>pass</world> leaves the floor to a person, and <world>TO: Ann, Bob</world> calls
// the named participants. Any other tag of this name is removed too, wherever it is. How the reply
// is cut into pieces makes no difference, and a reply without such tags comes through byte for
// byte. At most a tag and the names it may enclose are held back. The zero value is ready to use.
type ControlTagFilter struct {
	Passed bool     // the reply ended here
	Calls  []string // the names called by tags
	Stray  int      // the number of tags that mean nothing

	held   string // text that may be the beginning of a tag
	told   string // what has been enclosed so far
	opened bool   // an opening tag has been seen

	tag  tag  // how the held text looks
	tail tag  // how the end of the released text looks
	line bool // part of the line was released
	gap  bool // a tag was removed from this line
}

// Next returns the part of the reply that may be said after piece has come. After a pass it is
// empty.
func (t *ControlTagFilter) Next(piece string) string {
	if !t.opened && t.held == "" && !t.gap && t.tail == none && strings.IndexByte(piece, '<') < 0 {
		return t.plain(piece)
	}
	var out strings.Builder
	for i := 0; i < len(piece) && !t.Passed; i++ {
		t.step(&out, piece[i:i+1])
	}
	return out.String()
}

// plain releases a piece in which no tag can begin.
func (t *ControlTagFilter) plain(piece string) string {
	if t.Passed {
		return ""
	}
	if piece != "" {
		t.line = piece[len(piece)-1] != '\n'
	}
	return piece
}

// End returns text that was held back and turned out to be no tag.
func (t *ControlTagFilter) End() string {
	var out strings.Builder
	if t.opened && passes(t.told) { // small models forget the closing tag
		t.pass()
	}
	if !t.Passed {
		t.broken(&out)
		t.release(&out, t.held)
	}
	t.held = ""
	return out.String()
}

// step processes the next byte.
func (t *ControlTagFilter) step(out *strings.Builder, c string) {
	next := t.tag.next(c[0])
	switch {
	case next >= whole:
		t.held, t.tag = "", none
		t.take(out, next)
		return
	case c == "<": // what had begun is no tag
		t.let(out)
	}
	t.held += c
	if t.tag = next; len(t.held) > mostTag {
		t.let(out) // nobody writes such a long tag
		if next == odd {
			t.tag = none
		}
	}
	if t.tag == none {
		t.let(out)
	}
}

// let moves the held text to the enclosed text or to the output.
func (t *ControlTagFilter) let(out *strings.Builder) {
	held := t.held
	t.held = ""
	if !t.opened {
		t.release(out, held)
		return
	}
	if t.told += held; len(t.told) > mostTold {
		t.broken(out)
	}
}

// broken handles a tag that is never closed.
func (t *ControlTagFilter) broken(out *strings.Builder) {
	if !t.opened {
		return
	}
	told := t.told
	t.Stray++
	t.opened, t.told = false, ""
	t.cut()
	t.release(out, told)
}

// take removes a tag.
func (t *ControlTagFilter) take(out *strings.Builder, what tag) {
	switch {
	case what == wholeOdd:
		t.broken(out)
		t.Stray++
		t.cut()
	case t.opened && (what == wholeEnd || passes(t.told)):
		t.does(t.told)
		t.opened, t.told = false, ""
		t.cut()
	case what == wholeEnd:
		t.Stray++
		t.cut()
	default:
		t.broken(out)
		t.opened = true
	}
}

// does carries out the words between two tags.
func (t *ControlTagFilter) does(told string) {
	names, calls := cutFold(strings.TrimSpace(told), "to:")
	switch {
	case passes(told):
		t.pass()
	case calls:
		before := len(t.Calls)
		for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == ',' || r == ';' || r == '\n' }) {
			if name = strings.TrimLeft(strings.TrimSpace(name), "@"); name != "" && len(t.Calls) < mostUnknown {
				t.Calls = append(t.Calls, name)
			}
		}
		if len(t.Calls) == before {
			t.Stray++
		}
	default:
		t.Stray++
	}
}

// passes reports whether the words between two tags leave the floor to a person.
func passes(told string) bool {
	switch strings.ToLower(strings.TrimSpace(told)) {
	case "pass", "stop", "done":
		return true
	}
	return false
}

func (t *ControlTagFilter) pass() { t.Passed, t.held, t.told, t.opened = true, "", "", false }

// cut notes that something was removed from the line, so that the text around it does not become a
// tag or an envelope.
func (t *ControlTagFilter) cut() { t.gap = t.gap || t.line || t.tail != none }

// release outputs text.
func (t *ControlTagFilter) release(out *strings.Builder, text string) {
	for i := range len(text) {
		c := text[i]
		if t.gap && (c != '\n' || t.tail != none) {
			out.WriteString(missing)
			t.tail = none
		}
		t.gap = false
		out.WriteByte(c)
		t.tail, t.line = t.tail.next(c), c != '\n'
	}
}

// missing marks where a tag was removed in the middle of a line.
const missing = "…"

// A tag says how much of a tag has been seen: the number of letters of its name that follow the
// beginning of a tag, or of a closing tag.
type tag int8

// The states outside the name.
const (
	none     tag = 0
	begun    tag = 1  // "<", and perhaps space; letters follow
	ending   tag = 11 // "</", and perhaps space; letters follow
	spaced   tag = 7  // the name, followed by space; ten more for a closing tag
	odd      tag = 20 // the name, followed by something that does not belong there
	whole    tag = 21 // "<world>"
	wholeEnd tag = 22 // "</world>"
	wholeOdd tag = 23 // "<world pass>"
)

// tagName is the name of the tags.
const tagName = "world"

// next returns the state after one more byte.
func (t tag) next(c byte) tag {
	space := c == ' ' || '\t' <= c && c <= '\r'
	switch {
	case c == '<':
		return begun
	case t == none || t >= whole:
		return none
	case t == odd && c == '>':
		return wholeOdd
	case t == odd && c != '\n':
		return odd
	case t == odd:
		return none
	case t == begun && c == '/':
		return ending
	}
	from := begun
	if t >= ending {
		from = ending
	}
	switch letters := int(t - from); { // the letters seen so far
	case letters < len(tagName) && lower(c) == tagName[letters]:
		return t + 1
	case letters == 0 && space:
		return t
	case letters < len(tagName):
		return none
	case c == '>' && from == begun:
		return whole
	case c == '>':
		return wholeEnd
	case space:
		return from + spaced - begun
	case t == from+spaced-begun || strings.IndexByte("/:=", c) >= 0:
		return odd
	}
	return none
}
