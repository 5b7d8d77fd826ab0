package turncontrol

import (
	"hash/maphash"
	"slices"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/language"
)

const (
	// repeats is how many of the last window messages must say the same to be a repetition. window
	// is as many messages as three agents need to say three each.
	repeats = 3
	window  = 9

	// same is the share of common word pairs from which two texts are near duplicates: one word in
	// twenty may differ.
	same = 0.8

	// few is the length below which an answer, such as "yes", means nothing without what it
	// answers.
	few = 4

	// mostWordsKept bounds a fingerprint: a repetition already shows at the beginning of a text.
	mostWordsKept = 400
)

// A fingerprint is what is kept of a text to recognise it: its word pairs, sorted, and its numbers,
// because a text that counts up makes progress.
type fingerprint struct {
	words   []uint64
	pairs   []uint64
	numbers uint64
}

var seed = maphash.MakeSeed()

// fingerprintOf returns the fingerprint of a text. Case, punctuation and names called with "@" make
// no difference; a text without words counts as one word.
func fingerprintOf(text earshot.Text) fingerprint {
	var p fingerprint
	for w := range wordsOf(string(text)) {
		if len(p.words) == mostWordsKept {
			break
		}
		h := maphash.String(seed, w)
		p.words = append(p.words, h)
		if r, _ := utf8.DecodeRuneInString(w); unicode.IsDigit(r) {
			p.numbers = p.numbers*31 + h
		}
	}
	if len(p.words) == 0 && text != "" { // such as a smiley
		p.words = []uint64{maphash.String(seed, string(text))}
	}
	p.pairs = pairsOf(p.words)
	return p
}

// pairsOf returns the pairs of adjacent words; a single word is paired with nothing.
func pairsOf(words []uint64) []uint64 {
	pairs := make([]uint64, 0, len(words)+1)
	before := uint64(0)
	for _, w := range words {
		pairs = append(pairs, before*31+w)
		before = w
	}
	slices.Sort(pairs)
	return slices.Compact(pairs)
}

// wordsOf yields the words of text in lower case, without punctuation and mentions. In scripts
// without spaces each letter is a word.
func wordsOf(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var word []byte
		mention := false
		end := func() bool {
			w := word
			word = nil
			skip := mention
			mention = false
			return len(w) == 0 || skip || yield(string(w))
		}
		for _, r := range text {
			switch {
			case r == '@' && len(word) == 0:
				mention = true
			case language.Unspaced(r):
				if !end() || !yield(string(r)) {
					return
				}
			case r == '_', unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
				word = utf8.AppendRune(word, unicode.ToLower(r))
			case r == '\'' || r == '’': // "let's" is a word
			default:
				if !end() {
					return
				}
			}
		}
		end()
	}
}

// with returns the fingerprint of p when it follows before.
func (p fingerprint) with(before fingerprint) fingerprint {
	words := append(slices.Clone(before.words), p.words...)
	return fingerprint{words, pairsOf(words), before.numbers*31 + p.numbers}
}

func (p fingerprint) near(o fingerprint) bool {
	if p.numbers != o.numbers || len(p.pairs) == 0 || len(o.pairs) == 0 {
		return false
	}
	both, i, j := 0, 0, 0
	for i < len(p.pairs) && j < len(o.pairs) {
		switch a, b := p.pairs[i], o.pairs[j]; {
		case a == b:
			both, i, j = both+1, i+1, j+1
		case a < b:
			i++
		default:
			j++
		}
	}
	return float64(both) >= same*float64(len(p.pairs)+len(o.pairs)-both)
}

// Repeats reports whether the last message has been said so often that the agents make no progress:
// it has two near duplicates among the messages before it. Two short answers are the same only if
// they answer the same.
func (b *Budget) Repeats() bool {
	n := len(b.said)
	if n < repeats {
		return false
	}
	last, times := b.told(n-1), 1
	for i := range n - 1 {
		if last.near(b.told(i)) {
			times++
		}
	}
	return times >= repeats
}

// told returns the fingerprint of message i. For a short answer, it includes what the message
// answers.
func (b *Budget) told(i int) fingerprint {
	p := b.said[i]
	if len(p.words) < few && i > 0 {
		return p.with(b.said[i-1])
	}
	return p
}
