package tts

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"earshot/internal/lazyregexp"
	"earshot/language"
)

// The notation of numbers.
var (
	amount     = lazyregexp.New(`^([-−+±~≈]?)([$£€¥₹]?)\s?([0-9]{1,3}(?:[,_'\x{a0}\x{202f}][0-9]{3})+|[0-9]*)(\.[0-9]+)?(?:[eE]([-+]?[0-9]{1,3})\b)?`)
	magnitude  = lazyregexp.New(`^(?: ?(thousand|million|billion|trillion)|([kKmMbBT]|mn|bn|tn))(?:[^\pL0-9]|$)`)
	unit       = lazyregexp.New(`^( |\x{a0}|\x{202f})?(` + oneOf(maps.Keys(units)) + `)(?:/(` + oneOf(maps.Keys(per)) + `))?(?:[^\pL0-9²³/]|$|/(?:[^\pL]|$))`)
	tail       = lazyregexp.New(`^(st|nd|rd|th|s)(?:[^\pL0-9]|$)`)
	each       = lazyregexp.New(`^/(` + oneOf(maps.Keys(units)) + `)(?:[^\pL0-9]|$)`)
	possessive = lazyregexp.New(`^(?:'|’)s\b`)
	word       = lazyregexp.New(`^ ([a-z]+)`)
)

// signs are what stands before a number.
var signs = map[string]string{"-": "minus", "−": "minus", "+": "plus", "±": "plus or minus", "~": "about", "≈": "about"}

// oneOf returns a pattern of all names, the longer before the shorter.
func oneOf(names func(func(string) bool)) string {
	all := slices.SortedFunc(names, func(a, b string) int { return len(b) - len(a) })
	for i, name := range all {
		all[i] = regexp.QuoteMeta(name)
	}
	return strings.Join(all, "|")
}

// A figure is a number as it was written.
type figure struct {
	sign, coin     string
	whole, decimal string // digits
	power          string // of ten
	grouped        bool   // whole had separators
}

// words returns the number without its sign and coin.
func (f figure) words() string {
	if f.power == "" {
		return f.mantissa()
	}
	return f.mantissa() + " times ten to the " + strings.TrimSpace(signs[f.power[:1]]+" "+whole(bare(f.power)))
}

func (f figure) mantissa() string {
	if f.decimal == "" {
		return whole(f.whole)
	}
	if f.whole == "" {
		return "point " + digits(f.decimal)
	}
	return whole(f.whole) + " point " + digits(f.decimal)
}

// one reports whether exactly one is meant.
func (f figure) one() bool { return f.whole == "1" && f.decimal == "" }

// quantity says the number at the position, with what it is a number of.
func (s *scanner) quantity([]string) int {
	text := s.ahead()
	m := amount.FindStringSubmatch(text)
	if m == nil || m[3] == "" && m[4] == "" || m[1] != "" && inWord(s.before()) {
		return 0
	}
	f := figure{sign: signs[m[1]], coin: m[2], whole: bare(m[3]), decimal: strings.TrimPrefix(m[4], "."), power: m[5]}
	f.grouped = f.whole != m[3]
	n := len(m[0])
	if len(f.whole)+len(f.decimal) > mostCode {
		s.skip(gibber)
		return n
	}
	said, more := s.measured(f, text[n:])
	s.say(strings.TrimSpace(f.sign + " " + said))
	return n + more
}

// mostCode is the longest run of digits, or of letters and digits, that is worth reading out.
const mostCode = 32

// bare returns the digits of s.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if digit(r) {
			return r
		}
		return -1
	}, s)
}

// measured returns f with its unit, and how much of rest that took.
func (s *scanner) measured(f figure, rest string) (said string, n int) {
	if f.coin != "" {
		said, n = money(f, rest)
		if m := each.FindStringSubmatch(rest[n:]); m != nil {
			return said + " per " + units[m[1]][0], n + 1 + len(m[1])
		}
		return said, n
	}
	if m := possessive.FindString(rest); m != "" {
		return f.words() + "'s", len(m)
	}
	if m := tail.FindStringSubmatch(rest); m != nil && f.decimal == "" {
		if said, ok := ranked(f, m[1]); ok {
			return said, len(m[1])
		}
	}
	if m := unit.FindStringSubmatch(rest); m != nil && !(m[1] != "" && near[m[2]]) {
		said = f.words() + " " + units[m[2]][1]
		if f.one() {
			said = f.words() + " " + units[m[2]][0]
		}
		if m[3] != "" {
			said += " per " + per[m[3]]
		}
		return said, length(m[1:])
	}
	if strings.HasPrefix(rest, "k") && !inWord(second(rest)) {
		return f.words() + " thousand", 1
	}
	if y, ok := s.yearly(f, rest); ok {
		return y, 0
	}
	return f.words(), 0
}

// second returns the rune after the first byte of s.
func second(s string) rune {
	for _, r := range s[1:] {
		return r
	}
	return ' '
}

// length returns the length of a unit that was matched in parts.
func length(parts []string) int {
	n := len(parts[0]) + len(parts[1])
	if parts[2] != "" {
		n += 1 + len(parts[2])
	}
	return n
}

// ranked returns f as an ordinal, or as a decade.
func ranked(f figure, tail string) (string, bool) {
	n, err := strconv.ParseUint(f.whole, 10, 64)
	switch {
	case err != nil || len(f.whole) > mostDigits:
		return "", false
	case tail != "s":
		return ordinal(n), true
	case n%10 == 0 && len(f.whole) == 4 && !f.grouped:
		return plural(year(int(n))), true
	case n%10 == 0 && len(f.whole) == 2 && n > 10:
		return plural(cardinal(n)), true
	}
	return "", false
}

// money returns a sum, and how much of rest that took.
func money(f figure, rest string) (said string, n int) {
	c := coins[f.coin]
	if m := magnitude.FindStringSubmatch(rest); m != nil {
		taken := m[1] + m[2]
		return f.words() + " " + magnitudes[taken] + " " + c.many, strings.Index(rest, taken) + len(taken)
	}
	if len(f.decimal) != 2 || c.cent == "" {
		return f.words() + " " + among(f.one(), c.one, c.many), 0
	}
	big := whole(f.whole) + " " + among(f.whole == "1", c.one, c.many)
	cents, _ := strconv.ParseUint(f.decimal, 10, 64)
	switch {
	case cents == 0:
		return big, 0
	case f.whole == "" || f.whole == "0":
		return cardinal(cents) + " " + among(cents == 1, c.cent, c.cents), 0
	}
	return big + " and " + cardinal(cents) + " " + among(cents == 1, c.cent, c.cents), 0
}

func among(one bool, single, many string) string {
	if one {
		return single
	}
	return many
}

// yearly returns f as a year, if it looks like one: four digits from 1100 on, recent ones anywhere
// except before something countable, earlier ones where a year is expected.
func (s *scanner) yearly(f figure, rest string) (string, bool) {
	n, err := strconv.Atoi(f.whole)
	if err != nil || len(f.whole) != 4 || f.grouped || f.decimal != "" || f.sign != "" || n < 1100 || n > 2099 {
		return "", false
	}
	if m := word.FindStringSubmatch(rest); m != nil && countable[m[1]] {
		return "", false
	}
	return year(n), n >= 1900 || expected[s.lastWord()] || strings.HasPrefix(strings.TrimLeft(rest, " "), "–")
}

// expected are the words after which a number is a year.
var expected = language.Set("in since from until till by before after around about of year to and January February March April May June July August September October November December")

// lastWord returns the word that was said last.
func (s *scanner) lastWord() string {
	said := string(s.out.text[max(0, len(s.out.text)-window):])
	return said[strings.LastIndexByte(said, ' ')+1:]
}
