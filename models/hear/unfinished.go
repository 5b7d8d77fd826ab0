package hear

import "strings"

// hanging are the words that an English sentence rarely ends with. Particles
// that many end with, such as "on" and "up", and words that are an answer by
// themselves, such as "well", are not among them: who says "turn it on" should
// not wait.
var hanging = set(`
	and but or nor because if unless although whenever whereas since until which whose whether
	a an the my your our their its every
	of to from with without into onto at by for than between among during toward towards via per
	is are was be i'm it's there's what's
	i we they very
	um uh er erm uhm hey
	point dot minus plus double triple
`)

// digits are the words of a number that is dictated digit by digit.
var digits = set("zero oh one two three four five six seven eight nine double triple")

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// lastWords is how much of the end of a sentence is looked at, in bytes.
const lastWords = 64

// Unfinished reports whether somebody who has said these English words, and
// then nothing, is probably not done: they end with a word that asks for
// another, or in a number that is dictated digit by digit. It is a guess that
// costs some patience where it is wrong.
func Unfinished(words string) bool {
	words = strings.TrimSpace(words[max(0, len(words)-lastWords):])
	switch {
	case strings.HasSuffix(words, ","), strings.HasSuffix(words, "..."), strings.HasSuffix(words, "…"):
		return true
	case strings.HasSuffix(words, "."), strings.HasSuffix(words, "?"), strings.HasSuffix(words, "!"):
		return false
	}
	said := strings.Fields(strings.ToLower(words))
	if len(said) == 0 {
		return false
	}
	last := said[len(said)-1]
	return hanging[last] || len(said) > 1 && digits[last] && digits[said[len(said)-2]]
}
