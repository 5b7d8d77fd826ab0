package compose

import (
	"earshot/internal/lazyregexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const (
	// widest is the longest thing that is kept whole, in bytes: less than a part.
	widest = 1500
	// longestCharacter bounds what a reader may see as one character, in bytes: no family emoji is
	// longer, and only mischief piles up more accents.
	longestCharacter = 128
	// longestLine bounds the line that opens a code block, in bytes.
	longestLine = 200
)

// zero breaks what looks like a mention: a zero-width space.
const zero = "\u200b"

// A gap is how good a place for a cut is after an atom.
type gap int

const (
	tight     gap = iota // within a word
	word                 // after white space
	sentence             // after the end of a sentence
	line                 // after a line
	paragraph            // after a paragraph or a code block
	never                // one side would be empty
)

// An atom is a piece of text that is never split.
type atom struct {
	size  int    // bytes of the text
	shown string // what is posted for it
	runes int    // of shown
	gap   gap
	blank bool   // invisible at the edge of a message
	user  uint64 // whom it pings
	fence fence  // the code block that is open after it
	opens bool   // it opens a block
}

// A fence is an open code block. The zero value is none.
type fence struct {
	run      int // of backticks
	language string
}

func (f fence) open() bool { return f.run > 0 }

// head opens the block, and foot closes it.
func (f fence) head() string { return "```" + f.language + "\n" }

const foot = "```"

// A scanner splits a text into atoms. It is told whether more text will come: then it returns
// nothing that more text could change.
type scanner struct {
	names Names // the longest first
	fence fence

	// The preceding text.
	begun bool // the line has more than white space
	last  rune // 0 at the beginning
	stop  bool // a sentence may end here
}

// next returns the first atom of text; false if that is not known yet.
func (s *scanner) next(text string, all bool) (atom, bool) {
	if text == "" {
		return atom{}, false
	}
	a, ok := s.find(text, all)
	if !ok {
		return atom{}, false
	}
	a.runes = utf8.RuneCountInString(a.shown)
	a.fence = s.fence
	s.pass(text[:a.size], &a)
	return a, true
}

// pass records what later atoms depend on, and rates the gap after a.
func (s *scanner) pass(source string, a *atom) {
	last, _ := utf8.DecodeLastRuneInString(source)
	switch {
	case last == '\n':
		if a.gap == tight {
			a.gap = line
			if !s.begun && s.last != 0 && !a.fence.open() {
				a.gap = paragraph
			}
		}
		s.begun, s.stop = false, false
	case unicode.IsSpace(last):
		a.gap = word
		if s.stop && !a.fence.open() {
			a.gap = sentence
		}
	default:
		s.begun = true
		switch {
		case strings.ContainsRune("。！？", last):
			a.gap, s.stop = sentence, true
		case strings.ContainsRune(".!?…", last):
			s.stop = !unicode.IsDigit(s.last) // otherwise it may be the number of a list
		case s.stop && strings.ContainsRune(`"'”’»)]*_`, last):
		default:
			s.stop = false
		}
	}
	s.last = last
}

// find finds the atom, without effects on later ones.
func (s *scanner) find(text string, all bool) (atom, bool) {
	if s.fence.open() {
		return s.code(text, all)
	}
	if !s.begun {
		if a, known, is := s.opening(text, all); is || !known {
			return a, known
		}
	}
	switch text[0] {
	case '`':
		if m := midLine.FindStringSubmatch(text[:min(len(text), longestLine)]); m != nil {
			return s.open(m), true
		}
		return s.span(text, run(text, '`'), all)
	case '|':
		if run(text, '|') == 2 {
			return s.span(text, 2, all)
		}
		if len(text) == 1 && !all {
			return atom{}, false
		}
	case '\\':
		if len(text) == 1 && !all {
			return atom{}, false
		}
		if len(text) > 1 && strings.IndexByte("`|*_~\\[]#>-", text[1]) >= 0 {
			return whole(text[:2])
		}
	case '<':
		return s.angle(text, all)
	case '@':
		return s.at(text, all)
	case '[':
		return s.link(text, all)
	case 'h':
		if !inWord(s.last) {
			return s.address(text, all)
		}
	}
	return character(text, all)
}

// run is how often c stands at the beginning of text.
func run(text string, c byte) int {
	n := 0
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}

// whole is an atom that is posted as it is, but for what nobody sees.
func whole(source string) (atom, bool) {
	return atom{size: len(source), shown: strings.Map(seen, strings.ToValidUTF8(source, "\ufffd"))}, true
}

// seen drops control characters.
func seen(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

// character is what a reader takes as one.
func character(text string, all bool) (atom, bool) {
	switch c := text[0]; {
	case c == '\n', c == ' ': // no joiner follows them
		return shownAs(text[:1]), true
	case c < utf8.RuneSelf && len(text) > 1 && text[1] < utf8.RuneSelf && c != '\r':
		return shownAs(text[:1]), true
	}
	c, rest, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	if rest == "" && !all && len(c) <= longestCharacter {
		return atom{}, false // it may grow
	}
	if len(c) > longestCharacter {
		n := longestCharacter
		for n > 0 && !utf8.RuneStart(c[n]) {
			n--
		}
		c = c[:max(n, 1)]
	}
	return shownAs(c), true
}

// shownAs is the atom of a character.
func shownAs(c string) atom {
	a := atom{size: len(c), shown: c, blank: blank(c)}
	if c == "\r\n" || c == "\r" {
		a.shown = "\n"
	} else if len(c) > 1 || c < " " || c > "~" {
		a.shown = strings.Map(seen, strings.ToValidUTF8(c, "\ufffd"))
	}
	return a
}

// blank reports whether nothing is to be seen of text.
func blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r)
	})
}

// What opens a block of code: a line of its own, or the end of one, as after the mark of
// a list; there nothing but a language may follow.
var (
	fenceLine = lazyregexp.New("^[ \t]*(`{3,})([^`\n]*)\n")
	midLine   = lazyregexp.New("^(`{3,})([A-Za-z0-9_+\\-.#]*)[ \t\r]*\n")
)

var language = lazyregexp.New(`^[A-Za-z0-9_+\-.#]{1,40}$`)

// opening returns the line that opens a code block, if text begins with one, as far as that is
// known.
func (s *scanner) opening(text string, all bool) (a atom, known, is bool) {
	ticks := strings.TrimLeft(text[:min(len(text), longestLine)], " \t")
	if strings.Trim(ticks[:min(3, len(ticks))], "`") != "" {
		return a, true, false
	}
	m := fenceLine.FindStringSubmatch(text[:min(len(text), longestLine)])
	if m == nil {
		open := len(text) < longestLine && !strings.Contains(text, "\n") && strings.Count(strings.TrimLeft(ticks, "`"), "`") == 0
		return a, all || !open, false
	}
	return s.open(m), true, true
}

// open opens a block of code, of which m has the line, the marks and what follows them.
func (s *scanner) open(m []string) atom {
	s.fence = fence{run: len(m[1])}
	if info := strings.Fields(m[2]); len(info) > 0 && language.MatchString(info[0]) {
		s.fence.language = info[0]
	}
	return atom{size: len(m[0]), shown: s.fence.head(), opens: true, gap: never}
}

var closing = lazyregexp.New("^`{3,}[ \t\r]*(\n|$)")

// code returns the content of a code block, or its closing line.
func (s *scanner) code(text string, all bool) (atom, bool) {
	ticks := run(text, '`')
	if ticks == 0 {
		return character(text, all)
	}
	if !all && len(text) < longestLine && strings.TrimLeft(text[ticks:], " \t\r") == "" {
		return atom{}, false // the line may end here
	}
	if m := closing.FindStringSubmatch(text); m != nil && ticks >= s.fence.run {
		s.fence = fence{}
		return atom{size: len(m[0]), shown: foot + m[1], gap: paragraph}, true
	}
	ticks = min(ticks, widest)
	if ticks < 3 {
		return whole(text[:ticks])
	}
	// Discord would end the block here.
	return atom{size: ticks, shown: strings.ReplaceAll(text[:ticks], "``", "``"+zero)}, true
}

// span is what stands between two equal runs of n marks in a paragraph: code, or a
// spoiler. A run that none follows stands for itself.
func (s *scanner) span(text string, n int, all bool) (atom, bool) {
	near := text[:min(len(text), widest)]
	if p := strings.Index(near, "\n\n"); p >= 0 && n < 3 {
		near, all = near[:p], true
	}
	for i := n; i < len(near); {
		k := run(near[i:], text[0])
		if k == n && (i+k < len(near) || all || len(near) >= widest) {
			return whole(near[:i+k])
		}
		i += max(k, 1)
	}
	if !all && len(near) < widest {
		return atom{}, false
	}
	return whole(text[:min(n, widest)])
}

var angled = lazyregexp.New(`^<[^<>\s]{1,200}>`)

// angle is what begins with "<": one of Discord's own marks, or an address.
func (s *scanner) angle(text string, all bool) (atom, bool) {
	if len(text) == 1 && !all {
		return atom{}, false
	}
	if len(text) > 1 && text[1] == '@' {
		return atom{size: 1, shown: "<" + zero}, true
	}
	if m := angled.FindString(text); m != "" {
		return whole(m)
	}
	if end := strings.IndexAny(text[1:], "<> \t\r\n"); end < 0 && !all && len(text) < 200 {
		return atom{}, false
	}
	return character(text, true)
}

var everybody = []string{"everyone", "here"}

// at is what begins with "@".
func (s *scanner) at(text string, all bool) (atom, bool) {
	rest := text[1:]
	if !inWord(s.last) {
		n, id, known := match(s.names, rest, all)
		if !known {
			return atom{}, false
		}
		if n > 0 {
			return atom{size: 1 + n, shown: "<@" + strconv.FormatUint(id, 10) + ">", user: id}, true
		}
	}
	for _, e := range everybody {
		if len(rest) < len(e) && !all && strings.EqualFold(rest, e[:len(rest)]) {
			return atom{}, false
		}
		if len(rest) >= len(e) && strings.EqualFold(rest[:len(e)], e) {
			return atom{size: 1 + len(e), shown: "@" + zero + rest[:len(e)]}, true
		}
	}
	return character(text, all)
}

// match finds the longest of some names that text begins with, and is a word by itself;
// false if more text could say so.
func match(names Names, text string, all bool) (n int, id uint64, known bool) {
	for _, name := range names { // the longest first
		k, open := folded(text, name.Name)
		if open && !all {
			return 0, 0, false
		}
		if k == 0 {
			continue
		}
		if k == len(text) && !all {
			return 0, 0, false
		}
		if r, _ := utf8.DecodeRuneInString(text[k:]); k < len(text) && (inWord(r) || unicode.Is(unicode.M, r)) {
			continue
		}
		return k, name.ID, true
	}
	return 0, 0, true
}

// folded returns by how many bytes text begins with a name, in whatever case, and
// whether it ends before that is known.
func folded(text, name string) (n int, open bool) {
	for _, want := range name {
		if n == len(text) {
			return 0, true
		}
		r, size := utf8.DecodeRuneInString(text[n:])
		if r != want && !strings.EqualFold(string(r), string(want)) {
			return 0, r == utf8.RuneError && !utf8.FullRuneInString(text[n:])
		}
		n += size
	}
	return n, false
}

// inWord reports whether what follows r would be part of the same word.
func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

var (
	linked  = lazyregexp.New(`^\[[^\[\]\n]{1,300}\]\([^()\s]{1,1000}\)`)
	linking = lazyregexp.New(`^\[[^\[\]\n]{0,300}(\](\([^()\s]{0,1000})?)?$`)
)

// link is an address with a text.
func (s *scanner) link(text string, all bool) (atom, bool) {
	if m := linked.FindString(text[:min(len(text), widest)]); m != "" && !strings.Contains(m, "@") {
		return whole(m)
	}
	if !all && len(text) < widest && linking.MatchString(text) {
		return atom{}, false
	}
	return character(text, true)
}

// address is a link as it is.
func (s *scanner) address(text string, all bool) (atom, bool) {
	for _, scheme := range []string{"https://", "http://"} {
		if len(text) < len(scheme) && !all && text == scheme[:len(text)] {
			return atom{}, false
		}
		if !strings.HasPrefix(text, scheme) {
			continue
		}
		near := text[:min(len(text), widest)]
		end := strings.IndexFunc(near, func(r rune) bool { return unicode.IsSpace(r) || r == '<' || r == '>' || r == '`' || r == '|' })
		switch {
		case end > 0:
			return whole(text[:end])
		case len(near) == widest:
			return character(text, true) // none that anybody follows
		case !all:
			return atom{}, false
		}
		return whole(text)
	}
	return character(text, all)
}

// Names are the people who may be mentioned in a channel.
type Names []Name

// A Name is the name of a person, without the mark before it.
type Name struct {
	Name string
	ID   uint64
}

// sorted returns n with the longest names first, without empty ones.
func (n Names) sorted() Names {
	n = slices.DeleteFunc(slices.Clone(n), func(n Name) bool { return strings.TrimSpace(n.Name) == "" || n.ID == 0 })
	slices.SortStableFunc(n, func(a, b Name) int { return len(b.Name) - len(a.Name) })
	return n
}
