package compose_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot/internal/discord/compose"
)

const (
	ann = 100000000000000001
	bob = 100000000000000002
)

var names = compose.Names{{Name: "Bob", ID: 3}, {Name: "Ann", ID: ann}, {Name: "Bob Smith", ID: bob}}

func TestShown(t *testing.T) {
	for name, tt := range map[string]struct {
		text, want string
		pings      []uint64
	}{
		"plain":                    {"Hello there.", "Hello there.", nil},
		"a person":                 {"@Ann, look", "<@100000000000000001>, look", []uint64{ann}},
		"the longest name":         {"ask @bob smith!", "ask <@100000000000000002>!", []uint64{bob}},
		"a shorter name":           {"ask @Bob Smithers", "ask <@3> Smithers", []uint64{3}},
		"twice":                    {"@Ann @Ann", "<@100000000000000001> <@100000000000000001>", []uint64{ann}},
		"part of a word":           {"ann@Ann and @Annabel", "ann@Ann and @Annabel", nil},
		"nobody there":             {"@Carol, hi", "@Carol, hi", nil},
		"in code":                  {"run `@Ann` now", "run `@Ann` now", nil},
		"in a block":               {"```\n@Ann\n```", "```\n@Ann\n```", nil},
		"everyone":                 {"@everyone and @Here", "@\u200beveryone and @\u200bHere", nil},
		"everyone within a word":   {"x@everyone", "x@\u200beveryone", nil},
		"a raw mention":            {"<@100000000000000001> <@!1> <@&2>", "<\u200b@100000000000000001> <\u200b@!1> <\u200b@&2>", nil},
		"a mention around another": {"<@Ann>", "<\u200b<@100000000000000001>>", []uint64{ann}},
		"no channel":               {"see #generals, C#general", "see #generals, C#general", nil},
		"a block without an end":   {"so:\n```go\nfmt.Println()", "so:\n```go\nfmt.Println()\n```", nil},
		"a block that ends late":   {"```go\nx```", "```go\nx```", nil},
		"a block in a block":       {"````md\n```go\nx\n```\n````", "```md\n``\u200b`go\nx\n``\u200b`\n```", nil},
		"a block in a list":        {"- so: ```sh\n@Ann\n```\n@Ann", "- so: ```sh\n@Ann\n```\n<@100000000000000001>", []uint64{ann}},
		"marks that open nothing":  {"use ``` for code", "use ``` for code", nil},
		"line ends":                {"a\r\nb\rc", "a\nb\nc", nil},
		"controls":                 {"a\x00b\x1b[31mc\u0085", "ab[31mc", nil},
		"zero-width and bidi":      {"a\u200bb\u202ec", "a\u200bb\u202ec", nil},
		"space around":             {" \n hi \n ", "hi", nil},
		"an address":               {"see https://x.org/@everyone?a=@Ann.", "see https://x.org/@everyone?a=@Ann.", nil},
		"a spoiler":                {"it is ||the cook||", "it is ||the cook||", nil},
	} {
		t.Run(name, func(t *testing.T) {
			parts := compose.All(tt.text, names)
			if len(parts) != 1 || parts[0].Content != tt.want || !slices.Equal(parts[0].Users, tt.pings) {
				t.Errorf("%q became %+v, want %q pinging %d", tt.text, parts, tt.want, tt.pings)
			}
		})
	}
}

func TestNothing(t *testing.T) {
	for _, text := range []string{"", " ", "\n\n\t", "\u200b\u2060", "\x00"} {
		if parts := compose.All(text, names); len(parts) > 0 {
			t.Errorf("%q became %+v", text, parts)
		}
	}
}

func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

func TestCuts(t *testing.T) {
	code := strings.Repeat("\tx := f(x) // once more\n", 120)
	for name, tt := range map[string]struct {
		text  string
		ends  []string // the ends of the parts
		heads []string // their beginnings
	}{
		"at a paragraph":                  {words(250) + ".\n\n" + words(100) + "\n" + words(100), []string{"word.", "word"}, []string{"word", "word word"}},
		"at a line":                       {words(250) + ":\n" + words(100) + ". " + words(100), []string{"word:", "word"}, nil},
		"at a sentence":                   {words(250) + "! " + words(200), []string{"word!", "word"}, nil},
		"at a word":                       {words(500), []string{"word", "word"}, nil},
		"within a word":                   {strings.Repeat("x", 4000), []string{"x", "x"}, nil},
		"before code":                     {words(250) + "\n```go\n" + code[:1200] + "\n```", []string{"word", "```"}, []string{"word", "```go\n\tx"}},
		"within code":                     {"```go\n" + code + "```\nThat is it.", []string{"more\n```", "That is it."}, []string{"```go\n\tx", "```go\n\tx"}},
		"before a link":                   {strings.Repeat("x", 1000) + " https://x.org/" + strings.Repeat("y", 1400), []string{"x", "y"}, []string{"x", "https://"}},
		"before code in a line":           {strings.Repeat("x", 1000) + " `" + strings.Repeat("y ", 600) + "`", []string{"x", "`"}, []string{"x", "`y"}},
		"not within a person's name":      {strings.Repeat("x", 1990) + "。@Bob Smith", []string{"。", "<@100000000000000002>"}, nil},
		"not within a family":             {strings.Repeat("x", 1996) + strings.Repeat("👨‍👩‍👧", 3), []string{"x", "👨‍👩‍👧"}, []string{"x", "👨‍👩‍👧"}},
		"a heap of accents":               {"a" + strings.Repeat("\u0301", 4100), []string{"\u0301", "\u0301", "\u0301"}, nil},
		"code that just fits":             {"```\n" + strings.Repeat("x", 1992) + "\n```", []string{"x\n```"}, nil},
		"code that fits":                  {"```\n" + strings.Repeat("x", 1991) + "\n```", []string{"x\n```"}, nil},
		"the end of code goes with it":    {"```\n" + strings.Repeat("x", 1990) + "\n\n```\nOver.", []string{"x\n\n```", "Over."}, nil},
		"code points and nothing else":    {strings.Repeat("😀", 2000), []string{"😀"}, nil},
		"one more than fits in one":       {strings.Repeat("😀", 2001), []string{"😀", "😀"}, nil},
		"a mark that takes more of it":    {strings.Repeat("@everyone ", 200), []string{"everyone", "everyone"}, nil},
		"a list of many short lines":      {strings.Repeat("- a line of a list\n", 150), []string{"list", "list"}, []string{"- a", "- a"}},
		"a paragraph that ends too early": {"Yes.\n\n" + words(500), []string{"word", "word"}, []string{"Yes.\n\nword", "word"}},
	} {
		t.Run(name, func(t *testing.T) {
			parts := compose.All(tt.text, names)
			if len(parts) != len(tt.ends) {
				t.Fatalf("became %d parts, want %d", len(parts), len(tt.ends))
			}
			for i, p := range parts {
				if n := utf8.RuneCountInString(p.Content); n > compose.Longest {
					t.Errorf("part %d has %d characters", i, n)
				}
				if !strings.HasSuffix(p.Content, tt.ends[i]) || tt.heads != nil && !strings.HasPrefix(p.Content, tt.heads[i]) {
					t.Errorf("part %d is %q", i, p.Content)
				}
			}
		})
	}
}

// TestWhileWritten: while the text is being written, there is a part as soon as it is worth one.
func TestWhileWritten(t *testing.T) {
	const first = "The tides follow the moon.\n\n"
	for name, tt := range map[string]struct {
		text string
		urge compose.Urge
		want string
	}{
		"a paragraph":                 {first + "Twice a", compose.Paragraph, "The tides follow the moon."},
		"half a paragraph":            {"The tides follow the moon. Twice", compose.Paragraph, ""},
		"a sentence":                  {"The tides follow the moon. Twice", compose.Sentence, "The tides follow the moon."},
		"half a sentence":             {"The tides follow the moo", compose.Sentence, ""},
		"too short":                   {"Yes.\n\nThe tides", compose.Sentence, ""},
		"what is not due":             {first + first, compose.Full, ""},
		"code is posted as one":       {first + "```go\nx\ny\n", compose.Sentence, "The tides follow the moon."},
		"code that is over":           {"This is how it is done:\n```go\nx\ny\n```\nThe", compose.Paragraph, "This is how it is done:\n```go\nx\ny\n```"},
		"it may become a mention":     {"The tides follow the moon, as says @An", compose.Sentence, ""},
		"more than a message":         {strings.Repeat(first, 80), compose.Full, strings.TrimSpace(strings.Repeat(first, 71))},
		"what may be code in the end": {"The tides follow `the moon. And", compose.Sentence, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := compose.New(names, "")
			c.Add(tt.text)
			p, _ := c.Next(tt.urge)
			if p.Content != tt.want {
				t.Errorf("posted %q, want %q", p.Content, tt.want)
			}
		})
	}
}

// TestHead: a head precedes the first visible part.
func TestHead(t *testing.T) {
	c := compose.New(names, "-# Coder\n")
	c.Add("\n\n" + words(500))
	c.End()
	for i, want := range []string{"-# Coder\nword", "word"} {
		if p, ok := c.Next(compose.Full); !ok || !strings.HasPrefix(p.Content, want) {
			t.Errorf("part %d is %.20q", i, p.Content)
		}
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"*Bob* _the_ `cook`":       "\\*Bob\\* \\_the\\_ \\`cook\\`",
		"@everyone <@1> ||x||":     "@\u200beveryone <\u200b@\u200b1> \\|\\|x\\|\\|",
		"# big\n> said\n- so":      "\\# big\n\\> said\n\\- so",
		"[here](https://evil.org)": "\\[here\\]\\(https:\u200b//evil.org)",
		"a\x00\x07b":               "ab",
	} {
		if got := compose.Escape(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// What follows is a model of Discord: of what it shows, and whom it pings. It follows Discord's own
// description, and knows nothing about how parts are made.

var block = regexp.MustCompile("(?s)```(?:([A-Za-z0-9_+\\-.#]*)\n)?(.*?)```")

// A sign is one visible character.
type sign struct {
	r        rune
	language string // language of the block around it; "-" outside blocks
}

// arrived returns the visible characters of some messages, without white space.
func arrived(contents []string) (all []sign) {
	add := func(text, language string) {
		for _, r := range text {
			if !unicode.IsSpace(r) && !unicode.IsControl(r) && r != '\u200b' {
				all = append(all, sign{r, language})
			}
		}
	}
	for _, c := range contents {
		at := 0
		for _, m := range block.FindAllStringSubmatchIndex(c, -1) {
			add(c[at:m[0]], "-")
			language := ""
			if m[2] >= 0 {
				language = c[m[2]:m[3]]
			}
			add(c[m[4]:m[5]], language)
			at = m[1]
		}
		add(c[at:], "-")
	}
	return all
}

var mentions = regexp.MustCompile(`<@!?(\d+)>`)

// pinged returns whom Discord notifies of a message whose allowed_mentions are only its users.
func pinged(p compose.Part) (users []uint64) {
	for _, m := range mentions.FindAllStringSubmatch(p.Content, -1) {
		if id, _ := strconv.ParseUint(m[1], 10, 64); slices.Contains(p.Users, id) {
			users = append(users, id)
		}
	}
	return users
}

var loud = regexp.MustCompile(`(?i)@(everyone|here)|<@&?\d`)

// sound checks what must be true of the parts of any text.
func sound(t interface{ Errorf(string, ...any) }, text string, parts []compose.Part) {
	size := 0
	for i, p := range parts {
		size += p.Size
		if n := utf8.RuneCountInString(p.Content); n > compose.Longest {
			t.Errorf("part %d has %d characters", i, n)
		}
		if strings.TrimSpace(p.Content) == "" && !p.Blank {
			t.Errorf("part %d is empty", i)
		}
		if !utf8.ValidString(p.Content) || strings.ContainsFunc(p.Content, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("part %d has bytes that are no text: %q", i, p.Content)
		}
		if p.Size <= 0 {
			t.Errorf("part %d stands for %d bytes", i, p.Size)
		}
		for _, id := range p.Users {
			if id != ann && id != bob && id != 3 {
				t.Errorf("part %d pings %d", i, id)
			}
		}
		if len(pinged(p)) > 0 && !strings.Contains(strings.ToLower(text), "@ann") && !strings.Contains(strings.ToLower(text), "@bob") {
			t.Errorf("part %d pings somebody who is not called", i)
		}
	}
	if size != len(text) {
		t.Errorf("the parts stand for %d bytes of %d", size, len(text))
	}
}

// every returns all parts of a text that is written in pieces; pieces gives the length of each and
// the urge after it.
func every(text string, pieces func() (piece int, urge compose.Urge)) (parts []compose.Part) {
	c := compose.New(names, "")
	for rest := text; rest != ""; {
		n, urge := pieces()
		n = min(max(n, 1), len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		c.Add(rest[:n])
		rest = rest[n:]
		for p, ok := c.Next(urge); ok; p, ok = c.Next(urge) {
			parts = append(parts, p)
		}
	}
	c.End()
	for p, ok := c.Next(compose.Full); ok; p, ok = c.Next(compose.Full) {
		parts = append(parts, p)
	}
	return parts
}

// meaning draws a text, and returns what should be seen of it.
func meaning(t *rapid.T) (text string, want []string) {
	var b strings.Builder
	var shown strings.Builder
	add := func(source, seen string) { b.WriteString(source); shown.WriteString(seen) }
	n := rapid.IntRange(1, 40).Draw(t, "pieces")
	for i := range n {
		switch rapid.IntRange(0, 10).Draw(t, "kind") {
		case 0, 1, 2:
			w := rapid.StringMatching(`([a-zäöü,]{1,9} ){1,60}[a-z]+[.!?] `).Draw(t, "sentence")
			add(w, w)
		case 3:
			add("\n\n", "\n\n")
		case 4:
			add("\n", "\n")
		case 5:
			w := strings.Repeat(rapid.SampledFrom([]string{"x", "ß", "👩‍🚀", "e\u0301"}).Draw(t, "of"), rapid.IntRange(1, 4000).Draw(t, "long"))
			add(w+" ", w+" ")
		case 6:
			add(" @Ann ", " <@"+strconv.Itoa(ann)+"> ")
		case 7:
			w := " https://x.org/" + strings.Repeat("y", rapid.IntRange(0, 1200).Draw(t, "link")) + " "
			add(w, w)
		case 8:
			w := " `a b @Ann` "
			add(w, w)
		case 9:
			add(" @everyone ", " @everyone ")
		case 10:
			language := rapid.SampledFrom([]string{"", "go", "c++"}).Draw(t, "language")
			lines := rapid.IntRange(1, 150).Draw(t, "lines")
			w := fmt.Sprintf("\n```%s\n%s```\n", language, strings.Repeat(fmt.Sprintf("  code(%d) @Ann <b>\n", i), lines))
			add(w, w)
		}
	}
	return b.String(), []string{shown.String()}
}

// TestArrives: what arrives is what was meant, in whatever pieces it was written and posted.
func TestArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, want := meaning(t)
		parts := every(text, func() (int, compose.Urge) {
			return rapid.IntRange(1, 700).Draw(t, "bytes"), compose.Urge(rapid.IntRange(0, 2).Draw(t, "urge"))
		})
		sound(t, text, parts)
		var contents []string
		for _, p := range parts {
			if !p.Blank {
				contents = append(contents, p.Content)
			}
		}
		if got, meant := arrived(contents), arrived(want); !slices.Equal(got, meant) {
			i := 0
			for i < min(len(got), len(meant)) && got[i] == meant[i] {
				i++
			}
			t.Errorf("of %q\narrived %q\nwhich differs from sign %d", text, contents, i)
		}
		for i, p := range parts {
			if m := loud.FindString(mentions.ReplaceAllString(p.Content, "")); m != "" && !strings.Contains(m, "<") {
				t.Errorf("part %d says %q", i, m)
			}
		}
	})
}

// TestPieces: if only full parts are posted, a text is posted the same way in whatever pieces it
// comes.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, _ := meaning(t)
		at := func(n int) []compose.Part {
			parts := every(text, func() (int, compose.Urge) { return n, compose.Full })
			return slices.DeleteFunc(parts, func(p compose.Part) bool { return p.Blank }) // is not posted
		}
		once, bits := at(len(text)), at(rapid.IntRange(1, 50).Draw(t, "bytes"))
		if !slices.EqualFunc(once, bits, func(a, b compose.Part) bool { return a.Content == b.Content }) {
			t.Errorf("%q was posted as %+v and as %+v", text, once, bits)
		}
	})
}

// FuzzParts: whatever the text, its parts are valid messages, stand for all of it, and ping nobody
// who is not called.
func FuzzParts(f *testing.F) {
	for _, seed := range []string{
		"", "@everyone", "<@&1> <@100000000000000001>", "@\u200beveryone", "```\n@here", "``````\n```", "`@Ann", "||@Bob||", "@Ann\u0301 @Bob Smith",
		"\x00\r\r\n\x1b", "[a](b) <https://x> <:a:1>", "\\`@Ann", strings.Repeat("a", 4000), strings.Repeat("`", 5000), strings.Repeat("\u0301", 3000),
		"```" + strings.Repeat("\n", 3000), "\u202e@Ann\u2069", "ſ@KELVIN \u212a", "@\xff", "<", "<@", "- ```go\nx", strings.Repeat("||", 2500), strings.Repeat("```a\n```", 500),
	} {
		f.Add(seed, uint8(7), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, bytes, urge uint8) {
		text = strings.ToValidUTF8(text, "\ufffd") // as it is when it leaves a turn
		sound(t, text, every(text, func() (int, compose.Urge) { return int(bytes), compose.Urge(urge % 3) }))
		for _, p := range compose.All(compose.Escape(text), nil) {
			if m := loud.FindString(p.Content); m != "" || len(p.Users) > 0 {
				t.Errorf("%q mentions when it is escaped: %q", text, p.Content)
			}
		}
	})
}
