package scene_test

import (
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/executive/scene"
)

func TestAbout(t *testing.T) {
	now := noon.Add(time.Hour)
	old, new := noon, now.Add(-30*time.Second)
	items := func(list ...string) (all []scene.Item) {
		for n, text := range list {
			at := old
			if rest, is := strings.CutPrefix(text, "new "); is {
				at, text = new, rest
			}
			i := scene.Item{ID: text, Field: scene.Reasoning, At: at, Text: earshot.Text(text)}
			if rest, is := strings.CutPrefix(text, "said "); is {
				i.Field, i.Text, i.ID = scene.Messages, earshot.Text(rest), rest
			}
			if rest, is := strings.CutPrefix(text, "aloud "); is {
				i.Field, i.Text, i.ID, i.Aloud = scene.Messages, earshot.Text(rest), rest, true
			}
			if rest, is := strings.CutPrefix(text, "passing "); is {
				i.Field, i.Text, i.ID, i.Passing = scene.User, earshot.Text(rest), rest, true
			}
			if n > 0 && strings.HasPrefix(text, "note") {
				i.Field, i.By = scene.Notes, "ann"
			}
			all = append(all, i)
		}
		return all
	}
	for _, tt := range []struct {
		items []scene.Item
		said  string
		want  string // or what to choose from
	}{
		{items("there is a cup of Ann on the desk", "a plate is in the sink"), "no, that is Bob's cup", "there is a cup of Ann on the desk"},
		{items("two cups stand there", "new a plate is in the sink"), "no, one cup", "two cups stand there"},
		{items("Ann's cup is red", "new Ann's cup is full"), "no, that is Bob's cup", "Ann's cup is full"},
		{items("Ann's cup is red", "Ann's cup is full"), "no, that is Bob's cup", "Ann's cup is red|Ann's cup is full?"},
		{items("Ann's cup is red", "Ann's cup is full"), "Ann’s cup is green, not red", "Ann's cup is red"},
		{items("Ann is late", "new Bob is tired", "note new paint"), "no, that is wrong", "Bob is tired"},
		{items("Ann is late", "Bob is tired"), "that is wrong", "Ann is late|Bob is tired?"},
		{items("Ann is late", "Bob is tired"), "the moon is made of cheese", "Ann is late|Bob is tired?"},
		{items("said a cup of tea"), "no, coffee, not tea", "?"},
		{items("Ann wants tea", "note tea is bought"), "no, the tea is not bought", "note tea is bought"},
		{items("aloud we sail with the shop", "said the shop is big"), "ship, not shop", "we sail with the shop"},
		{items("aloud we sail with the shop", "a shop is there"), "no, the shop is closed", "a shop is there"},
		{items("aloud we sail with the shop", "a shop is there"), "no, I said ship, not shop", "we sail with the shop"},
		{items("aloud we sail with the shop", "aloud a shop"), "Ann said ship, not shop", "we sail with the shop|a shop?"},
		{items("aloud we sail with the shop", "new passing Ann is typing"), "that is wrong", "?"},
		{nil, "no", "?"},
	} {
		is, clear, among := scene.About(tt.items, earshot.Text(tt.said), now)
		got := is.ID
		if !clear {
			var ids []string
			for _, i := range among {
				ids = append(ids, i.ID)
			}
			got = strings.Join(ids, "|") + "?"
		}
		if got != tt.want {
			t.Errorf("%q is about %q, want %q", tt.said, got, tt.want)
		}
	}
}

func TestReheard(t *testing.T) {
	for _, tt := range []struct{ was, said, want string }{
		{"we sail with the shop", "ship, not shop", "we sail with the ship"},
		{"we sail with the shop", "no, I said ship, not shop", "we sail with the ship"},
		{"we sail with the shop", "I meant not shop but ship", "we sail with the ship"},
		{"we sail with the shop", "Ann said we sail on Sunday", "we sail on Sunday"},
		{"we sail with the shop", "shop is wrong", ""},
		{"we sail with the shop", "no, I said", ""},
		{"we sail with the shop", "that is wrong", ""},
	} {
		got, tells := scene.Reheard(earshot.Text(tt.was), earshot.Text(tt.said))
		if !tells {
			got = ""
		}
		if string(got) != tt.want {
			t.Errorf("%q, %q: %q, want %q", tt.was, tt.said, string(got), tt.want)
		}
	}
}

func TestCorrected(t *testing.T) {
	for _, tt := range []struct{ was, said, want string }{
		{"a cup of Ann's", "no, that is Bob's cup", "that is Bob's cup"},
		{"Ann's cup is red", "no, it is green, not red", "Ann's cup is green"},
		{"Ann's cup is red", "not red but green", "Ann's cup is green"},
		{"Ann's cup is red.", "No, actually, it's Bob's, not Ann's!", "Bob's cup is red."},
		{"Ann's cup is red", "it is green, not blue", "it is green, not blue"},
		{"Ann, Bob and Eve are here", "Eve is away", "Eve is away"},
		{"Ann's cup is red", "the cup is green, not red", "the cup is green, not red"},
		{"Ann is late", "no", ""},
		{"Ann is late", "No, that is wrong.", ""},
		{"Ann is late", "Ann, not Bob, is late", "Ann, not Bob, is late"},
		{"İstanbul is far", "it is near, not far", "it is near, not far"}, // whose letters change their length
	} {
		text, out := scene.Corrected(earshot.Text(tt.was), earshot.Text(tt.said))
		if string(text) != tt.want || out != (tt.want == "") {
			t.Errorf("%q after %q: %q, out %v", tt.was, tt.said, string(text), out)
		}
	}
}

// FuzzCorrected: whatever is said, an entry is taken out or says something.
func FuzzCorrected(f *testing.F) {
	f.Add("Ann's cup is red", "no, it is green, not red")
	f.Add("", "not  but ")
	f.Add("x", ", not ")
	f.Fuzz(func(t *testing.T, was, said string) {
		if text, out := scene.Corrected(earshot.Text(was), earshot.Text(said)); (strings.TrimSpace(string(text)) == "") != out {
			t.Errorf("%q, out %v", string(text), out)
		}
		scene.About([]scene.Item{{Text: earshot.Text(was)}}, earshot.Text(said), noon)
	})
}
