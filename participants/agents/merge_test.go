package agents

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
)

// text returns a text with one line for each letter.
func text(lines string) earshot.Text {
	var b strings.Builder
	for _, r := range lines {
		b.WriteString(string(r) + "\n")
	}
	return earshot.Text(b.String())
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct{ name, base, mine, theirs, want string }{
		{"theirs alone", "abc", "abc", "aXc", "aXc"},
		{"mine alone", "abc", "aYc", "abc", "aYc"},
		{"in different places", "abcde", "aYcde", "abcXe", "aYcXe"},
		{"the same place", "abc", "aYc", "aXc", "aYc"},
		{"gone here, changed there", "abc", "ac", "aXc", "ac"},
		{"changed here, gone there", "abc", "aYc", "ac", "aYc"},
		{"gone in both", "abc", "ac", "ac", "ac"},
		{"more here, changed there", "abc", "abYc", "aXc", "aXYc"},
		{"more before, changed there", "abc", "aYbc", "aXc", "aYXc"},
		{"more in both", "ab", "aYb", "aXb", "aXYb"},
		{"gone here, more there", "abc", "c", "abXc", "c"},
		{"all another", "abc", "YZ", "abX", "YZ"},
		{"nothing to begin with", "", "Y", "X", "XY"},
		{"nothing left", "abc", "", "aXc", ""},
		{"a line twice", "aab", "aab", "aXab", "aXab"},
	} {
		if got := merge(text(tt.base), text(tt.mine), text(tt.theirs)); got != text(tt.want) {
			t.Errorf("%s: %q", tt.name, string(got))
		}
	}
}

// TestMergeHasNoOpinion: lines that nobody changed stay, and a change by one side only is applied.
func TestMergeHasNoOpinion(t *testing.T) {
	lines := rapid.StringMatching(`[a-e]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		base, other := text(lines.Draw(t, "base")), text(lines.Draw(t, "other"))
		for _, tt := range []struct{ got, want earshot.Text }{
			{merge(base, base, other), other},
			{merge(base, other, base), other},
			{merge(base, base, base), base},
		} {
			if tt.got != tt.want {
				t.Fatalf("%q, want %q", string(tt.got), string(tt.want))
			}
		}
	})
}
