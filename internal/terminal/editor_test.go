package terminal_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/terminal"
)

// typed sends e the keys that the bytes stand for. Enter takes the line.
func typed(e *terminal.Editor, in string) (refused bool) {
	var d terminal.Decoder
	for _, k := range d.Step(time.Unix(0, 0), []byte(in)) {
		if k.Does == terminal.Enter {
			e.Take()
			continue
		}
		refused = !e.Step(k) || refused
	}
	return refused
}

func TestEditor(t *testing.T) {
	const (
		left, right, up, down   = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B"
		wordLeft, wordRight     = "\x1bb", "\x1bf"
		home, end, del, rub     = "\x01", "\x05", "\x1b[3~", "\x7f"
		killLine, killEnd, word = "\x15", "\x0b", "\x17"
		yank                    = "\x19"
	)
	for _, tt := range []struct{ name, in, want string }{ // | is the cursor
		{"letters", "abc", "abc|"},
		{"insert before", "ac" + left + "b", "ab|c"},
		{"beyond the edges", "a" + left + left + right + right + right, "a|"},
		{"a grapheme is one step", "ae\u0301b" + left + left, "a|e\u0301b"},
		{"a flag is rubbed out as one", "a🇩🇪" + rub, "a|"},
		{"delete", "abc" + home + del, "|bc"},
		{"delete at the end", "a" + del, "a|"},
		{"words", "one two  three" + wordLeft + wordLeft, "one |two  three"},
		{"words forth", "one two" + home + wordRight, "one| two"},
		{"kill the word", "one two " + word, "one |"},
		{"kill and yank", "one two" + word + home + yank, "two|one "},
		{"kill to the end", "abc" + left + left + killEnd, "a|"},
		{"kill to the beginning", "abc" + left + killLine, "|c"},
		{"yank twice", "ab" + killLine + yank + yank, "abab|"},
		{"history", "one\rtwo\r" + up + up, "one|"},
		{"the draft is kept", "one\rdra" + up + down, "dra|"},
		{"history has an end", "one\r" + up + up + up + down + down + down, "|"},
		{"a repeated line is kept once", "one\rone\r" + up + up, "one|"},
		{"an old line changed", "one\r" + up + "!" + up, "one!|"},
		{"a paste of lines is one edit", "\x1b[200~a\rb\x1b[201~" + left + left, "a|\nb"},
		{"a mark joins what is before it", "e" + left + "a" + right + "\u0301", "ae\u0301|"},
		{"end", "abc" + home + end, "abc|"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e terminal.Editor
			typed(&e, tt.in)
			if got := e.Text()[:e.Cursor()] + "|" + e.Text()[e.Cursor():]; got != tt.want {
				t.Errorf("line %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEditorLimit(t *testing.T) {
	var e terminal.Editor
	full := strings.Repeat("x", earshot.MaxText)
	if !e.Step(terminal.Key{Does: terminal.Paste, Text: full}) {
		t.Fatal("the longest line was refused")
	}
	for _, k := range []terminal.Key{{Does: terminal.Insert, Text: "y"}, {Does: terminal.Paste, Over: true}} {
		if e.Step(k) {
			t.Errorf("%s was taken into a full line", k.Does)
		}
	}
	if e.Text() != full {
		t.Error("what was refused changed the line")
	}
}

func TestEditorRestore(t *testing.T) {
	var e terminal.Editor
	typed(&e, "lost?\r")
	if !e.Restore("lost?") || e.Text() != "lost?" {
		t.Errorf("the line is %q", e.Text())
	}
	typed(&e, "\r")
	typed(&e, "other")
	if e.Restore("lost?") || e.Text() != "other" {
		t.Errorf("what was being written became %q", e.Text())
	}
	typed(&e, "\x1b[A")
	if e.Text() != "lost?" {
		t.Errorf("the history has %q", e.Text())
	}
	e.Drop()
	typed(&e, "\x19")
	if e.Text() != "lost?" {
		t.Errorf("what was dropped came back as %q", e.Text())
	}
}

// TestEditorKeepsItsEdges: whatever is typed, the cursor stands at the edge of a grapheme, and the
// line is valid UTF-8.
func TestEditorKeepsItsEdges(t *testing.T) {
	keys := rapid.SampledFrom([]string{"a", " ", "é", "e\u0301", "🇩", "🇪", "👩\u200d🚀", "\u0301", "日", "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B", "\x1bb", "\x1bf",
		"\x01", "\x05", "\x7f", "\x1b[3~", "\x15", "\x0b", "\x17", "\x19", "\r", "\x1b[200~x\ny\x1b[201~", "\xff"})
	rapid.Check(t, func(t *rapid.T) {
		var e terminal.Editor
		for _, k := range rapid.SliceOf(keys).Draw(t, "keys") {
			typed(&e, k)
			if !edge(e.Text(), e.Cursor()) || !utf8.ValidString(e.Text()) {
				t.Fatalf("the cursor is at %d of %q", e.Cursor(), e.Text())
			}
		}
	})
}

func edge(text string, at int) bool {
	g := uniseg.NewGraphemes(text)
	for g.Next() {
		if from, _ := g.Positions(); from == at {
			return true
		}
	}
	return at == len(text)
}
