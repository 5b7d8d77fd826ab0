package compose

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Longest is the longest message, in code points.
const Longest = 2000

// little is the shortest part that is posted before the text is complete, in code points: a
// meaningful line.
const little = 24

// Nobody is the allowed_mentions of a message that pings nobody.
var Nobody = map[string][]string{"parse": {}}

// A Part is one message.
type Part struct {
	Content string
	Users   []uint64 // whom it pings: each once, and at most 100, Discord's limit
	Size    int      // how many bytes of the text it stands for, also invisible ones

	// Blank says that there is nothing to post: only white space is left.
	Blank bool
}

// An Urge says how much a part is wanted.
type Urge int

// The values of Urge.
const (
	Full      Urge = iota // only what makes a full message
	Paragraph             // or if paragraphs are complete
	Sentence              // or if a line or a sentence is
)

// A Composer splits a text into parts while it is still being written. The zero value is not
// usable; see [New]. It is for one goroutine.
type Composer struct {
	scan  *scanner
	head  string // the beginning of the first part
	text  string // not scanned yet
	atoms []atom // in no part yet
	fence fence  // open where atoms begin
	size  int    // of the text that is in no part yet
	whole bool   // no more text follows
}

// New returns a composer for a text that may mention the people in names. Head is put before the
// text, unchanged, and must be short.
func New(names Names, head string) *Composer {
	return &Composer{scan: &scanner{names: names.sorted()}, head: head}
}

// Add adds text.
func (c *Composer) Add(text string) {
	c.size += len(text)
	c.text += text
	c.take()
}

// End says that no more text follows.
func (c *Composer) End() {
	c.whole = true
	c.take()
}

// Left returns how many bytes of the text are in no part yet.
func (c *Composer) Left() int { return c.size }

// take scans the text, as far as possible.
func (c *Composer) take() {
	for {
		a, ok := c.scan.next(c.text, c.whole)
		if !ok {
			return
		}
		c.text = c.text[a.size:]
		c.atoms = append(c.atoms, a)
	}
}

// Next returns the next part, if one is due by the urge. Once the text has ended, all of it comes,
// and then false.
func (c *Composer) Next(u Urge) (Part, bool) {
	from := c.lead()
	if from == len(c.atoms) {
		if !c.whole || c.size == 0 {
			return Part{}, false
		}
		return c.part(0, from), true
	}
	n := c.cut(from, u)
	if n == 0 {
		return Part{}, false
	}
	return c.part(from, n), true
}

// lead returns how many atoms at the beginning are invisible.
func (c *Composer) lead() int {
	if c.fence.open() {
		return 0
	}
	i := slices.IndexFunc(c.atoms, func(a atom) bool { return !a.blank })
	if i < 0 {
		return len(c.atoms)
	}
	return i
}

// opening returns what the next part begins with.
func (c *Composer) opening() string {
	if c.fence.open() {
		return c.head + c.fence.head()
	}
	return c.head
}

// cut returns the number of atoms in the next part, or 0 if it is not due.
func (c *Composer) cut(from int, u Urge) int {
	var best [never]int   // the last gap of each kind
	var better [never]int // the same within the second half of a part
	used := utf8.RuneCountInString(c.opening())
	for i := from; i < len(c.atoms); i++ {
		a := c.atoms[i]
		used += a.runes
		room := Longest
		if a.fence.open() {
			room -= closes(a.shown)
		}
		if used > room && i > from {
			if c.atoms[i-1].opens {
				i = max(i-1, from+1)
			}
			return choose(better, best, i)
		}
		g := c.gap(i)
		if g == never {
			continue
		}
		best[g] = i + 1
		if used >= Longest/2 {
			better[g] = i + 1
		}
	}
	if c.whole {
		return len(c.atoms)
	}
	return c.early(from, u, best)
}

// closes returns how many code points it takes to close a code block after a text.
func closes(text string) int {
	if strings.HasSuffix(text, "\n") {
		return len(foot)
	}
	return len("\n" + foot)
}

// gap returns how good a place for a cut is after atom i.
func (c *Composer) gap(i int) gap {
	a := c.atoms[i]
	if i+1 < len(c.atoms) && c.atoms[i+1].opens && a.gap == line {
		return paragraph
	}
	return a.gap
}

// choose returns the best gap, which is the best kind that fills half a part, or else the best
// kind of all; if there is none, it is before atom i.
func choose(better, best [never]int, i int) int {
	for _, list := range [][never]int{better, best} {
		for _, g := range []gap{paragraph, line, sentence, word} {
			if list[g] > 0 {
				return list[g]
			}
		}
	}
	return i
}

// early returns where a part may end before it is full.
func (c *Composer) early(from int, u Urge, best [never]int) int {
	n := 0
	switch u {
	case Paragraph:
		n = best[paragraph]
	case Sentence:
		n = max(best[paragraph], best[line], best[sentence])
	}
	if n == 0 || c.atoms[n-1].fence.open() { // a code block is posted as one
		n = best[paragraph]
		if u == Full || n == 0 {
			return 0
		}
	}
	runes := 0
	for _, a := range c.atoms[from:n] {
		runes += a.runes
	}
	if runes < little {
		return 0
	}
	return n
}

// part makes a part of a range of atoms, and includes the invisible ones after it.
func (c *Composer) part(from, to int) Part {
	var b strings.Builder
	b.WriteString(c.opening())
	p := Part{Blank: from == to}
	var users []uint64
	for _, a := range c.atoms[from:to] {
		b.WriteString(a.shown)
		if a.user != 0 && !slices.Contains(users, a.user) {
			users = append(users, a.user)
		}
	}
	open := c.fence
	if to > 0 {
		open = c.atoms[to-1].fence
	}
	content := b.String()
	if open.open() {
		if !strings.HasSuffix(content, "\n") {
			content += "\n"
		}
		content += foot
		if n := c.closed(to); n > to {
			open, to = fence{}, n // the next part would begin with an empty block
		}
	}
	for to < len(c.atoms) && c.atoms[to].blank && !open.open() {
		to++
	}
	for _, a := range c.atoms[:to] {
		p.Size += a.size
	}
	p.Content = strings.TrimSpace(content)
	p.Users = users[:min(len(users), most)]
	p.Blank = p.Blank || blank(p.Content)
	c.atoms, c.fence = c.atoms[to:], open
	c.size -= p.Size
	if !p.Blank {
		c.head = ""
	}
	return p
}

// closed returns the atom that closes the code block open at an atom, if nothing visible comes
// before that; otherwise at.
func (c *Composer) closed(at int) int {
	for i := at; i < len(c.atoms); i++ {
		if !c.atoms[i].fence.open() {
			return i + 1
		}
		if !c.atoms[i].blank {
			break
		}
	}
	return at
}

// most is how many people a message may ping.
const most = 100

// All returns the parts of a whole text that are not blank.
func All(text string, names Names) (parts []Part) {
	c := New(names, "")
	c.Add(text)
	c.End()
	for {
		p, ok := c.Next(Full)
		if !ok {
			return parts
		}
		if !p.Blank {
			parts = append(parts, p)
		}
	}
}

// SmallPrint returns a text, unchanged, as lines of Discord's small print.
func SmallPrint(text string) string {
	lines := strings.Split(Escape(text), "\n")
	for i, l := range lines {
		lines[i] = "-# " + l
	}
	return strings.Join(lines, "\n")
}

var marks = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "~", `\~`, "|", `\|`, "[", `\[`, "]", `\]`, "(", `\(`,
	"<", "<"+zero, "@", "@"+zero, "://", ":"+zero+"//", "\r\n", "\n", "\r", "\n",
)

// Escape returns text that shows unchanged as a part of a message: it has no formatting, mentions
// nobody and links nowhere. It is for names that people chose, and for what they said. Formatting
// marks that count only at the beginning of a line are escaped as well.
func Escape(text string) string {
	lines := strings.Split(marks.Replace(text), "\n")
	for i, l := range lines {
		l = strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' || r == 0x7f {
				return -1
			}
			return r
		}, l)
		if t := strings.TrimLeft(l, " \t"); t != "" && strings.ContainsRune("#>-+", rune(t[0])) {
			l = l[:len(l)-len(t)] + `\` + t
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}
