package tts

import (
	"earshot/internal/lazyregexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A scanner goes through one piece of text.
type scanner struct {
	*Reader
	text string
	at   int
	path bool // within a path of files, where a slash is said
	out  speechBuilder
}

// window is how far a rule looks, in bytes, so that a long text is not searched again for each of
// its words.
const window = 160

// ahead returns what a rule may look at.
func (s *scanner) ahead() string {
	rest := s.text[s.at:]
	if len(rest) <= window {
		return rest
	}
	end := window
	for !utf8.RuneStart(rest[end]) && end > window-utf8.UTFMax {
		end--
	}
	return rest[:end]
}

// before returns the rune before the position, a space at the beginning.
func (s *scanner) before() rune {
	if s.at == 0 {
		return ' '
	}
	r, _ := utf8.DecodeLastRuneInString(s.text[:s.at])
	return r
}

// after returns the rune that stands n bytes ahead, a space at the end.
func (s *scanner) after(n int) rune {
	if s.at+n >= len(s.text) {
		return ' '
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.at+n:])
	return r
}

// A rule says one kind of thing. Take returns how many bytes it has said, or 0 if it does not
// apply after all.
type rule struct {
	pattern *lazyregexp.Regexp
	take    func(s *scanner, m []string) int
}

// says returns a take that says all of what the pattern has matched in another form, unless that is
// empty.
func says(form func(s *scanner, m []string) string) func(*scanner, []string) int {
	return func(s *scanner, m []string) int {
		said := form(s, m)
		if said == "" {
			return 0
		}
		s.say(said)
		return len(m[0])
	}
}

// ignored is a take that says nothing of what the pattern has matched.
func ignored(_ *scanner, m []string) int { return len(m[0]) }

// try applies the first matching rule.
func (s *scanner) try(rules []rule) bool {
	text := s.ahead()
	for _, r := range rules {
		if m := r.pattern.FindStringSubmatch(text); m != nil {
			if n := r.take(s, m); n > 0 {
				s.at += n
				return true
			}
		}
	}
	return false
}

// step says the next thing.
func (s *scanner) step() {
	if s.fence != "" {
		s.inCode()
		return
	}
	if !s.inLine && s.lineStart() {
		return
	}
	r, n := utf8.DecodeRuneInString(s.text[s.at:])
	switch {
	case r == '\n':
		s.newLine()
	case unicode.IsSpace(r):
		s.path = false
		s.at += n
	case digit(r):
		_ = s.try(forNumbers) || s.try(forWords) || s.word()
	case inWord(r):
		_ = s.try(forWords) || s.word()
	default:
		if !s.try(forSigns) {
			s.sign(r)
			s.at += n
		}
	}
}

// sign says the rune r, which is neither a letter nor a digit nor a space.
func (s *scanner) sign(r rune) {
	before, next := s.before(), s.after(utf8.RuneLen(max(r, 0)))
	within := inWord(before) && inWord(next)
	switch {
	case emoji(r) && symbols[r] == "":
		s.skip(pictures)
	case r == '@' && !inWord(before) && unicode.IsLetter(next): // a mention is said as the name
	case symbols[r] != "":
		s.say(symbols[r])
	case r == '.' && inWord(next) && (within || before == '/' || unicode.IsSpace(before)):
		s.say("dot")
	case r == '-' || r == '–':
		s.dash(r, before, next, within)
	case r == '/' && (inWord(next) || next == '.' && inWord(s.after(2))) && (s.path || !inWord(before)):
		s.path = true
		s.say("slash")
	case r == '/' && digit(before) && digit(next):
		s.say("slash")
	case r == '*' && digit(before) && digit(next):
		s.say("times")
	case r == '^' && within:
		s.say("to the power of")
	case r == '+':
		s.say("plus")
	case pauses[r] != 0:
		s.out.pause(pauses[r])
	}
}

// dash says r, a hyphen or a dash, between before and next.
func (s *scanner) dash(r, before, next rune, within bool) {
	switch {
	case digit(before) && digit(next):
		if !s.coded() {
			s.say("to")
		}
	case unicode.IsSpace(next) && s.afterNumber() && digit(s.number()):
		s.say(map[rune]string{'-': "minus", '–': "to"}[r])
	case !within && unicode.IsSpace(next):
		s.out.pause(',') // a stroke between two thoughts
	}
}

// forSigns are the rules for text that begins with neither a letter nor a digit.
var forSigns = []rule{
	{lazyregexp.New(`^!?\[\^?[0-9]{1,3}\](\([^)\s]{0,100}\))?`), ignored}, // a reference
	{lazyregexp.New(`^\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:"[^"\n]{0,80}"|\s)*\)?`), (*scanner).target},
	{lazyregexp.New(`^<((?i:https?)://[^>\s]+)>`), func(s *scanner, m []string) int { s.address(m[1]); return len(m[0]) }},
	{lazyregexp.New(`^</?[a-zA-Z][a-zA-Z0-9]{0,15}( [^<>\n]{0,100})?/?>`), ignored},
	{lazyregexp.New(`^&amp;`), says(func(*scanner, []string) string { return "and" })},
	{lazyregexp.New(`^&(lt|gt|quot|apos|nbsp|#39);`), ignored},
	{lazyregexp.New(`^([:;=8]['^]?-?[)(DPpOo/|*]|<3|\^_?\^)(?:[\s.,!?]|$)`), (*scanner).smile},
	{lazyregexp.New(`^([-−+±~≈]?)([$£€¥₹])\s?([0-9])`), (*scanner).quantity},
	{lazyregexp.New(`^([-−+±~≈])([0-9]|\.[0-9])`), (*scanner).quantity},
	{lazyregexp.New(`^\.[0-9]`), (*scanner).quantity},
	{lazyregexp.New(`^\.{0,2}/\.{3}`), ignored},
	{lazyregexp.New(`^\(([0-9]{2,4})\) ?[0-9]{3}`), (*scanner).prefix},
	{lazyregexp.New(`^#([0-9])`), func(s *scanner, _ []string) int { s.say("number"); return 1 }},
	{lazyregexp.New(`^#[a-zA-Z]`), func(s *scanner, _ []string) int { s.say("hash"); return 1 }},
	{lazyregexp.New(`^ ?([<>])=?`), says((*scanner).compare)},
	{lazyregexp.New(`^(->|=>|-->|==>|<-|<->)`), func(s *scanner, m []string) int { s.out.pause(','); return len(m[0]) }},
	{lazyregexp.New(`^(==+|!=)`), says(func(_ *scanner, m []string) string {
		return among(m[0] == "!=", "is not equal to", "equals")
	})},
	{lazyregexp.New(`^\* ?[0-9]`), (*scanner).times},
}

// times says a star between two numbers.
func (s *scanner) times([]string) int {
	if !s.afterNumber() {
		return 0
	}
	s.say("times")
	return 1
}

// afterNumber reports whether a digit is before the position, perhaps with a space in between.
func (s *scanner) afterNumber() bool {
	head := strings.TrimSuffix(s.text[:s.at], " ")
	return head != "" && digit(rune(head[len(head)-1]))
}

// coded reports whether the digits before the position belong to a word, as in a product name.
func (s *scanner) coded() bool {
	head := strings.TrimRight(s.text[max(0, s.at-window):s.at], "0123456789.,")
	return head != "" && letter(rune(head[len(head)-1]))
}

// number returns the first rune after the sign at the position and the space
// behind it.
func (s *scanner) number() rune {
	_, n := utf8.DecodeRuneInString(s.text[s.at:])
	return s.after(n + 1)
}

// compare returns a sign of comparison between two things apart from it.
func (s *scanner) compare(m []string) string {
	if !unicode.IsSpace(s.before()) && !digit(s.before()) || !unicode.IsSpace(s.after(len(m[0]))) && !digit(s.after(len(m[0]))) {
		return ""
	}
	return map[string]string{"<": "less than", ">": "more than", "<=": "at most", ">=": "at least"}[m[0]]
}

// prefix says the part of a telephone number in brackets.
func (s *scanner) prefix(m []string) int {
	s.say(digits(m[1]))
	return len(m[1]) + 2
}

// smile leaves out a face.
func (s *scanner) smile(m []string) int {
	s.skip(pictures)
	return len(m[1])
}
