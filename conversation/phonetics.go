package conversation

import (
	"slices"
	"strings"

	"earshot"
	"earshot/language"
	"earshot/language/phones"
)

// A recogniser writes words that it knows for what it does not know: "stop talk and" for "stop
// talking", "Jervis" for "Jarvis". So phrases and names are also compared by their phones.

// A Phrase is a phrase that is recognised by its sounds.
type Phrase struct{ sounds string }

// leastSounds is how many sounds a phrase must have to be recognised with one of them wrong:
// shorter phrases, such as "stop", are too similar to others.
const leastSounds = 6

// NewPhrase returns a phrase of several words that is long enough to be recognised by its sounds.
// Any other phrase never matches.
func NewPhrase(text string) Phrase {
	s := coarseSounds(text)
	if len(s) < leastSounds || len(strings.Fields(text)) < 2 {
		return Phrase{}
	}
	return Phrase{s}
}

// Heard reports whether text may be what a recogniser has made of the phrase: it sounds the same
// except for at most one sound.
func (p Phrase) Heard(text string) bool {
	return p.sounds != "" && phones.Distance(p.sounds, coarseSounds(text)) <= 1
}

// coarseSounds returns what a text sounds like to somebody who hears badly. What is confused is
// confused within a word, so "stop talking" has two sounds where "start talking" has them.
func coarseSounds(text string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		if b.WriteString(phones.Coarse(phones.Of(word))); b.Len() >= phones.Most {
			break
		}
	}
	return b.String()
}

const (
	// onePhoneIn is of how many phones of a name one may be wrong. Of a shorter name none may, and
	// of one with less than leastPhones the letters count.
	onePhoneIn  = 5
	leastPhones = 3

	// After a silence and before a question, a name of at least leastMisheard sounds may have
	// mostMisheard wrong ones.
	leastMisheard = 5
	mostMisheard  = 2
)

// Misheard returns where in a text the agent is called by words that only sound like its name, and by
// how many of them; 0 if it is not called. Such words are common in sentences that call nobody, so
// there must be another sign: a "hey" before them, a request or a comma or the like behind them, one
// before them at the end, or nothing but them after a silence.
//
// After a silence and before a question, more of the name may be wrong, as in "you shot" or
// "buckshot", if it ends like the real one and no article precedes it. So may the "hey" before it.
func (l AddressClassifier) Misheard(text earshot.Text, about SpeechContext) (at, n int) {
	words := strings.Fields(string(text))
	for i := range words {
		greeted := i > 0 && summons[plain(words[i-1])]
		if n := l.sounding(words[i:]); n > 0 {
			last, rest := words[i+n-1], words[i+n:]
			if greeted || pauses(last) && len(rest) > 0 || requests(rest) && !asking[plain(last)] || about.Rested && len(rest) == 0 {
				return i, n
			}
		}
		if about.Rested {
			if n := l.misheard(words[i:]); n > 0 {
				return i, n
			}
		}
		if !greetings[plain(words[i])] {
			break
		}
	}
	for i := len(words) - 1; i > 0 && len(words)-i <= l.mostWords() && !about.Partial; i-- {
		if pauses(words[i-1]) && l.sounding(words[i:]) == len(words)-i {
			return i, len(words) - i
		}
	}
	return 0, 0
}

// sounding returns how many words at the beginning of a text sound like the agent's name, and like
// nobody else's.
func (l AddressClassifier) sounding(words []string) (n int) {
	name := phones.Of(l.Name)
	if len(name) < leastPhones || slices.ContainsFunc(l.Others, func(other string) bool { return spells(words, other) }) {
		return 0
	}
	least := len(name)/onePhoneIn + 1
	for i := range min(len(words), l.mostWords()) {
		heard := phones.Of(strings.Join(words[:i+1], " "))
		switch wrong := phones.Distance(name, heard); {
		case wrong > 0 && determiners[plain(words[0])]: // "a computer"
		case heard == name+"s", heard == name+"z": // "computers"
		case wrong < least:
			least, n = wrong, i+1
		}
	}
	return n
}

// mostWords is of how many words a recogniser may make the agent's name.
func (l AddressClassifier) mostWords() int { return len(strings.Fields(l.Name)) + 2 }

// misheard returns how many words at the beginning of a question call the agent, although up to two
// sounds of its name are wrong, or the "hey" before it.
func (l AddressClassifier) misheard(words []string) int {
	if len(words) > 1 && phones.Distance(coarseSounds(words[0]), summoning) <= 1 { // "the earshot", for "hey"
		if n := l.named(words[1:]); n > 0 && questions(words[1+n:]) {
			return 1 + n
		}
	}
	name := coarseSounds(l.Name)
	if len(name) < leastMisheard || len(words) == 0 || determiners[plain(words[0])] {
		return 0
	}
	for n := 1; n <= 2 && n < len(words); n++ {
		heard := coarseSounds(strings.Join(words[:n], " "))
		most := mostMisheard
		if !strings.HasSuffix(heard, name[len(name)/2:]) {
			most = 1
		}
		if phones.Distance(heard, name) <= most && questions(words[n:]) && !asking[plain(words[n-1])] {
			return n
		}
	}
	return 0
}

// summoning is the coarse sound of "hey", which is heard as "the" or "they" more often than as itself.
const summoning = "ha"

var (
	questionWords = language.Set("what who when where why how which whose what's who's where's when's how's whats whos")
	auxiliaries   = language.Set("can could do does did will would should shall may might have has can't won't don't didn't isn't aren't is are was were am")
	pronouns      = language.Set("i you he she we they it there this that me anybody anyone somebody someone")
	determiners   = language.Set("a an the this that these those my his her our their one's")

	// asking are the words after which a question is no question: "I know what you mean".
	asking = language.Set(`about ask asked asks care cares did do does don't forget forgot guess hear heard is know known knows learn like matter
		matters mean means of on remember said saw say says see seen show that's think thinks thought to told understand was were wonder`)

	// orders are the words with which most commands begin.
	orders = language.Set(`add ask book call cancel check close continue describe dim explain find forget give go help let list lock look make mute
		note open order pause play put read remember remind repeat save say search send set show shut sing start stop switch take tell translate
		turn unlock unmute wait wake write`)
)

// requests reports whether words begin a question or a command.
func requests(words []string) bool {
	if len(words) > 0 && plain(words[0]) == "please" {
		words = words[1:]
	}
	return questions(words) || len(words) > 0 && orders[plain(words[0])]
}

// pauses reports whether a recogniser wrote a pause behind a word.
func pauses(word string) bool { return strings.TrimRight(word, ",.!?:;") != word }

// questions reports whether words begin a question: "what" that is not followed by "I", "you" or
// "he", as it is in "what you said", or "can you".
func questions(words []string) bool {
	if len(words) < 2 {
		return false
	}
	first, second := plain(words[0]), plain(words[1])
	return questionWords[first] && !pronouns[second] || auxiliaries[first] && pronouns[second]
}
