//go:build cgo

package main

import (
	"strings"
	"unicode"
)

// letters returns the words of a name or a phrase as the dictionary has them:
// letters in lower case, and apostrophes.
func letters(phrase string) []string {
	return strings.FieldsFunc(strings.ToLower(phrase), func(r rune) bool { return (r < 'a' || r > 'z') && r != '\'' })
}

// token returns how a name is written in the dictionary: as one word, in
// capitals, which no other word there has.
func token(name string) string { return strings.ToUpper(strings.Join(letters(name), "_")) }

// clean returns the words of a hypothesis without what is none: marks of noise
// and silence, and numbers of pronunciations. Names become words again.
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
