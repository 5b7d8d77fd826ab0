package model_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"

	"earshot"
	"earshot/monitor/model"
)

// spoofs are texts that want to be more than text.
var spoofs = []string{
	"\x1b[2J\x1b]0;title\x07\x9b31m", "\u202e\u2066turned\u2069", "日本語の長い文字列です", "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308",
	"👩\u200d👩\u200d👧 🇩🇪 ❤\ufe0f 👍🏽", "क्षत्रिय", "\xff\xfe\xc3\x28", "a\tb\r\nc\n12:00:00 Ann: no", strings.Repeat("x", 300), "\u200b\u00ad", "ﷺ", "\u0600\u06dd",
}

// FuzzScreen: whatever the names and texts are, however small the screen and whatever is
// pressed, each row is as wide as the screen, by every measure at most, and no byte of
// theirs makes the terminal act.
func FuzzScreen(f *testing.F) {
	for k, s := range spoofs {
		f.Add(s, s, uint8(24+k*13), uint8(5+k*5), "jkn/q?tfw12z[]")
	}
	f.Fuzz(func(t *testing.T, name, text string, width, height uint8, keys string) {
		w, h := int(width), int(height)
		m := model.New(len(text)%5 == 1)
		m.Step(noon, model.Size{Width: w, Height: h})
		m.Step(noon, model.Names{"ann": name, "bob": text})
		m.Step(noon, house())
		s := busy()
		s.add(time.Second, "x", "bob", earshot.Message{Text: earshot.Text(text), Attachments: []earshot.Attachment{{Name: earshot.Text(name)}}}, "ann")
		s.add(time.Second, "y", "ann", earshot.Utterance{Text: earshot.Text(name), Confidence: 0.5, Speaker: earshot.Handle{Provider: name, ID: text}})
		s.add(time.Second, "z", agent, earshot.Reply{Turn: "z", About: "x", Offered: earshot.Text(text), Heard: []earshot.Delivery{{Outlet: name, Bytes: len(text) / 2}, {Outlet: text}}, Outcome: earshot.Failed})
		s.add(time.Second, "d", agent, decides("x", earshot.Silent, "", text, name))
		s.add(time.Second, "u", agent, earshot.Use{Tool: name, Result: earshot.Text(text), Failed: true})
		s.add(time.Second, "t", agent, earshot.Thought{Question: earshot.Text(text), Text: earshot.Text(name), Cause: earshot.Cause(name)})
		s.add(time.Second, "n", "", earshot.Notice{Key: name, Text: text, Cure: name})
		m.Step(later, model.Events(s.events))
		m.Step(later, model.Told{Text: text})
		m.Step(later, model.Piece{Opening: earshot.Opening{Turn: "t9", Name: name, To: "bob"}, Text: earshot.Text(text)})
		check(t, m.Screen(), max(1, w), max(1, h))
		for _, key := range keys[:min(len(keys), 12)] {
			m.Step(later, model.Key{Name: string(key), Text: string(key)})
			check(t, m.Screen(), max(1, w), max(1, h))
		}
		for _, key := range []string{"up", "pgup", "up", "home", "pgdown", "enter", "esc", "tab", "end"} {
			m.Step(later, model.Key{Name: key})
			check(t, m.Screen(), max(1, w), max(1, h))
		}
		m.Step(later, model.Lost{Why: text})
		check(t, m.Screen(), max(1, w), max(1, h))
	})
}

// check wants a screen to be one.
func check(t *testing.T, s model.Screen, width, height int) {
	t.Helper()
	if len(s.Rows) != height {
		t.Fatalf("it has %d rows, not %d", len(s.Rows), height)
	}
	if s.Cursor && (s.X < 0 || s.X >= width || s.Y < 0 || s.Y >= height) {
		t.Errorf("the cursor is at %d, %d", s.X, s.Y)
	}
	for _, coloured := range s.Rows {
		row := stripped(coloured)
		if wide := max(uniseg.StringWidth(row), ansi.StringWidth(row), ansi.StringWidthWc(row)); wide > width {
			t.Errorf("a row of %d is %d wide: %q", width, wide, row)
		}
		for rest := coloured; rest != ""; {
			if after, ok := strings.CutPrefix(rest, "\x1b["); ok {
				end := strings.IndexByte(after, 'm')
				if end < 0 || strings.Trim(after[:end], "0123456789;") != "" {
					t.Fatalf("an escape sequence that is no colour: %q", coloured)
				}
				rest = after[end+1:]
				continue
			}
			r, n := utf8.DecodeRuneInString(rest)
			if r == utf8.RuneError && n == 1 || unicode.IsControl(r) {
				t.Fatalf("a row has %q: %q", r, coloured)
			}
			rest = rest[n:]
		}
	}
}
