package agents

import (
	"slices"
	"strings"

	"earshot"
)

// merge applies the changes from base to theirs to mine, line by line. Where both have changed the
// same place, mine wins, unless it has only added lines to base: then these lines surround those of
// theirs.
func merge(base, mine, theirs earshot.Text) earshot.Text {
	b, m, t := lines(base), lines(mine), lines(theirs)
	inMine, inTheirs := align(b, m), align(b, t)
	var merged []string
	for i, j, k := 0, 0, 0; i <= len(b); {
		// All three agree again at the next line of base that is in both others.
		next := i
		for next < len(b) && (inMine[next] < 0 || inTheirs[next] < 0) {
			next++
		}
		toMine, toTheirs := len(m), len(t)
		if next < len(b) {
			toMine, toTheirs = inMine[next], inTheirs[next]
		}
		before, after, only := added(inMine[i:next], m[:toMine], j)
		if only {
			merged = slices.Concat(merged, before, t[k:toTheirs], after)
		} else {
			merged = append(merged, m[j:toMine]...)
		}
		if next < len(b) {
			merged = append(merged, b[next])
		}
		i, j, k = next+1, toMine+1, toTheirs+1
	}
	return earshot.Text(strings.Join(merged, ""))
}

// added returns the lines that mine, from line j on, has before and after the lines of base at
// these places, and whether mine still has all of those lines.
func added(places []int, mine []string, j int) (before, after []string, only bool) {
	if slices.Contains(places, -1) {
		return nil, nil, false
	}
	for ; j < len(mine); j++ {
		switch {
		case slices.Contains(places, j):
		case len(places) > 0 && j < places[0]:
			before = append(before, mine[j])
		default:
			after = append(after, mine[j])
		}
	}
	return before, after, true
}

// lines returns the lines of a text, each with its line break.
func lines(text earshot.Text) []string { return slices.Collect(strings.Lines(string(text))) }

// align returns, for each line of a, the index of the same line in b, or -1. It uses the longest
// common subsequence.
func align(a, b []string) []int {
	longest := make([][]int, len(a)+1) // from each pair of indices on
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	is := make([]int, len(a))
	for i, j := 0, 0; i < len(a); {
		switch {
		case j < len(b) && a[i] == b[j]:
			is[i] = j
			i, j = i+1, j+1
		case j < len(b) && longest[i][j+1] >= longest[i+1][j]:
			j++
		default:
			is[i] = -1
			i++
		}
	}
	return is
}
