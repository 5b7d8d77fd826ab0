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

// Found returns what the detectors made of a picture, as it stands behind "I see".
// What a code says is quoted: it is data.
func Found(p earshot.Picture) earshot.Text {
	var codes []string
	for _, s := range p.Seen {
		if s.What == earshot.Code && len(codes) < mostCodes {
			codes = append(codes, "a code that says "+Quoted(s.Text, longestCode))
		}
	}
	found := []string{number(People(p.Seen))}
	return earshot.Text(strings.Join(append(found, codes...), ", and "))
}

// People returns how many people were found: a face belongs to the body in which its
// middle is.
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

// holds reports whether the middle of b is in a.
func holds(a, b earshot.Box) bool {
	x, y := b.X+b.Width/2, b.Y+b.Height/2
	return x >= a.X && x <= a.X+a.Width && y >= a.Y && y <= a.Y+a.Height
}

const (
	mostCodes   = 2  // that are told: who holds up more has shown them
	longestCode = 80 // bytes: an address
)

// Nobody is how what was found begins where nobody was.
const Nobody = "nobody"

// number returns how many people there are in words.
func number(n int) string {
	words := []string{Nobody, "one person", "two people", "three people", "four people", "five people", "six people"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprintf("%d people", n)
}

// Quoted returns foreign words as they can stand in a sentence of the house's own:
// one line of at most so many bytes, which they can neither end nor go on from. For a
// prompt such a sentence is still to be defused.
func Quoted(text earshot.Text, most int) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "\uFFFD")), " ")
	line = strings.Map(printable, strings.ReplaceAll(line, `"`, "'"))
	if len(line) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(line[cut]) {
			cut--
		}
		line = line[:cut] + "…"
	}
	return `"` + line + `"`
}

// printable takes out what is not to be seen, and could turn a line around.
func printable(r rune) rune {
	if unicode.IsSpace(r) {
		return ' '
	}
	if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// Unseen returns why there is nothing to be seen through a camera that sees like that,
// since when if that is known, for whoever asks at a time; "" if it sees.
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

// aDay is how long a time of day says which day it was.
const aDay = 20 * time.Hour

// clock returns when something was, as one says it later.
func clock(at, now time.Time) string {
	at = at.In(now.Location())
	if now.Sub(at) < aDay {
		return at.Format("15:04")
	}
	return at.Format("Monday, 2 January, 15:04")
}

// fresh is how old a picture may be of which one says "I see": nothing much changes
// in a room while one says a sentence.
const fresh = 5 * time.Second

// Opening returns how an answer begins that rests on a picture: with how long ago
// that was taken, if it is no longer what is to be seen when the first words of the
// answer come out, and with nothing if it is. A picture of the future, by a clock that
// was set meanwhile, is one of now.
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
