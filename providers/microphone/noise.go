package microphone

import "strings"

var (
	// sounds are what people utter when they do not want to say anything.
	sounds = set("ah aha eh er erm hm hmm huh m mhm mhmm mm mmm oh uh um umm")

	// small are the words that a recogniser makes of a chair, a cough or a fan,
	// since no sentence lacks them.
	small = set("a an and as at but by for had has have he her his i if in is it its of on or she so than that the their then there they this to was we were with")
)

// certain is how sure a recogniser is of small words that were really said: of
// those that it finds in noise it has 0.1 to 0.4.
const certain = 0.6

func set(words string) map[string]bool {
	all := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		all[w] = true
	}
	return all
}

// noise reports whether words are only what a recogniser hears where nobody
// spoke, or what means nothing.
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

// parts reports whether r stands between words.
func parts(r rune) bool { return r == ' ' || r == '-' || strings.ContainsRune(".,!?;:\t\n", r) }

// Understood reports whether the room is told of words of which a recogniser is so sure, and whether
// that is less than the least that is asked for: of some words, that they are faint.
func Understood(words string, confidence, least float64) (faint, told bool) {
	faint = confidence < least
	several := len(strings.Fields(words)) > 1
	return faint, !noise(words, confidence) && (!faint || several && confidence >= faintest)
}
