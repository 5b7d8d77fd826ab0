package neural

import (
	"os"
	"slices"
	"strings"
	"unicode"

	"earshot/language/phones"
	"earshot/models/catalog"
)

// A Keyword is a phrase as a set that seeks phrases spells it.
type Keyword struct {
	Phrase string
	Tokens []string
}

// mostSpellings is how many spellings of one phrase are sought at once. Each takes room among the few
// paths that the library follows.
const mostSpellings = 8

// Keywords spells phrases in the tokens of a set, some in several ways: by phones, if the set has those
// of the CMU dictionary with their stress, or else by the largest pieces of words that it has. Phrases
// that it cannot spell are left out; if it can spell none, that is an error.
func Keywords(set catalog.Installed, phrases []string) (all []Keyword, err error) {
	tokens, err := ReadTokens(set)
	if err != nil {
		return nil, err
	}
	for _, phrase := range phrases {
		for _, way := range tokens.spell(phrase) {
			all = append(all, Keyword{phrase, way})
		}
	}
	if len(all) == 0 {
		return nil, lasting("the model "+set.Name+" cannot spell what it is to listen for", "give the agent a name of English letters, or choose another model: earshot models list --all")
	}
	return all, nil
}

// Tokens are those of a set that can be part of a keyword.
type Tokens map[string]bool

// ReadTokens reads those of a set.
func ReadTokens(set catalog.Installed) (Tokens, error) {
	text, err := os.ReadFile(set.File("tokens"))
	if err != nil {
		return nil, Unfit(set.Name, "%v", err)
	}
	t := make(Tokens)
	for line := range strings.Lines(string(text)) {
		is := strings.Fields(line)
		if len(is) == 2 && !strings.ContainsAny(is[0][:1], ":#@<") { // which the library takes for something else, or nobody says
			t[is[0]] = true
		}
	}
	return t, nil
}

// spell returns the spellings of a phrase; none if a token for it is missing.
func (t Tokens) spell(phrase string) [][]string {
	words := strings.FieldsFunc(strings.ToUpper(phrase), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' })
	if len(words) == 0 {
		return nil
	}
	all := [][]string{nil}
	for _, word := range words {
		var longer [][]string
		for _, way := range stressed(phones.Of(word)) { // the likeliest of each word come first
			if slices.ContainsFunc(way, func(phone string) bool { return !t[phone] }) {
				continue
			}
			for _, before := range all {
				longer = append(longer, slices.Concat(before, way))
			}
		}
		all = longer[:min(len(longer), mostSpellings)]
	}
	if len(all) > 0 {
		return all
	}
	written := "▁" + strings.Join(words, "▁")
	for _, text := range []string{written, strings.ToLower(written)} {
		if way := t.pieces(text); way != nil {
			return [][]string{way}
		}
	}
	return nil
}

// pieces returns the fewest tokens that make a text, or nil.
func (t Tokens) pieces(text string) (way []string) {
	const never = 1 << 20
	least, end := make([]int, len(text)+1), make([]int, len(text)) // of what begins here: how many tokens, and where the first ends
	for from := len(text) - 1; from >= 0; from-- {
		least[from] = never
		for to := len(text); to > from; to-- {
			if n := least[to] + 1; n < least[from] && t[text[from:to]] {
				least[from], end[from] = n, to
			}
		}
	}
	if least[0] >= never {
		return nil
	}
	for from := 0; from < len(text); from = end[from] {
		way = append(way, text[from:end[from]])
	}
	return way
}

// cmu names the phones of package phones as the CMU dictionary does. ER is two there.
var cmu = map[byte]string{
	'a': "AA", '@': "AE", 'A': "AH", 'c': "AO", 'W': "AW", 'Y': "AY", 'b': "B", 'C': "CH", 'd': "D", 'D': "DH", 'E': "EH", 'e': "EY", 'f': "F",
	'g': "G", 'h': "HH", 'I': "IH", 'i': "IY", 'J': "JH", 'k': "K", 'l': "L", 'm': "M", 'n': "N", 'G': "NG", 'o': "OW", 'O': "OY", 'p': "P",
	'r': "R", 's': "S", 'S': "SH", 't': "T", 'T': "TH", 'U': "UH", 'u': "UW", 'v': "V", 'w': "W", 'y': "Y", 'z': "Z", 'Z': "ZH",
}

// stressed returns the ways in which a word with these phones may be stressed, which package phones
// leaves open: on any vowel. Of the others, those that English weakens have no stress then, and the
// rest have a second one, as in "earshot", IH1 R SH AA2 T.
func stressed(sounds string) (ways [][]string) {
	var all []string
	for i := range len(sounds) {
		if n := len(all); sounds[i] == 'r' && n > 0 && all[n-1] == "AH" {
			all[n-1] = "ER"
			continue
		}
		all = append(all, cmu[sounds[i]])
	}
	isVowel := func(phone string) bool { return strings.ContainsRune("AEIOU", rune(phone[0])) }
	for main, phone := range all {
		if !isVowel(phone) {
			continue
		}
		way := slices.Clone(all)
		for i, p := range way {
			switch {
			case i == main:
				way[i] += "1"
			case slices.Contains([]string{"AH", "ER", "IH", "IY"}, p):
				way[i] += "0"
			case isVowel(p):
				way[i] += "2"
			}
		}
		ways = append(ways, way)
	}
	return ways
}
