package tts

import (
	"strconv"
	"strings"
)

var (
	small = [...]string{
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
		"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
	}
	tens   = [...]string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}
	powers = [...]string{"", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion"}
)

// irregular are the ordinals that do not just add "th".
var irregular = map[string]string{
	"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth",
}

// mostDigits is the longest number that is said as one. Nobody can follow a longer one, so its
// digits are said.
const mostDigits = 15

// cardinal returns n in words.
func cardinal(n uint64) string {
	if n == 0 {
		return small[0]
	}
	var groups []string
	for power := 0; n > 0; power, n = power+1, n/1000 {
		if n%1000 > 0 {
			groups = append(groups, strings.TrimSpace(hundreds(n%1000)+" "+powers[power]))
		}
	}
	var b strings.Builder
	for i := len(groups) - 1; i >= 0; i-- {
		join(&b, groups[i])
	}
	return b.String()
}

// hundreds returns n, which is below 1000 and not 0, in words.
func hundreds(n uint64) string {
	var b strings.Builder
	if n >= 100 {
		join(&b, small[n/100]+" hundred")
		n %= 100
	}
	switch {
	case n == 0:
	case n < 20:
		join(&b, small[n])
	default:
		join(&b, tens[n/10])
		if n%10 > 0 {
			join(&b, small[n%10])
		}
	}
	return b.String()
}

// join appends words to b, apart from what is there.
func join(b *strings.Builder, words string) {
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(words)
}

// ordinal returns n as an ordinal, in words.
func ordinal(n uint64) string {
	head, last := "", cardinal(n)
	if i := strings.LastIndexByte(last, ' '); i >= 0 {
		head, last = last[:i+1], last[i+1:]
	}
	switch {
	case irregular[last] != "":
		return head + irregular[last]
	case strings.HasSuffix(last, "y"):
		return head + last[:len(last)-1] + "ieth"
	}
	return head + last + "th"
}

// plural returns the plural of words that end with a number.
func plural(words string) string {
	switch {
	case strings.HasSuffix(words, "y"):
		return words[:len(words)-1] + "ies"
	case strings.HasSuffix(words, "x"):
		return words + "es"
	}
	return words + "s"
}

// digits returns the digits of s in words, one after the other.
func digits(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= '0' && c <= '9' {
			join(&b, small[c-'0'])
		}
	}
	return b.String()
}

// whole returns the digits of s as one number in words; with a leading zero, or too many digits,
// it is a code whose digits are said.
func whole(s string) string {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || len(s) > mostDigits || len(s) > 1 && s[0] == '0' {
		return digits(s)
	}
	return cardinal(n)
}

// year returns n, which has three or four digits, as a year in words.
func year(n int) string {
	high, low := uint64(n/100), uint64(n%100)
	switch {
	case n%1000 < 10 && n >= 1000: // two thousand one
		return cardinal(uint64(n))
	case low == 0:
		return cardinal(high) + " hundred"
	case low < 10:
		return cardinal(high) + " oh " + cardinal(low)
	}
	return cardinal(high) + " " + cardinal(low)
}

// clock returns a time of the day in words: h below 25, m below 60. Noon is
// "a" or "p"; empty if it was not said.
func clock(h, m int, half string) string {
	switch {
	case half != "" && m == 0:
		return cardinal(uint64(h)) + " " + half + " m"
	case half != "":
		return cardinal(uint64(h)) + " " + minutes(m) + " " + half + " m"
	case m > 0:
		return cardinal(uint64(h)) + " " + minutes(m)
	case h == 0 || h == 24:
		return "midnight"
	case h > 12:
		return cardinal(uint64(h-12)) + " p m"
	}
	return cardinal(uint64(h)) + " o'clock"
}

// minutes returns m, which is below 60 and not 0, as part of a time.
func minutes(m int) string {
	if m < 10 {
		return "oh " + cardinal(uint64(m))
	}
	return cardinal(uint64(m))
}

// fraction returns a of b in words, or "" if there is no name for it.
func fraction(a, b uint64) string {
	if a == 0 || b < 2 || b > 10 || a >= b {
		return ""
	}
	part := map[uint64]string{2: "half", 4: "quarter"}[b]
	if part == "" {
		part = ordinal(b)
	}
	if a > 1 {
		part += "s"
	}
	return cardinal(a) + " " + part
}
