package remind

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// When returns the time that people and models mean by text: a span from now, such as "90s",
// "1h30m", "2d" or "in an hour and a half"; the next time of day, such as "17:30" or "at 9am"; one
// with a day, such as "tomorrow at noon", "next monday at 8" or "1 December 9:00"; or a full time
// as in RFC 3339. A day without a time of day means its morning.
func When(now time.Time, text string) (time.Time, error) {
	at, rest, err := Parse(now, text)
	if err == nil && rest != "" {
		err = noTime(now)
	}
	if err != nil {
		return time.Time{}, err
	}
	return at, nil
}

// Parse returns when somebody wants to be reminded, and of what. Both may come first: "in 10 min
// the pizza", "me to call Ann tomorrow at 9". Times are as for [When].
func Parse(now time.Time, text string) (at time.Time, of string, err error) {
	words := strings.Fields(text)
	if len(words) > 0 && strings.EqualFold(words[0], "me") {
		words = words[1:]
	}
	plain := make([]string, len(words))
	for i, w := range words {
		plain[i] = plainly(w)
	}
	for from := range words {
		if from > 0 && len(words)-from > mostWords {
			continue
		}
		p := parser{words: plain[from:], now: now.Local()}
		n := p.all()
		if n == 0 || from > 0 && from+n < len(words) {
			continue
		}
		before, behind := words[:from], words[from+n:]
		if len(before) > 0 && repeats(before[len(before)-1]) || len(behind) > 0 && repeats(behind[0]) {
			return at, "", errOnce
		}
		at, err = p.resolve()
		return at, Subject(append(slices.Clone(before), behind...)), err
	}
	if len(words) > 0 && repeats(words[0]) {
		return at, "", errOnce
	}
	return at, "", noTime(now)
}

// mostWords is more words than any time has.
const mostWords = 16

// plainly returns a word in the one form that the layouts know.
func plainly(word string) string {
	word = strings.NewReplacer("a.m", "am", "p.m", "pm").Replace(strings.TrimRight(strings.ToLower(word), ",;:!."))
	if n := len(word) - len("th"); n > 0 && slices.Contains([]string{"st", "nd", "rd", "th"}, word[n:]) && strings.Trim(word[:n], "0123456789") == "" {
		return word[:n]
	}
	return word
}

var errOnce = errors.New("a reminder cannot repeat; write one time, such as tomorrow 9am, or have it done again and again with /every")

func noTime(now time.Time) error {
	return fmt.Errorf("that is not a time; write 10m, in an hour and a half, at 17:30, tomorrow 9am, on friday at noon, or %s", now.Local().Add(24*time.Hour).Format("2006-01-02 15:04"))
}

func repeats(word string) bool {
	return slices.Contains([]string{"every", "each", "daily", "weekly"}, strings.ToLower(word))
}

// Subject returns what somebody is to be reminded of, without the word that joins it to the time.
func Subject(words []string) string {
	if len(words) > 1 && slices.Contains([]string{"to", "that", "about", "of", "-", ":"}, strings.ToLower(words[0])) {
		words = words[1:]
	}
	return strings.TrimRight(strings.Join(words, " "), ",")
}

// clockTime returns the first of these times of day that comes after now, on a day so many days
// from now, or on a later day if any is set. On a day on which clocks are put back and show a time
// twice, both count. On a day on which they are put forward and skip a time, it is the time that
// follows.
func clockTime(now time.Time, days int, any bool, clocks ...clock) time.Time {
	for day := days; ; day++ {
		var all []time.Time
		for _, c := range clocks {
			all = append(all, showing(now.Year(), now.Month(), now.Day()+day+c.hour/24, c, now.Location())...)
		}
		slices.SortFunc(all, time.Time.Compare)
		if i := slices.IndexFunc(all, now.Before); i >= 0 {
			return all[i]
		}
		if !any {
			return all[0]
		}
	}
}

// showing returns when the clocks of a place show a time on a day: by the offset that holds at the
// beginning of the day, and by the one that holds at its end. [time.Date] does not say which of the
// two it uses.
func showing(year int, month time.Month, day int, c clock, place *time.Location) (all []time.Time) {
	noon := time.Date(year, month, day, 12, 0, 0, 0, place)
	written := time.Date(year, month, day, c.hour%24, c.minute, 0, 0, time.UTC)
	for _, by := range []time.Time{noon.Add(-13 * time.Hour), noon.Add(12 * time.Hour)} {
		_, east := by.Zone()
		all = append(all, written.Add(-time.Duration(east)*time.Second).In(place))
	}
	shown := slices.DeleteFunc(slices.Clone(all), func(at time.Time) bool { return at.Hour() != c.hour%24 || at.Minute() != c.minute })
	if len(shown) == 0 {
		return all[:1]
	}
	return shown
}

// number returns the number that a word stands for, as people write it.
func number(word string) (float64, bool) {
	spelt, ok := spelt(word)
	switch {
	case ok:
		return float64(spelt), true
	case word == "a" || word == "an":
		return 1, true
	case word == "" || strings.Trim(word, "0123456789.") != "":
		return 0, false
	}
	n, err := strconv.ParseFloat(word, 64)
	return n, err == nil && n <= mostNumber
}

// mostNumber and mostDays keep times within what can be represented.
const (
	mostNumber = 1e5
	mostDays   = 1000
)

// spelt returns the number below sixty that a word spells: minutes need no more.
func spelt(word string) (int, bool) {
	if n := slices.Index(numbers, word); n >= 0 {
		return n, true
	}
	ten, one, joined := strings.Cut(word, "-")
	t, n := slices.Index(tens, ten), slices.Index(numbers, one)
	switch {
	case t < 0 || joined && (n < 1 || n > 9):
		return 0, false
	case joined:
		return 20 + 10*t + n, true
	}
	return 20 + 10*t, true
}

var (
	numbers = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
		"thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}
	tens = []string{"twenty", "thirty", "forty", "fifty"}
)
