package terminal_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot/internal/terminal"
)

func TestSafe(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "hello\tyou\n", "hello\tyou\n"},
		{"letters of the world", "grüße 日本 ñandú", "grüße 日本 ñandú"},
		{"a heart keeps its shape", "❤\ufe0f", "❤\ufe0f"},
		{"clear the screen", "a\x1b[2Jb", "a␛[2Jb"},
		{"title, by the bell", "\x1b]0;root\a", "␛]0;root␇"},
		{"C1 control sequence", "a\u009b2Jb", "a\ufffd2Jb"},
		{"a raw C1 byte", "a\x9b2Jb", "a\ufffd2Jb"},
		{"delete", "a\x7f", "a␡"},
		{"overwrite the line", "password\rharmless", "password␍harmless"},
		{"a line from elsewhere", "a\r\nb", "a\nb"},
		{"backspaces", "ab\b\bcd", "ab␈␈cd"},
		{"turned direction", "a\u202egnp.exe", "agnp.exe"},
		{"isolate", "\u2066a\u2069", "a"},
		{"marks of direction", "a\u200e (\u200fb\u061c)", "a (b)"},
		{"Persian", "می\u200cخواهم خانه\u200cها ۵\u200cساله", "می\u200cخواهم خانه\u200cها ۵\u200cساله"},
		{"Hindi", "क\u094d\u200dष राजनी\u200cति", "क\u094d\u200dष राजनी\u200cति"},
		{"Bengali", "র\u200d\u09cdয", "র\u200d\u09cdয"},
		{"a letter of Malayalam that ends a word", "അവന\u0d4d\u200d പോയി", "അവന\u0d4d\u200d പോയി"},
		{"a developer", "👩\u200d💻 at work", "👩\u200d💻 at work"},
		{"a family", "👨\u200d👩\u200d👧\u200d👦", "👨\u200d👩\u200d👧\u200d👦"},
		{"a kiss", "👩🏻\u200d❤\ufe0f\u200d💋\u200d👨🏿", "👩🏻\u200d❤\ufe0f\u200d💋\u200d👨🏿"},
		{"joiners at edges", "\u200ca\u200d \u200cb\u200d\n\u200d\u200c", "a b\n"},
		{"joiners beside dots", "a\u200d.\u200cb", "a.b"},
		{"two joiners", "می\u200c\u200cخواهم", "می\u200cخواهم"},
		{"a flood of joiners", "a" + strings.Repeat("\u200d", 100) + "b", "a\u200db"},
		{"a joiner and what is left out", "a\u200d\u200eb", "a\u200db"},
		{"a flood of joined emoji", "👩" + strings.Repeat("\u200d👩", 7), "👩" + strings.Repeat("\u200d👩", 4) + "👩\u200d👩\u200d👩"},
		{"marks behind joiners", "a" + strings.Repeat("\u0335\u200d", 8) + "b", "a" + strings.Repeat("\u0335\u200d", 5) + "\u0335\ufffd\ufffdb"},
		{"marks in an emoji", "👩" + strings.Repeat("\u0335\u0335\u0335\u200d👩", 3), "👩\u0335\u0335\u0335\u200d👩\u0335\u0335\u0335\u200d👩\ufffd\ufffd\ufffd👩"},
		{"zero width", "pay\u200bpal\ufeff", "paypal"},
		{"what is copied from pages", "re\u00adport\u2060s", "reports"},
		{"England", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f!", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f!"},
		{"more tags than a flag has", "🏴" + strings.Repeat("\U000e0061", 8), "🏴" + strings.Repeat("\U000e0061", 6) + "\ufffd\ufffd"},
		{"tags when the flag is over", "🏴\U000e007f\U000e0061", "🏴\U000e007f\ufffd"},
		{"tags that follow no flag", "🏴a\U000e0061", "🏴a\ufffd"},
		{"hidden tags", "a\U000e0041", "a\ufffd"},
		{"hidden selectors", "a\U000e0100", "a\ufffd"},
		{"a filler that looks like nothing", "a\u3164b", "a\ufffdb"},
		{"line separators", "a\u2028b\u2029", "a\ufffdb\ufffd"},
		{"half a rune", "a\xe2\x82", "a\ufffd\ufffd"},
		{"a letter of a language that marks much", "e\u0302\u0301\u0323\u0308", "e\u0302\u0301\u0323\u0308"},
		{"a flood of marks", "a" + strings.Repeat("\u0335", 9) + "b\u0335", "a" + strings.Repeat("\u0335", 6) + "\ufffd\ufffd\ufffdb\u0335"},
		{"marks on nothing", "\u0335a\n\u0301\u0301b \u0301", "\ufffda\n\ufffd\ufffdb \ufffd"},
		{"an Arabic sign is seen", "\u0600", "\u0600"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := terminal.Safe(tt.text); got != tt.want {
				t.Errorf("shown as %q, want %q", got, tt.want)
			}
		})
	}
}

// harmless fails the test if text holds anything that a terminal acts on. It is independent of how
// Safe decides.
func harmless(t interface{ Errorf(string, ...any) }, text string) {
	if !utf8.ValidString(text) {
		t.Errorf("%q is not UTF-8", text)
	}
	for _, r := range text {
		if r == '\n' || r == '\t' {
			continue
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x200b || r == 0xfeff || r == 0x00ad {
			t.Errorf("%q holds %U", text, r)
		}
	}
	for line := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
		if strings.HasPrefix(line, "\u200c") || strings.HasPrefix(line, "\u200d") || joiners.MatchString(line) {
			t.Errorf("%q holds joiners that join nothing", text)
		}
	}
}

// joiners matches two joiners in a row.
var joiners = regexp.MustCompile("[\u200c\u200d]{2}")

// foreign draws hostile text.
func foreign() *rapid.Generator[string] {
	bits := rapid.SampledFrom([]string{"a", " ", "word ", "\r", "\n", "\r\n", "\t", "\x1b", "\x1b[31m", "\x9b", "\u009b", "\xff", "\xe2", "\x82", "\xac", "€", "日本",
		"e\u0301", "\u0335\u0335\u0335", "🇩", "🇪", "👩\u200d🚀", "❤\ufe0f", "\u200d", "\u200c", "क\u094d", "🏽", "\u202e", "\u200b", "🏴", "\U000e0067", "\U000e007f", "\U000e0041", "\x00", "\x7f"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(bits, rapid.String()), 0, 30).Draw(t, "bits"), "")
	})
}

// TestSafeForEveryPart: what is shown of any text is harmless, and making it safe again changes
// nothing. What is shown of its beginning, up to a whole rune or line end, is the beginning of what
// is shown of the whole text.
func TestSafeForEveryPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := foreign().Draw(t, "text")
		parted(t, text, rapid.IntRange(0, len(text)).Draw(t, "cut"))
	})
}

func FuzzSafe(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff\r", 3)
	f.Add("👩\u200d💻\u200c\u200d", 5)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		parted(t, text, min(max(cut, 0), len(text)))
	})
}

// parted checks text, and as much of text[:cut] as is whole.
func parted(t interface{ Errorf(string, ...any) }, text string, cut int) {
	want := terminal.Safe(text)
	harmless(t, want)
	if again := terminal.Safe(want); again != want {
		t.Errorf("%q changes to %q", want, again)
	}
	if got := terminal.Safe(text[:terminal.Whole(text[:cut])]); !strings.HasPrefix(want, got) {
		t.Errorf("at first %q, in the end %q", got, want)
	}
}
