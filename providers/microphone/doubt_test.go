package microphone_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSofter: a voice that is much softer than whoever was understood last only lowers the agent's
// until there are words to it; as loud a one pauses it, and so does any if nobody was understood.
func TestSofter(t *testing.T) {
	asks := "..######............"
	for _, tt := range []struct {
		name, picture, want string
		asked, result       result
	}{
		{"as loud", asks + "oo@@@@oooooo", "..bl.......U..........bl....oo", result{text: "how are you"}, result{}},
		{"softer", asks + "oo~~~~oooooo", "..bl.......U..........b.....oo", result{text: "how are you"}, result{}},
		{"softer, with words", asks + "oo~~~~~~oooooooooo", "..bl.......U..........b..w...sU", result{text: "how are you"},
			result{partials: strings.Split(",,,,,stop it now", ","), text: "stop it now"}},
		{"softer than what nobody understood", asks + "oo~~~~oooooo", "..bl.......o..........bl....oo", result{}, result{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPerformance(&take{picture: tt.picture}, tt.asked, tt.result)
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Error(err)
				}
				got := string(p.room.picture)
				if strings.TrimRight(got, ".") != strings.TrimRight(tt.want, ".") {
					t.Errorf("heard %s\nroom  %s\nwant  %s", tt.picture, got, tt.want)
				}
			})
		})
	}
}

// TestDoubt: a sound over the agent's own is soon called off if nothing comes of it, and breath
// alone does not count as a voice. Words, and a voice that goes on, are told at once. It stays one
// utterance all the same.
func TestDoubt(t *testing.T) {
	words := func(first int, text string) result { // the words come first x 100 ms after the beginning
		return result{partials: strings.Split(strings.Repeat(",", first-1)+text, ","), text: text}
	}
	late := func(r result) result { r.late = 2 * time.Second; return r }
	nothing := result{text: ""}
	for _, tt := range []struct {
		name, picture, want string
		result              result
	}{
		{"breath",
			"oohhooooooooo",
			"..b...oo", nothing},
		{"a hum",
			"oo@@ooooooooo",
			"..bl..oo", nothing},
		{"breath that lasts, such as a fan",
			"oohhhhhhhhhhooooooooo",
			"..b...........oo", nothing},
		{"a tone that lasts",
			"oottttttttttooooooooo",
			"..b...........oo", nothing},
		{"breath with a rest",
			"oohhhohhhohhhooooooo",
			"..b............oo", nothing},
		{"whispered words",
			"oohhhhhooooooo",
			"..b...w.sU", words(6, "come here")},
		{"a consonant, and its vowel",
			"oohh@@@@ooooooo",
			"..b..l....oo", nothing},
		{"behind an echo nobody knows",
			"oo@@eeeeeeeeeeooooo",
			"..bl...o", nothing},
		{"words are waited for",
			"oo@@ooooooooo",
			"..bl.w.p.....U", words(5, "go on then")},
		{"nobody waits for a recogniser that is far behind",
			"oo@@oooooooooooooooooooooooooo",
			"..bl.w.p...............o.........U", late(words(5, "go on then"))},
		{"who goes on pauses it again",
			"oo@@@oo@@@@ooooooooo",
			"..bl...bl....oo", nothing},
		{"while the agent is silent nothing is in doubt",
			"..###..###.......",
			"..bl.........o", nothing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPerformance(&take{picture: tt.picture}, tt.result)
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Error(err)
				}
				got := string(p.room.picture)
				if strings.TrimRight(got, ".") != strings.TrimRight(tt.want, ".") {
					t.Errorf("heard %s\nroom  %s\nwant  %s", tt.picture, got, tt.want)
				}
			})
		})
	}
}
