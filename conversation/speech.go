package conversation

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"earshot"
)

// A Listener decides whether something that was said aloud is for the agent. It
// has no state: what it needs to know it is told.
type Listener struct {
	Name  string        // of the agent: it wakes it
	As    []string      // what recognisers make of the name; compared in lower case
	After time.Duration // how long after its reply the agent is still talked to

	// Sure is the least confidence that a recogniser must have in words that do
	// not hold the name. Below it they are not answered, and do not cut.
	Sure float64
}

// An Attention is what the agent was doing when something was said.
type Attention struct {
	// Saying is what came out of its voice about then, and a little more, since
	// nobody knows to the word how far a sound has come.
	Saying earshot.Text

	Sounding bool      // its voice can be heard now
	Talking  bool      // it is answering the one who speaks
	Answered time.Time // when it had last answered him; zero for never
}

// An Address is whom words that were said aloud are for, and by what evidence.
type Address string

// The addresses.
const (
	Called    Address = "called"    // the agent, by its name
	Following Address = "following" // the agent, which is in talk with the one who speaks
	Aside     Address = "aside"     // somebody else
	Unsure    Address = "unsure"    // nobody can tell: they were hardly understood
	Own       Address = "own voice" // nobody: they are the agent's own words, come back
)

// ForAgent reports whether a is for the agent.
func (a Address) ForAgent() bool { return a == Called || a == Following }

// Address says whom an utterance that began at is for.
func (l Listener) Address(u earshot.Utterance, at time.Time, about Attention) Address {
	switch {
	case l.calls(u.Text):
		return Called
	case u.Own > 0 && echoes(string(u.Text), string(about.Saying)):
		return Own
	case u.Confidence < l.Sure:
		return Unsure
	case about.Talking || !about.Answered.IsZero() && at.Sub(about.Answered) <= l.After:
		return Following
	}
	return Aside
}

// Words says the same of words that are still being said, since at. Recognisers do not say
// how sure they are of those, and the first word is a guess.
func (l Listener) Words(s earshot.Speech, at time.Time, about Attention) Address {
	own := 0.0
	if s.Own {
		own = 1
	}
	if len(strings.Fields(string(s.Words))) < 2 && !l.calls(s.Words) {
		return Unsure
	}
	return l.Address(earshot.Utterance{Text: s.Words, Confidence: 1, Own: own}, at, about)
}

// Correct returns text with the agent's name as it is written, where it was
// called by it and a recogniser wrote something else.
func (l Listener) Correct(text earshot.Text) earshot.Text {
	words := strings.Fields(string(text))
	i, n := l.vocative(words)
	if n == 0 {
		return text
	}
	out := append(append(append([]string(nil), words[:i]...), l.Name), words[i+n:]...)
	return earshot.Text(strings.Join(out, " "))
}

func (l Listener) calls(text earshot.Text) bool {
	_, n := l.vocative(strings.Fields(string(text)))
	return n > 0
}

// greetings are the words that may stand before a name which is called, and
// between which and the end of a sentence it is called as well.
var greetings = map[string]bool{
	"hey": true, "hi": true, "hello": true, "ok": true, "okay": true, "so": true, "well": true, "and": true, "but": true,
	"um": true, "uh": true, "please": true, "oh": true, "yes": true, "no": true, "now": true, "good": true, "morning": true,
	"evening": true, "thanks": true, "thank": true, "you": true, "sorry": true, "wait": true, "stop": true,
}

// summons are the words after which a name is called wherever it stands.
var summons = map[string]bool{"hey": true, "hi": true, "hello": true, "ok": true, "okay": true}

// vocative returns where in words the agent is called, and by how many words; 0
// if it is not. One calls somebody at the beginning, after greetings at most, at
// the end, or after a summons; within a sentence one speaks about him.
func (l Listener) vocative(words []string) (at, n int) {
	greeting := true
	for i := range words {
		if n := l.named(words[i:]); n > 0 {
			if greeting || i+n == len(words) || i > 0 && summons[plain(words[i-1])] {
				return i, n
			}
		}
		greeting = greeting && greetings[plain(words[i])]
	}
	return 0, 0
}

// named returns with how many of its first words a text names the agent.
func (l Listener) named(words []string) int {
	for _, name := range append([]string{l.Name}, l.As...) {
		want := strings.Fields(name)
		if len(want) == 0 || len(want) > len(words) {
			continue
		}
		same := true
		for i, w := range want {
			same = same && plain(words[i]) == plain(w)
		}
		if same {
			return len(want)
		}
	}
	return l.parted(words)
}

// parted returns with how many of its first words a text names the agent, if
// they are its name with spaces in other places.
func (l Listener) parted(words []string) int {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, l.Name)
	so := ""
	for i, w := range words {
		so += plain(w)
		if so == name {
			return i + 1
		}
		if len(so) >= len(name) {
			break
		}
	}
	return 0
}

// spellings are what recognisers make of names that they know or do not know,
// beside two words for one, which is always understood.
var spellings = map[string][]string{
	"earshot": {"ear shot", "ear shut", "your shot", "here shot", "air shot"},
}

// Spellings returns what recognisers are known to make of a name.
func Spellings(name string) []string { return slices.Clone(spellings[strings.ToLower(name)]) }

// plain returns a word in lower case, without what stands around it and without
// the ending by which one says that something is somebody's.
func plain(word string) string {
	return strings.TrimFunc(strings.ToLower(word), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// An echo needs this share of the words to be those that the agent has just said,
// in their order. A loudspeaker in a room costs a recogniser every second word;
// somebody who answers takes up one word in three at most. Of a word or two all
// must be, since every other sentence has a "the" in it.
const (
	echoShare = 0.5
	echoFew   = 2
)

// echoes reports whether words that were heard are those that the agent said.
func echoes(heard, said string) bool {
	h, s := strings.Fields(heard), strings.Fields(said)
	if len(h) == 0 || len(s) == 0 {
		return false
	}
	least := echoShare * float64(len(h))
	if len(h) <= echoFew {
		least = float64(len(h))
	}
	return float64(common(h, s)) >= least
}

// common returns the length of the longest sequence of words that stands in
// both, in this order, with others between: by the usual table, of which one
// row is kept.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			best := max(row[j], row[j+1])
			if alike(plain(x), plain(y)) {
				best = max(best, diagonal+1)
			}
			diagonal = row[j+1]
			row[j+1] = best
		}
	}
	return row[len(b)]
}

// alike reports whether a recogniser may have made one word of the other: they
// are the same, or long and begin the same.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	n := min(len(a), len(b))
	return n >= 4 && a[:n*3/4] == b[:n*3/4]
}
