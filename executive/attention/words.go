package attention

import (
	"strings"

	"earshot/language"
)

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

// lines returns the phrases of a list, one on each line.
func lines(list string) (all []string) {
	for l := range strings.Lines(list) {
		if l = strings.TrimSpace(l); l != "" {
			all = append(all, strings.Join(language.Plain(l), " "))
		}
	}
	return all
}
