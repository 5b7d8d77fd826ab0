package conversation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/language"
)

// Addressees are the participants that a text addresses.
type Addressees struct {
	To      []earshot.ParticipantID // in the order in which they are named, without duplicates
	All     bool                    // every agent in the room is addressed
	People  bool                    // the people of the room are addressed, but nobody in particular
	Former  []string                // the called names of agents that have ended
	Unknown []string                // called names that belong to nobody
	Misses  bool                    // only such a name is called, and the text is directed at it: "@Zed hello"
}

// Addressed reports whether anybody is called at all.
func (d Addressees) Addressed() bool {
	return d.All || d.People || len(d.To)+len(d.Former)+len(d.Unknown) > 0
}

// Direct returns whom a text by from addresses. A name is called at the beginning of a paragraph or
// a sentence, after at most greetings and other names, or at the end of a sentence; inside a
// sentence, it is only talked about. A name without "@" is called only if a comma, a greeting or
// the end of the sentence shows that. A first line "TO: Ann, Bob", "@all", and a paragraph "ALL
// AGENTS:" address as well. Code, quotations and the author's own name address nobody.
func (d *Directory) Direct(text earshot.Text, from earshot.ParticipantID) Addressees {
	to := (&addressParser{d: d, from: from}).read(text)
	to.Misses = len(to.Unknown) > 0 && !to.All && !to.People && len(to.To)+len(to.Former) == 0 && d.misses(string(text))
	return to
}

// misses reports whether a text is talk that begins by mentioning somebody unknown, after at most a
// greeting. It is false for code, which may begin with "@Override" or "@media", and for a domain.
func (d *Directory) misses(text string) bool {
	text = strings.TrimSpace(text)
	for {
		word, rest, more := strings.Cut(text, " ")
		if !more || !summons[plain(word)] {
			break
		}
		text = strings.TrimLeft(rest, " \t")
	}
	rest, mentions := strings.CutPrefix(text, "@")
	if !mentions {
		rest, mentions = strings.CutPrefix(text, "＠")
	}
	if first, _ := utf8.DecodeRuneInString(rest); !mentions || !unicode.IsLetter(first) {
		return false
	}
	t, n := d.mention(rest)
	said := strings.TrimLeft(rest[n:], " \t\n,:;!.?，、：！？。-–—\"“„«'‘")
	first, _ := utf8.DecodeRuneInString(said)
	if t.kind != name || !t.unknown() || strings.Contains(t.text, ".") {
		return false
	}
	if said == "" {
		return true
	}
	return len(said) < len(rest[n:]) && (unicode.In(first, unicode.L, unicode.N, unicode.So) || first == '¿' || first == '¡') && !isCode(said)
}

// isCode reports whether some lines look like those of a program.
func isCode(text string) bool {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, "{}") || strings.HasSuffix(text, ";") {
		return true
	}
	lines := strings.Split(text, "\n")
	return len(lines) > 1 && slices.ContainsFunc(lines, func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && (line[0] == '@' || strings.Contains(";:)(=,", line[len(line)-1:]))
	}) || strings.HasPrefix(text, "def ") || strings.Contains(text, "()")
}

// Calls returns whom a text by an agent addresses. It differs from [Directory.Direct] in that calls
// within the text count only at the beginning of a paragraph: agents thank each other, and report
// whom they have asked.
func (d *Directory) Calls(text earshot.Text, from earshot.ParticipantID) Addressees {
	return (&addressParser{d: d, from: from, strict: true}).read(text)
}

// read parses a text, and returns whom it calls.
func (c *addressParser) read(text earshot.Text) Addressees {
	c.group = c.room[:0]
	fence, first := "", true
	for rest, more := string(text), true; more; {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		mark := fenceOf(line)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) {
				fence = ""
			}
		case mark != "":
			fence = mark
		case c.entry(line):
			first = false
		case !quoted(line):
			c.paragraph(line, first)
			first = first && strings.TrimSpace(line) == ""
		}
	}
	return c.out
}

// fenceOf returns the marks by which a line begins or ends a block of code.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return line[:len(line)-len(strings.TrimLeft(line, mark[:1]))]
		}
	}
	return ""
}

// quoted reports whether a line is not by the author of the text, because it is a quotation, or is
// indented like code.
func quoted(line string) bool {
	return strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") ||
		strings.HasPrefix(strings.TrimLeft(line, " "), ">")
}

// entry reports whether a line is an entry of a table or a configuration, such as "user: bob": a
// word, followed by a name as its value. If the name is greeted, it is a call instead.
func (c *addressParser) entry(line string) bool {
	key, value, is := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "- "), ": ")
	if !is || key == "" || strings.ContainsFunc(key, func(r rune) bool { return !letter(r) && !strings.ContainsRune("_-.", r) }) {
		return false
	}
	if word := strings.ToLower(key); summons[word] || word == "to" {
		return false
	}
	if _, named := c.d.find(key); named > 0 {
		return false
	}
	value = strings.Trim(value, " \t\r\"'")
	_, n := c.d.find(value)
	return n > 0 && n == len(value)
}

// An addressParser determines whom a text calls, word by word.
type addressParser struct {
	d      *Directory
	from   earshot.ParticipantID
	strict bool // only calls at the beginning of a paragraph count
	out    Addressees

	calling  bool // only greetings and called names have come before in this sentence
	summoned bool // the last word was "hey" or similar
	apart    bool // the last token was a comma
	about    bool // after the last word, the next name is talked about
	called   bool // somebody has been called in this sentence

	// Adjacent names that may yet turn out to be called.
	group                     []token
	summons, setOff, spokenOf bool // how the first of them is introduced
	room                      [8]token
}

// paragraph parses one paragraph, which is one line.
func (c *addressParser) paragraph(line string, first bool) {
	lex := lexer{d: c.d, line: c.head(line, first)}
	for {
		t := lex.next()
		c.take(t)
		if t.kind == nothing || c.strict && !c.calling {
			return
		}
	}
}

// take parses the next token of a line.
func (c *addressParser) take(t token) {
	switch t.kind {
	case word:
		c.word(t.text)
	case name:
		c.name(t)
	case comma:
		c.comma()
	case sentence, nothing:
		c.end()
	}
}

// head parses the addressees that a line names before its words, and returns the rest of the line.
func (c *addressParser) head(line string, first bool) string {
	line = unlisted(line)
	if rest, ok := cutFold(line, "all agents"); ok && strings.HasPrefix(strings.TrimLeft(rest, " "), ":") {
		c.out.All = true
		line = rest
	}
	if rest, ok := cutFold(line, "to:"); ok && first {
		line = c.listed(rest, strings.HasPrefix(line, "TO:"))
	}
	c.end()
	return line
}

// unlisted returns a line without the marks of a list item or a heading.
func unlisted(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "# ", "## ", "### "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return rest
		}
	}
	if rest := strings.TrimLeft(line, "0123456789"); len(rest) < len(line) && len(rest) > 1 && (rest[0] == '.' || rest[0] == ')') && rest[1] == ' ' {
		return rest[2:]
	}
	return line
}

// cutFold is [strings.CutPrefix] ignoring the case of ASCII letters.
func cutFold(text, prefix string) (string, bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return text, false
	}
	return text[len(prefix):], true
}

// listed parses a list of names, and returns what follows. If certain is set, it must be a list, so
// a word that is nobody's name is an unknown name.
func (c *addressParser) listed(text string, certain bool) string {
	for {
		text = strings.TrimLeft(text, " \t,;&@")
		t, n := c.d.mention(text)
		rest := strings.TrimLeft(text[n:], " \t\r")
		ends := rest == "" || strings.ContainsRune(",;&:", rune(rest[0]))
		if t.text == "" || t.unknown() && !(certain && ends) {
			return text
		}
		c.call(t)
		if text = rest; rest == "" || !strings.ContainsRune(",;&", rune(rest[0])) {
			return strings.TrimPrefix(text, ":")
		}
	}
}

// word parses a word that is nobody's name.
func (c *addressParser) word(w string) {
	var folded [maxWord]byte
	f := foldWord(folded[:0], w)
	if len(c.group) > 0 {
		if joins[string(f)] {
			return
		}
		c.drop()
	}
	summons := summons[string(f)] && (c.calling || c.apart)
	c.calling = summons || c.calling && (greetings[string(f)] || string(f) == "to")
	c.summoned, c.about, c.apart = summons, abouts[string(f)], false
}

// joins are the words between names that belong together.
var joins = language.Set("and or")

// abouts are words after which somebody is talked about, even at the end of the sentence.
var abouts = language.Set("about of with from by than like at as is was am")

// drop decides about names that are followed by another word: after a summons they are called,
// otherwise the sentence is about them.
func (c *addressParser) drop() {
	if c.calling && c.summons {
		c.callAll()
		return
	}
	c.calling, c.group = false, c.group[:0]
}

// name parses a name, or a mention of somebody unknown.
func (c *addressParser) name(t token) {
	if t.at && c.calling {
		c.call(t)
		c.apart, c.about, c.summoned = false, false, false
		return
	}
	if len(c.group) == 0 {
		c.summons, c.setOff, c.spokenOf = c.summoned, c.apart, c.about
	}
	if len(c.group) < cap(c.group) { // nobody calls more people at once
		c.group = append(c.group, t)
	}
	c.apart, c.about, c.summoned = false, false, false
}

// comma parses a mark that divides a sentence.
func (c *addressParser) comma() {
	if c.calling && len(c.group) > 0 {
		c.callAll()
	}
	c.apart, c.summoned, c.about = true, false, false
}

// end parses the end of a sentence. It calls the names that are set off, and those with "@", unless
// somebody else was called before.
func (c *addressParser) end() {
	switch {
	case c.calling || c.setOff:
		c.callAll()
	case !c.called && !c.spokenOf:
		c.group = slices.DeleteFunc(c.group, func(t token) bool { return !t.at })
		c.callAll()
	}
	c.group = c.group[:0]
	c.calling, c.summoned, c.apart, c.about, c.called, c.setOff = true, false, false, false, false, false
}

func (c *addressParser) callAll() {
	for _, t := range c.group {
		c.call(t)
	}
	c.group = c.group[:0]
}

// call notes that somebody is called.
func (c *addressParser) call(t token) {
	c.called = true
	switch {
	case t.all:
		c.out.All = true
	case t.people:
		c.out.People = true
	case t.gone != "":
		if !slices.Contains(c.out.Former, t.gone) { // at most as many as have ended
			c.out.Former = append(c.out.Former, t.gone)
		}
	case t.unknown():
		if len(c.out.Unknown) < mostUnknown && !slices.Contains(c.out.Unknown, t.text) {
			c.out.Unknown = append(c.out.Unknown, t.text)
		}
	case t.who != c.from && !slices.Contains(c.out.To, t.who):
		c.out.To = append(c.out.To, t.who)
	}
}

// mostUnknown is how many unknown names are reported: a text with more is hardly mistaken.
const mostUnknown = 8
