package conversation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
)

// mostUndecided is how many bytes of a reply are held back until it is clear whether it begins by
// calling somebody: a few greetings and names.
const mostUndecided = 160

// A CallPrefixer puts a call in front of a reply that one agent gives another, such as "@Alice, ",
// so that their conversation continues. A reply that begins by calling anybody keeps its beginning.
// Until it is clear whether it does, usually for one word, the CallPrefixer holds the reply back.
// How the reply is cut into pieces makes no difference.
type CallPrefixer struct {
	Name      string                // who is called; if empty, nobody is, and nothing is held back
	From      earshot.ParticipantID // the author of the reply
	Directory *Directory

	// Put is how many bytes the call in front has; 0 before there is one.
	Put int

	held    string
	looked  int // bytes of held that were examined
	decided bool
}

// Next returns the part of the reply that may be said after piece has come.
func (c *CallPrefixer) Next(piece string) string {
	if c.decided || c.Name == "" {
		return piece
	}
	c.held += piece
	for c.looked < len(c.held) {
		r, size := utf8.DecodeRuneInString(c.held[c.looked:])
		if r == utf8.RuneError && !utf8.FullRuneInString(c.held[c.looked:]) && c.looked < mostUndecided {
			return ""
		}
		c.looked += size
		if v := c.look(r); v != open {
			return c.decide(v)
		}
	}
	return ""
}

// End returns what was held back, at the end of the reply.
func (c *CallPrefixer) End() string {
	if c.decided || strings.TrimSpace(c.held) == "" {
		return c.Drop()
	}
	return c.decide(c.Directory.opens(c.held, c.From, true))
}

// Drop returns what was held back, and adds no call from now on: the agent calls others, or nobody.
func (c *CallPrefixer) Drop() string {
	held := c.held
	c.held, c.decided = "", true
	return held
}

// An openingKind says how a reply begins.
type openingKind int

const (
	open    openingKind = iota // not yet known
	calling                    // somebody is called
	bare                       // nobody is called
)

// look returns how the part of the reply that was examined begins; r is the last letter of that
// part. Nothing is decided in the middle of a word.
func (c *CallPrefixer) look(r rune) openingKind {
	seen := c.held[:c.looked]
	switch {
	case len(seen) >= mostUndecided:
		return c.Directory.opens(seen, c.From, true)
	case strings.TrimSpace(seen) == "":
		return open
	case unicode.IsSpace(r), strings.ContainsRune("，、：。！？", r):
		return c.Directory.opens(seen, c.From, r == '\n')
	}
	return open
}

// decide releases what is held, with the call in front if it needs one.
func (c *CallPrefixer) decide(v openingKind) string {
	held := c.Drop()
	if v == calling {
		return held
	}
	call := "@" + c.Name + ", "
	if block(held) {
		call = "@" + c.Name + ",\n"
	}
	c.Put = len(call)
	return call + strings.TrimLeft(held, " \t\r\n")
}

// block reports whether text begins with something that must stand at the beginning of a line: a
// list, code, a table, a heading or a quotation.
func block(text string) bool {
	line, _, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n"), "\n")
	return fenceOf(line) != "" || quoted(line) || unlisted(line) != line || strings.HasPrefix(line, "|")
}

// opens returns whether a text by from begins by calling somebody. last says that nothing follows
// the text.
func (d *Directory) opens(text string, from earshot.ParticipantID, last bool) openingKind {
	text = strings.TrimLeft(text, " \t\r\n")
	line, _, _ := strings.Cut(text, "\n")
	switch {
	case listing(text) && !last:
		return open
	case fenceOf(line) != "" || quoted(line) || strings.Contains(line, "`"): // its other end may come, and include a name
		return bare
	}
	c := addressParser{d: d, from: from}
	c.group = c.room[:0]
	clear := c.opening(line, last)
	switch {
	case c.out.People || len(c.out.To) > 0:
		return calling
	case clear || last:
		return bare
	}
	return open
}

// opening parses the beginning of a text, up to where nobody can be called any more, and reports
// whether it has reached that point.
func (c *addressParser) opening(line string, last bool) (clear bool) {
	lex := lexer{d: c.d, line: c.head(line, true)}
	for past := 0; past < c.d.widest; { // words after which a name cannot have begun
		t := lex.next()
		switch {
		case t.kind == name && !last && strings.TrimSpace(lex.line[lex.at:]) == "":
			return false // the next word may belong to the name
		case t.kind == sentence && !c.calling:
			return true
		case t.kind == nothing && !last:
			return false
		}
		c.take(t)
		if t.kind == nothing {
			return false
		}
		if !c.calling {
			past++
		}
	}
	return true
}

// listing reports whether a line may begin with its addressees.
func listing(line string) bool {
	for _, head := range []string{"to:", "all agents"} {
		n := min(len(line), len(head))
		if strings.EqualFold(line[:n], head[:n]) && (n == len(head) || strings.TrimSpace(line[n:]) == "") {
			return true
		}
	}
	return false
}
