package llm_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot/llm"
)

// split returns what s makes of the pieces: speech as it is, thinking in brackets.
func split(t interface{ Errorf(string, ...any) }, s *llm.Thoughts, pieces ...string) string {
	var b strings.Builder
	thinking := false
	take := func(deltas []llm.Delta) {
		for _, d := range deltas {
			if (d.Text == "") == (d.Thinking == "") || d.Done != nil {
				t.Errorf("delta %+v is not one of text and thinking", d)
			}
			if !utf8.ValidString(d.Text + d.Thinking) {
				t.Errorf("delta %q is part of a rune", d.Text+d.Thinking)
			}
			if now := d.Thinking != ""; now != thinking {
				thinking = now
				b.WriteString(map[bool]string{true: "[", false: "]"}[now])
			}
			b.WriteString(d.Text + d.Thinking)
		}
	}
	for _, piece := range pieces {
		take(s.Next(piece))
	}
	take(s.End())
	return b.String()
}

func TestThoughts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		opened bool
		raw    string
		want   string
	}{
		{"only speech", false, "Hello there.", "Hello there."},
		{"only white space", false, " \n", " \n"},
		{"a thought first", false, "<think>hm</think>Hello.", "[hm]Hello."},
		{"blank lines after it", false, "<think>\nhm\n</think>\n\nHello.\n\nYou.", "[\nhm\n]Hello.\n\nYou."},
		{"blank lines before it", false, "\n<think>hm</think>\n\nHello.", "\n[hm]Hello."},
		{"a thought in the middle", false, "One <think>two</think> three.", "One [two] three."},
		{"an empty thought", false, "<think></think>Hello.", "Hello."},
		{"two thoughts", false, "<think>a</think> <think>b</think> c", "[ab]c"},
		{"other names", false, "<thinking>a</thinking>b<reasoning>c</reasoning>d", "[a]b[c]d"},
		{"upper case", false, "<THINK>a</Think>b", "[a]b"},
		{"space in the tag", false, "<think >a</think\n>b", "[a]b"},
		{"too much space in the tag", false, "<think" + strings.Repeat(" ", 24) + ">a", "<think" + strings.Repeat(" ", 24) + ">a"},
		{"never closed", false, "Well <think>a. And b.", "Well [a. And b."},
		{"nested", false, "<think>a<think>b</think>c</think>d", "[abc]d"},
		{"nested with other names", false, "<think>a<reasoning>b</reasoning>c</think>d", "[abc]d"},
		{"closed, never opened", false, "a</think>b", "ab"},
		{"opened by the prompt", true, "a</think>b", "[a]b"},
		{"opened by the prompt and again", true, "\n<think>a</think>b", "[\na]b"},
		{"opened by the prompt, later nested", true, "a<think>b</think>c</think>d", "[abc]d"},
		{"opened by the prompt, a second thought", true, "a</think>b<think>c</think>d", "[a]b[c]d"},
		{"opened by the prompt, never closed", true, "a", "[a"},
		{"no tag at all", false, "1 < 2, a<b, <b>bold</b>, <<think>x</think>y", "1 < 2, a<b, <b>bold</b>, <[x]y"},
		{"nearly a tag", false, "<thinker> <thin> </thinks>", "<thinker> <thin> </thinks>"},
		{"ends in half a tag", false, "so <thi", "so <thi"},
		{"ends in half a closing tag", false, "<think>so </thi", "[so </thi"},
		{"runes", false, "é<think>…</think>😀", "é[…]😀"},
		{"bytes that are no runes", false, "a\xff\xe2\x82<think>\x80</think>\xf0\x9f", "a\ufffd\ufffd\ufffd[\ufffd]\ufffd\ufffd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := split(t, &llm.Thoughts{Opened: tt.opened}, tt.raw); got != tt.want {
				t.Errorf("in one piece: %q, want %q", got, tt.want)
			}
			pieces := make([]string, len(tt.raw))
			for i := range pieces {
				pieces[i] = tt.raw[i : i+1]
			}
			if got := split(t, &llm.Thoughts{Opened: tt.opened}, pieces...); got != tt.want {
				t.Errorf("byte by byte: %q, want %q", got, tt.want)
			}
		})
	}
}

// TestThoughtsReleaseAtOnce: nothing is held back once it is clear what it is.
func TestThoughtsReleaseAtOnce(t *testing.T) {
	var s llm.Thoughts
	for _, tt := range []struct{ piece, want string }{
		{"a", "a"}, {" <", " "}, {" ", "< "}, {"<thi", ""}, {"s", "<this"}, {"\xc3", ""}, {"\xa9", "é"}, {"\xff", "\ufffd"},
	} {
		got := ""
		for _, d := range s.Next(tt.piece) {
			got += d.Text
		}
		if got != tt.want {
			t.Errorf("after %q comes %q, want %q", tt.piece, got, tt.want)
		}
	}
}

// TestThoughtsDoNotDependOnPieces: a reply means the same however it is cut into pieces.
func TestThoughtsDoNotDependOnPieces(t *testing.T) {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{"<think>", "</think>", "<THINKING>", "</reasoning>", "<", "</", "<th", " ", "\n\n", ">", "é", "😀", "\xf0\x9f", "\xff"}),
		rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
		opened := rapid.Bool().Draw(t, "opened")
		var pieces []string
		for rest := raw; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		whole := split(t, &llm.Thoughts{Opened: opened}, raw)
		if cut := split(t, &llm.Thoughts{Opened: opened}, pieces...); cut != whole {
			t.Errorf("%q cut into %q gives %q, whole %q", raw, pieces, cut, whole)
		}
	})
}

// FuzzThoughts: no byte between the tags is ever said, and none outside them is lost, except for
// white space and the tags themselves.
func FuzzThoughts(f *testing.F) {
	f.Add("a", "b", "c", 3)
	f.Add("<thi", "</th", "<", 1)
	f.Add("\xc3", "\xa9</reasonin", "é", 2)
	f.Fuzz(func(t *testing.T, before, thought, after string, n int) {
		if strings.ContainsAny(before+thought+after, "<[]") || n < 1 {
			t.Skip()
		}
		raw := before + "<think>" + thought + "</think>" + after
		var pieces []string
		for rest := raw; rest != ""; {
			k := min(n, len(rest))
			pieces, rest = append(pieces, rest[:k]), rest[k:]
		}
		want := string([]rune(before))
		if thought != "" {
			want += "[" + string([]rune(thought))
		}
		if strings.Trim(before, " \t\r\n") == "" {
			after = strings.TrimLeft(after, " \t\r\n")
		}
		if after != "" && thought != "" {
			want += "]"
		}
		want += string([]rune(after))
		if got := split(t, new(llm.Thoughts), pieces...); got != want {
			t.Errorf("%q in pieces of %d bytes: %q, want %q", raw, n, got, want)
		}
	})
}

func BenchmarkThoughts(b *testing.B) {
	b.ReportAllocs()
	var s llm.Thoughts
	for b.Loop() {
		s.Next(" tides")
	}
}
