package main

import "strings"

// plain returns the words of a text as they are compared: a recogniser knows
// neither capitals nor stops.
func plain(text string) []string {
	text = strings.ToLower(strings.ReplaceAll(text, ".", " "))
	return strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune(",?!;:", r) {
			return -1
		}
		return r
	}, text))
}

// edits returns the least number of words that must be changed, put in or taken
// out to make got of want.
func edits(want, got []string) int {
	row := make([]int, len(got)+1)
	for j := range row {
		row[j] = j
	}
	for i, w := range want {
		before := row[0] // of the row above, one to the left
		row[0] = i + 1
		for j, g := range got {
			change := before
			if w != g {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(got)]
}
