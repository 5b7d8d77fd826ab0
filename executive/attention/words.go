package attention

import (
	"strings"

	"earshot/language"
)

// said returns words as one text, with a space at both ends, so that it can be searched for
// phrases.
func said(all []string) string { return " " + strings.Join(all, " ") + " " }

// says reports whether a text made by [said] contains any of some phrases.
func says(text string, some []string) bool {
	for _, p := range some {
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

// phrases returns the phrases of a list, which are separated by commas.
func phrases(list string) (all []string) {
	for p := range strings.SplitSeq(list, ",") {
		all = append(all, strings.Join(language.Plain(p), " "))
	}
	return all
}
