package remind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A clock is a time of day. Hours from 24 on belong to the following night.
type clock struct{ hour, minute int }

// A parser reads the words of a time one after the other. Each kind of part may come once, in any
// order.
type parser struct {
	words []string // in lower case
	now   time.Time
	at    int // how many words have been read

	whole time.Time // the whole time, if it was given in one word

	span         bool // a time span from now on is given: the three that follow
	months, days int
	spent        time.Duration

	day     bool      // a day is named: so many days from today, or one of the four that follow
	weekday int       // from 1 for Sunday; 0 if none is named
	next    bool      // the weekday is not today
	week    bool      // the day is in the next week
	date    time.Time // its year is 0 if none is named

	timed bool // a time of day is named
	vague bool // the hour may be before or after noon
	clock clock
	part  string // part of the day
}

// word returns the i-th word after those that have been read.
func (p *parser) word(i int) string {
	if p.at+i >= len(p.words) {
		return ""
	}
	return p.words[p.at+i]
}

// skip returns 1 if word i is one of these words, and 0 otherwise.
func (p *parser) skip(i int, words ...string) int {
	if w := p.word(i); w != "" && slices.Contains(words, w) {
		return 1
	}
	return 0
}

// follows returns how many words these are if they stand at i, and 0 otherwise.
func (p *parser) follows(i int, words ...string) int {
	for k, w := range words {
		if p.word(i+k) != w {
			return 0
		}
	}
	return len(words)
}

// parses parses the words from i on by one of these layouts. It returns the time and how many words
// it has.
func (p *parser) parses(i int, layouts ...string) (t time.Time, words int) {
	for _, layout := range layouts {
		words = 1 + strings.Count(layout, " ")
		if p.at+i+words > len(p.words) {
			continue
		}
		if t, err := time.Parse(layout, strings.ToUpper(strings.Join(p.words[p.at+i:p.at+i+words], " "))); err == nil {
			return t, words
		}
	}
	return t, 0
}

// all reads as many words as belong to a time, and returns how many those are.
func (p *parser) all() int {
	for n := -1; n != 0; p.at += n {
		if n = p.spans(); n == 0 {
			n = p.dates()
		}
		if n == 0 {
			n = p.partOfDay()
		}
		if n == 0 {
			n = p.clocks()
		}
	}
	return p.at
}

// number returns the number with which the words from i on begin, and how many words it has:
// "twenty five" is one number.
func (p *parser) number(i int) (n float64, words int) {
	if n, ok := spelt(p.word(i) + "-" + p.word(i+1)); ok {
		return float64(n), 2
	}
	if n, ok := number(p.word(i)); ok {
		return n, 1
	}
	return 0, 0
}

// units are the units of time, the longest first.
var units = []struct {
	names []string
	long  time.Duration
}{
	{[]string{"month", "months"}, 30 * 24 * time.Hour}, {[]string{"w", "week", "weeks"}, 7 * 24 * time.Hour},
	{[]string{"d", "day", "days"}, 24 * time.Hour}, {[]string{"h", "hr", "hrs", "hour", "hours"}, time.Hour},
	{[]string{"m", "min", "mins", "minute", "minutes"}, time.Minute}, {[]string{"s", "sec", "secs", "second", "seconds"}, time.Second},
}

// spans reads a time span from now on.
func (p *parser) spans() int {
	if p.span || p.day || p.timed || p.part != "" {
		return 0
	}
	i := p.skip(0, "in", "for")
	for last := -1; ; {
		and := min(p.skip(i, "and"), last+1)
		n, unit, words := p.amount(i+and, i > 0)
		if words == 0 || unit <= last {
			break
		}
		i, last = i+and+words, unit
		if half := p.follows(i, "and", "a", "half"); half > 0 {
			n, i = n+0.5, i+half
		}
		p.span = true
		switch whole := int(n); unit { // whole days follow the calendar
		case 0:
			p.months, n = whole, n-float64(whole)
		case 1:
			p.days, n = p.days+7*whole, n-float64(whole)
		case 2:
			p.days, n = p.days+whole, n-float64(whole)
		}
		p.spent += time.Duration(n * float64(units[unit].long))
	}
	if !p.span {
		return 0
	}
	return i + p.follows(i, "from", "now")
}

// amount returns a number of units, and how many words from i on it has. said tells that a time has
// begun: "a day" in "a day off" is no time, but in "in a day" it is.
func (p *parser) amount(i int, said bool) (n float64, unit, words int) {
	word := p.word(i)
	digits := len(word) - len(strings.TrimLeft(word, "0123456789."))
	n, ok := number(word[:digits])
	unitWord := word[digits:]
	words = 1
	if digits == 0 {
		if n, words = p.number(i); word == "half" {
			n, words = 0.5, 1
		}
		ok = words > 0 && said || word == "half"
	}
	if unitWord == "" || digits == 0 {
		switch half := p.follows(i+words, "and", "a", "half"); {
		case word == "half":
			words += p.skip(i+1, "a", "an")
		case word == "a" && p.word(i+1) == "couple":
			n, words = 2, 2+p.skip(i+2, "of")
		case half > 0:
			n, words = n+0.5, words+half
		}
		unitWord = p.word(i + words)
		words++
	}
	for unit, u := range units {
		if ok && n >= 0 && slices.Contains(u.names, unitWord) {
			return n, unit, words
		}
	}
	if d, err := time.ParseDuration(word); err == nil && digits > 0 && d.Hours() < mostNumber { // such as 1h30m
		return d.Seconds(), len(units) - 1, 1
	}
	return 0, 0, 0
}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// near are the days that are named by their distance from today.
var near = []struct {
	days  int
	words []string
}{{0, []string{"today"}}, {0, []string{"tonight"}}, {1, []string{"tomorrow"}}, {2, []string{"the", "day", "after", "tomorrow"}},
	{2, []string{"day", "after", "tomorrow"}}}

// dates reads a day.
func (p *parser) dates() int {
	if words := p.follows(0, "next", "week"); words > 0 && !p.week && !p.span && (!p.day || p.weekday > 0) {
		p.day, p.week = true, true
		return words
	}
	if p.span || p.day && (!p.week || p.weekday > 0) {
		return 0
	}
	for _, n := range near {
		if words := p.follows(0, n.words...); words > 0 {
			if p.day, p.days = true, n.days; n.words[0] == "tonight" {
				p.part = "night"
			}
			return words
		}
	}
	i := p.skip(0, "on")
	if whole, words := p.parses(i, time.RFC3339); words > 0 && !p.timed {
		p.day, p.timed, p.whole = true, true, whole
		return i + words
	}
	if at, words := p.parses(i, "2006-01-02T15:04"); words > 0 && !p.timed {
		p.day, p.date, p.timed, p.clock = true, at, true, clock{at.Hour(), at.Minute()}
		return i + words
	}
	i += p.skip(i, "the")
	if at, words := p.parses(i, "2006-01-02", "2 January 2006", "2 Jan 2006", "January 2 2006", "Jan 2 2006", "2 January", "2 Jan", "January 2", "Jan 2",
		"2 OF January 2006", "2 OF January", "2 OF Jan"); words > 0 {
		p.day, p.date = true, at
		return i + words
	}
	i = p.skip(0, "on", "this", "next", "coming")
	word := p.word(i)
	day := slices.IndexFunc(weekdays, func(name string) bool {
		return word == name || len(word) >= 3 && strings.HasPrefix(name, word) && (i > 0 || word != "sun" && word != "sat" && word != "wed")
	})
	if day < 0 {
		return 0
	}
	p.day, p.weekday, p.next = true, day+1, p.word(0) == "next"
	return i + 1
}

// partOfDay reads a part of the day.
func (p *parser) partOfDay() int {
	i := p.skip(0, "in", "at", "this")
	i += min(i, p.skip(i, "the"))
	this := p.word(0) == "this"
	if p.part != "" || p.span || this && p.day || i == 0 && !p.day && !p.timed || p.skip(i, "morning", "afternoon", "evening", "night") == 0 {
		return 0
	}
	p.part, p.day = p.word(i), p.day || this
	return i + 1
}

// clocks reads a time of day.
func (p *parser) clocks() int {
	if p.timed || p.span && (p.spent != 0 || p.days == 0 && p.months == 0) {
		return 0
	}
	i := p.skip(0, "at", "@", "by", "until", "till")
	said := i > 0
	at, words := p.parses(i, "3PM", "3 PM", "3:04PM", "3:04 PM", "3.04PM", "3.04 PM", "15:04")
	if words == 0 && (said || p.day) { // otherwise it may be a price
		at, words = p.parses(i, "15.04")
	}
	hour, err := strconv.Atoi(p.word(i))
	if n, ok := spelt(p.word(i)); ok && n > 0 {
		hour, err = n, nil
	}
	oclock := p.skip(i+1, "o'clock", "o’clock")
	minute, more := p.minute(i + 1)
	hour, half := p.half(hour, i+1+more+oclock)
	sure := said || oclock+half > 0 || more > 0 && p.day
	spoken, vague, long := p.spoken(i, said || p.day)
	switch {
	case long > 0:
		p.clock, p.vague, words = spoken, vague, long
	case p.skip(i, "noon", "midday") > 0:
		p.clock, words = clock{12, 0}, 1
	case p.skip(i, "midnight") > 0:
		p.clock, words = clock{24, 0}, 1
	case words > 0:
		p.clock = clock{at.Hour(), at.Minute()}
	case err == nil && 0 <= hour && hour < 24 && sure:
		p.clock, p.vague, words = clock{hour, minute}, half == 0 && hour >= 1 && hour <= 12, 1+more+oclock+half
	default:
		return 0
	}
	p.timed = true
	return i + words
}

// minute returns the minutes that are said after an hour, as in "nine thirty" or "nine oh five",
// and how many words from i on they have.
func (p *parser) minute(i int) (minute, words int) {
	oh := p.skip(i, "oh", "o")
	n, words := p.number(i + oh)
	if _, err := strconv.ParseFloat(p.word(i+oh), 64); words == 0 || err == nil || (oh > 0) != (n > 0 && n < 10) || n >= 60 {
		return 0, 0
	}
	return int(n), oh + words
}

// half returns an hour as an hour of the day, if word i is "am" or "pm", and 1; otherwise the same
// hour and 0.
func (p *parser) half(hour, i int) (int, int) {
	if hour < 1 || hour > 12 || p.skip(i, "am", "pm") == 0 {
		return hour, 0
	}
	return hour%12 + 12*p.skip(i, "pm"), 1
}

// spoken returns the time of day with which the words from i on begin, as people say it, such as
// "half past nine" or "quarter to 6 pm", and how many words it has. sure tells that a time of day
// is expected, as after a day; otherwise "ten to nine" may be about people.
func (p *parser) spoken(i int, sure bool) (c clock, vague bool, words int) {
	k := i + p.skip(i, "a")
	minutes, n := p.number(k)
	ok := n > 0 && sure && k == i && minutes >= 1 && minutes < 60
	switch p.word(k) {
	case "half":
		minutes, n, ok = 30, 1, true
	case "quarter":
		minutes, n, ok = 15, 1, true
	}
	k += n + p.skip(k+n, "minutes")
	before := p.skip(k, "to", "before") > 0
	if !ok || !before && p.skip(k, "past", "after") == 0 {
		return clock{}, false, 0
	}
	at, n := p.parses(k+1, "3PM", "3 PM")
	hour := at.Hour()
	if n == 0 {
		h, ok := number(p.word(k + 1))
		if hour = int(h); !ok || float64(hour) != h || hour > 23 {
			return clock{}, false, 0
		}
		var half int
		hour, half = p.half(hour, k+2)
		n, vague = 1+half, half == 0 && hour >= 1 && hour <= 12
	}
	c = clock{hour, int(minutes)}
	if before {
		c = clock{(hour + 23) % 24, 60 - int(minutes)}
		if vague && hour == 1 {
			c.hour = 12
		}
	}
	return c, vague, k + 1 + n - i
}

// resolve returns the next time that fits what was read.
func (p *parser) resolve() (time.Time, error) {
	days := p.days
	soon := func(days int) bool { return days == 0 && p.weekday == 0 } // on a Monday evening, "Monday" with "10" does not mean 10 pm today
	at := func(days int) time.Time { return clockTime(p.now, days, false, p.meant(soon(days))...) }
	switch {
	case !p.whole.IsZero():
		return p.whole, nil
	case p.span && !p.timed:
		if at := p.now.AddDate(0, p.months, p.days).Add(p.spent); at.After(p.now) && p.days <= mostDays {
			return at, nil
		}
		return p.now, noTime(p.now)
	case p.span:
		days = daysBetween(p.now, p.now.AddDate(0, p.months, p.days))
	case p.week && p.weekday > 0: // the next week begins with a Monday
		days = (8-int(p.now.Weekday())-1)%7 + 1 + (p.weekday-1+6)%7
	case p.week:
		days = 7
	case p.weekday > 0:
		days = (p.weekday - 1 - int(p.now.Weekday()) + 7) % 7
		if days == 0 && (p.next || !at(0).After(p.now)) {
			days = 7
		}
	case !p.date.IsZero():
		days = daysBetween(p.now, p.date)
		for year := p.now.Year(); p.date.Year() == 0 && year <= p.now.Year()+1; year++ {
			on := p.date.AddDate(year, 0, 0)
			if days = daysBetween(p.now, on); on.Day() == p.date.Day() && at(days).After(p.now) {
				break
			}
		}
	case p.day && days == 0 && !p.timed && p.part == "":
		return p.now, fmt.Errorf("at what time today? Write today at 17:30; now it is %s", p.now.Format("15:04"))
	}
	return clockTime(p.now, days, !p.day && !p.span, p.meant(soon(days))...), nil
}

// daysBetween returns how many days of the calendar lie between two times, each by the clock of its
// own zone.
func daysBetween(from, to time.Time) int {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return int(date(to).Sub(date(from)) / (24 * time.Hour))
}

// usual are the hours that are meant if somebody names none, by part of the day.
var usual = map[string]int{"": 9, "morning": 9, "afternoon": 15, "evening": 19, "night": 20}

// meant returns the times of day that may be meant. soon says that the day may be today; then both
// halves of the day are possible, and whichever comes first is meant.
func (p *parser) meant(soon bool) []clock {
	c := p.clock
	switch {
	case !p.timed:
		return []clock{{usual[p.part], 0}}
	case p.part == "night" && (c.hour < 6 || p.vague && c.hour == 12):
		c.hour = c.hour%12 + 24
	case !p.vague:
	case p.part == "morning":
		c.hour %= 12
	case p.part != "":
		c.hour = c.hour%12 + 12
	case soon:
		c.hour %= 12
		return []clock{c, {c.hour + 12, c.minute}}
	case c.hour < 7: // nobody wants to be called at night without saying so
		c.hour += 12
	}
	return []clock{c}
}
