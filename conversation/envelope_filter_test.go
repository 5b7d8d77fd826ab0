package conversation_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot/conversation"
)

func TestScrubber(t *testing.T) {
	for _, tt := range []struct {
		name, reply, want string
		foreign           int
	}{
		{"none", "Good morning [sic].", "Good morning [sic].", 0},
		{"its own", "[FROM: Earshot] Good morning.", "Good morning.", 0},
		{"its own, to somebody", "[FROM: Earshot TO: Ann, Bob] Good morning.", "Good morning.", 0},
		{"to somebody", "[TO: Ann] Good morning.", "Good morning.", 0},
		{"another's", "Yes.\n[FROM: Ann] And you? [from: bob]  Me too.", "Yes.\nAnd you? Me too.", 2},
		{"in disguise", "［ＦＲＯＭ： Ann］ yes [F\u200bR OМ: Bob] no", "yes no", 2},
		{"one in another", "[fr[from: x]om: Ann] do it", "[fr]om: Ann] do it", 1},
		{"never closed", "[FROM: Earshot", "(FROM: Earshot", 0},
		{"closed on the next line", "[FROM: Earshot\n] yes", "(FROM: Earshot\n] yes", 0},
		{"a list", "[from the list] x[1]", "[from the list] x[1]", 0},
		{"too long for a name", "[FROM: " + strings.Repeat("x", 600) + "]", "(FROM: " + strings.Repeat("x", 600) + "]", 0},
		{"hidden for long", "[" + strings.Repeat("\u200b", 90) + "FROM: Ann]", "(" + strings.Repeat("\u200b", 90) + "FROM: Ann]", 0},
		{"bracket at the end", "see [", "see [", 0},
		{"an envelope of its own", "[FROM: Reviewer Agent] I'll review the code now...", "I'll review the code now...", 1},
		{"its name in front", "Earshot: Good morning.\nEarshot: is my name", "Good morning.\nEarshot: is my name", 0},
		{"from and its name", "FROM Earshot: Good morning.\nfrom: earshot: Yes.", "Good morning.\nYes.", 0},
		{"both", "[FROM: Earshot] Earshot: Good morning.", "Good morning.", 0},
		{"the sections", "UNDERSTANDING PARTICIPANTS\nEXTERNAL ACTORS (outside earshot):\n- Ann (human)\nThey read or hear what you say: respond DIRECTLY.\n" +
			"=== CURRENT PARTICIPANTS ===\nExternal: Ann\nInternal: Earshot\nHello Ann.\n- milk", "Hello Ann.\n- milk", 0},
		{"the sections, among agents", "INTERNAL AGENTS (inside earshot):\n- Coder\nUse message_agent() only for\nTo let another agent speak next, begin\n" +
			"To leave the floor to people, end with <world>pass</world>.\nHello Ann.", "Hello Ann.", 0},
		{"a list of its own", "Buy:\n- milk\nExternal: none", "Buy:\n- milk\nExternal: none", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size <= len(tt.reply); size++ {
				s := conversation.EnvelopeFilter{Own: "Earshot"}
				var got strings.Builder
				for i := 0; i < len(tt.reply); i += size {
					got.WriteString(s.Next(tt.reply[i:min(i+size, len(tt.reply))]))
				}
				got.WriteString(s.End())
				if got.String() != tt.want || s.Foreign != tt.foreign {
					t.Fatalf("in pieces of %d: %q with %d foreign, want %q with %d", size, got.String(), s.Foreign, tt.want, tt.foreign)
				}
			}
		})
	}
}

// TestAnyPieces: the output is the same and has no sender in it, however a reply is cut into
// pieces.
func TestAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reply := drawText(t, "reply")
		whole := conversation.EnvelopeFilter{Own: "System"}
		want := whole.Next(reply) + whole.End()
		pieces := conversation.EnvelopeFilter{Own: "System"}
		var got strings.Builder
		for rest, in := reply, 0; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			got.WriteString(pieces.Next(rest[:n]))
			rest, in = rest[n:], in+n
		}
		got.WriteString(pieces.End())
		if got.String() != want || pieces.Foreign != whole.Foreign {
			t.Fatalf("in pieces %q with %d foreign, whole %q with %d", got.String(), pieces.Foreign, want, whole.Foreign)
		}
		if strict(want) != 0 || lenientLines(want) != 0 {
			t.Fatalf("%q came through as %q", reply, want)
		}
	})
}

func TestHeldBackIsBounded(t *testing.T) {
	for _, reply := range []string{"[FROM: " + strings.Repeat("x", 4096), "[" + strings.Repeat("\u200b", 4096), strings.Repeat(" ", 4096), "FROM Earshot" + strings.Repeat(" ", 4096)} {
		s := conversation.EnvelopeFilter{Own: "Earshot"}
		if held := len(reply) - len(s.Next(reply)); held > 512 {
			t.Errorf("%d bytes of %.10q are held back", held, reply)
		}
	}
}

func TestCorrection(t *testing.T) {
	if got := conversation.Correction(0, "Earshot"); got != "" {
		t.Errorf("corrected without reason: %q", got)
	}
	want := "In your last reply you put somebody else's name in front of your words (2 times). It was taken out. " +
		"You are Earshot: write your own words only, without a sender in front."
	if got := conversation.Correction(2, "Earshot"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzScrubber(f *testing.F) {
	f.Add("[FROM: Earshot] hello", 3)
	f.Add("=== CURRENT PARTICIPANTS ===\nExternal: x\n- y\n[", 1)
	f.Fuzz(func(t *testing.T, reply string, size int) {
		size = max(1, size%64)
		s, whole := conversation.EnvelopeFilter{Own: "Earshot"}, conversation.EnvelopeFilter{Own: "Earshot"}
		var got strings.Builder
		for i := 0; i < len(reply); i += size {
			got.WriteString(s.Next(reply[i:min(i+size, len(reply))]))
		}
		got.WriteString(s.End())
		if want := whole.Next(reply) + whole.End(); got.String() != want {
			t.Errorf("in pieces of %d %q, whole %q", size, got.String(), want)
		}
		if got.Len() > len(reply) { // a bracket is only closed where a longer envelope was removed
			t.Errorf("%d bytes became %d", len(reply), got.Len())
		}
		if strict(got.String()) != 0 || lenientLines(got.String()) != 0 {
			t.Errorf("%q came through as %q", reply, got.String())
		}
	})
}
