package tts

import (
	"earshot/internal/lazyregexp"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longCode is what nobody can follow by ear: a key, a sum, an identifier.
var longCode = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z+/=_-]{31,}`)

// forWords are the rules for text that begins with a letter, or in some cases a digit.
var forWords = []rule{
	{lazyregexp.New(`^(?i:https?|ftp|wss?|file)://`), (*scanner).url},
	{lazyregexp.New(`^www\.[a-zA-Z0-9]`), (*scanner).url},
	{lazyregexp.New(`^([a-zA-Z0-9][a-zA-Z0-9._+-]{0,63})@([a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+)`), says((*scanner).mail)},
	{longCode, (*scanner).gibberish},
	{lazyregexp.New(`^(` + oneOf(maps.Keys(months)) + `)\.? ([0-9]{1,2})(?:st|nd|rd|th)?\b(?:,? ([0-9]{4})\b)?`), says((*scanner).monthDay)},
	{lazyregexp.New(`^((?:[A-Za-z]\.)+[A-Za-z])\.`), says((*scanner).initials)},
	{lazyregexp.New(`^([A-Za-z]{2,6})\.`), (*scanner).abbreviation},
	{lazyregexp.New(`^([A-Za-z]{1,4})\.? ?[0-9]`), (*scanner).counter},
	{lazyregexp.New(`^(w/o|w/)`), says(func(_ *scanner, m []string) string {
		return map[string]string{"w/": "with", "w/o": "without"}[m[0]]
	})},
	{lazyregexp.New(`^([A-Z])(\+\+|#)`), says(func(_ *scanner, m []string) string {
		return m[1] + map[string]string{"++": " plus plus", "#": " sharp"}[m[2]]
	})},
	{lazyregexp.New(`^([IVX]{2,7})\b`), says((*scanner).roman)},
}

// mostAddress is the longest address that is looked for, in bytes.
const mostAddress = 2048

// url says the host of an address.
func (s *scanner) url([]string) int {
	rest := s.text[s.at:min(len(s.text), s.at+mostAddress)]
	n := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>\"`|]", r) })
	if n < 0 {
		n = len(rest)
	}
	n = len(strings.TrimRight(rest[:n], ".,;:!?'*_)"))
	if strings.Contains(rest[:n], "(") && strings.HasPrefix(rest[n:], ")") { // one that is its own
		n++
	}
	s.address(rest[:n])
	return n
}

// host is one that can be said.
var host = lazyregexp.New(`^(?:[a-zA-Z]+://)?(?:www\.)?((?:[a-zA-Z]{1,20}\.){1,3}[a-zA-Z]{2,10})(?:[/?#:]|$)`)

// address says where an address leads to.
func (s *scanner) address(url string) {
	m := host.FindStringSubmatch(url)
	if m == nil {
		s.skip(link)
		return
	}
	s.say(named(m[1]))
}

// named returns a name with dots, as it is said.
func named(name string) string {
	var b strings.Builder
	for i, label := range strings.Split(name, ".") {
		if i > 0 {
			join(&b, "dot")
		}
		join(&b, part(label))
	}
	return b.String()
}

// mail returns an address of mail.
func (s *scanner) mail(m []string) string {
	said := strings.NewReplacer(".", " dot ", "_", " underscore ", "-", " dash ", "+", " plus ").Replace(m[1]) + " at " +
		strings.NewReplacer(".", " dot ", "-", " dash ").Replace(m[2])
	var b strings.Builder
	for w := range strings.FieldsSeq(said) {
		join(&b, mixed(w))
	}
	return b.String()
}

// gibberish leaves out what has letters and digits all over.
func (s *scanner) gibberish(m []string) int {
	if !strings.ContainsAny(m[0], "0123456789") || !strings.ContainsFunc(m[0], letter) {
		return 0
	}
	s.skip(gibber)
	return len(m[0])
}

// initials returns letters with dots, such as U.S. and e.g.
func (s *scanner) initials(m []string) string {
	if said, ok := dotted[strings.ToLower(m[1])]; ok {
		return said
	}
	return spell(m[1])
}

// places are what the names of some begin with.
var places = map[string]string{"St": "Saint", "Mt": "Mount"}

// abbreviation says a word with a full stop that belongs to it.
func (s *scanner) abbreviation(m []string) int {
	if said := places[m[1]]; said != "" && s.after(len(m[0])) == ' ' {
		s.say(said)
		return len(m[0])
	}
	said, ok := dotted[strings.ToLower(m[1])]
	if !ok || inWord(s.after(len(m[0]))) {
		return 0
	}
	s.say(said)
	if strings.TrimSpace(s.text[s.at+len(m[0]):]) == "" {
		s.out.pause('.') // it ends a sentence too
	}
	return len(m[0])
}

// counter says a word that means something else before a number.
func (s *scanner) counter(m []string) int {
	said, ok := counted[strings.ToLower(m[1])]
	if !ok || !strings.Contains(m[0], ".") {
		return 0
	}
	s.say(said)
	return strings.IndexByte(m[0], '.') + 1
}

// romans are the numbers that are met after a name.
var romans = map[string]uint64{
	"II": 2, "III": 3, "IV": 4, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "XI": 11, "XII": 12, "XIII": 13, "XIV": 14, "XV": 15, "XVI": 16, "XVIII": 18, "XIX": 19, "XX": 20, "XXI": 21,
}

// roman returns a Roman number after a name.
func (s *scanner) roman(m []string) string {
	n, ok := romans[m[1]]
	last := s.lastWord()
	if !ok || last == "" || !upper(rune(last[0])) || s.out.next != 0 {
		return ""
	}
	return cardinal(n)
}

// word says the word at the position.
func (s *scanner) word() bool {
	n := s.wordLength()
	whole := s.text[s.at : s.at+n]
	said, ok := fold(whole)
	switch {
	case !ok:
		s.skip(script)
	case len(said) > 2*mostCode:
		s.skip(gibber)
	default:
		s.say(s.calm(said))
	}
	s.at += n
	return true
}

// wordLength returns how long the word at the position is: an apostrophe is
// part of it where it stands within.
func (s *scanner) wordLength() int {
	n := 0
	for n < len(s.text)-s.at {
		r, size := utf8.DecodeRuneInString(s.text[s.at+n:])
		switch {
		case inWord(r):
		case (r == '\'' || r == '’') && n > 0 && inWord(s.after(n+size)):
		default:
			return n
		}
		n += size
	}
	return n
}

// calm returns a word as it is said, in lower case if its neighbour is shouted
// too, so that it is not spelled.
func (s *scanner) calm(word string) string {
	if len(word) > 1 && shouted(word) && s.shouts() {
		return strings.ToLower(word)
	}
	return mixed(word)
}

// shouts reports whether everything around is written in capitals, and more
// than one abbreviation would be.
func (s *scanner) shouts() bool {
	from := max(0, s.at-window/2)
	around := s.text[from:min(len(s.text), s.at+window/2)]
	capitals := 0
	for _, r := range around {
		if unicode.IsLower(r) {
			return false
		}
		if unicode.IsUpper(r) {
			capitals++
		}
	}
	return capitals > 12
}

func shouted(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !upper(r) && r != '\'' })
}

// mixed returns word as it is said: what is in camel case or has digits in it
// in pieces.
func mixed(word string) string {
	if undotted[word] != "" {
		return undotted[word]
	}
	var b strings.Builder
	for _, p := range split(word) {
		if digit(rune(p[0])) {
			join(&b, inside(p))
		} else if said := part(p); said != "" {
			join(&b, said)
		}
	}
	return b.String()
}

// inside returns digits within a word.
func inside(p string) string {
	if len(p) > 4 {
		return digits(p)
	}
	return whole(p)
}

// split parts a word where digits begin or end, and where a capital follows a
// small letter.
func split(word string) (all []string) {
	from := 0
	for i := 1; i < len(word); i++ {
		a, b := rune(word[i-1]), rune(word[i])
		if digit(a) != digit(b) || lower(a) && upper(b) {
			all = append(all, word[from:i])
			from = i
		}
	}
	if from < len(word) {
		all = append(all, word[from:])
	}
	return all
}

// part returns letters of one kind as they are said.
func part(p string) string {
	if said := undotted[p]; said != "" {
		return said
	}
	head := strings.TrimRight(p, "'")
	one := strings.TrimSuffix(strings.TrimSuffix(head, "s"), "'")
	switch {
	case len(head) < 2:
		return head
	case one != head && len(one) > 1 && shouted(one) && spelt(one): // URLs, NASA's
		return spell(one) + "'s"
	case !shouted(head):
		return head
	case spelt(head):
		return spell(head)
	}
	return strings.ToLower(head)
}

// spelt reports whether a word in capitals is said letter by letter.
func spelt(word string) bool {
	switch {
	case asWords[word] || len(word) > 5:
		return false
	case spelled[word] || len(word) <= 3:
		return true
	}
	return !strings.ContainsAny(word, "AEIOUY") // nobody could say it
}

// spell returns the letters and digits of word, one after the other.
func spell(word string) string {
	var b strings.Builder
	for _, r := range word {
		switch {
		case digit(r):
			join(&b, small[r-'0'])
		case letter(r):
			join(&b, strings.ToUpper(string(r)))
		}
	}
	return b.String()
}
