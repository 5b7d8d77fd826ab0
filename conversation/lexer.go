package conversation

import (
	"strings"
	"unicode/utf8"

	"earshot"
)

// A kind is the role of a token in the search for names.
type kind int

const (
	nothing  kind = iota // the end of the line
	word                 // a word that is not a name, code, or a quotation
	name                 // somebody's name, or a mention of somebody unknown
	comma                // a mark that divides a sentence
	sentence             // the end of a sentence
)

// A token is a part of a line.
type token struct {
	kind   kind
	text   string // a word, or a name as it is written, without "@"
	at     bool   // a name with "@"
	who    earshot.ParticipantID
	gone   string // the name of an agent that has ended
	known  bool
	all    bool // "@all"
	people bool // "@human"
}

// unknown reports whether t mentions an unknown name.
func (t token) unknown() bool { return !t.known && !t.all && !t.people }

// A lexer splits one line into tokens.
type lexer struct {
	d    *Directory
	line string
	at   int
}

// next returns the next token that matters.
func (l *lexer) next() token {
	for l.at < len(l.line) {
		rest := l.line[l.at:]
		r, size := rune(rest[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(rest)
		}
		switch {
		case r == '@' || r == '＠':
			return l.mentioned(size)
		case letter(r):
			return l.named()
		case r == '`':
			if n := span(rest); n > 0 {
				l.at += n
				return token{kind: word}
			}
			l.at += len(rest) - len(strings.TrimLeft(rest, "`")) // skip all of them: half of them begin nothing either
			continue
		case strings.ContainsRune(quotes, r):
			if n := quotation(rest, r, size); n > 0 {
				l.at += n
				return token{kind: word}
			}
		}
		k := l.mark(r, size)
		l.at += size
		if k != nothing {
			return token{kind: k}
		}
	}
	return token{}
}

// quotes are the opening marks of quotations, each followed by its closing mark.
const quotes = `""“”„“«»`

// quotation returns the length of the quotation at the beginning of text, or 0.
func quotation(text string, r rune, size int) int {
	marks := []rune(quotes)
	for i := 0; i < len(marks); i += 2 {
		if marks[i] != r {
			continue
		}
		if n := strings.IndexRune(text[size:], marks[i+1]); n >= 0 {
			return size + n + utf8.RuneLen(marks[i+1])
		}
	}
	return 0
}

// span returns the length of the code at the beginning of text, or 0.
func span(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "`"))
	for at := n; ; {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			return 0
		}
		at += i
		closing := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		at += closing
		if closing == n {
			return at
		}
	}
}

// mark returns the meaning of the mark at the lexer's position.
func (l *lexer) mark(r rune, size int) kind {
	after := l.line[l.at+size:]
	open := after == "" || strings.ContainsRune(" \t\r\"'”’)]*_.!?…", rune(after[0])) || after[0] >= utf8.RuneSelf
	switch r {
	case ',', '，', '、', '—', '–', '：':
		return comma
	case ':':
		if open || after[0] == '@' {
			return comma
		}
	case '-':
		if open && l.at > 0 && l.line[l.at-1] == ' ' {
			return comma
		}
	case ';', '。', '！', '？', '؟':
		return sentence
	case '.', '!', '?', '…':
		if open {
			return sentence
		}
	}
	return nothing
}

// named returns the name or the word at the lexer's position.
func (l *lexer) named() token {
	rest := l.line[l.at:]
	c, n := l.d.find(rest)
	if n > 0 && !l.within() && !strings.HasPrefix(rest[n:], "@") {
		l.at += n
		return token{kind: name, text: rest[:n], who: c.who, gone: c.gone, known: true}
	}
	n = wordLen(rest)
	l.at += n
	return token{kind: word, text: rest[:n]}
}

// within reports whether the next token is part of something longer, such as an address.
func (l *lexer) within() bool {
	if l.at == 0 {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(l.line[:l.at])
	return letter(r) || strings.ContainsRune("/=@.\\$#&+-~%", r)
}

// mentioned returns the mention at the lexer's position; a malformed one is a word.
func (l *lexer) mentioned(size int) token {
	within := l.within()
	l.at += size
	rest := l.line[l.at:]
	t, n := l.d.mention(rest)
	if n == 0 || within || !closed(rest[n:]) {
		l.at += len(rest) - len(strings.TrimLeft(rest, "@＠"))
		l.at += wordLen(l.line[l.at:])
		return token{kind: word}
	}
	l.at += n
	return t
}

// closed reports whether a mention can end before rest. It cannot if an address or a path continues
// there.
func closed(rest string) bool {
	return !strings.HasPrefix(rest, "@") && (!strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "/@"))
}

// mention returns the participant that text, which follows an "@", mentions, and the length of the
// mention in bytes; 0 if it cannot be a name. A possessive such as "@Ann's" is talked about, not
// called.
func (d *Directory) mention(text string) (token, int) {
	t := token{kind: name, at: true}
	if c, n := d.find(text); n > 0 {
		t.text, t.who, t.gone, t.known = text[:n], c.who, c.gone, true
		return t, n
	}
	n := wordLen(text)
	t.text = text[:n]
	switch {
	case strings.EqualFold(t.text, "all"), strings.EqualFold(t.text, "everyone"):
		t.all = true
	case strings.EqualFold(t.text, "human"), strings.EqualFold(t.text, "humans"):
		t.people = true
	case d.possessive(t.text):
		return token{kind: word}, n
	default:
		if c, same := d.similar(text); same > 0 {
			t.text, t.who, t.gone, t.known = text[:same], c.who, c.gone, true
			return t, same
		}
	}
	return t, n
}

// possessive reports whether a word is somebody's name with "'s".
func (d *Directory) possessive(word string) bool {
	for _, end := range []string{"'s", "’s"} {
		if owner, ok := strings.CutSuffix(word, end); ok {
			_, n := d.find(owner)
			return n == len(owner)
		}
	}
	return false
}
