package tts_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot"
	"earshot/models/tts"
)

func TestNormalise(t *testing.T) {
	for _, group := range []struct {
		about string
		cases [][2]string
	}{
		{"plain", [][2]string{
			{"", ""},
			{"hello", "hello"},
			{"The tide is high.", "The tide is high."},
			{"  two \t spaces\u00a0here ", "two spaces here"},
			{"Wait... what?! Yes!!!", "Wait. what? Yes!"},
			{"one—two – three - four", "one, two, three, four"},
			{"He said “don’t” (quietly); then left: done", "He said don't, quietly, then left, done"},
			{"well-known rock'n'roll", "well known rock'n'roll"},
			{"\"quoted\" 'too'", "quoted too"},
			{"@Alice, ask @bob. 3 @ 2 euros", "Alice, ask bob. three at two euros"},
		}},
		{"markdown", [][2]string{
			{"**Bold**, *leaning*, __under__, ~~gone~~ and `code`", "Bold, leaning, under, gone and code"},
			{"# A heading\nand text", "A heading. and text"},
			{"- one\n- two\n* three\n", "one. two. three."},
			{"1. Wash\n2. Cut\n", "one, Wash. two, Cut."},
			{"- [ ] open\n- [x] done\n", "open. done."},
			{"See [the manual](https://example.com/a_(b)?c=d \"title\") now", "See the manual now"},
			{"![a boat](boat.png)", "a boat"},
			{"> quoted\n> again", "quoted again"},
			{"as shown[1][^2].", "as shown."},
			{"| Tide | Time |\n|---|:-:|\n| high | 3 pm |\n", "Tide, Time. high, three p m."},
			{"above\n\n---\n\nbelow", "above. below"},
			{"Run this:\n```go\nfmt.Println(1)\n```\nand look.", "Run this, code left out, and look."},
			{"~~~\nx\n~~~\n", "code left out,"},
			{"a<br/>b <b>c</b> d", "a b c d"},
			{"R&amp;D, Q &lt; 3", "R and D, Q three"},
			{"a line\nthat goes on\n\nand ends", "a line that goes on. and ends"},
			{"call foo_bar() and getUserName", "call foo bar, and get User Name"},
		}},
		{"addresses", [][2]string{
			{"see https://www.example.com/a/b?c=1.", "see example dot com."},
			{"see https://203.0.113.7:8080/x and http://a-b.c/", "see, a link, and"},
			{"(www.example.org)", "example dot org,"},
			{"write to ann.lee+x@example.com, please", "write to ann dot lee plus x at example dot com, please"},
			{"main.go and golang.org", "main dot go and golang dot org"},
			{"go test ./... and `strings.Split(s)` and $HOME/.config", "go test and strings dot Split, s, and dollar home dot config"},
			{"in /usr/local/bin or ~/.config", "in slash usr slash local slash bin or slash dot config"},
		}},
		{"numbers", [][2]string{
			{"0 1 12 20 21 100 101 999", "zero one twelve twenty twenty one one hundred one hundred one nine hundred ninety nine"},
			{"1,234,567 and 1 000 000 and 1_000", "one million two hundred thirty four thousand five hundred sixty seven and one zero zero zero zero zero zero and one thousand"},
			{"3.14, .5, -7, −8, +9, ±2, ~10", "three point one four, point five, minus seven, minus eight, plus nine, plus or minus two, about ten"},
			{"1st 2nd 3rd 4th 12th 20th 21st 100th", "first second third fourth twelfth twentieth twenty first one hundredth"},
			{"007 and 12345678901234567890", "zero zero seven and one two three four five six seven eight nine zero one two three four five six seven eight nine zero"},
			{"5-10, 5–10, 5 - 3, 3 * 4, 2^10", "five to ten, five to ten, five minus three, three times four, two to the power of ten"},
			{"1/2 cup, 2 3/4, 7/9, 24/7, ½", "one half cup, two and three quarters, seven ninths, twenty four slash seven, one half"},
			{"version 1.2.3 at 192.168.0.1", "version one point two point three at one hundred ninety two point one hundred sixty eight point zero point one"},
			{"16:9 and #5 and No. 7 and p. 3", "sixteen to nine and number five and number seven and page three"},
			{"0xFF, A4, mp3, H2O, GPT-4, 7B", "hex F F, A four, M P three, H two O, G P T four, seven B"},
			{"Apollo 11's crew, 3.0e8, 1e-3, 5x, 5'10\" tall", "Apollo eleven's crew, three point zero times ten to the eight, one times ten to the minus three, five times, five foot ten tall"},
			{"i7-9700K, UTF-8, 10-20", "i seven nine thousand seven hundred K, U T F eight, ten to twenty"},
			{"+1 (555) 123-4567", "plus one five five five one two three four five six seven"},
			{"call 555-1234", "call five five five one two three four"},
			{"x = 3 + 4, a != b, 2 < 3, 4 >= 1", "x equals three plus four, a is not equal to b, two less than three, four at least one"},
			{strings.Repeat("9", 40), "a long code left out,"},
		}},
		{"years", [][2]string{
			{"in 1984, 2000, 2007, 2010 and 1905", "in nineteen eighty four, two thousand, two thousand seven, twenty ten and nineteen oh five"},
			{"in 1789 he had 1789 men", "in seventeen eighty nine he had one thousand seven hundred eighty nine men"},
			{"2048 bytes, 1,984", "two thousand forty eight bytes, one thousand nine hundred eighty four"},
			{"the 1990s and the 80s, 1914–1918", "the nineteen nineties and the eighties, nineteen fourteen to nineteen eighteen"},
		}},
		{"times and dates", [][2]string{
			{"at 15:04, 15:00, 9:05, 9:00, 0:00, 12:00", "at fifteen oh four, three p m, nine oh five, nine o'clock, midnight, twelve o'clock"},
			{"3 pm, 3:30 PM, 11 a.m., 10:20:30", "three p m, three thirty p m, eleven a m, ten twenty and thirty seconds"},
			{"9:00-17:30", "nine o'clock to seventeen thirty"},
			{"on 2024-03-05 or 2024-03-05T14:30:00Z", "on March fifth twenty twenty four or March fifth twenty twenty four at fourteen thirty"},
			{"on March 5, 2024 or 5 March or the 5th of March 2024", "on March fifth twenty twenty four or the fifth of March or the fifth of March twenty twenty four"},
			{"31/12/2024, 12/31/2024, 31.12.2024", "December thirty first twenty twenty four, December thirty first twenty twenty four, December thirty first twenty twenty four"},
			{"10:30am, 10:30 am, 3:05p.m. and 10:20:30PM", "ten thirty a m, ten thirty a m, three oh five p m and ten twenty p m and thirty seconds"},
			{"10:30 people, 10:30", "ten thirty people, ten thirty"},
			{"3/4/2024, 5/6/25, 31/12/24 and 2024/03/05", "three slash four slash twenty twenty four, five slash six slash twenty five, thirty one slash twelve slash twenty four and March fifth twenty twenty four"},
			{"3/3/2024, 99/99/2024, 1/2/3/4", "March third twenty twenty four, ninety nine slash ninety nine slash twenty twenty four, one slash two slash three slash four"},
			{"Jan. 1 and Sept 30th, March 2024", "January first and September thirtieth, March twenty twenty four"},
		}},
		{"money", [][2]string{
			{"$5, $1, $1.50, $0.99, £2.01, €3", "five dollars, one dollar, one dollar and fifty cents, ninety nine cents, two pounds and one penny, three euros"},
			{"$5 million, $2.5M, €3bn, -$10", "five million dollars, two point five million dollars, three billion euros, minus ten dollars"},
			{"5 €, 20 EUR, 1 USD", "five euros, twenty euros, one dollar"},
			{"€0.99/GB", "ninety nine cents per gigabyte"},
			{"$1,234.56", "one thousand two hundred thirty four dollars and fifty six cents"},
		}},
		{"units", [][2]string{
			{"5 km, 1 km, 5km/h, 100 m, 2 m/s", "five kilometers, one kilometer, five kilometers per hour, one hundred meters, two meters per second"},
			{"-5 °C, 70°F, 45°, 50%, 3.5 %", "minus five degrees Celsius, seventy degrees Fahrenheit, forty five degrees, fifty percent, three point five percent"},
			{"16 kHz, 2.4GHz, 512 kB, 10 MB/s, 64 KiB", "sixteen kilohertz, two point four gigahertz, five hundred twelve kilobytes, ten megabytes per second, sixty four kibibytes"},
			{"20 ms, 5 min, 1 h, 10 m², 3 in a row, 6in", "twenty milliseconds, five minutes, one hour, ten square meters, three in a row, six inches"},
			{"5–10 km and 10k", "five to ten kilometers and ten thousand"},
		}},
		{"abbreviations", [][2]string{
			{"Dr. Lee vs. Mr. Poe, e.g. here, i.e. there, etc.", "Doctor Lee versus Mister Poe, for example here, that is there, et cetera."},
			{"The U.S. and the U.K.", "The U S and the U K"},
			{"An API, two URLs, NASA, HTML, JSON, the CPU's", "An A P I, two U R L's, nasa, H T M L, jason, the C P U's"},
			{"do NOT stop", "do not stop"},
			{"The US economy, the US's, ask IT", "The U S economy, the U S's, ask it"},
			{"TELL US EVERYTHING NOW", "tell us everything now"},
			{"DO NOT TOUCH THE RED BUTTON", "do not touch the red button"},
			{"World War II and Chapter IV", "World War two and Chapter four"},
			{"C++, C#, w/o, R&D, Q&A, a/b", "C plus plus, C sharp, without, R and D, Q and A, a b"},
			{"tea & coffee + milk @ home", "tea and coffee plus milk at home"},
			{"the iPhone, JavaScript, macOS", "the i Phone, Java Script, mac O S"},
			{"no. It is. St. Ives", "no. It is. Saint Ives"},
			{"Mt. Everest and Mt Everest", "Mount Everest and Mount Everest"},
		}},
		{"what a voice cannot say", [][2]string{
			{"café naïve Łódź straße Ærø", "cafe naive Lodz strasse Aero"},
			{"ﬁne ｆｕｌｌ", "fine full"},
			{"π is 3, 5 μm, α and β", "pi is three, five micrometers, alpha and beta"},
			{"the word 潮 means tide, 海 sea", "the word, some words in another script left out, means tide, sea"},
			{"Привет мир", "some words in another script left out,"},
			{"🎉👍🏽 well done :) 👩‍👩‍👧", "well done"},
			{"🎉", ""},
			{"→ here ✓", "to here"},
			{"\x00\x1b[2J\u202eabc\ufeff\xff", "two J abc"},
			{"id 123e4567-e89b-12d3-a456-426614174000 it is", "id, a long code left out, it is"},
		}},
	} {
		t.Run(group.about, func(t *testing.T) {
			for _, c := range group.cases {
				if got := tts.Normalise(c[0]).Spoken; got != c[1] {
					t.Errorf("%q\n is said %q\n    want %q", c[0], got, c[1])
				}
			}
		})
	}
}

// pieces are parts of texts that are hard to say.
var pieces = rapid.SampledFrom([]string{
	"a", "tide ", "É", "日本", "🎉", " ", "\n", "\n\n", "-", "- ", "*", "**", "_", "`", "```", "~~~", "#", "> ", "|", "[", "](", ")", "(", "1", "9", "12", "1,000", "0.5", "$", "€", "%", "°C", " km", "/h", ":", "30", " pm",
	"2024", "-05-06", "T10:00", "1st", "March ", "https://", "www.", "example.com", "@", ".", ",", "e.g.", "Dr. ", "NASA", "API", "II", "\xff", "\x00", "\u202e", "\u200d", "ﷺ", "½", "²", "≤", "'", "\\", "<", ">", "&amp;", "^", "=", "K", "k", "No. ", "99999999999999999999",
})

// TestAnyText: whatever the text, its spoken form is printable ASCII, not much longer, and each
// part of it stands for a part of the text.
func TestAnyText(t *testing.T) {
	texts := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, "pieces"), "")
	}))
	rapid.Check(t, func(t *rapid.T) {
		var r tts.Reader
		for _, text := range rapid.SliceOfN(texts, 1, 4).Draw(t, "texts") {
			check(t, text, r.Next(text))
		}
	})
}

func FuzzNormalise(f *testing.F) {
	f.Add("## Tides\n- **high** at 15:04, $3.50 or -5 °C\n```go\nx\n```\nsee [this](https://example.com/a_(b)) 🎉 日本")
	f.Add("1. Dr. Lee, e.g. NASA's 1,234 APIs, 3/4 on 2024-03-05T10:00:00Z and 1st of March 1999\n| a | b |\n|---|---|\n")
	f.Fuzz(func(t *testing.T, text string) { check(t, text, tts.Normalise(text)) })
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// check fails t unless s is a valid spoken form of text.
func check(t fataler, text string, s tts.Speech) {
	t.Helper()
	if len(s.Spoken) > 20*len(text)+128 {
		t.Fatalf("%q is said with %d bytes", text, len(s.Spoken))
	}
	for i := range len(s.Spoken) {
		if s.Spoken[i] < ' ' || s.Spoken[i] > '~' {
			t.Fatalf("%q is said %q, which is not ASCII", text, s.Spoken)
		}
	}
	if strings.Contains(s.Spoken, "  ") || strings.TrimSpace(s.Spoken) != s.Spoken {
		t.Fatalf("%q is said %q, with spaces too many", text, s.Spoken)
	}
	checkMarks(t, text, s)
	for _, n := range []int{-1, 0, len(s.Spoken) / 2, len(s.Spoken), len(s.Spoken) + 1} {
		if at := s.Text(n); at < 0 || at > len(text) {
			t.Fatalf("byte %d of what is said stands for byte %d of %d", n, at, len(text))
		}
	}
}

// checkMarks fails t unless the marks rise, stand at the edges of runes and words, and reach from
// beginning to end.
func checkMarks(t fataler, text string, s tts.Speech) {
	t.Helper()
	if n := len(s.Marks); n == 0 || s.Marks[n-1] != (earshot.Mark{Spoken: len(s.Spoken), Text: len(text)}) || s.Marks[0].Spoken != 0 {
		t.Fatalf("%q has the marks %v", text, s.Marks)
	}
	for i, m := range s.Marks {
		if i > 0 && (m.Spoken <= s.Marks[i-1].Spoken || m.Text < s.Marks[i-1].Text) {
			t.Fatalf("%q has the marks %v, which do not rise", text, s.Marks)
		}
		if utf8.ValidString(text) && m.Text < len(text) && !utf8.RuneStart(text[m.Text]) {
			t.Fatalf("%q has the mark %v within a rune", text, m)
		}
		if m.Spoken > 0 && m.Spoken < len(s.Spoken) && s.Spoken[m.Spoken-1] != ' ' {
			t.Fatalf("%q is said %q, with the mark %v within a word", text, s.Spoken, m)
		}
		if i > 0 && s.Text(m.Spoken-1) != s.Marks[i-1].Text || s.Text(m.Spoken) != m.Text {
			t.Fatalf("%q: what is heard before and at %v is %d and %d", text, m, s.Text(m.Spoken-1), s.Text(m.Spoken))
		}
	}
}

// TestPlainWords: words that can be said as they are stay unchanged, each with its mark.
func TestPlainWords(t *testing.T) {
	word := rapid.StringMatching(`[b-z]{3,9}`).Filter(func(w string) bool { return tts.Normalise(w+" "+w+".").Spoken == w+" "+w+"." })
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 1, 12).Draw(t, "words")
		text := strings.Join(words, " ") + rapid.SampledFrom([]string{"", ".", ",", "?"}).Draw(t, "end")
		s := tts.Normalise(text)
		if s.Spoken != text {
			t.Fatalf("%q is said %q", text, s.Spoken)
		}
		if len(s.Marks) != len(words)+1 {
			t.Fatalf("%d words have %d marks", len(words), len(s.Marks))
		}
		for n := range len(text) {
			if at := s.Text(n); at > n || strings.ContainsRune(text[at:n], ' ') {
				t.Fatalf("byte %d stands for byte %d of %q", n, at, text)
			}
		}
	})
}

// TestMarks draws what counts as heard: for each spoken word, the text that has been said when the
// voice comes to it.
func TestMarks(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"the tide", `the "" | tide "the " | end "the tide"`},
		{"## At 15:04 go!", `At "" | fifteen oh four "## At " | go! "## At 15:04 " | end "## At 15:04 go!"`},
		{"né 🎉 é ", `ne "" | e "né 🎉 " | end "né 🎉 é "`},
		{"🎉", `end "🎉"`},
	} {
		s := tts.Normalise(tt.text)
		var got []string
		for i, m := range s.Marks {
			word := "end"
			if i+1 < len(s.Marks) {
				word = strings.TrimSpace(s.Spoken[m.Spoken:s.Marks[i+1].Spoken])
			}
			got = append(got, fmt.Sprintf("%s %q", word, tt.text[:m.Text]))
		}
		if got := strings.Join(got, " | "); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// TestReader: a construct that begins in one clause goes on in the next.
func TestReader(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pieces []string
		want   string
	}{
		{"code over many clauses", []string{"Run:\n```go\n", "x := 1, ", "```x\n", "y\n```\n", "Then look."}, "Run, code left out,||||Then look."},
		{"a dash within a line is no item", []string{"He said, ", "- 5 times\n", "- 5 times\n"}, "He said,|five times|five times."},
		{"another script throughout", []string{"春は、", "あけぼの。", "Yes. ", "夏は夜"}, "some words in another script left out,||Yes.|some words in another script left out,"},
		{"emphasis over two clauses", []string{"**high, ", "low** tide"}, "high,|low tide"},
		{"a link over two clauses", []string{"[here, ", "there](https://example.com) ", "and on"}, "here,|there|and on"},
		{"a heading over two clauses", []string{"# One, ", "two\nthree"}, "One,|two. three"},
	} {
		var r tts.Reader
		var got []string
		for _, p := range tt.pieces {
			got = append(got, r.Next(p).Spoken)
		}
		if got := strings.Join(got, "|"); got != tt.want {
			t.Errorf("%s: said %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSkipped(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                    "[]",
		"🎉 日本 🎉 海":                 "[emoji another script]",
		"```\nx\n```\nhttp://a-b/": "[code a link]",
	} {
		if got := fmt.Sprint(tts.Normalise(text).Skipped); got != want {
			t.Errorf("%q: skipped %s, want %s", text, got, want)
		}
	}
}

// BenchmarkNormalise measures what one clause costs before its first sound.
func BenchmarkNormalise(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		tts.Normalise("The **next** high tide at the harbour is on 5 March at 15:04, some 4.2 m above the mean, ")
	}
}

// BenchmarkHostile measures what the worst 64 KiB cost.
func BenchmarkHostile(b *testing.B) {
	text := strings.Repeat("1.]( <[", 64<<10/7)
	for b.Loop() {
		tts.Normalise(text)
	}
}
