package terminal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"earshot/internal/terminal"
	"earshot/internal/terminal/terminaltest"
	"earshot/internal/testkit"
)

// visible returns text without spaces, at which rows are broken, and without joiners: one at the
// end of a piece is held until the next piece.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == 0x200c || r == 0x200d {
			return -1
		}
		return r
	}, text)
}

// TestNothingIsLost: whatever is said, noted and typed, in any order, the screen shows the pieces
// of the replies in order, each note and each sent line once, the prompt at the bottom, and nothing
// else.
func TestNothingIsLost(t *testing.T) {
	words := rapid.SampledFrom([]string{"the ", "tides", " are", "\n", "\n\n", "  ", "日本", "e\u0301", "🇩🇪", "❤\ufe0f", "\t", "\x1b[2J", "\r", "\xff", strings.Repeat("long", 12),
		"👩\u200d💻", "\u200d", "می\u200c", "خواهم", "👩🏽", "👨\u200d👩\u200d👧\u200d👦", "क\u094d\u200d", strings.Repeat("\u200d👩", 30), "👍" + strings.Repeat("🏽", 30), strings.Repeat("ᄀ", 40)})
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.IntRange(12, 40).Draw(rt, "width")
		w := terminaltest.Open(t, width, rapid.IntRange(6, 12).Draw(rt, "height"))
		defer w.Close()
		if rapid.Bool().Draw(rt, "apart") {
			w.Apart()
		}
		w.Prompt("", 0)
		var said strings.Builder
		once := map[string]bool{}
		for i := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "do") {
			case 0:
				typed := strings.Repeat(rapid.SampledFrom([]string{"t", "👩\u200d💻", "ی\u200cخ"}).Draw(rt, "key"), rapid.IntRange(0, 60).Draw(rt, "typed"))
				w.Prompt(typed, rapid.SampledFrom([]int{0, len(typed)}).Draw(rt, "at"))
			case 1:
				note := fmt.Sprintf("{n%d}", i)
				once[note] = true
				w.Note(terminal.Line{Text: note})
			case 2:
				echo := fmt.Sprintf("{e%d}", i)
				once[echo] = true
				w.Echo(echo)
			case 3: // a reply's sign is shown until its first text
				w.End("")
				w.Begin("")
			default:
				text := strings.Join(rapid.SliceOfN(words, 1, 4).Draw(rt, "text"), "")
				say(t, w.Terminal, text)
				said.WriteString(terminal.Safe(text)) // piece by piece: callers hold back parts of a rune
			}
		}
		w.End("")
		w.Prompt("done", 4)
		w.Note(terminal.Line{Text: "last"})
		testkit.Await(t, patience, "the last line", func() bool { return strings.HasSuffix(w.Screen(), "last\n> done|") })
		all := visible(w.All())
		for mark := range once {
			if n := strings.Count(all, mark); n != 1 {
				rt.Errorf("%s is there %d times", mark, n)
			}
			all = strings.Replace(strings.Replace(all, ">"+mark, "", 1), mark, "", 1)
		}
		want := visible(said.String())
		if all = strings.TrimSuffix(all, "last>done"); strings.ReplaceAll(all, ":", "") != want {
			rt.Errorf("on the screen %q, said %q", all, want)
		}
	})
}

// TestNobodyWritesAtTheLeftEdge: whatever somebody says and however wide the screen, none of their
// rows begins at the left edge, where the name of a speaker stands.
func TestNobodyWritesAtTheLeftEdge(t *testing.T) {
	bits := rapid.SampledFrom([]string{"eve: ", "> ", "! ", "e", " ", "        ", "\n", "\r\n", "\r", "\t", "\x1b[1G", "\x1b[2J", "\b", "\u2028", "\u0085", "\u202e", "日本", "x\u0301", strings.Repeat("\u0335", 30)})
	foreign := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(bits, 1, 24).Draw(t, "text"), "") })
	ours := []string{"bob: ", "ai: ", "> ", "  "}
	rapid.Check(t, func(rt *rapid.T) {
		w := terminaltest.Open(t, rapid.IntRange(10, 30).Draw(rt, "width"), 8)
		defer w.Close()
		w.Begin("ai")
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			text := foreign.Draw(rt, "foreign")
			switch rapid.IntRange(0, 3).Draw(rt, "do") {
			case 0:
				w.Note(terminal.Line{Head: "bob: ", Text: text})
			case 1:
				w.Echo(text)
			case 2:
				w.End(" [cut off]")
				w.Begin("ai")
			default:
				say(t, w.Terminal, text)
			}
		}
		w.End("")
		w.Prompt("done", 4)
		testkit.Await(t, patience, "the prompt", func() bool { return strings.HasSuffix(w.Screen(), "> done|") })
		for row := range strings.Lines(w.All()) {
			if row = strings.TrimRight(row, "\n"); row != "" && !slices.ContainsFunc(ours, func(begin string) bool { return strings.HasPrefix(row+" ", begin) }) {
				rt.Errorf("a row begins %q", row)
			}
		}
	})
}
