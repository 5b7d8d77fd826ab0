package conversation

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"earshot/language"
)

// Unescape returns the text from which [Escape] made text.
func Unescape(text string) string {
	if !strings.ContainsRune(text, mark) {
		return text
	}
	var out strings.Builder
	before, from := rune(-1), 0 // the current letter, and where it begins
	flush := func(to int) {
		if before >= 0 {
			out.WriteString(text[from:to])
		}
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if r != mark {
			flush(at)
			before, from = r, at
			at += size
			continue
		}
		n := len(text[at:]) - len(strings.TrimLeft(text[at:], string(mark)))
		marks := n / size
		if was, ok := wild[before]; marks%2 == 1 && ok {
			out.WriteRune(was)
		} else if marks%2 == 0 || before != bar {
			flush(at)
		}
		out.WriteString(text[at : at+marks/2*size])
		before = -1
		at += n
	}
	flush(len(text))
	return out.String()
}

// An Unescaper is like [Unescape], for a text that comes in pieces, such as the reply of a model
// that repeats what it was shown. How the text is cut into pieces makes no difference. At most the
// last letter is held back. The zero value is ready to use.
type Unescaper struct{ held string }

// Next returns the part of the text that is certain after piece has come.
func (r *Unescaper) Next(piece string) string {
	text := r.held + piece
	end := unsettled(text)
	r.held = text[end:]
	return Unescape(text[:end])
}

// End returns what was held back.
func (r *Unescaper) End() string {
	text := r.held
	r.held = ""
	return Unescape(text)
}

// unsettled returns the offset in text from which more text may change the result. There is either
// an incomplete letter, or a letter that a mark may change, with its marks so far.
func unsettled(text string) int {
	end := len(strings.TrimRight(language.WholeRunes(text), string(mark)))
	r, size := utf8.DecodeLastRuneInString(text[:end])
	if _, ok := wild[r]; ok || r == bar {
		return end - size
	}
	return end
}

// UnescapeJSON applies [Unescape] to each string in data, such as the arguments of a call.
func UnescapeJSON(data json.RawMessage) json.RawMessage { return eachString(data, Unescape) }

// EscapeJSON applies [Escape] to each string in data.
func EscapeJSON(data json.RawMessage) json.RawMessage { return eachString(data, Escape) }

// eachString returns data with its strings changed. Everything else stays the same, byte for byte,
// and so does a string that change leaves alone, however it is written.
func eachString(data json.RawMessage, change func(string) string) json.RawMessage {
	var out bytes.Buffer
	done := 0 // how much of data is in out
	for at := 0; at < len(data); at++ {
		if data[at] != '"' {
			continue
		}
		from := at
		for at++; at < len(data) && data[at] != '"'; at++ {
			if data[at] == '\\' {
				at++
			}
		}
		var was string
		if at >= len(data) || json.Unmarshal(data[from:at+1], &was) != nil {
			continue // this is not JSON, which the caller will notice
		}
		is := change(was)
		if is == was {
			continue
		}
		out.Write(data[done:from])
		into := json.NewEncoder(&out)
		into.SetEscapeHTML(false)
		if err := into.Encode(is); err != nil {
			return data // cannot happen with a string
		}
		out.Truncate(out.Len() - len("\n"))
		done = at + 1
	}
	if done == 0 {
		return data
	}
	return append(out.Bytes(), data[done:]...)
}
