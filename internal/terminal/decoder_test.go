package terminal_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/terminal"
)

// picture writes keys in short form.
func picture(keys []terminal.Key) string {
	var words []string
	for _, k := range keys {
		switch {
		case k.Over:
			words = append(words, "too long")
		case k.Does == terminal.Insert:
			words = append(words, fmt.Sprintf("%q", k.Text))
		case k.Does == terminal.Paste:
			words = append(words, fmt.Sprintf("paste %q", k.Text))
		default:
			words = append(words, string(k.Does))
		}
	}
	return strings.Join(words, ", ")
}

func TestDecoder(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []string // 10 ms apart
		want string
	}{
		{"letters", []string{"hé"}, `"hé"`},
		{"a rune in two halves", []string{"\xc3", "\xa9"}, `"é"`},
		{"a broken rune", []string{"a\xffb"}, `"a` + "\ufffd" + `b"`},
		{"half a rune and no more", []string{"\xe2\x82", "", "", "", "", "", ""}, `"` + "\ufffd" + `"`},
		{"arrows", []string{"\x1b[A\x1bOB\x1b[C\x1bOD"}, "up, down, right, left"},
		{"an arrow in pieces", []string{"\x1b", "[", "A"}, "up"},
		{"escape alone", []string{"\x1b", "", "", "", "", "", ""}, "escape"},
		{"escape, then a letter much later", []string{"\x1b", "", "", "", "", "", "x"}, `escape, "x"`},
		{"words", []string{"\x1bb\x1bf\x1b[1;5C\x1b[1;3D"}, "word left, word right, word right, word left"},
		{"home and end", []string{"\x1b[H\x1b[4~\x01\x05"}, "home, end, home, end"},
		{"delete", []string{"\x1b[3~\x7f"}, "delete, rubout"},
		{"an Enter of two bytes", []string{"a\r\nb\r", "\nc\n\nd"}, `"a", enter, "b", enter, "c", enter, enter, "d"`},
		{"kill", []string{"\x15\x0b\x17\x19"}, "kill line, kill end, kill word, yank"},
		{"leaving", []string{"\x03\x04\x0c\x1a"}, "interrupt, eof, clear, suspend"},
		{"a line more", []string{"\x1b\r"}, `"\n"`},
		{"function keys", []string{"\x1b[15~\x1b[[A\x1bOP"}, "unknown, unknown, unknown"},
		{"paste", []string{"\x1b[200~a\r\nb\rc\x1b[201~d"}, `paste "a\nb\nc", "d"`},
		{"a paste in pieces", []string{"\x1b[20", "0~a", "b\x1b[2", "01~"}, `paste "ab"`},
		{"a paste with an escape in it", []string{"\x1b[200~a\x1b[31mb\x1b[201~"}, `paste "a\x1b[31mb"`},
		{"a paste that is too long", []string{"\x1b[200~" + strings.Repeat("x", earshot.MaxText+1) + "\x1b[201~y"}, `too long, "y"`},
		{"an endless sequence", []string{"\x1b[" + strings.Repeat("1", 100) + "a"}, `unknown, "a"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var d terminal.Decoder
			now := time.Unix(0, 0)
			var keys []terminal.Key
			for _, in := range tt.in {
				keys = append(keys, d.Step(now, []byte(in))...)
				now = now.Add(10 * time.Millisecond)
			}
			if got := picture(keys); got != tt.want {
				t.Errorf("decoded %s, want %s", got, tt.want)
			}
		})
	}
}

// TestPasteWithoutEnd: if the end of a paste is lost, the keyboard works again after a while.
func TestPasteWithoutEnd(t *testing.T) {
	var d terminal.Decoder
	now := time.Unix(0, 0)
	if keys := d.Step(now, []byte("\x1b[200~ab\x1b[20")); len(keys) != 0 {
		t.Fatalf("decoded %s before the end", picture(keys))
	}
	until, ok := d.Deadline()
	if !ok {
		t.Fatal("nothing is waited for")
	}
	if got, want := picture(d.Step(until, nil)), `paste "ab\x1b[20"`; got != want {
		t.Errorf("decoded %s, want %s", got, want)
	}
	if got, want := picture(d.Step(until, []byte("\x03"))), "interrupt"; got != want {
		t.Errorf("decoded %s, want %s", got, want)
	}
}

// TestDecoderInPieces: the keys are the same, whatever pieces the bytes arrive in.
func TestDecoderInPieces(t *testing.T) {
	bits := rapid.SampledFrom([]string{"a", "é", "日", "\x1b[A", "\x1bOD", "\x1b[1;5C", "\r", "\r\n", "\x03", "\x1b[200~x\ry\x1b[201~", "\x1bb", "\xff", "\x1b[", "\x1b"})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(bits).Draw(t, "in"), "")
		now := time.Unix(0, 0)
		var one, many terminal.Decoder
		want := one.Step(now, []byte(in))
		var got []terminal.Key
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			got = append(got, many.Step(now, []byte(rest[:n]))...)
			rest = rest[n:]
		}
		late := now.Add(time.Hour)
		if g, w := merged(append(got, many.Step(late, nil)...)), merged(append(want, one.Step(late, nil)...)); g != w {
			t.Errorf("in pieces %s, as one %s", g, w)
		}
	})
}

// merged is picture with neighbouring letters joined.
func merged(keys []terminal.Key) string {
	return strings.ReplaceAll(picture(keys), `", "`, "")
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("a\x1b[A\x1b[200~x\x1b[201~\xff\x1b"), 3)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		cut = min(max(cut, 0), len(in))
		var d terminal.Decoder
		now := time.Unix(0, 0)
		keys := d.Step(now, in[:cut])
		keys = append(keys, d.Step(now, in[cut:])...)
		keys = append(keys, d.Step(now.Add(time.Hour), nil)...)
		if _, waits := d.Deadline(); waits {
			t.Error("something is still waited for after an hour")
		}
		for _, k := range keys {
			if k.Does == "" || !utf8.ValidString(k.Text) || len(k.Text) > 3*earshot.MaxText {
				t.Errorf("a key %q with %d bytes", k.Does, len(k.Text))
			}
		}
	})
}
