// Package phones says how English words sound, and how much alike. A word that the CMU Pronouncing
// Dictionary has sounds as it says there. Any other, such as a name that somebody made up or that a
// recogniser spelt in its own way, sounds as its letters do in the words of the dictionary that are
// spelt most like it.
//
// A phone is one letter of the ARPABET, in its form of one letter for each: "IrSat" is "earshot".
// Stress is left out, and "hAr" is "her".
//
// Nothing waits here, so there is no slow reader.
package phones

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Most is how many phones of a text count. No call or command has more.
const Most = 48

// Of returns the phones of a text, [Most] at most. Letters with accents sound like those without, and
// letters of other scripts like nothing.
func Of(text string) string {
	out := make([]byte, 0, Most)
	for word := range strings.FieldsSeq(text) {
		if out = appendWord(out, word); len(out) >= Most {
			return string(out[:Most])
		}
	}
	return string(out)
}

// appendWord appends the phones of one word.
func appendWord(out []byte, word string) []byte {
	letters := make([]byte, 0, 2*Most)
	for _, r := range norm.NFD.String(strings.ToLower(word[:min(len(word), 2*Most)])) {
		switch {
		case r >= 'a' && r <= 'z', r == '\'':
			letters = append(letters, byte(r))
		case r == '’':
			letters = append(letters, '\'')
		}
	}
	word = strings.Trim(string(letters), "'")
	for i := range len(word) {
		out = append(out, shipped().sound(word, i)...)
	}
	return out
}

// Coarse returns a code of phones without what voices, microphones and recognisers confuse most: all
// vowels are one, and so are voiced and unvoiced consonants. Adjacent equal ones count once.
func Coarse(phones string) string {
	out := make([]byte, 0, Most)
	for i := range min(len(phones), Most) {
		class := classes[phones[i]&127]
		if n := len(out); n == 0 || out[n-1] != class {
			out = append(out, class)
		}
	}
	return string(out)
}

// classes has the class of each phone, which is named by its first.
var classes = tableOf("a@AcWYEIeioOUu", "pb", "tdTD", "fv", "kg", "SZCJ", "sz", "nG")

// merged has the phones that many people say alike, as the dictionary itself does in this word and not
// in that: the vowels of "roses" and "Rosa's", and those of "cot" and "caught".
var merged = tableOf("IA", "ac")

// heard returns phone i of a text as many people say it: "ear" has the vowel of "earshot".
func heard(phones string, i int) byte {
	if phones[i] == 'i' && i+1 < len(phones) && phones[i+1] == 'r' {
		return merged['I']
	}
	return merged[phones[i]&127]
}

// tableOf returns a table in which the phones of each group are its first, and all others themselves.
func tableOf(groups ...string) (t [128]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	for _, g := range groups {
		for i := range len(g) {
			t[g[i]] = g[0]
		}
	}
	return t
}

// Distance returns how many phones must be changed, added or removed to make one text of the other.
// It compares coarse codes, too. What is beyond [Most] does not count.
func Distance(a, b string) int {
	a, b = a[:min(len(a), Most)], b[:min(len(b), Most)]
	var row [Most + 1]int // of the usual table
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if heard(a, i) != heard(b, j) {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
