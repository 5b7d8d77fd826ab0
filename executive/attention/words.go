package attention

import (
	"strings"
	"unicode"
)

// words returns the words of a text in small letters, without punctuation. A word with an
// apostrophe is one word: "don't" is dont.
func words(text string) []string {
	var all []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), apart) {
		if w = strings.Map(spelled, w); w != "" {
			all = append(all, w)
		}
	}
	return all
}

func apart(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
}

func spelled(r rune) rune {
	if r == '\'' || r == '’' {
		return -1
	}
	return r
}

// said returns words as one text, with a space at both ends, so that it can be searched for
// phrases.
func said(all []string) string { return " " + strings.Join(all, " ") + " " }

// says reports whether a text made by [said] contains any of some phrases.
func says(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(text, " "+p+" ") {
			return true
		}
	}
	return false
}

// has reports whether all contains any of some words.
func has(all []string, some map[string]bool) bool {
	for _, w := range all {
		if some[w] {
			return true
		}
	}
	return false
}

// set returns the words of a list.
func set(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// lines returns the phrases of a list, one on each line.
func lines(list string) (all []string) {
	for l := range strings.Lines(list) {
		if l = strings.TrimSpace(l); l != "" {
			all = append(all, strings.Join(words(l), " "))
		}
	}
	return all
}
