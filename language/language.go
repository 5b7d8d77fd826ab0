// Package language takes texts apart into words, for everybody who compares what people say or write
// with phrases of their own. The phrases stand where they are used, in the tables of their packages;
// they are English today. What a word is does not depend on the language, except that scripts without
// spaces are one word here.
package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words returns the words of a text in small letters, without punctuation: letters, digits, and
// apostrophes, which are straight ones then, also at the ends of a word. Anything else separates
// words.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(text), "’", "'"), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
}

// Plain returns the words of a text without apostrophes: "don't" is dont.
func Plain(text string) []string {
	var all []string
	for _, w := range Words(text) {
		if w = strings.ReplaceAll(w, "'", ""); w != "" {
			all = append(all, w)
		}
	}
	return all
}

// Fold returns a text in small letters with one space between words and without punctuation. Hyphens,
// slashes and commas separate words; other punctuation does not, so that "p.m." is pm.
func Fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	between := false
	for _, r := range text {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			if between && b.Len() > 0 {
				b.WriteByte(' ')
			}
			between = false
			b.WriteRune(unicode.ToLower(r))
		case unicode.IsSpace(r), r == '-', r == ',', r == '/':
			between = true
		}
	}
	return b.String()
}

// SameWords reports whether two texts have the same words: case, space and punctuation make no
// difference.
func SameWords[T ~string](a, b T) bool {
	words := func(t T) []string {
		return strings.FieldsFunc(string(t), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	one, other := words(a), words(b)
	return slices.EqualFunc(one, other, strings.EqualFold) && (len(one) > 0 || a == b)
}

// WholeRunes returns text without a partial rune at its end.
func WholeRunes(text string) string {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// Unspaced reports whether r belongs to a script that has no spaces between words.
func Unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Set returns the words of a list that are separated by spaces.
func Set(list string) map[string]bool {
	all := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		all[w] = true
	}
	return all
}

// Edits returns the least number of parts, such as words or letters, that must be changed, put in or
// taken out to make got of want.
func Edits[T comparable](want, got []T) int {
	row := make([]int, len(got)+1) // of the usual table
	for j := range row {
		row[j] = j
	}
	for i, w := range want {
		diagonal := row[0]
		row[0] = i + 1
		for j, g := range got {
			change := diagonal
			if w != g {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(got)]
}

// EditsAndSwaps is Edits where two neighbours that changed places count as one change, as typing
// errors do.
func EditsAndSwaps[T comparable](want, got []T) int {
	before, row, next := make([]int, len(got)+1), make([]int, len(got)+1), make([]int, len(got)+1) // of the usual table
	for j := range row {
		row[j] = j
	}
	for i := range want {
		next[0] = i + 1
		for j := range got {
			change := row[j]
			if want[i] != got[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && want[i] == got[j-1] && want[i-1] == got[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(got)]
}
