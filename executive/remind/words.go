package remind

import (
	"slices"
	"strings"
	"time"
)

// Plain returns words in the form that [DayTime] and [Weekday] know.
func Plain(words []string) (plain []string) {
	for _, w := range words {
		plain = append(plain, plainly(w))
	}
	return plain
}

// DayTime reads the time of day with which plain words begin after a day is named, and returns how many
// words it has. Without any it is the morning. Hours from 24 on belong to the following night.
func DayTime(words []string) (hour, minute, n int) {
	p := parser{words: words, day: true}
	for n = -1; n != 0; p.at += n {
		if n = p.clocks(); n == 0 {
			n = p.partOfDay()
		}
	}
	c := p.meant(false)[0]
	return c.hour, c.minute, p.at
}

// Weekday returns the day of the week that a plain word names, also as in "mondays".
func Weekday(word string) (day time.Weekday, ok bool) {
	i := slices.IndexFunc(weekdays, func(name string) bool { return len(word) >= 3 && strings.HasPrefix(name+"s", word) })
	return time.Weekday(i), i >= 0
}
