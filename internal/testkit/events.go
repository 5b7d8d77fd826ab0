package testkit

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"earshot"
)

// Forms returns all the forms that a word may have in a file.
func Forms(word string) (all []string) {
	small := strings.ToLower(word)
	wide := utf16.Encode([]rune(small))
	var low, high, escaped strings.Builder
	for _, c := range wide {
		low.Write([]byte{byte(c), byte(c >> 8)})
		high.Write([]byte{byte(c >> 8), byte(c)})
		fmt.Fprintf(&escaped, "\\u%04x", c)
	}
	return []string{small, small[2:], small[:len(small)-1], low.String(), high.String(), escaped.String()}
}

// Bodies returns the bodies of one kind in some events.
func Bodies[B earshot.Body](events []earshot.Event) (list []B) {
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			list = append(list, b)
		}
	}
	return list
}
