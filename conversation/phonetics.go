package conversation

import (
	"bytes"
	"strings"

	"earshot"
	"earshot/language"
)

// A recogniser writes known words that sound like what was said: "stop talk and" for "stop
// talking". So some words are compared by sound. There is no dictionary of pronunciations without a
// voice, so a coarse code represents the sound: English letters are grouped into classes of sounds
// that voices, microphones and recognisers confuse least. All vowels are one class, and voiced
// consonants equal unvoiced ones.

// mostSounds bounds what is compared; no call or command is longer.
const mostSounds = 48

// spelt are groups of letters that make one sound, several sounds, or none; the longest come first.
// A hyphen stands for the edge of the word on that side.
var spelt = [][2]string{
	{"-kn", "n"}, {"-wr", "r"}, {"-gn", "n"}, {"-ps", "s"}, {"-x", "s"}, {"-who", "ha"}, {"-wh", "w"}, {"-one-", "wan"}, {"-once-", "wans"},
	{"eigh", "a"}, {"augh", "a"}, {"ough", "a"}, {"igh", "a"}, {"tion", "Xan"}, {"tch", "X"}, {"dge", "X"},
	{"alk", "ak"}, {"alf", "af"}, {"alm", "am"}, {"ould", "at"}, {"mb-", "m"}, {"ing-", "an"}, {"ng-", "n"}, {"que-", "k"},
	{"ck", "k"}, {"ch", "X"}, {"sh", "X"}, {"ph", "f"}, {"th", "t"}, {"wh", "w"}, {"qu", "kw"}, {"gh", "k"}, {"sc", "sk"},
	{"ce", "sa"}, {"ci", "sa"}, {"cy", "sa"}, {"ge", "Xa"}, {"gi", "ka"},
	{"ed-", "t"}, {"es-", "s"}, {"e-", ""},
}

// single are the classes of single letters, from a to z.
const single = "apktafkhaXklmnapkrstafwsys"

// phoneticCode returns a coarse code of the sound of words, without the spaces.
func phoneticCode(text string) string {
	var out []byte
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		if out = appendPhoneticCode(out, plain(w)); len(out) > mostSounds {
			return string(out[:mostSounds])
		}
	}
	return string(out)
}

// appendPhoneticCode appends the sounds of one word in lower case. Adjacent vowels count as one,
// and so do two equal consonants.
func appendPhoneticCode(out []byte, word string) []byte {
	from := len(out)
	put := func(c byte) {
		if n := len(out); n == from || out[n-1] != c {
			out = append(out, c)
		}
	}
	for at := 0; at < len(word); {
		s, n := letters(word, at, bytes.IndexByte(out[from:], 'a') >= 0)
		for i := range len(s) {
			put(s[i])
		}
		at += n
	}
	return out
}

// letters returns the sounds that begin at byte at of a word, and how many bytes they take. spoken
// says that a vowel came before; otherwise a final "e" is not silent.
func letters(word string, at int, spoken bool) (s string, n int) {
	for _, rule := range spelt {
		want, begins := strings.CutPrefix(rule[0], "-")
		want, ends := strings.CutSuffix(want, "-")
		if begins && at > 0 || !strings.HasPrefix(word[at:], want) || ends && at+len(want) != len(word) {
			continue
		}
		if ends && want[0] == 'e' && !spoken { // "he", "red"
			continue
		}
		return rule[1], len(want)
	}
	c := word[at]
	if c < 'a' || c > 'z' {
		return "", 1
	}
	switch last := at+1 == len(word); {
	case c == 'y' && at > 0: // "very"; at the beginning it is a consonant
		return "a", 1
	case c == 'w' && last, c == 'h' && at > 0 && (last || !vowel(word[at+1])): // "now", "oh"
		return "", 1
	}
	return single[c-'a' : c-'a'+1], 1
}

func vowel(c byte) bool { return strings.IndexByte("aeiouy", c) >= 0 }

// apart returns how many sounds must be changed, added or removed to turn one code into another. It
// keeps one row of the usual table.
func apart(a, b string) int {
	var row [mostSounds + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// A Phrase is a phrase that is recognised by its sounds.
type Phrase struct{ sounds string }

// leastSounds is how many sounds a phrase must have to be recognised with one of them wrong:
// shorter phrases, such as "stop", are too similar to others.
const leastSounds = 6

// NewPhrase returns a phrase of several words that is long enough to be recognised by its sounds.
// Any other phrase never matches.
func NewPhrase(text string) Phrase {
	s := phoneticCode(text)
	if len(s) < leastSounds || len(strings.Fields(text)) < 2 {
		return Phrase{}
	}
	return Phrase{s}
}

// Heard reports whether text may be what a recogniser has made of the phrase: it sounds the same
// except for at most one sound.
func (p Phrase) Heard(text string) bool {
	if p.sounds == "" || len(text) > 4*mostSounds {
		return false
	}
	return apart(p.sounds, phoneticCode(text)) <= 1
}

// leastNamed is how many sounds a name must have to be recognised with two of them wrong, and
// mostMisheard is how many may be wrong.
const (
	leastNamed   = 5
	mostMisheard = 2
)

// Misheard returns how many words at the beginning of a text call the agent by a misheard name. The
// text must come after a silence and continue with a question. The name may have one wrong sound,
// as in "ear short", or two, as in "you shot" or "buckshot", if it ends like the real name and no
// article precedes it. It may also be correct, after a "hey" with one wrong sound.
func (l AddressClassifier) Misheard(text earshot.Text, about SpeechContext) int {
	name := phoneticCode(l.Name)
	if !about.Rested || len(name) < leastNamed {
		return 0
	}
	words := strings.Fields(string(text))
	first := 0
	for first < len(words) && greetings[plain(words[first])] && !pronouns[plain(words[first])] {
		first++
	}
	if first+1 < len(words) && apart(phoneticCode(words[first]), summoning) <= 1 { // "the earshot", for "hey"
		if n := l.named(words[first+1:]); n > 0 && questions(words[first+1+n:]) {
			return first + 1 + n
		}
	}
	for n := 1; n <= 2 && first+n < len(words); n++ {
		called := strings.Join(words[first:first+n], " ")
		heard := phoneticCode(called)
		most := mostMisheard
		if !strings.HasSuffix(heard, name[len(name)/2:]) {
			most = 1
		}
		if determiners[plain(words[first])] || apart(heard, name) > most {
			continue
		}
		if questions(words[first+n:]) {
			return first + n
		}
	}
	return 0
}

// summoning is the sound of "hey", which is heard as "the" or "they" more often than as itself.
var summoning = phoneticCode("hey")

var (
	questionWords = language.Set("what who when where why how which whose what's who's where's when's how's whats whos")
	auxiliaries   = language.Set("can could do does did will would should shall may might have has can't won't don't didn't isn't aren't is are was were am")
	pronouns      = language.Set("i you he she we they it there this that me anybody anyone somebody someone")
	determiners   = language.Set("a an the this that these those my his her our their one's")
)

// questions reports whether words begin a question: "what" that is not followed by "I", "you" or
// "he", as it is in "what you said", or "can you".
func questions(words []string) bool {
	if len(words) < 2 {
		return false
	}
	first, second := plain(words[0]), plain(words[1])
	return questionWords[first] && !pronouns[second] || auxiliaries[first] && pronouns[second]
}
