package conversation_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot/conversation"
)

// A tapped is the output of a ControlTagFilter, and its result.
type tapped struct {
	text   string
	passed bool
	calls  string
	stray  int
}

// through passes pieces through a ControlTagFilter, and checks that it holds back little.
func through(t interface{ Fatalf(string, ...any) }, pieces ...string) tapped {
	var tap conversation.ControlTagFilter
	var out strings.Builder
	in := 0
	for _, p := range pieces {
		out.WriteString(tap.Next(p))
		if in += len(p); tap.Stray == 0 && !tap.Passed && tap.Calls == nil && in-out.Len() > mostHeld {
			t.Fatalf("%d bytes of %q are held back", in-out.Len(), pieces)
		}
	}
	out.WriteString(tap.End())
	return tapped{out.String(), tap.Passed, strings.Join(tap.Calls, "|"), tap.Stray}
}

// mostHeld is the greatest length of a pair of tags with the text between them.
const mostHeld = 32 + 256 + 32 + 2

// everySplit calls do with text cut into two and three pieces at every place, and into single
// characters.
func everySplit(text string, do func(pieces ...string)) {
	for i := range len(text) + 1 {
		for j := i; j <= len(text); j++ {
			do(text[:i], text[i:j], text[j:])
		}
	}
	do(strings.Split(text, "")...)
}

func TestTap(t *testing.T) {
	for _, tt := range []struct {
		name, reply string
		want        tapped
	}{
		{"nothing", "Good morning <b>Ann</b>, 1 < 2 > 0 </w> <worldwide> <wor", tapped{text: "Good morning <b>Ann</b>, 1 < 2 > 0 </w> <worldwide> <wor"}},
		{"alone", "<world>pass</world>", tapped{passed: true}},
		{"at the end", "I am done.<world>pass</world>", tapped{text: "I am done.", passed: true}},
		{"at the beginning", "<world>pass</world> and more", tapped{passed: true}},
		{"in the middle", "one <world>pass</world> two <world>pass</world>", tapped{text: "one ", passed: true}},
		{"any case", "<WORLD>Pass</World>", tapped{passed: true}},
		{"space within", "a\n< world >\n pass \n</ world >b", tapped{text: "a\n", passed: true}},
		{"stop", "<world>STOP</world>", tapped{passed: true}},
		{"done", "<world>Done</world>", tapped{passed: true}},
		{"in code", "```\n<world>pass</world>\n```", tapped{text: "```\n", passed: true}},
		{"in a span", "say `<world>pass</world>`", tapped{text: "say `", passed: true}},
		{"among letters of many bytes", "日本<world>pass</world>語", tapped{text: "日本", passed: true}},
		{"the end forgotten", "yes<world>pass", tapped{text: "yes", passed: true}},
		{"the stroke forgotten", "yes<world>pass<world>no", tapped{text: "yes", passed: true}},
		{"the end half", "yes<world>pass</wor", tapped{text: "yes", passed: true}},

		{"hand-off", "Done. <world>TO: Ann, Bob</world>", tapped{text: "Done. ", calls: "Ann|Bob"}},
		{"hand-off first", "<world>to:@Ann Smith;Bob,</world>\nDone.", tapped{text: "\nDone.", calls: "Ann Smith|Bob"}},
		{"two hand-offs", "<world>TO: a</world><world>TO: b</world>", tapped{calls: "a|b"}},
		{"hand-off and pass", "x <world>TO: a</world> y<world>pass</world>", tapped{text: "x … y", passed: true, calls: "a"}},
		{"hand-off to nobody", "<world>TO: ,</world>", tapped{stray: 1}},
		{"hand-off in a line", "Done <world>TO: a</world> and dusted", tapped{text: "Done … and dusted", calls: "a"}},

		{"unknown", "a <world>dance</world> b", tapped{text: "a … b", stray: 1}},
		{"unknown, a line alone", "a\n<world>dance</world>\nb", tapped{text: "a\n\nb", stray: 1}},
		{"never closed", "a <world>pass the salt", tapped{text: "a …pass the salt", stray: 1}},
		{"never opened", "pass</world> me", tapped{text: "pass… me", stray: 1}},
		{"empty", "<world></world>", tapped{stray: 1}},
		{"too much", "<world>" + strings.Repeat("la", 150) + "</world>!", tapped{text: strings.Repeat("la", 150) + "…!", stray: 2}},
		{"in another", "<world><world>pass</world>", tapped{passed: true, stray: 1}},
		{"with something in it", "a <world pass/> b<world/>", tapped{text: "a … b", stray: 2}},
		{"with much in it", "<world " + strings.Repeat("x", 40) + ">", tapped{text: "<world " + strings.Repeat("x", 40) + ">"}},
		{"one becomes of two", "<wor<world>dance</world>ld>pass</world>", tapped{text: "<wor…ld>pass", stray: 2}},
		{"spaces for ever", "<" + strings.Repeat(" ", 99) + "world>a</world>pass</world>", tapped{text: "<" + strings.Repeat(" ", 98) + "…pass", stray: 2}},
		{"no envelope becomes of it", "[FR<world>x</world>OM: Ann] hi", tapped{text: "[FR…OM: Ann] hi", stray: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check := func(pieces ...string) {
				if got := through(t, pieces...); got != tt.want {
					t.Fatalf("in pieces %q: %+v, want %+v", pieces, got, tt.want)
				}
			}
			if len(tt.reply) > 120 {
				check(tt.reply)
				check(strings.Split(tt.reply, "")...)
				return
			}
			everySplit(tt.reply, check)
		})
	}
}

// TestPassEverywhere: a pass ends the reply wherever it is, even within a letter or within code,
// and however the reply is cut into pieces.
func TestPassEverywhere(t *testing.T) {
	const reply = "Größe: `x<y` 日\n```\n</b>\n```"
	for at := range len(reply) + 1 {
		everySplit(reply[:at]+"<world>pass</world>"+reply[at:], func(pieces ...string) {
			if got := through(t, pieces...); got.text != reply[:at] || !got.passed {
				t.Fatalf("at %d in pieces %q: %+v", at, pieces, got)
			}
		})
	}
}

// wholeTag matches a whole tag, which must never come through.
var wholeTag = regexp.MustCompile(`(?i)<[ \t-\r]*/?[ \t-\r]*world[ \t-\r]*>`)

// TestTapAnyPieces: the output is the same and has no tag in it, however a reply is cut into
// pieces. A reply without tags comes out byte for byte.
func TestTapAnyPieces(t *testing.T) {
	part := rapid.SampledFrom([]string{"<", "</", "world", "wor", "ld", ">", " ", "\n", "pass", "TO: a", "é", "x", "<world>", "</world>",
		"<world>pass", "/", strings.Repeat(" ", 40), "…"})
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(part, 0, 20).Draw(t, "reply")
		reply := strings.Join(parts, "")
		want := through(t, reply)
		var pieces []string
		for rest := reply; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if got := through(t, pieces...); got != want {
			t.Fatalf("in pieces %q: %+v, whole %+v", pieces, got, want)
		}
		if wholeTag.MatchString(want.text) {
			t.Fatalf("%q came through as %q", reply, want.text)
		}
		if !strings.Contains(strings.ToLower(reply), "world") && want.text != reply {
			t.Fatalf("%q became %q", reply, want.text)
		}
	})
}

func FuzzTap(f *testing.F) {
	f.Add("a<world>pass</world>b", 3)
	f.Add("<wor<world>ld>TO: x</world", 1)
	f.Fuzz(func(t *testing.T, reply string, size int) {
		size = max(1, size%64)
		var pieces []string
		for chunk := range slices.Chunk([]byte(reply), size) {
			pieces = append(pieces, string(chunk))
		}
		got, want := through(t, pieces...), through(t, reply)
		if got != want {
			t.Errorf("in pieces of %d %+v, whole %+v", size, got, want)
		}
		if wholeTag.MatchString(got.text) {
			t.Errorf("%q came through as %q", reply, got.text)
		}
		if !wholeTag.MatchString(reply) && got.stray == 0 && got.text != reply {
			t.Errorf("%q became %q", reply, got.text)
		}
	})
}

// TestTapIsLight: a piece without tags causes no allocation.
func TestTapIsLight(t *testing.T) {
	var tap conversation.ControlTagFilter
	if n := testing.AllocsPerRun(100, func() { tap.Next("morning ") }); n != 0 {
		t.Errorf("%v allocations a token", n)
	}
}
