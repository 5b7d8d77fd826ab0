package microphone

import (
	"strings"

	"earshot/language"
)

var (
	// sounds are sounds that people make without meaning anything.
	sounds = language.Set("ah aha eh er erm hm hmm huh m mhm mhmm mm mmm oh uh um umm")

	// small are the words that a recogniser finds in the noise of a chair, a cough or a fan, since
	// every sentence has some.
	small = language.Set("a an and as at but by for had has have he her his i if in is it its of on or she so than that the their then there they this to was we were with")
)

// certain is the confidence of a recogniser in small words that were really said: in noise it
// finds them with 0.1 to 0.4.
const certain = 0.6

// noise reports whether words are what a recogniser finds where nobody spoke, or mean nothing.
func noise(words string, confidence float64) bool {
	only := sounds
	if confidence < certain {
		only = small
	}
	for w := range strings.FieldsFuncSeq(strings.ToLower(words), parts) {
		if !only[w] && !sounds[w] {
			return false
		}
	}
	return true
}

// parts reports whether r separates words.
func parts(r rune) bool { return r == ' ' || r == '-' || strings.ContainsRune(".,!?;:\t\n", r) }

// Understood reports whether the room is told of words with a confidence and, if the confidence is
// less than least, that they are faint.
func Understood(words string, confidence, least float64) (faint, told bool) {
	faint = confidence < least
	several := len(strings.Fields(words)) > 1
	return faint, !noise(words, confidence) && (!faint || several && confidence >= faintest)
}
