package tts

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
)

// forNumbers are the rules for text that begins with a digit.
var forNumbers = []rule{
	{regexp.MustCompile(`^([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?Z?)?\b`), all((*scanner).stamp)},
	{regexp.MustCompile(`^([0-9]{1,2})[./]([0-9]{1,2})[./]([0-9]{4})\b`), all((*scanner).numericDate)},
	{regexp.MustCompile(`^[0-9]{1,4}(?:/[0-9]{1,4}){2}\b`), all((*scanner).groups)},
	{regexp.MustCompile(`^[0-9]{1,6}(?:\.[0-9]{1,6}){2,8}\b`), all((*scanner).version)},
	{regexp.MustCompile(`^([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:[ \x{a0}]?([aApP])(?:\.[mM]\.|[mM]\b)|\b)`), all((*scanner).time)},
	{regexp.MustCompile(`^([0-9]{1,2})[ \x{a0}]?([aApP])(?:\.[mM]\.|[mM]\b)`), all((*scanner).hour)},
	{regexp.MustCompile(`^([0-9]{1,2})(st|nd|rd|th)?(?: of)? (` + oneOf(maps.Keys(months)) + `)\b(?:,? ([0-9]{4})\b)?`), all((*scanner).dayMonth)},
	{regexp.MustCompile(`^([0-9]{3}[-. ])?[0-9]{3}[-.][0-9]{4}\b`), all(func(s *scanner, m []string) bool { s.say(digits(m[0])); return true })}, // a telephone
	{regexp.MustCompile(`^([0-9]{1,9}):([0-9]{1,9})\b`), all(func(s *scanner, m []string) bool { s.say(whole(m[1]) + " to " + whole(m[2])); return true })},
	{regexp.MustCompile(`^([0-9]{1,2})/([0-9]{1,2})\b`), all((*scanner).part)},
	{regexp.MustCompile(`^0[xX]([0-9a-fA-F]{1,16})\b`), all(func(s *scanner, m []string) bool { s.say("hex " + spell(m[1])); return true })},
	{regexp.MustCompile(`^([0-9])'([0-9]{1,2})(?:"|'')`), all(func(s *scanner, m []string) bool { s.say(whole(m[1]) + " foot " + whole(m[2])); return true })},
	{longCode, all((*scanner).gibberish)},
	{regexp.MustCompile(`^[0-9]`), (*scanner).quantity},
}

// stamp says a date, perhaps with a time, as computers write it.
func (s *scanner) stamp(m []string) bool {
	said, ok := date(m[3], m[2], m[1])
	if !ok {
		return false
	}
	if m[4] != "" {
		at, ok := timeOf(m[4:7], "")
		if !ok {
			return false
		}
		said += " at " + at
	}
	s.say(said)
	return true
}

// numericDate says a date in numbers, if it is unambiguous.
func (s *scanner) numericDate(m []string) bool {
	day, month := m[1], m[2]
	a, _ := strconv.Atoi(day)
	b, _ := strconv.Atoi(month)
	switch {
	case a <= 12 && b <= 12 && a != b:
		return false
	case b > 12:
		day, month = month, day
	}
	said, ok := date(day, month, m[3])
	if ok {
		s.say(said)
	}
	return ok
}

// groups says numbers with strokes between them: most are ambiguous dates.
func (s *scanner) groups(m []string) bool {
	var said strings.Builder
	for i, group := range strings.Split(m[0], "/") {
		if i > 0 {
			join(&said, "slash")
		}
		if n, _ := strconv.Atoi(group); len(group) == 4 && n >= 1000 {
			join(&said, year(n))
			continue
		}
		join(&said, whole(group))
	}
	s.say(said.String())
	return true
}

// date returns a day of a year.
func date(day, month, in string) (string, bool) {
	d, _ := strconv.Atoi(day)
	m, _ := strconv.Atoi(month)
	y, _ := strconv.Atoi(in)
	if d < 1 || d > 31 || m < 1 || m > 12 || y < 1000 {
		return "", false
	}
	return monthNames[m-1] + " " + ordinal(uint64(d)) + " " + year(y), true
}

// dayMonth says dates such as 5 March 2024.
func (s *scanner) dayMonth(m []string) bool {
	d, _ := strconv.Atoi(m[1])
	if d < 1 || d > 31 {
		return false
	}
	said := ordinal(uint64(d)) + " of " + months[m[3]]
	if m[2] == "" && s.lastWord() != "the" {
		said = "the " + said
	}
	s.say(said + ofYear(m[4]))
	return true
}

// monthDay says dates such as March 5th, 2024.
func (s *scanner) monthDay(m []string) bool {
	d, _ := strconv.Atoi(m[2])
	if d < 1 || d > 31 {
		return false
	}
	s.say(months[m[1]] + " " + ordinal(uint64(d)) + ofYear(m[3]))
	return true
}

// ofYear returns what follows the day, if the year is given.
func ofYear(y string) string {
	n, err := strconv.Atoi(y)
	if err != nil || n < 1000 {
		return ""
	}
	return " " + year(n)
}

// version says numbers with dots between them.
func (s *scanner) version(m []string) bool {
	said := ""
	for part := range strings.SplitSeq(m[0], ".") {
		if said != "" {
			said += " point "
		}
		said += whole(part)
	}
	s.say(said)
	return true
}

// time says a time of the day.
func (s *scanner) time(m []string) bool {
	said, ok := timeOf(m[1:4], lowered(m[4]))
	if ok {
		s.say(said)
	}
	return ok
}

// hour says times such as 3 pm.
func (s *scanner) hour(m []string) bool {
	said, ok := timeOf([]string{m[1], "00", ""}, lowered(m[2]))
	if ok {
		s.say(said)
	}
	return ok
}

// timeOf returns the time that hours, minutes and perhaps seconds are.
func timeOf(parts []string, half string) (string, bool) {
	h, _ := strconv.Atoi(parts[0])
	m, _ := strconv.Atoi(parts[1])
	sec, _ := strconv.Atoi(parts[2])
	if h > 24 || m > 59 || sec > 59 || h == 24 && m > 0 || half != "" && h > 12 {
		return "", false
	}
	said := clock(h, m, half)
	if sec > 0 {
		said += " and " + cardinal(uint64(sec)) + " " + among(sec == 1, "second", "seconds")
	}
	return said, true
}

func lowered(half string) string {
	if half == "" {
		return ""
	}
	return string(half[0] | 0x20)
}

// part says a fraction.
func (s *scanner) part(m []string) bool {
	a, _ := strconv.ParseUint(m[1], 10, 64)
	b, _ := strconv.ParseUint(m[2], 10, 64)
	said, ok := fraction(a, b)
	if ok && s.afterNumber() { // two and a half
		said = "and " + said
	}
	if ok {
		s.say(said)
	}
	return ok
}
