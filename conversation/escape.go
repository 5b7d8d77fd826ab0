package conversation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// mark follows each change of a text. It is invisible. Where the text itself has one, it is
	// doubled.
	mark = '\u2060' // word joiner

	// bar is put before a line that reads like one of the program's.
	bar = '│'
)

// Escape returns text in which nothing looks like an envelope, a section of the prompt, or a token
// that steers a model, however it is written: with invisible characters in between, in wide
// letters, or in letters of other alphabets. Its opening bracket becomes a round one, and a line of
// a section gets a bar in front. Other text remains unchanged.
func Escape(text string) string {
	var out strings.Builder
	done := 0 // how much of text has been copied to out
	change := func(at, size int, to rune) {
		if done == 0 {
			out.Grow(len(text) + 64)
		}
		out.WriteString(text[done:at])
		out.WriteRune(to)
		out.WriteRune(mark)
		done = at + size
	}
	var v skeleton
	start := true // of a line
	for at := 0; at < len(text); {
		if start && ours(&v, text, at) {
			change(at, 0, bar)
		}
		r, size := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[at:])
		}
		switch {
		case r == mark:
			change(at, size, mark)
		case suspect(r) && steers(&v, text, at, size):
			change(at, size, tame[r])
		}
		at += size
		start = newline(r) && !(r == '\r' && strings.HasPrefix(text[at:], "\n"))
	}
	if done == 0 && out.Len() == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// suspect reports whether an envelope or a token may begin with r.
func suspect(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '[' || r == '<' || r == ']'
	}
	_, ok := tame[r]
	return ok
}

// steers reports whether an envelope or a token begins in text at a bracket.
func steers(v *skeleton, text string, at, size int) bool {
	v.scan(text, at+size, false)
	r, _ := utf8.DecodeRuneInString(text[at:])
	switch r {
	case ']':
		return begins(v.seen(), "~b]") || begins(v.seen(), "~!b[")
	case '<', '＜', '﹤':
		return angled(v, text, at)
	}
	if n, _ := opening(v.seen()); n > 0 {
		return true
	}
	return squared(v, text, at)
}

// ours reports whether the line that begins in text at at reads like one of the sections of a
// prompt, or like a line that names a role, whatever signs precede it.
func ours(v *skeleton, text string, at int) bool {
	for {
		r, size := utf8.DecodeRuneInString(text[at:])
		if at == len(text) || newline(r) {
			return false
		}
		if c := firstOf(r); letter(c) && !unicode.IsMark(c) {
			if c >= utf8.RuneSelf || strings.IndexByte(initials, byte(c)) < 0 {
				return false
			}
			break
		}
		at += size
	}
	v.scan(text, at, true)
	line := v.seen()
	for _, h := range heads {
		if begins(line, h) && (h[len(h)-1] == ':' || len(line) == len(h) || !letter(rune(line[len(h)]))) {
			return true
		}
	}
	return false
}

// initials are the first letters of the heads.
const initials = "abcdefhimrstuw"

// heads are the beginnings of lines that the program writes, or that some models take for the name
// of a speaker.
var heads = []string{
	"currentparticipants", "understandingparticipants", "externalactors", "internalagents", "external:", "internal:",
	"whatisgoingon,andhowolditis", "system:", "systemprompt:", "systemmessage:", "systemnote:", "assistant:", "user:",
	"human:", "ai:", "bot:", "model:", "developer:", "tool:", "function:", "instruction:", "instructions:", "response:", "message_agent(",
}
