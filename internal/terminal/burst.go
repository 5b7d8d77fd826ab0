package terminal

import (
	"strings"
	"time"

	"earshot"
)

const (
	// Typist is the least time between two keys of somebody who types: what comes
	// sooner is from a program, or was pasted, or two fingers were nearly one.
	Typist = 50 * time.Millisecond

	// pause is for how long nothing comes after an Enter that came with the letters
	// before it until it is one: what follows of a paste is there already.
	pause = 15 * time.Millisecond

	// slowly is the same where each letter came by itself, but too soon for a person:
	// a line of 300 baud brings the next one within this.
	slowly = 100 * time.Millisecond

	// lull is the same after several lines. They were pasted, so whatever carries
	// them may falter.
	lull = 250 * time.Millisecond

	// row is how many keys in a row come within Typist of each other where no person
	// types them. A finger that rolls from a letter to Enter makes two.
	row = 4

	// typing is how many keys that come by themselves after lines are somebody's who
	// types: a line that falters makes one or two.
	typing = 3
)

// Orders reports whether a line is a command, such as /help, and no path or text that begins
// with a slash.
func Orders(line string) bool {
	name, is := strings.CutPrefix(line, "/")
	name, _, _ = strings.Cut(strings.ReplaceAll(name, "\t", " "), " ")
	return is && name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz") == ""
}

// A burst makes one key of lines that come faster than anybody types, as they do
// where a paste is not marked by the terminal. An Enter or a Tab that comes so fast
// is not one before nothing has come for a while: what follows at once makes it the
// end of a line, or a tab. What comes after lines as slowly as somebody types is no
// more of them. A command waits for nothing, since it is given by itself
// whatever follows. It has no clock: the caller steps it. The zero value is ready.
type burst struct {
	late  *Key          // an Enter or a Tab that may be none
	wait  time.Duration // for how long nothing has to come until it is one
	lines bool          // text is what came from the end of the first line on
	text  strings.Builder
	over  bool      // which is too long; no more of it is kept
	line  string    // how the line begins, if nothing but letters was typed
	typed bool      // a letter came last
	run   int       // how many came last, each within Typist of the one before
	at    time.Time // when something came last
	held  []Key     // came after lines, one by one: of the paste, or typed
	slow  int       // how many of them came as if somebody typed
}

// step takes in the keys that bytes which came at now have made, and returns those
// that are settled. Came says that there were any bytes.
func (b *burst) step(now time.Time, came bool, keys []Key) (settled []Key) {
	if until, ok := b.deadline(); ok && !now.Before(until) {
		settled = b.settle(settled)
	}
	wait := slowly
	if came {
		if now.Sub(b.at) > Typist {
			b.typed, b.run = false, 0
		}
		b.at = now
	}
	for i, k := range keys {
		if i > 0 {
			wait = pause
		}
		char := letters(k)
		b.run++
		switch {
		case b.lines && char != "" && (len(b.held) > 0 || b.run == 1 && len(keys) == 1):
			if b.held = append(b.held, k); b.run == 1 {
				b.slow++
			}
			switch {
			case b.run >= row || len(keys) > 1:
				for _, k := range b.held {
					b.keep(letters(k))
				}
				b.held, b.slow = nil, 0
			case b.slow >= typing:
				settled = b.settle(settled)
			}
		case b.lines && char != "":
			b.keep(char)
		case b.late != nil && char != "":
			b.lines = true
			b.keep(letters(*b.late) + char)
			b.late = nil
		case char != "" && k.Does != Insert && b.typed && (i > 0 || b.run >= row) && !(k.Does == Enter && Orders(b.line)):
			b.late, b.wait = &k, wait
		default:
			settled = append(b.settle(settled), k)
			b.types(k)
		}
	}
	return settled
}

// types notes that k was typed.
func (b *burst) types(k Key) {
	switch b.typed = k.Does == Insert; {
	case k.Does == Enter || k.Send:
		b.line = ""
	case !b.typed:
		b.line = "?" // nobody here knows what it is
	case len(b.line) < 64: // longer than any command
		b.line += k.Text
	}
}

// letters returns what k writes, if it is a part of what is pasted.
func letters(k Key) string {
	switch k.Does {
	case Enter:
		return "\n"
	case Complete:
		return "\t"
	case Insert:
		return k.Text
	}
	return ""
}

// deadline returns when step must be called again even if nothing comes.
func (b *burst) deadline() (time.Time, bool) {
	switch {
	case b.lines:
		return b.at.Add(lull), true
	case b.late != nil:
		return b.at.Add(b.wait), true
	}
	return time.Time{}, false
}

// keep adds to the lines, unless that makes them too long for any message.
func (b *burst) keep(text string) {
	if b.over = b.over || b.text.Len()+len(text) > earshot.MaxText; !b.over {
		b.text.WriteString(text)
	}
}

// settle appends what nothing follows any more.
func (b *burst) settle(keys []Key) []Key {
	k := Key{Does: Burst, Over: b.over}
	switch {
	case b.late != nil:
		k = *b.late
	case !b.lines:
		return keys
	case !b.over:
		k.Text = strings.TrimRight(b.text.String(), "\n")
		if k.Send = len(k.Text) < b.text.Len(); k.Send && k.Text == "" {
			k = Key{Does: Enter}
		}
	}
	keys = append(keys, k)
	b.types(k)
	for _, k := range b.held {
		keys = append(keys, k)
		b.types(k)
	}
	b.late, b.lines, b.over, b.held, b.slow = nil, false, false, nil, 0
	b.text.Reset()
	return keys
}

// strokes makes keys of bytes as they come in time. The zero value is ready.
type strokes struct {
	decoder Decoder
	burst   burst
}

// step is that of a Decoder.
func (s *strokes) step(now time.Time, in []byte) []Key {
	return s.burst.step(now, len(in) > 0, s.decoder.Step(now, in))
}

// deadline likewise.
func (s *strokes) deadline() (time.Time, bool) {
	until, ok := s.decoder.Deadline()
	if at, also := s.burst.deadline(); also && (!ok || at.Before(until)) {
		return at, true
	}
	return until, ok
}
