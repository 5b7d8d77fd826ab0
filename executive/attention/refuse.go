package attention

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
	"earshot/language"
)

// longestRefusal is the longest silence that spoken words can request; /snooze can request more.
const longestRefusal = 24 * time.Hour

// Refusal reports whether a text tells somebody who has spoken to be silent, and for how long, if
// the text says that. It does not know whom the text addresses.
func Refusal(text earshot.Text) (lasts time.Duration, is bool) {
	ws := language.Plain(string(text))
	if len(ws) == 0 || len(ws) > longestRefusing || !says(said(ws), refusals) || slices.ContainsFunc(sentences(string(text)), sentence.question) {
		return 0, false
	}
	return lasting(ws), true
}

func (s sentence) question() bool { return s.asks || interrogative[begun(s.words)[0]] }

// longestRefusing is the longest refusal in words. In a longer sentence, the same words talk about
// silence rather than request it.
const longestRefusing = 12

// lasting returns how long something will last according to a text: "for an hour", "for 20
// minutes", "for half an hour".
func lasting(ws []string) time.Duration {
	for i, w := range ws {
		if w != "for" {
			continue
		}
		rest := ws[i+1:]
		if len(rest) > 1 && rest[0] == "the" && rest[1] == "next" {
			rest = rest[2:]
		}
		if d := spell(rest); d > 0 {
			return min(d, longestRefusal)
		}
	}
	return 0
}

// spell returns the duration with which a text begins.
func spell(ws []string) time.Duration {
	if strings.HasPrefix(said(ws), " half an hour ") {
		return time.Hour / 2
	}
	if len(ws) < 1 {
		return 0
	}
	if unit := units[ws[0]]; unit > 0 { // "for the next hour"
		return unit
	}
	if len(ws) < 2 {
		return 0
	}
	n := numbers[ws[0]]
	if v, err := strconv.Atoi(ws[0]); err == nil && v > 0 && v <= 24*60 {
		n = v
	}
	return time.Duration(n) * units[ws[1]]
}

var (
	numbers = map[string]int{
		"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10,
		"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40,
	}
	units = map[string]time.Duration{
		"minute": time.Minute, "minutes": time.Minute, "hour": time.Hour, "hours": time.Hour, "day": longestRefusal, "days": longestRefusal,
	}

	refusals = phrases(`not now, not right now, not at the moment, be quiet, keep quiet, stay quiet, quiet please,
		be silent, shush, hush, shut up, dont interrupt, stop interrupting, dont disturb, do not disturb,
		leave us alone, leave me alone, leave us in peace, nobody asked you, no one asked you, mind your own business,
		stop butting in, keep out of this, stay out of this, not interested, tell me later`)
)
