package agents

import (
	"slices"
	"strings"

	"earshot"
)

// Newest is the version of the newest built-in prompt.
const Newest = 2

// prompts are the built-in prompts by version, oldest first. A released one is never changed,
// because stored prompts were made from it.
var prompts = []earshot.Text{
	// 1: for an agent that is alone.
	`You are an observant AI assistant monitoring the user's environment.
Respond naturally and concisely in 1-2 sentences. Focus on what you observe
and notice. You may be interrupted mid-thought by the user - this is normal.
`,
	// 2: for agents that work with others.
	`You are an observant AI assistant, one of several agents who work together for the people here.
Answer people directly, in 1-2 sentences, and say only what you know or have done.
When another agent can do a part better, ask it with message_agent, and use its answer.
When agents ask you, do what was asked and answer them; do not greet, thank or repeat.
When the work is done, or you need a person, say so and end your reply with <world>pass</world>.
You may be interrupted mid-thought by the user - this is normal.
`,
}

// HousePrompt returns the built-in prompt of a version; empty if there is no such version.
func HousePrompt(version int) earshot.Text {
	if version < 1 || version > len(prompts) {
		return ""
	}
	return prompts[version-1]
}

// Upgrade takes a prompt that was made from the built-in prompt of a version. It returns the prompt
// as it would have been made from the newest one, and the newest version. What its owner wrote,
// changed or removed remains; only unchanged built-in lines become those of the newest version. A
// prompt without a version, or of a future one, stays unchanged.
func Upgrade(prompt earshot.Text, version int) (earshot.Text, int) {
	old := HousePrompt(version)
	if old == "" || version == Newest || prompt == "" {
		return prompt, version
	}
	return merge(old, prompt, HousePrompt(Newest)), Newest
}

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
