package conversation

import (
	"bytes"
	"strings"

	"earshot"
)

// What a recogniser writes is what it knows that sounds like what was said: "stop talk and"
// for "stop talking". So some words are compared by how they sound, and since no dictionary of
// pronunciations is at hand where nobody wants a voice, by a coarse code of that: English
// letters as classes of sounds, which voices, microphones and recognisers confuse least. A
// vowel is any vowel, and what is voiced is as what is not.

// mostSounds bounds what is compared: nobody calls or commands in more.
const mostSounds = 48

// spelt are letters that together are one sound, or several, or none; the longest stand
// first. A hyphen stands for an end of the word, on the side where it is.
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

// phoneticCode returns a coarse code of how words sound, without what is between them.
func phoneticCode(text string) string {
	var out []byte
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		if out = appendPhoneticCode(out, plain(w)); len(out) > mostSounds {
			return string(out[:mostSounds])
		}
	}
	return string(out)
}

// appendPhoneticCode appends the sounds of one word, in lower case. Vowels that follow each other are
// one, and so are two of the same consonant.
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

// letters returns the sounds that begin at a byte of a word, and how many bytes they are.
// Spoken says that a vowel stands before them, without which no "e" at the end is silent.
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

// apart returns how many sounds must be changed, put in or left out to make one code of
// another: the usual table, of which one row is kept.
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

// A Phrase is one that is known by its sounds.
type Phrase struct{ sounds string }

// leastSounds is how many a phrase must have to be known by them when one of them is
// another: of shorter ones, such as "stop", every other word is a neighbour.
const leastSounds = 6

// NewPhrase returns a phrase of more than a word that is long enough to be known by its
// sounds; of any other no text ever is one.
func NewPhrase(text string) Phrase {
	s := phoneticCode(text)
	if len(s) < leastSounds || len(strings.Fields(text)) < 2 {
		return Phrase{}
	}
	return Phrase{s}
}

// Heard reports whether text may be what a recogniser has made of the phrase: it sounds the
// same, but for one sound at most.
func (p Phrase) Heard(text string) bool {
	if p.sounds == "" || len(text) > 4*mostSounds {
		return false
	}
	return apart(p.sounds, phoneticCode(text)) <= 1
}

// leastNamed is how many sounds a name must have to be known although two of them are
// others, and mostMisheard how many may be.
const (
	leastNamed   = 5
	mostMisheard = 2
)

// Misheard returns with how many of its first words a text that was said after a silence, and goes
// on with a question, calls the agent: by its name with another sound, as by "ear short", or with two,
// as by "you shot" or "buckshot", if it ends as the name does, and without an article before it; or by
// its name after a "hey" that was misheard by one.
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

// summoning is how "hey" sounds, which is heard as "the" or "they" more often than as itself.
var summoning = phoneticCode("hey")

var (
	questionWords = wordSet("what who when where why how which whose what's who's where's when's how's whats whos")
	auxiliaries   = wordSet("can could do does did will would should shall may might have has can't won't don't didn't isn't aren't is are was were am")
	pronouns      = wordSet("i you he she we they it there this that me anybody anyone somebody someone")
	determiners   = wordSet("a an the this that these those my his her our their one's")
)

// questions reports whether words begin a question: "what" and no "I", "you" or "he" behind
// it, as in "what you said", or "can you".
func questions(words []string) bool {
	if len(words) < 2 {
		return false
	}
	first, second := plain(words[0]), plain(words[1])
	return questionWords[first] && !pronouns[second] || auxiliaries[first] && pronouns[second]
}
