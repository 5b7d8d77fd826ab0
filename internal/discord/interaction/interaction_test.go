package interaction

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"earshot/internal/discord/compose"
)

// TestAnswers: an answer arrives completely, in parts that Discord accepts.
func TestAnswers(t *testing.T) {
	for _, text := range []string{"", "one", strings.Repeat("a line of words\n", 300), strings.Repeat("é", 2500), strings.Repeat("  /join    come\n\n", 300), "```\nhidden\n``` @everyone"} {
		var all strings.Builder
		for _, part := range split(text) {
			if utf8.RuneCountInString(part) > compose.Longest || strings.Count(part, "```") > 2 {
				t.Errorf("a part of %q", part)
			}
			all.WriteString(strings.TrimSuffix(strings.TrimPrefix(part, "```text\n"), "\n```"))
		}
		squeeze := func(s string) string { return strings.NewReplacer("\n", "", "\u200b", "").Replace(s) }
		if got := squeeze(all.String()); text != "" && got != squeeze(text) {
			t.Errorf("arrived as %q, not %q", got, text)
		}
	}
	if n := len(split(strings.Repeat("word ", 10000))); n != mostParts+1 {
		t.Errorf("%d parts", n)
	}
}

// TestOffered: commands are registered in a form that Discord accepts, and recognised when it
// returns them.
func TestOffered(t *testing.T) {
	rows := []Command{{Name: "ask"}, {Name: "Bad Name"}, {Name: "msg", Args: "NAME TEXT", Help: strings.Repeat("long ", 40)}, {Name: "join", Args: "[CHANNEL]", Help: "come"}}
	got := offer(rows, false)
	if len(got) != 3 || got[0].Name != "ask" || !got[1].Options[0].Required || got[2].Options[0].Required || utf8.RuneCountInString(got[1].Description) > 100 {
		t.Errorf("%+v", got)
	}
	var back []*discordgo.ApplicationCommand
	b, err := json.Marshal(got)
	if err != nil || json.Unmarshal(b, &back) != nil {
		t.Fatal(err)
	}
	slices.Reverse(back)
	if !sameCommands(back, got) || !sameCommands(offer(rows, true), offer(rows, true)) {
		t.Error("not known again")
	}
	back[0].Description = "else"
	if sameCommands(back, got) || sameCommands(back[1:], got) {
		t.Error("taken for the same")
	}
}
