package conversation_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"earshot/conversation"
)

// continued returns the output for a reply that continues said, cut into pieces of size bytes.
func continued(said, reply string, size int) string {
	c := conversation.NewContinuation(said)
	var out strings.Builder
	for len(reply) > 0 {
		n := min(size, len(reply))
		out.WriteString(c.Next(reply[:n]))
		reply = reply[n:]
	}
	out.WriteString(c.End())
	return out.String()
}

func TestContinuation(t *testing.T) {
	const tides = "The tides are the sea's answer to the moon. Twice a day the water bulges towards it, and the coasts turn through"
	for _, tt := range []struct{ name, said, reply, want string }{
		{"goes on", tides, " both bulges.", " both bulges."},
		{"without a space", tides, "both bulges.", " both bulges."},
		{"repeats the last word", tides, "through both bulges.", " both bulges."},
		{"repeats the end", tides, "and the coasts turn through both bulges.", " both bulges."},
		{"repeats the sentence", tides, "Twice a day the water bulges towards it, and the coasts turn through both bulges.", " both bulges."},
		{"repeats everything", tides, tides + " both bulges.", " both bulges."},
		{"in other letters", tides, "AND THE COASTS turn through, both bulges.", ", both bulges."},
		{"with an ellipsis in front", tides, "…turn through both bulges.", " both bulges."},
		{"repeats and stops", tides, "Twice a day the water bulges", ""},
		{"is new from the beginning", tides, "And so it goes.", " And so it goes."},
		{"begins like a sentence of it", tides, "The tides are late.", " The tides are late."},
		{"nothing", tides, "", ""},
		{"nothing was said", "", "The tides.", "The tides."},
		{"the sentence was whole", "It is late. So we go.", "So we go. Then we rest.", " Then we rest."},
		{"a coincidence", "It is late. So we go.", "Go we must.", " Go we must."},
		{"a comma twice", "the moon, twice a day,", "the moon, twice a day, all over", " all over"},
		{"punctuation", "the moon", ", twice a day", ", twice a day"},
		{"a suffix of its own", tides, "-out", "-out"},
		{"without spaces", "潮汐は月に", "月に引かれる。", "引かれる。"},
		{"a quotation", "he said", `"no"`, ` "no"`},
		{"a new line", "- one\n- two\n", "- three\n", "- three\n"},
		{"only signs", "well", strings.Repeat(".", 10_000), strings.Repeat(".", 10_000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 7, 1 << 20} {
				if got := continued(tt.said, tt.reply, size); got != tt.want {
					t.Errorf("in pieces of %d: said %q, want %q", size, got, tt.want)
				}
			}
		})
	}
}

// TestContinuationIsWhole: whichever sentence a reply begins again with, said and the output
// together are the whole text, however the reply is cut into pieces.
func TestContinuationIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-z]{1,6}[0-9]{3}`) // long enough not to occur twice by accident
		sentence := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfNDistinct(word, 4, 9, rapid.ID).Draw(t, "words"), " ") + "."
		})
		sentences := rapid.SliceOfN(sentence, 2, 5).Draw(t, "sentences")
		text := strings.Join(sentences, " ")
		words := strings.Fields(text)
		at := rapid.IntRange(1, len(words)-1).Draw(t, "at")
		said := strings.Join(words[:at], " ")
		from := rapid.SampledFrom([]int{0, at}).Draw(t, "from")
		size := rapid.IntRange(1, 12).Draw(t, "size")
		got := said + continued(said, strings.Join(words[from:], " "), size)
		if fold(got) != fold(text) {
			t.Fatalf("together %q, want %q", got, text)
		}
	})
}

func fold(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) }), " ")
}

func FuzzContinuation(f *testing.F) {
	f.Add("The tides are", "are the sea's", 3)
	f.Add("", "x", 1)
	f.Fuzz(func(t *testing.T, said, reply string, size int) {
		whole := continued(said, reply, len(reply)+1)
		if in := continued(said, reply, max(1, size)); in != whole {
			t.Fatalf("in pieces %q, as one %q", in, whole)
		}
		if len(whole) > len(reply)+1 {
			t.Fatalf("%d bytes became %d", len(reply), len(whole))
		}
	})
}
