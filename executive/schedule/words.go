package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"earshot/executive/remind"
)

var errWhen = errors.New("that does not say how often; write day at 7:30, weekday at 8, monday and thursday at 18:00, 2 hours, month on the 1st, or the five fields of cron")

// Parse returns the words that say how often somebody wants something done, the same as the five fields of
// cron, and the words behind them. They write those fields, or plain words such as "every weekday at 7:30",
// "2 hours" or "on the first of the month". A day without a time of day means its morning.
func Parse(text string) (when, spec string, rest []string, err error) {
	words := strings.Fields(text)
	if len(words) >= 5 && strings.Trim(words[0]+words[1], "0123456789*/,-") == "" {
		return strings.Join(words[:5], " "), strings.ToLower(strings.Join(words[:5], " ")), words[5:], nil
	}
	r := &reader{words: words, plain: append(remind.Plain(words), "", "")}
	spec, err = r.phrase()
	return strings.TrimRight(strings.Join(words[:r.at], " "), ",;:"), spec, words[r.at:], err
}

// A reader reads words one after the other.
type reader struct {
	words, plain []string // the plain ones end with empty ones
	at           int
}

// skip passes over the next word if it is one of these.
func (r *reader) skip(words ...string) bool {
	is := r.plain[r.at] != "" && slices.Contains(words, r.plain[r.at])
	if is {
		r.at++
	}
	return is
}

// phrase reads plain words, and returns them as fields of cron.
func (r *reader) phrase() (string, error) {
	r.skip("on")
	r.skip("every", "each")
	if every := r.interval(); every != "" {
		return every, nil
	}
	daily := r.skip("day", "daily") || slices.Contains([]string{"morning", "afternoon", "evening", "night"}, r.plain[r.at])
	days := "* * *"
	if !daily {
		days = r.days()
	}
	hour, minute, n := remind.DayTime(r.plain[r.at:])
	r.at += n
	switch {
	case days == "":
		return "", errWhen
	case r.plain[r.at] == "at":
		return "", errors.New("at what time? Write one time, such as at 7:30, at noon or at 8pm")
	case hour >= 24 && !daily:
		return "", errors.New("on which of two days is that night? Write 23:59, or 0:00 with the day that begins")
	}
	return fmt.Sprintf("%d %d %s", minute, hour%24, days), nil
}

// interval reads how much time passes in between, which must be a part of an hour or of a day.
func (r *reader) interval() string {
	n, i, step := 1, 0, "*"
	if number, err := strconv.Atoi(r.plain[r.at]); err == nil {
		n, i, step = number, 1, fmt.Sprintf("*/%d", number)
	}
	switch unit := strings.TrimSuffix(r.plain[r.at+i], "s"); {
	case unit == "minute" && n > 0 && 60%n == 0:
		step += " * * * *"
	case unit == "hour" && n > 0 && 24%n == 0:
		step = "0 " + step + " * * *"
	default:
		return ""
	}
	r.at += i + 1
	return step
}

var ordinals = []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}

// days reads on which days, and returns the last three fields of cron; "" if there are none.
func (r *reader) days() string {
	switch {
	case r.skip("weekday", "weekdays"):
		return "* * 1-5"
	case r.skip("weekend", "weekends"):
		return "* * 0,6"
	}
	monthly := !r.skip("week", "weekly") && r.skip("month", "monthly")
	r.skip("on")
	r.skip("the")
	var week, month []string
	for {
		word := r.plain[r.at]
		n, err := strconv.Atoi(word)
		if err != nil || !monthly && strings.TrimRight(r.words[r.at], ",;:") == word { // a bare number may belong to what is to be done
			n = slices.Index(ordinals, word)
		}
		if day, ok := remind.Weekday(word); ok && len(month) == 0 {
			week = append(week, strconv.Itoa(int(day)))
		} else if n > 0 && len(week) == 0 {
			month = append(month, strconv.Itoa(n))
		} else {
			break
		}
		r.at++
		_ = r.skip("and") && r.skip("the")
	}
	switch {
	case len(week) > 0:
		return "* * " + strings.Join(week, ",")
	case len(month) == 0:
		return ""
	}
	_ = r.skip("of") && r.skip("the", "each", "every") && r.skip("month")
	return strings.Join(month, ",") + " * *"
}
