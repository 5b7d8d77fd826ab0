package neural

import (
	"bufio"
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
	s := speller{lexicon: make(map[string][][]string)}
	if s.tokens, err = Tokens(set); err != nil {
		return nil, err
	}
	if err := s.read(set, phrases); err != nil {
		return nil, Unfit(set.Name, "%v", err)
	}
	for _, phrase := range phrases {
		for _, tokens := range s.spell(phrase) {
			all = append(all, Keyword{phrase, tokens})
		}
	}
	if len(all) == 0 {
		return nil, lasting("the model "+set.Name+" cannot spell what it is to listen for", "give the agent a name of English letters, or choose another model: earshot models list --all")
	}
	return all, nil
}

// Tokens returns those of a set that can be part of a keyword.
func Tokens(set catalog.Installed) (map[string]bool, error) {
	all := make(map[string]bool)
	err := eachLine(set.File("tokens"), func(fields []string) {
		if len(fields) == 2 && !strings.ContainsAny(fields[0][:1], ":#@<") { // which the library takes for something else, or nobody says
			all[fields[0]] = true
		}
	})
	if err != nil {
		return nil, Unfit(set.Name, "%v", err)
	}
	return all, nil
}

// A speller is what a set knows of words.
type speller struct {
	tokens  map[string]bool
	lexicon map[string][][]string // the phones of the words that are asked for, in capitals
}

// read reads what the lexicon of a set says of phrases, if it has one.
func (s speller) read(set catalog.Installed, phrases []string) error {
	if set.File("lexicon") == "" {
		return nil
	}
	for _, phrase := range phrases {
		for _, word := range words(phrase) {
			s.lexicon[word] = nil
		}
	}
	return eachLine(set.File("lexicon"), func(fields []string) {
		word := strings.ToUpper(fields[0])
		if known, asked := s.lexicon[word]; asked && s.has(fields[1:]) {
			s.lexicon[word] = append(known, fields[1:])
		}
	})
}

// eachLine calls do with the fields of each line of a file that has any.
func eachLine(path string, do func(fields []string)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 0 {
			do(fields)
		}
	}
	return lines.Err()
}

// words returns the words of a phrase, in capitals and without marks.
func words(phrase string) []string {
	return strings.FieldsFunc(strings.ToUpper(phrase), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' })
}

// has reports whether the set has all of some tokens, and there are any.
func (s speller) has(tokens []string) bool {
	return len(tokens) > 0 && !slices.ContainsFunc(tokens, func(t string) bool { return !s.tokens[t] })
}

// spell returns the spellings of a phrase; none if the set lacks a token for it.
func (s speller) spell(phrase string) (all [][]string) {
	list := words(phrase)
	if len(list) == 0 {
		return nil
	}
	all = [][]string{nil}
	for _, word := range list {
		ways := s.lexicon[word]
		if len(ways) == 0 {
			ways = slices.DeleteFunc(stressed(phones.Of(word)), func(way []string) bool { return !s.has(way) })
		}
		var longer [][]string
		for _, way := range ways { // the likeliest of each word come first
			for _, before := range all {
				longer = append(longer, slices.Concat(before, way))
			}
		}
		all = longer[:min(len(longer), mostSpellings)]
	}
	if len(all) > 0 {
		return all
	}
	written := "▁" + strings.Join(list, "▁")
	for _, text := range []string{written, strings.ToLower(written)} {
		if tokens := s.pieces(text); tokens != nil {
			return [][]string{tokens}
		}
	}
	return nil
}

// pieces returns the fewest tokens that make a text, or nil.
func (s speller) pieces(text string) (tokens []string) {
	const never = 1 << 20
	least, end := make([]int, len(text)+1), make([]int, len(text)) // of what begins here: how many tokens, and where the first ends
	for from := len(text) - 1; from >= 0; from-- {
		least[from] = never
		for to := len(text); to > from; to-- {
			if n := least[to] + 1; n < least[from] && s.tokens[text[from:to]] {
				least[from], end[from] = n, to
			}
		}
	}
	if least[0] >= never {
		return nil
	}
	for from := 0; from < len(text); from = end[from] {
		tokens = append(tokens, text[from:end[from]])
	}
	return tokens
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
