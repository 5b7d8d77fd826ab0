package sight

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"earshot"
)

// Found returns what the detectors found in a picture, worded to follow "I see". The text of a code
// is quoted, because it is data.
func Found(p earshot.Picture) earshot.Text {
	found := []string{number(People(p.Seen))}
	for _, s := range p.Seen {
		if s.What == earshot.Code && len(found) <= mostCodes {
			found = append(found, "a code that says "+Quoted(s.Text, longestCode))
		}
	}
	return earshot.Text(strings.Join(found, ", and "))
}

// People returns how many people were found. A face belongs to the body that contains its middle.
func People(seen []earshot.Seen) int {
	bodies, faces, apart := 0, 0, 0
	for _, s := range seen {
		switch s.What {
		case earshot.Person:
			bodies++
		case earshot.Face:
			faces++
			if !slices.ContainsFunc(seen, func(b earshot.Seen) bool { return b.What == earshot.Person && holds(b.Box, s.Box) }) {
				apart++
			}
		}
	}
	return max(bodies+apart, faces)
}

// holds reports whether the middle of b lies in a.
func holds(a, b earshot.Box) bool {
	x, y := b.X+b.Width/2, b.Y+b.Height/2
	return x >= a.X && x <= a.X+a.Width && y >= a.Y && y <= a.Y+a.Height
}

const (
	mostCodes   = 2  // how many codes are reported: somebody who holds up more has shown them
	longestCode = 80 // bytes: enough for a web address
)

// Nobody is how the findings begin if nobody was found.
const Nobody = "nobody"

// number returns a number of people in words.
func number(n int) string {
	words := []string{Nobody, "one person", "two people", "three people", "four people", "five people", "six people"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprintf("%d people", n)
}

// Quoted returns foreign words in a form that may be part of the program's own sentence: one line
// of at most so many bytes, which can neither end the sentence nor continue it. Such a sentence
// must still be escaped before it is put into a prompt.
func Quoted(text earshot.Text, most int) string {
	return `"` + strings.ReplaceAll(oneLine(string(text), most), `"`, "'") + `"`
}

// oneLine returns text in one line that can be printed, of at most so many bytes and an ellipsis if
// there is more.
func oneLine(text string, most int) string {
	line := strings.Join(strings.Fields(strings.Map(printable, strings.ToValidUTF8(text, ""))), " ")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}

// printable maps a rune to one that can be printed. It removes invisible runes, which could reverse
// the direction of a line.
func printable(r rune) rune {
	if unicode.IsSpace(r) {
		return ' '
	}
	if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// Unseen returns why a camera with such eyesight shows nothing, and since when, if that is known.
// now is when somebody asks. It is empty if the camera sees.
func Unseen(eyes earshot.Eyesight, since, now time.Time) string {
	when := ""
	if !since.IsZero() && since.Before(now) {
		when = " since " + clock(since, now)
	}
	switch eyes {
	case earshot.Clear:
		return ""
	case earshot.Dark:
		return "I cannot see anything: it has been dark before my camera" + when + ", or something covers it."
	case earshot.Frozen:
		return "I cannot say what there is to see: my camera has shown the same picture" + when + "."
	}
	return "I cannot see anything: my camera has shown nothing" + when + "."
}

// aDay is how long a time of day alone identifies the day.
const aDay = 20 * time.Hour

// clock returns a past time as people say it.
func clock(at, now time.Time) string {
	at = at.In(now.Location())
	if now.Sub(at) < aDay {
		return at.Format("15:04")
	}
	return at.Format("Monday, 2 January, 15:04")
}

// fresh is how old a picture may be that is introduced by "I see": a room hardly changes within one
// sentence.
const fresh = 5 * time.Second

// Opening returns the beginning of an answer that rests on a picture. It says how long ago the
// picture was taken, if the room may look different when the first words of the answer come out;
// otherwise it is empty. A picture from the future, because a clock was set meanwhile, counts as
// current.
func Opening(taken, said time.Time) string {
	age := said.Sub(taken)
	switch {
	case taken.IsZero() || age <= fresh:
		return ""
	case age < 50*time.Second:
		return fmt.Sprintf("About %d seconds ago I saw: ", int(age.Round(5*time.Second).Seconds()))
	case age < 90*time.Second:
		return "About a minute ago I saw: "
	case age < time.Hour:
		return fmt.Sprintf("About %d minutes ago I saw: ", int(age.Round(time.Minute).Minutes()))
	case age < aDay:
		return "At " + clock(taken, said) + " I saw: "
	}
	return "On " + clock(taken, said) + " I saw: "
}
