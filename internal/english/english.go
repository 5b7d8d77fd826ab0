// Package english writes numbers of things as people read them.
package english

import "strconv"

// Count writes a number of things: "1 event", "2 events".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// Plural writes a number of things that have a plural of their own.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
