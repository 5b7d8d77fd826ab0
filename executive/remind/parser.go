package remind

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A clock is a time of day. Hours from 24 on are of the night that follows.
type clock struct{ hour, minute int }

// A parser takes in the words of a time one after the other, each kind of them once, in
// any order.
type parser struct {
	words []string // in lower case
	now   time.Time
	at    int // words that were taken in

	whole time.Time // all of it

	span         bool // from now on: so much
	months, days int
	spent        time.Duration

	day     bool      // a day is named: so many days from today, or this
	weekday int       // from 1; 0 is none
	next    bool      // and not today
	week    bool      // it is of the next week
	date    time.Time // of the year 0 if none is named

	timed bool // a time of day is named
	vague bool // which may be of the morning or of the evening
	clock clock
	part  string // of the day
}

// word returns the word i after those that were taken in.
func (p *parser) word(i int) string {
	if p.at+i >= len(p.words) {
		return ""
	}
	return p.words[p.at+i]
}

// skip returns 1 if the word i is one of some, and else 0.
func (p *parser) skip(i int, words ...string) int {
	if w := p.word(i); w != "" && slices.Contains(words, w) {
		return 1
	}
	return 0
}

// follows returns how many words from i on are these.
func (p *parser) follows(i int, words ...string) int {
	for k, w := range words {
		if p.word(i+k) != w {
			return 0
		}
	}
	return len(words)
}

// parses returns what the words from i on are by one of some layouts, and how many are.
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

// all takes in as much as is a time, and returns how many words that is.
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

// number returns the number that the words from i on are, and how many words that is: "twenty
// five" is one number.
func (p *parser) number(i int) (n float64, words int) {
	if n, ok := spelt(p.word(i) + "-" + p.word(i+1)); ok {
		return float64(n), 2
	}
	if n, ok := number(p.word(i)); ok {
		return n, 1
	}
	return 0, 0
}

// units are those of time, the longest first.
var units = []struct {
	names []string
	long  time.Duration
}{
	{[]string{"month", "months"}, 30 * 24 * time.Hour}, {[]string{"w", "week", "weeks"}, 7 * 24 * time.Hour},
	{[]string{"d", "day", "days"}, 24 * time.Hour}, {[]string{"h", "hr", "hrs", "hour", "hours"}, time.Hour},
	{[]string{"m", "min", "mins", "minute", "minutes"}, time.Minute}, {[]string{"s", "sec", "secs", "second", "seconds"}, time.Second},
}

// spans takes in how long it is from now on.
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
		switch whole := int(n); unit { // a day is what the calendar says
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

// amount returns a number of units, and how many words from i on that is. Said tells that
// it was begun: "a day off" is no time, and "in a day" is.
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

// near are the days that are named by how many days they are from today.
var near = []struct {
	days  int
	words []string
}{{0, []string{"today"}}, {0, []string{"tonight"}}, {1, []string{"tomorrow"}}, {2, []string{"the", "day", "after", "tomorrow"}},
	{2, []string{"day", "after", "tomorrow"}}}

// dates takes in a day.
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

// partOfDay takes in a part of the day.
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

// clocks takes in a time of day.
func (p *parser) clocks() int {
	if p.timed || p.span && (p.spent != 0 || p.days == 0 && p.months == 0) {
		return 0
	}
	i := p.skip(0, "at", "@", "by", "until", "till")
	said := i > 0
	at, words := p.parses(i, "3PM", "3 PM", "3:04PM", "3:04 PM", "3.04PM", "3.04 PM", "15:04")
	if words == 0 && (said || p.day) { // else it may be a price
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

// minute returns the minutes that are said behind an hour, as in nine thirty or nine oh five,
// and how many words from i on that is.
func (p *parser) minute(i int) (minute, words int) {
	oh := p.skip(i, "oh", "o")
	n, words := p.number(i + oh)
	if _, err := strconv.ParseFloat(p.word(i+oh), 64); words == 0 || err == nil || (oh > 0) != (n > 0 && n < 10) || n >= 60 {
		return 0, 0
	}
	return int(n), oh + words
}

// half returns the hour of the day that an hour is before or after noon, as the word i says,
// and whether it does: 1 or 0.
func (p *parser) half(hour, i int) (int, int) {
	if hour < 1 || hour > 12 || p.skip(i, "am", "pm") == 0 {
		return hour, 0
	}
	return hour%12 + 12*p.skip(i, "pm"), 1
}

// spoken returns the time of day that the words from i on are as people say it, such as half
// past nine or quarter to 6 pm, and how many words that is. Sure tells that a time of day
// stands there, as behind a day: else "ten to nine" may be people.
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

// resolve returns which time that is: the next such one.
func (p *parser) resolve() (time.Time, error) {
	days := p.days
	soon := func(days int) bool { return days == 0 && p.weekday == 0 } // who says monday on a monday evening means no 10 pm by 10
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
	case p.week && p.weekday > 0: // which begins with a monday
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

// daysBetween returns how many days of the calendar there are from one time to another,
// as each is written.
func daysBetween(from, to time.Time) int {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return int(date(to).Sub(date(from)) / (24 * time.Hour))
}

// usual are the hours that are meant if somebody names none.
var usual = map[string]int{"": 9, "morning": 9, "afternoon": 15, "evening": 19, "night": 20}

// meant returns the times of day that may be meant; soon says that it may be today, so
// that it is whichever comes first.
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
	case c.hour < 7: // nobody wants to be called in the night without saying so
		c.hour += 12
	}
	return []clock{c}
}
