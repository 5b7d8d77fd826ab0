//go:build cgo

package main

import (
	"strings"
	"unicode"
)

// letters returns the words of a name or a phrase in the dictionary's spelling: letters in lower
// case, and apostrophes.
func letters(phrase string) []string {
	return strings.FieldsFunc(strings.ToLower(phrase), func(r rune) bool { return (r < 'a' || r > 'z') && r != '\'' })
}

// token returns the spelling of a name in the dictionary: one word, in capitals, which no other
// word there has.
func token(name string) string { return strings.ToUpper(strings.Join(letters(name), "_")) }

// clean returns the words of a hypothesis without its marks of noise and silence, and without the
// numbers of pronunciations. Names become words again.
func clean(hypothesis string) string {
	var words []string
	for word := range strings.FieldsSeq(hypothesis) {
		if strings.ContainsAny(word[:1], "<[+") {
			continue
		}
		word, _, _ = strings.Cut(word, "(")
		if strings.IndexFunc(word, unicode.IsUpper) >= 0 {
			word = strings.ToLower(strings.ReplaceAll(word, "_", " "))
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
