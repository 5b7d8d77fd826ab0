package terminal

import (
	"bytes"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"earshot"
)

const (
	// loneEscape is how long the rest of an escape sequence may take. A slow
	// line delivers it within this, and nobody misses the Escape key sooner.
	loneEscape = 50 * time.Millisecond

	// lostEnd is how long a paste may be silent before it is taken to have
	// ended, so that a lost end mark does not swallow the keyboard for ever.
	lostEnd = time.Second

	// longest is more than any key sends; what is longer is thrown away.
	longest = 64
)

// pasteEnd ends what a terminal in bracketed paste mode sends for a paste.
const pasteEnd = "\x1b[201~"

// A Decoder makes keys of the bytes that a terminal sends. It has no clock:
// the caller steps it. The zero value is ready.
type Decoder struct {
	held    []byte // the beginning of something
	pasting bool
	paste   []byte
	over    bool      // the paste is too long; no more of it is kept
	ended   bool      // a carriage return came last: a line feed right after it says the same
	at      time.Time // of the last bytes
}

// Step takes in what came until now, which may be nothing, and returns the
// keys that are complete. It does not keep in.
func (d *Decoder) Step(now time.Time, in []byte) []Key {
	var keys []Key
	if until, ok := d.Deadline(); ok && !now.Before(until) {
		keys = d.give(keys)
	}
	if len(in) == 0 {
		return keys
	}
	d.ended = d.ended && now.Sub(d.at) < Typist
	d.at = now
	rest := append(d.held, in...)
	d.held = nil
	for len(rest) > 0 {
		feed := d.ended && rest[0] == '\n'
		if d.ended = rest[0] == '\r' && !d.pasting; feed {
			rest = rest[1:]
			continue
		}
		n, k := d.next(rest)
		if n == 0 {
			d.held = bytes.Clone(rest)
			break
		}
		rest = rest[n:]
		keys = join(keys, k)
	}
	return keys
}

// Deadline returns when Step must be called again even if nothing comes, if
// something has only begun.
func (d *Decoder) Deadline() (time.Time, bool) {
	switch {
	case d.pasting:
		return d.at.Add(lostEnd), true
	case len(d.held) > 0:
		return d.at.Add(loneEscape), true
	}
	return time.Time{}, false
}

// give ends whatever has begun and is not going to be completed.
func (d *Decoder) give(keys []Key) []Key {
	held := d.held
	d.held = nil
	switch {
	case d.pasting:
		d.keep(held)
		return append(keys, d.pasted())
	case len(held) == 1 && held[0] == 0x1b:
		return append(keys, Key{Does: Escape})
	case held[0] == 0x1b:
		return append(keys, Key{Does: Unknown})
	}
	return join(keys, Key{Does: Insert, Text: string(utf8.RuneError)})
}

// next decodes the first key of b, which is not empty, and returns its length:
// 0 if it is not complete. A key without a stroke is none.
func (d *Decoder) next(b []byte) (int, Key) {
	switch {
	case d.pasting:
		return d.nextPasted(b)
	case b[0] == 0x1b:
		return d.escape(b)
	case b[0] < 0x20 || b[0] == 0x7f:
		return 1, stroke(control[b[0]])
	case !utf8.FullRune(b):
		return 0, Key{}
	}
	r, n := utf8.DecodeRune(b)
	if unicode.IsControl(r) {
		return n, Key{Does: Unknown}
	}
	return n, Key{Does: Insert, Text: string(r)}
}

// escape decodes what begins with ESC.
func (d *Decoder) escape(b []byte) (int, Key) {
	switch {
	case len(b) == 1:
		return 0, Key{}
	case b[1] == '[':
		return d.sequence(b)
	case b[1] == 'O':
		if len(b) == 2 {
			return 0, Key{}
		}
		return 3, stroke(final[b[2]])
	case b[1] == '\r' || b[1] == '\n':
		return 2, Key{Does: Insert, Text: "\n"} // Alt-Enter: a line more
	case b[1] == 0x1b:
		return 1, Key{Does: Escape}
	case b[1] >= utf8.RuneSelf:
		return 1, Key{Does: Escape}
	}
	return 2, stroke(alt[b[1]])
}

// sequence decodes what begins with ESC [: parameters, then one final byte.
func (d *Decoder) sequence(b []byte) (int, Key) {
	if len(b) > 2 && b[2] == '[' { // the function keys of the Linux console
		if len(b) == 3 {
			return 0, Key{}
		}
		return 4, Key{Does: Unknown}
	}
	end := 2
	for end < len(b) && b[end] >= 0x20 && b[end] < 0x40 {
		end++
	}
	switch {
	case end > longest:
		return end, Key{Does: Unknown}
	case end == len(b):
		return 0, Key{}
	case b[end] < 0x40 || b[end] >= 0x7f: // not a sequence after all
		return end, Key{Does: Unknown}
	}
	return end + 1, d.meaning(string(b[2:end]), b[end])
}

// meaning returns the key of a sequence.
func (d *Decoder) meaning(params string, last byte) Key {
	first, modifier, _ := strings.Cut(params, ";")
	switch {
	case last == '~' && params == "200":
		d.pasting = true
		return Key{}
	case last == '~':
		return stroke(tilde[first])
	case modifier != "" && last == 'C':
		return stroke(WordRight)
	case modifier != "" && last == 'D':
		return stroke(WordLeft)
	}
	return stroke(final[last])
}

// nextPasted takes in a part of a paste.
func (d *Decoder) nextPasted(b []byte) (int, Key) {
	i := bytes.IndexByte(b, 0x1b)
	switch {
	case i < 0:
		d.keep(b)
		return len(b), Key{}
	case i > 0:
		d.keep(b[:i])
		return i, Key{}
	case bytes.HasPrefix(b, []byte(pasteEnd)):
		return len(pasteEnd), d.pasted()
	case len(b) < len(pasteEnd) && strings.HasPrefix(pasteEnd, string(b)):
		return 0, Key{}
	}
	d.keep(b[:1])
	return 1, Key{}
}

// keep adds b to the paste, unless that makes it too long for any line.
func (d *Decoder) keep(b []byte) {
	if d.over || len(d.paste)+len(b) > earshot.MaxText {
		d.over, d.paste = true, nil
		return
	}
	d.paste = append(d.paste, b...)
}

// pasted ends the paste.
func (d *Decoder) pasted() Key {
	k := Key{Does: Paste, Over: d.over, Text: lines.Replace(strings.ToValidUTF8(string(d.paste), string(utf8.RuneError)))}
	d.pasting, d.paste, d.over = false, nil, false
	return k
}

// lines makes every end of a line one byte, as terminals send a return for it.
var lines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// stroke returns the key that does s; one that nobody has named is Unknown.
func stroke(s Stroke) Key {
	if s == "" {
		s = Unknown
	}
	return Key{Does: s}
}

// join appends k, letters to the letters before them.
func join(keys []Key, k Key) []Key {
	if k.Does == "" {
		return keys
	}
	if n := len(keys); n > 0 && k.Does == Insert && keys[n-1].Does == Insert && k.Text != "\n" {
		keys[n-1].Text += k.Text
		return keys
	}
	return append(keys, k)
}
