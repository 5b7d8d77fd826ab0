package terminal_test

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"earshot"
	"earshot/internal/terminal"
)

func TestSplitter(t *testing.T) {
	long := strings.Repeat("x", earshot.MaxText)
	for _, tt := range []struct {
		name, in string
		want     []terminal.Question
	}{
		{"nothing", "", nil},
		{"two lines", "a\nb\n", []terminal.Question{{Line: 1, Text: "a"}, {Line: 2, Text: "b"}}},
		{"the last without an end", "a\nb", []terminal.Question{{Line: 1, Text: "a"}, {Line: 2, Text: "b"}}},
		{"lines from elsewhere", "a\r\n\r\nb", []terminal.Question{{Line: 1, Text: "a"}, {Line: 2}, {Line: 3, Text: "b"}}},
		{"the longest", long + "\r\nb", []terminal.Question{{Line: 1, Text: long}, {Line: 2, Text: "b"}}},
		{"longer", "a\n" + long + "y\nb", []terminal.Question{{Line: 1, Text: "a"}, {Line: 2, Over: true}, {Line: 3, Text: "b"}}},
		{"much longer, and the last", long + long + long, []terminal.Question{{Line: 1, Over: true}}},
		{"binary", "\xff\xfea\x00\n", []terminal.Question{{Line: 1, Text: "\ufffda\x00"}}},
		{"binary that grows", strings.Repeat("a\xff", earshot.MaxText/2), []terminal.Question{{Line: 1, Over: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s terminal.Splitter
			got := s.Add([]byte(tt.in))
			if q, ok := s.End(); ok {
				got = append(got, q)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%d lines, want %d", len(got), len(tt.want))
			}
		})
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("a\r\nb\xff\n\n"), 2)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		cut = min(max(cut, 0), len(in))
		split := func(parts ...[]byte) (qs []terminal.Question) {
			var s terminal.Splitter
			for _, p := range parts {
				qs = append(qs, s.Add(p)...)
			}
			if q, ok := s.End(); ok {
				qs = append(qs, q)
			}
			return qs
		}
		one, two := split(in), split(in[:cut], in[cut:])
		if !reflect.DeepEqual(one, two) {
			t.Errorf("%d lines as one, %d in two pieces", len(one), len(two))
		}
		for i, q := range one {
			if q.Line != i+1 || !utf8.ValidString(q.Text) || len(q.Text) > earshot.MaxText || strings.Contains(q.Text, "\n") {
				t.Errorf("line %d is numbered %d, with %d bytes", i+1, q.Line, len(q.Text))
			}
		}
	})
}
