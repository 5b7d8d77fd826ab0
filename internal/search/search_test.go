package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/search"
)

// now is a Wednesday.
var now = time.Date(2026, 11, 25, 15, 0, 0, 0, time.FixedZone("here", 3600))

func parse(t testing.TB, text string) search.Query {
	t.Helper()
	q, err := search.Parse(text, now)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return q
}

// TestMatch: which queries find which texts.
func TestMatch(t *testing.T) {
	long := strings.Repeat("a", 100)
	for _, tt := range []struct {
		text, query string
		want        bool
	}{
		{"the tides were rising", "tide", true},
		{"the tide will rise", "tides rising", true},
		{"Running, ran", "run", true},
		{"nur ein Wagen", "wagen", true}, // it ends as English words do
		{"les années", "annees", true},
		{"mañana", "manana", true},
		{"Katzen", "katze", false},
		{"sed", "sing", false},
		{"U2 tides2", "tide", false},
		{"ski", "skis", true},
		{"happiness", "happy", true},
		{"news", "new", false},

		{"The tide is high", "tid*", true},
		{"The tide is high", "ti*", true},
		{"The tide is high", "TID*", true},
		{"The tide is high", "tide*", true},
		{"The tide is high", "tides*", false},
		{"running", "runn*", true},
		{"happy", "happi*", false}, // that is how the index holds it
		{"潮汐表", "潮*", true},
		{"한국어 문장", "한국*", true},
		{"überall", "ube*", true},
		{long + "bc", long + "b*", true},
		{long + "bc", long + "c*", false},
		{"foo-bar", "foo-ba*", true},
		{"foo bar", "fo*bar", true},
		{"tide", "*tide", true},

		{"The tide is high", `"tide is"`, true},
		{"The tide is high", `"tide high"`, false},
		{"The tide, is high", `"TIDE is"`, true},
		{"The tides are high", `"tide"`, false},
		{"The tide is high", `"the tide" high`, true},
		{"The tide is high", `high "the tide"`, true},
		{"The tide is high", `“the tide”`, true},
		{"The tide is high", `„the tide“`, true},
		{"The tide is high", `«the tide»`, true},
		{"The tide is high", `"the tide`, true}, // the quotation mark is never closed
		{"The high tide", `"tide the`, true},
		{"a a b", `"a b"`, true},
		{"a b a c", `"a c"`, true},
		{"iPhoneの潮汐表を見る", `"iphoneの潮"`, true},
		{"iPhoneの潮汐表を見る", `"iphone 潮汐"`, false},
		{"潮汐表を見るiPhone", `"見るiphone"`, true},
		{"潮汐表", `"汐表"`, true},
		{"high tid", `"high tid*"`, true}, // a star within quotation marks is ignored

		{"text: tide", "text:tide", true},
		{"from far away", "from: away", true},
		{"on the way", "on: way", true},
		{"http://example.org/on:x", "example org", true},
		{"half ½ cup", "1 2", true},
		{"①②", "12", true},
		{"ﬁsh", "fish", true},
		{"Hauptstraße 5", "hauptstrasse", true},
		{"Hauptstrasse 5", "Hauptstraße", true},
		{"STRAẞE", `"strasse"`, true},
		{"Straßen", "Stras*", true},
		{"ann is here", "Ann's", true},
		{"Ann’s boat", "ann's", true},
		{"Ann's boat", `"ann boat"`, true},
		{"Ann's boat", "s", false},
		{"the letter s", "s", true},
		{"it is 's'", "s", true},
		{"s", "s", true},
	} {
		if got := parse(t, tt.query).Match(tt.text); got != tt.want {
			t.Errorf("%q has %q: %v, want %v", tt.text, tt.query, got, tt.want)
		}
	}
}

// TestOptions: from, on, since and before are read as the speakers and the span of time to look in.
func TestOptions(t *testing.T) {
	const any = "… … "
	day := func(from, to string) string { return from + "T00:00 " + to + "T00:00 " }
	for _, tt := range []struct{ query, want string }{
		{"tide", any},
		{"tide from:Ann", any + "Ann"},
		{`from:"Ann Lee" tide from:@bob`, any + "Ann Lee,bob"},
		{"from:“Ann Lee”", any + "Ann Lee"},
		{"FROM:Ann", any + "Ann"},
		{"on:2026-11-20", day("2026-11-20", "2026-11-21")},
		{"on:2026-11", day("2026-11-01", "2026-12-01")},
		{"on:2026", day("2026-01-01", "2027-01-01")},
		{"on:today", day("2026-11-25", "2026-11-26")},
		{"on:Yesterday", day("2026-11-24", "2026-11-25")},
		{"on:monday", day("2026-11-23", "2026-11-24")},
		{"on:wed", day("2026-11-25", "2026-11-26")},
		{"on:thu", day("2026-11-19", "2026-11-20")},
		{"since:yesterday", "2026-11-24T00:00 … "},
		{"before:monday tide", "… 2026-11-23T00:00 "},
		{"since:2026-11-20 before:2026-11-22", day("2026-11-20", "2026-11-22")},
		{"since:2026-11 on:2026-11-20", day("2026-11-20", "2026-11-21")},
		{`since:"2026-11-20 10:30"`, "2026-11-20T10:30 … "},
		{"since:2026-11-20T10:30", "2026-11-20T10:30 … "},
		{"since:2026-11-20T10:30:00Z", "2026-11-20T11:30 … "},
		{"since:10:30", "2026-11-25T10:30 … "},
		{"since:18:00", "2026-11-24T18:00 … "},
		{"since:3d", "2026-11-22T15:00 … "},
		{"before:12h", "… 2026-11-25T03:00 "},
	} {
		q := parse(t, tt.query)
		at := func(when time.Time) string {
			if when.IsZero() {
				return "…"
			}
			return when.In(now.Location()).Format("2006-01-02T15:04")
		}
		if got := at(q.Since) + " " + at(q.Before) + " " + strings.Join(q.From, ","); got != tt.want {
			t.Errorf("%q asks for %q, want %q", tt.query, got, tt.want)
		}
	}
	q := parse(t, "on:2026-11-20")
	for at, want := range map[string]bool{"2026-11-19T23:59:59+01:00": false, "2026-11-20T00:00:00+01:00": true, "2026-11-20T22:59:59Z": true, "2026-11-20T23:00:00Z": false} {
		when, _ := time.Parse(time.RFC3339, at)
		if q.Within(when) != want {
			t.Errorf("%s is on that day: %v", at, !want)
		}
	}
}

// hans is a long text in a script without spaces.
var hans = func() string {
	var b strings.Builder
	for c := rune(0x4e00); c < 0x4e00+200; c++ {
		b.WriteRune(c)
	}
	return b.String()
}()

// TestString: a query is written out such that it means the same in another time zone and at
// another time.
func TestString(t *testing.T) {
	for query, want := range map[string]string{
		`Tides "High  Noon" tea* 潮汐`: `tides "high noon" tea* 潮汐`,
		`from:“Ann Lee” from:@bob x`: `x from:"Ann Lee" from:"bob"`,
		"on:2026-11-20 x":            "x since:2026-11-20T00:00:00+01:00 before:2026-11-21T00:00:00+01:00",
		"since:12h x":                "x since:2026-11-25T03:00:00+01:00",
	} {
		q := parse(t, query)
		if got := q.String(); got != want {
			t.Errorf("%s is written %s, want %s", query, got, want)
		}
		again, err := search.Parse(q.String(), now.AddDate(1, 2, 3).UTC())
		if err != nil || again.String() == "" || !again.Since.Equal(q.Since) || !again.Before.Equal(q.Before) || !slices.Equal(again.From, q.From) || !slices.Equal(again.Lookups(), q.Lookups()) {
			t.Errorf("%s is read again as %s, %v", q, again, err)
		}
	}
}

// TestRefusals: a query that cannot be answered is refused. The error says what to do, and does not
// repeat the query.
func TestRefusals(t *testing.T) {
	for query, want := range map[string]string{
		"": "at least one word", " \t": "at least one word", "*": "at least one word", `""`: "at least one word", "!": "at least one word",
		"t*": "ti*", "tide x*": "at least 2 letters",
		strings.Repeat("word ", 33): "the rarest few", strings.Repeat("from:x ", 40): "the rarest few",
		`"` + strings.Repeat("word ", 33) + `"`: "the rarest few", hans: "the rarest few",
		"since:yesturday": "yesterday", "on:2026-13-01": "2026-11-25", "on:2026-02-30": "2026-11-25", "before:": "",
		"on:3d": "names no day", "on:10:30": "names no day", "since:-3d": "names no time", "before:soon tide": "before: names no time",
		"from:@": "from:Ann", "since:monday before:sunday": "an earlier time",
	} {
		_, err := search.Parse(query, now)
		switch {
		case want == "":
			if err != nil {
				t.Errorf("%q is refused: %v", query, err)
			}
		case err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "to search for: give"):
			t.Errorf("%q: %v, want %q", query, err, want)
		case strings.Contains(err.Error(), "yesturday") || strings.Contains(err.Error(), "soon"):
			t.Errorf("%q: the error repeats it: %v", query, err)
		}
	}
}

// mark returns the text of a passage with each hit in brackets.
func mark(p earshot.SearchPassage) string {
	var b strings.Builder
	at := 0
	for _, h := range p.Hits {
		b.WriteString(p.Text[at:h.Start] + "[" + p.Text[h.Start:h.End] + "]")
		at = h.End
	}
	return b.String() + p.Text[at:]
}

// TestPassage: which part of a text is shown, and which words in it are marked.
func TestPassage(t *testing.T) {
	filler := func(n int) string { return strings.TrimSpace(strings.Repeat("lorem ipsum ", n)) }
	eight := "lorem ipsum lorem ipsum lorem ipsum lorem ipsum"
	wide := strings.Repeat("海", 300)
	for _, tt := range []struct{ name, text, query, want string }{
		{"a short text is whole", "The tides were high, the TIDE low", "tide", "The [tides] were high, the [TIDE] low"},
		{"on one line", "the\n\n tide\tis\x00\x1bhigh \n", "high", "the tide is [high]"},
		{"around a word", filler(100) + " tide " + filler(100), "tide", "… " + eight + " [tide] " + eight + " …"},
		{"at the beginning", "tide, " + filler(100), "tide", "[tide], lorem ipsum lorem ipsum lorem ipsum lorem …"},
		{"at the end", filler(100) + " high tide.", "tide", "… ipsum lorem ipsum lorem ipsum lorem ipsum high [tide]."},
		{"several", filler(50) + " moon " + filler(50) + " tide " + filler(50), "tide moon", "… " + eight + " [moon] " + eight + " … " + eight + " [tide] " + eight + " …"},
		{"near each other", filler(50) + " moon tide " + filler(50), "tide moon", "… " + eight + " [moon] [tide] " + eight + " …"},
		{"a phrase", filler(50) + " high tide " + filler(50) + " tide", `"high tide"`, "… " + eight + " [high tide] " + eight + " …"},
		{"a beginning", filler(50) + " teapots " + filler(50), "tea*", "… " + eight + " [teapots] " + eight + " …"},
		{"without spaces", wide + "潮汐" + wide, "潮汐", "… " + wide[:180] + "[潮汐]" + wide[:180] + " …"},
		{"a long word", filler(50) + " " + strings.Repeat("x", 3000) + " " + filler(50), strings.Repeat("x", 3000), "… " + eight + " [" + strings.Repeat("x", 120) + "] …"},
		{"accents", "Überraschung! " + filler(20), "uberraschung", "[Überraschung]! lorem ipsum lorem ipsum lorem ipsum lorem …"},
		{"decomposed", "U\u0308ber Cafe\u0301s", "cafés über", "[U\u0308ber] [Cafe\u0301s]"},
		{"one letter that is two", "a ½ b ㌔メートル", `キロ`, "a ½ b [㌔]メートル"},
		{"by time alone", filler(100), "on:today", filler(13) + " …"},
		{"nothing", "", "on:today", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := mark(parse(t, tt.query).Passage(tt.text)); got != tt.want {
				t.Errorf("shown is %q, want %q", got, tt.want)
			}
		})
	}
}

// words returns the words of a text by the older definition, from before tokens had positions: it
// works on the whole text in NFKC.
func words(text string) (all []string) {
	in := func(c rune, tables ...*unicode.RangeTable) bool { return unicode.In(c, tables...) }
	word, dense, bare, whole := "", false, false, false
	end := func() {
		if whole {
			all = append(all, word)
		}
		word, dense, bare, whole = "", false, false, false
	}
	for _, c := range norm.NFKC.String(strings.ToValidUTF8(text, " ")) {
		switch {
		case unicode.IsMark(c):
			if !bare {
				word += string(c)
			}
		case !unicode.IsLetter(c) && !unicode.IsNumber(c) && !in(c, unicode.Co):
			end()
		default:
			if is := in(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar); is != dense {
				end()
				dense = is
			}
			if bare = in(c, unicode.Latin, unicode.Greek) || c < utf8.RuneSelf; bare {
				c, _ = utf8.DecodeRuneInString(norm.NFD.String(string(c)))
			}
			if c == 'ß' || c == 'ẞ' {
				word += "s"
				c = 's'
			}
			word += string(unicode.ToLower(c))
			whole = true
		}
	}
	end()
	return all
}

// TestWords: the words of any text are those that its NFKC form has, whatever its letters are
// composed of, and their positions lie within the text.
func TestWords(t *testing.T) {
	letter := rapid.SampledFrom([]rune("aZß9 .\u0308\u0301é潮の\u3099ｶﾞ가\u1100\u1161½①ﬁйёกำ\u200d\ue000_*\"\n😀"))
	text := rapid.OneOf(rapid.StringOf(letter), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		text := text.Draw(t, "text")
		tokens := search.Tokens(text)
		var got []string
		for _, is := range tokens {
			got = append(got, is.Text)
			if is.Start < 0 || is.Start >= is.End || is.End > len(text) {
				t.Fatalf("%q stands from %d to %d of %q", is.Text, is.Start, is.End, text)
			}
		}
		if want := words(text); !slices.Equal(got, want) {
			t.Fatalf("%q has %q, want %q", text, got, want)
		}
	})
}

// TestIndexLeavesOutNothing: if a query matches a text, an index of the text finds it too.
func TestIndexLeavesOutNothing(t *testing.T) {
	some := []string{"tide", "Tides", "rising", "rise", "潮汐表", "潮", "汐表を", "42", strings.Repeat("long", 30), "sea's", "happy", "happiness"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(some), 1, 8).Draw(t, "text"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "between"))
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(some, `"tide rising"`, `"潮汐表 42"`, "ri*", "hap*", "long*", `"42"`)), 1, 4).Draw(t, "query"), " ")
		q, err := search.Parse(query, now)
		if err != nil || !q.Match(text) {
			return
		}
		has := search.Terms(text, 1000)
		for _, l := range q.Lookups() {
			if !slices.ContainsFunc(has, func(term string) bool { return term == l.Term || l.Prefix && strings.HasPrefix(term, l.Term) }) {
				t.Fatalf("%q is found by %q, and not by %+v among %q", text, query, l, has)
			}
		}
	})
}

// TestTermsAreBounded: a text has no more terms than asked for, however long it is, and none twice.
func TestTermsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "w%d tides潮汐 ", i)
	}
	for _, most := range []int{0, 1, 2, 7, 1000, 100_000} {
		all := search.Terms(b.String(), most)
		once := slices.Compact(slices.Sorted(slices.Values(all)))
		if len(all) > most || len(once) != len(all) || most == 7 && len(all) != 7 {
			t.Errorf("of at most %d terms there are %d, and %d once", most, len(all), len(once))
		}
	}
}

// FuzzPassage: for any text and any query, the passage is valid text on one line, its length is
// bounded, and its hits are in order.
func FuzzPassage(f *testing.F) {
	f.Add("The tide is high", "tide")
	f.Add(strings.Repeat("潮汐表", 500), `"汐表" 潮`)
	f.Add(strings.Repeat("a\u0301 ", 500)+"x", "x*")
	f.Add(strings.Repeat("\u0301", 500), "since:3d a")
	f.Add("\xff\xfe ½\u0300", "1")
	f.Fuzz(func(t *testing.T, text, query string) {
		q, err := search.Parse(query, now)
		if err != nil {
			return
		}
		p := q.Passage(text)
		if !utf8.ValidString(p.Text) || strings.ContainsAny(p.Text, "\n\x00\x1b") {
			t.Fatalf("shown is %q", p.Text)
		}
		unmarked := strings.Map(func(c rune) rune {
			if unicode.IsMark(c) {
				return -1
			}
			return c
		}, p.Text)
		if n := utf8.RuneCountInString(unmarked); n > 1200 {
			t.Fatalf("shown are %d letters", n)
		}
		last := 0
		for _, h := range p.Hits {
			if h.Start < last || h.End <= h.Start || h.End > len(p.Text) || !utf8.ValidString(p.Text[h.Start:h.End]) {
				t.Fatalf("in %q something is said to be from %d to %d", p.Text, h.Start, h.End)
			}
			last = h.End
		}
	})
}

// TestLongTexts: searching a text as long as a message can be is quick, whatever is in it.
func TestLongTexts(t *testing.T) {
	for name, text := range map[string]string{
		"one word": strings.Repeat("a", 64<<10), "letters": strings.Repeat("a ", 32<<10), "marks": "a" + strings.Repeat("\u0301", 32<<10),
		"unspaced": strings.Repeat("潮", 21<<10), "half width": strings.Repeat("ｶﾞ", 10<<10), "stems": strings.Repeat("tides ", 10<<10),
	} {
		q := parse(t, `a aa* "a a a a a a a a" 潮 潮潮 tide ガ`)
		began := time.Now()
		for range 3 {
			q.Passage(text)
			q.Match(text)
			search.Terms(text, 8192)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: took %v", name, took)
		} else {
			t.Logf("%s: %v", name, took/9)
		}
	}
}

// TestTermsOfLongestTexts: the last word of the longest text is found, in every script. It is not
// found behind characters that each stand for so many others that the longest text of them would
// become several hundred kilobytes.
func TestTermsOfLongestTexts(t *testing.T) {
	for _, tt := range []struct {
		name, of string
		found    bool
	}{
		{"words of one letter", "a ", true}, {"words", "tide ", true}, {"one word", "x", true}, {"letters with marks", "e\u0301\u0323 ", true},
		{"Greek", "θάλασσα ", true}, {"Cyrillic", "море ", true}, {"Arabic", "بحر ", true}, {"Korean", "바다 ", true}, {"Chinese", "海洋", true}, {"Thai", "ทะเล", true},
		{"ligatures", "ﬁ ﬄ ", true}, {"halves", "½ ", false}, {"eighteen in one", "\ufdfa ", false},
	} {
		text := strings.Repeat(tt.of, (earshot.MaxText-10)/len(tt.of)) + " zugzwang"
		all := search.Terms(text, 1<<20)
		if got := slices.Contains(all, "zugzwang"); got != tt.found {
			t.Errorf("%s: the last word of %d bytes is found: %v", tt.name, len(text), got)
		}
	}
}
