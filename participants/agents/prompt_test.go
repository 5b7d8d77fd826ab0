package agents_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/participants/agents"
)

func TestUpgrade(t *testing.T) {
	one, two := agents.HousePrompt(1), agents.HousePrompt(2)
	changed := earshot.Text(strings.Replace(string(one), "1-2 sentences", "one word", 1))
	for _, tt := range []struct {
		name    string
		prompt  earshot.Text
		version int
		want    earshot.Text
		is      int
	}{
		{"none", "", 1, "", 1},
		{"of no version", "You are Bob.", 0, "You are Bob.", 0},
		{"the newest", two, 2, two, 2},
		{"of a version to come", "You are Bob.", 9, "You are Bob.", 9},
		{"of a wrong version", "You are Bob.", -1, "You are Bob.", -1},
		{"as it was", one, 1, two, 2},
		{"with more at the end", one + "Be kind.\n", 1, two + "Be kind.\n", 2},
		{"with more at the end, and no end of the line", one + "Be kind.", 1, two + "Be kind.", 2},
		{"with more at the beginning", "You are Bob.\n" + one, 1, "You are Bob.\n" + two, 2},
		{"with a line in the middle", earshot.Text(strings.Replace(string(one), "\nand", "\nBe kind.\nand", 1)), 1, two + "Be kind.\n", 2},
		{"changed", changed, 1, changed, 2},
		{"one's own", "You are Bob.\n", 1, "You are Bob.\n", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, is := agents.Upgrade(tt.prompt, tt.version); got != tt.want || is != tt.is {
				t.Errorf("got version %d:\n%s\nwant version %d:\n%s", is, string(got), tt.is, string(tt.want))
			}
		})
	}
}

// edited draws what an owner may have made of a prompt, by removing and adding lines.
func edited(t *rapid.T, base earshot.Text) (text earshot.Text, own []string) {
	var lines []string
	add := func() {
		for range rapid.IntRange(0, 2).Draw(t, "more") {
			line := rapid.StringMatching(`[A-Z][a-z ]{0,30}\.`).Draw(t, "line") + "\n"
			lines, own = append(lines, line), append(own, line)
		}
	}
	for line := range strings.Lines(string(base)) {
		add()
		if !rapid.Bool().Draw(t, "gone") {
			lines = append(lines, line)
		}
	}
	add()
	return earshot.Text(strings.Join(lines, "")), own
}

// TestOwnWordsAreKept: after an upgrade everything that an owner has written is still there, in its
// order. A prompt that the owner did not touch becomes the newer one, and a second upgrade changes
// nothing.
func TestOwnWordsAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mine, own := edited(t, agents.HousePrompt(1))
		got, version := agents.Upgrade(mine, 1)
		if again, v := agents.Upgrade(got, version); again != got || v != version {
			t.Fatalf("another time it becomes\n%s", string(again))
		}
		if mine == agents.HousePrompt(1) && got != agents.HousePrompt(agents.Newest) {
			t.Fatalf("untouched, it becomes\n%s", string(got))
		}
		lines := slices.Collect(strings.Lines(string(got)))
		for _, line := range own {
			i := slices.Index(lines, line)
			if i < 0 {
				t.Fatalf("%q is lost from\n%s", line, string(got))
			}
			lines = lines[i+1:]
		}
	})
}
