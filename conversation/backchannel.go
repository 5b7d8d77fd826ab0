package conversation

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"earshot"
	"earshot/language"
)

const (
	// A murmur lasts at most this long, from its first sound to its last, and has at most this many
	// words: somebody who says more has something to say.
	murmurLasts = 1500 * time.Millisecond
	murmurWords = 4
)

// murmurs are what people say to encourage somebody who is speaking: sounds, words, and pairs of
// words. Objections, such as "no", and requests for more are not among them.
var murmurs = []string{
	"mm", "mmm", "mhm", "hm", "hmm", "uh", "huh", "um", "ah", "aha", "oh", "ooh", "wow",
	"mm-hm", "mm-hmm", "uh-huh",
	"yeah", "yes", "yep", "yup", "right", "okay", "ok", "sure", "alright", "really",
	"exactly", "true", "indeed", "absolutely", "definitely", "totally",
	"fine", "good", "great", "nice", "cool", "interesting", "ha", "heh", "lol", "k",
	"i see", "got it", "of course", "go on", "all right",
}

// halts are the words with which people begin to interrupt. The words after them need not be
// recognised with certainty.
var halts = []string{"stop", "wait", "no", "hold", "hang", "enough", "quiet", "never", "shut", "cancel"}

// halting reports whether words that are still being said begin with a halt.
func halting(text earshot.Text) bool {
	said := strings.Fields(folded(string(text)))
	return len(said) > 0 && slices.Contains(halts, said[0])
}

// backchannel reports whether u only shows that somebody is listening: whether it is a murmur while
// the agent speaks. If the agent has just asked something, it is an answer.
func backchannel(u earshot.Utterance, about SpeechContext) bool {
	if !about.Sounding || about.Asked || u.Lasted > murmurLasts {
		return false
	}
	said := strings.Fields(folded(string(u.Text)))
	switch {
	case Murmured(u.Text), len(said) <= 2 && !slices.ContainsFunc(said, func(w string) bool { return !meaningless[w] }) && len(said) > 0:
		return true
	case u.Confidence >= clear:
		return false
	}
	return len(said) <= murmurWords && (hums(string(u.Text)) || lettered(said))
}

// meaningless are words that interrupt nobody by themselves, and that recognisers write for "mm-hm"
// and "uh-huh".
var meaningless = language.Set("a am an and her him i'm it of off on the them us you from")

// lettered reports whether words begin with a hum in single letters: "m m them".
func lettered(said []string) bool {
	return len(said) > 1 && said[0] == "m" && (said[1] == "m" || said[1] == "h")
}

// clear is how sure a recogniser is of real words. It is less sure of the words that it writes for
// "mm-hm" and the like, such as "home" and "m m them".
const clear = 0.6

// hums reports whether words consist of the sounds of "mm-hm" and "uh-huh": vowels, breath, and
// nasal sounds. It is false for objections and questions, even if "no" was heard as a word that
// sounds like it.
func hums(text string) bool {
	for w := range strings.FieldsSeq(text) {
		if w = plain(w); slices.Contains(halts, w) || questionWords[w] || coarseSounds(w) == refusal {
			return false
		}
	}
	s := coarseSounds(text)
	return strings.ContainsAny(s, "mnh") && strings.Trim(s, "amnh") == ""
}

// refusal is the coarse sound of "no", "nah", "know" and "now".
const refusal = "na"

// laughs reports whether a word is laughter of any length.
func laughs(word string) bool {
	if len(word) < 4 {
		return false
	}
	for _, sound := range []string{"ha", "he", "hi", "ho"} {
		if strings.Trim(strings.ReplaceAll(word, sound, ""), "h") == "" {
			return true
		}
	}
	return false
}

// emoticons are those spelt with letters or digits, in lower case.
var emoticons = []string{":d", ":-d", ":p", ";p", "xd", "<3", ":o", "^_^", "o_o"}

// writtenMurmurs are murmurs that people only write, or that end a conversation when they are
// spoken.
var writtenMurmurs = []string{
	"mhmm", "mhmmm", "kk", "okk", "lmao", "rofl", "lolol", "jaja", "jajaja", "thanks", "thank you", "thx", "ty", "cheers", "noted", "neat", "sweet", "nice one", "makes sense", "good to know",
}

// MurmuredInWriting is [Murmured] for typed text, which may also be a sign, such as a thumbs-up.
// Questions and exclamations are no murmurs.
func MurmuredInWriting(text earshot.Text) bool {
	typed := strings.ToLower(strings.TrimSpace(string(text)))
	if typed == "" || strings.ContainsAny(typed, "?\n") {
		return false
	}
	words := slices.DeleteFunc(strings.Fields(typed), isSign)
	return len(words) == 0 && len(typed) <= longestSigns || murmured(strings.Join(words, " "), writtenMurmurs)
}

// isSign reports whether a word, in lower case, is an emoji or an emoticon.
func isSign(word string) bool {
	return slices.Contains(emoticons, word) || !strings.ContainsFunc(word, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '?' || r == '!' || r == '/'
	})
}

// longestSigns is the longest text of signs only, in bytes: a few emoji, each of which may consist
// of several characters.
const longestSigns = 64

// hummed returns words with each run of hummed letters replaced by one "mm", because a recogniser
// that does not know "mm-hm" spells it in letters.
func hummed(said []string) (words []string) {
	for _, w := range said {
		switch last := len(words) - 1; {
		case w != "m" && w != "h" && w != "n":
			words = append(words, w)
		case last < 0 || words[last] != "mm":
			words = append(words, "mm")
		}
	}
	return words
}

// Murmured reports whether text consists only of what people say to encourage a speaker.
func Murmured(text earshot.Text) bool { return murmured(string(text), nil) }

// murmured is Murmured with some additional words.
func murmured(text string, more []string) bool {
	is := func(words string) bool { return slices.Contains(murmurs, words) || slices.Contains(more, words) }
	said := hummed(strings.Fields(folded(text)))
	if len(said) == 0 || len(said) > murmurWords {
		return false
	}
	for len(said) > 0 {
		switch {
		case len(said) > 1 && is(said[0]+" "+said[1]):
			said = said[2:]
		case is(said[0]) || laughs(said[0]):
			said = said[1:]
		default:
			return false
		}
	}
	return true
}
