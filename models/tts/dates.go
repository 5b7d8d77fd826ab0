package tts

import (
	"earshot/internal/lazyregexp"
	"maps"
	"strconv"
	"strings"
)

// forNumbers are the rules for text that begins with a digit.
var forNumbers = []rule{
	{lazyregexp.New(`^([0-9]{4})[-/]([0-9]{2})[-/]([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?Z?)?\b`), says((*scanner).stamp)},
	{lazyregexp.New(`^([0-9]{1,2})[./]([0-9]{1,2})[./]([0-9]{4})\b`), says((*scanner).numericDate)},
	{lazyregexp.New(`^[0-9]{1,4}(?:/[0-9]{1,4}){2}\b`), says((*scanner).groups)},
	{lazyregexp.New(`^[0-9]{1,6}(?:\.[0-9]{1,6}){2,8}\b`), says((*scanner).version)},
	{lazyregexp.New(`^([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:[ \x{a0}]?([aApP])(?:\.[mM]\.|[mM]\b)|\b)`), says((*scanner).time)},
	{lazyregexp.New(`^([0-9]{1,2})[ \x{a0}]?([aApP])(?:\.[mM]\.|[mM]\b)`), says((*scanner).hour)},
	{lazyregexp.New(`^([0-9]{1,2})(st|nd|rd|th)?(?: of)? (` + oneOf(maps.Keys(months)) + `)\b(?:,? ([0-9]{4})\b)?`), says((*scanner).dayMonth)},
	{lazyregexp.New(`^([0-9]{3}[-. ])?[0-9]{3}[-.][0-9]{4}\b`), says(func(_ *scanner, m []string) string { return digits(m[0]) })}, // a telephone
	{lazyregexp.New(`^([0-9]{1,9}):([0-9]{1,9})\b`), says(func(_ *scanner, m []string) string { return whole(m[1]) + " to " + whole(m[2]) })},
	{lazyregexp.New(`^([0-9]{1,2})/([0-9]{1,2})\b`), says((*scanner).part)},
	{lazyregexp.New(`^0[xX]([0-9a-fA-F]{1,16})\b`), says(func(_ *scanner, m []string) string { return "hex " + spell(m[1]) })},
	{lazyregexp.New(`^([0-9])'([0-9]{1,2})(?:"|'')`), says(func(_ *scanner, m []string) string { return whole(m[1]) + " foot " + whole(m[2]) })},
	{longCode, (*scanner).gibberish},
	{lazyregexp.New(`^[0-9]`), (*scanner).quantity},
}

// stamp returns a date, perhaps with a time, that is written as computers do.
func (s *scanner) stamp(m []string) string {
	said := date(m[3], m[2], m[1])
	if said == "" || m[4] == "" {
		return said
	}
	at := timeOf(m[4:7], "")
	if at == "" {
		return ""
	}
	return said + " at " + at
}

// numericDate returns a date in numbers, if it is unambiguous.
func (s *scanner) numericDate(m []string) string {
	a, _ := strconv.Atoi(m[1])
	b, _ := strconv.Atoi(m[2])
	switch {
	case a <= 12 && b <= 12 && a != b:
		return ""
	case b > 12:
		return date(m[2], m[1], m[3])
	}
	return date(m[1], m[2], m[3])
}

// groups returns numbers with strokes between them: most are ambiguous dates.
func (s *scanner) groups(m []string) string {
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
	return said.String()
}

// date returns a day of a year, or "".
func date(day, month, in string) string {
	d, _ := strconv.Atoi(day)
	m, _ := strconv.Atoi(month)
	y, _ := strconv.Atoi(in)
	if d < 1 || d > 31 || m < 1 || m > 12 || y < 1000 {
		return ""
	}
	return monthNames[m-1] + " " + ordinal(uint64(d)) + " " + year(y)
}

// dayMonth returns dates such as 5 March 2024.
func (s *scanner) dayMonth(m []string) string {
	d, _ := strconv.Atoi(m[1])
	if d < 1 || d > 31 {
		return ""
	}
	said := ordinal(uint64(d)) + " of " + months[m[3]]
	if m[2] == "" && s.lastWord() != "the" {
		said = "the " + said
	}
	return said + ofYear(m[4])
}

// monthDay returns dates such as March 5th, 2024.
func (s *scanner) monthDay(m []string) string {
	d, _ := strconv.Atoi(m[2])
	if d < 1 || d > 31 {
		return ""
	}
	return months[m[1]] + " " + ordinal(uint64(d)) + ofYear(m[3])
}

// ofYear returns what follows the day, if the year is given.
func ofYear(y string) string {
	n, err := strconv.Atoi(y)
	if err != nil || n < 1000 {
		return ""
	}
	return " " + year(n)
}

// version returns numbers with dots between them.
func (s *scanner) version(m []string) string {
	parts := strings.Split(m[0], ".")
	for i, part := range parts {
		parts[i] = whole(part)
	}
	return strings.Join(parts, " point ")
}

// time returns a time of the day.
func (s *scanner) time(m []string) string { return timeOf(m[1:4], m[4]) }

// hour returns times such as 3 pm.
func (s *scanner) hour(m []string) string { return timeOf([]string{m[1], "00", ""}, m[2]) }

// timeOf returns the time that hours, minutes and perhaps seconds are, or "".
func timeOf(parts []string, half string) string {
	h, _ := strconv.Atoi(parts[0])
	m, _ := strconv.Atoi(parts[1])
	sec, _ := strconv.Atoi(parts[2])
	if h > 24 || m > 59 || sec > 59 || h == 24 && m > 0 || half != "" && h > 12 {
		return ""
	}
	said := clock(h, m, strings.ToLower(half))
	if sec > 0 {
		said += " and " + cardinal(uint64(sec)) + " " + among(sec == 1, "second", "seconds")
	}
	return said
}

// part returns a fraction.
func (s *scanner) part(m []string) string {
	a, _ := strconv.ParseUint(m[1], 10, 64)
	b, _ := strconv.ParseUint(m[2], 10, 64)
	said := fraction(a, b)
	if said != "" && s.afterNumber() { // two and a half
		return "and " + said
	}
	return said
}
