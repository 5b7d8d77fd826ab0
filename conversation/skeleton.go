package conversation

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A skeleton is how the beginning of a text looks at a glance: without space and invisible
// characters, in lower case and plain letters. It is as long as any pattern needs.
type skeleton struct {
	text  [48]byte
	from  [48]int  // where in the source the letter of each byte begins
	apart [48]bool // whether space precedes it
	n     int

	// more is set if the source ended first: more text might add to what is seen.
	more bool
}

// seen returns the visible text. It is valid until the next scan.
func (v *skeleton) seen() []byte { return v.text[:v.n] }

// begins reports whether seen begins with with.
func begins(seen []byte, with string) bool {
	return len(seen) >= len(with) && string(seen[:len(with)]) == with
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// scan makes the skeleton of text from at on. If line is set, the skeleton ends at the end of the
// line.
func (v *skeleton) scan(text string, at int, line bool) {
	v.n, v.more = 0, false
	apart := false
	for at < len(text) {
		if c := text[at]; ' ' < c && c < 0x7f { // most characters
			if v.n == len(v.text) {
				return
			}
			v.text[v.n], v.from[v.n], v.apart[v.n] = lower(c), at, apart
			v.n++
			at++
			apart = false
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && !utf8.FullRuneInString(text[at:]):
			v.more = true
			return
		case line && newline(r):
			return
		case unicode.IsSpace(r):
			apart = true
		case !unseen(r):
			if !v.add(r, at, apart) {
				return
			}
			apart = false
		}
		at += size
	}
	v.more = true
}

// add appends the look of a letter, and reports whether there was room.
func (v *skeleton) add(r rune, at int, apart bool) bool {
	var letter [utf8.UTFMax]byte
	n := utf8.EncodeRune(letter[:], r)
	parts := norm.NFKD.Properties(letter[:n]).Decomposition()
	if len(parts) == 0 {
		return v.put(plainest(r), at, apart)
	}
	for len(parts) > 0 {
		r, size := utf8.DecodeRune(parts)
		parts = parts[size:]
		if !unicode.IsSpace(r) && !unseen(r) && !v.put(plainest(r), at, apart) {
			return false
		}
	}
	return true
}

func (v *skeleton) put(r rune, at int, apart bool) bool {
	size := utf8.RuneLen(r)
	if v.n+size > len(v.text) {
		return false
	}
	utf8.EncodeRune(v.text[v.n:v.n+size], r)
	for i := v.n; i < v.n+size; i++ {
		v.from[i], v.apart[i] = at, apart && i == v.n
	}
	v.n += size
	return true
}

// firstOf returns the first letter of the look of r.
func firstOf(r rune) rune {
	if r < utf8.RuneSelf {
		return rune(lower(byte(r)))
	}
	if parts := norm.NFKD.PropertiesString(string(r)).Decomposition(); len(parts) > 0 {
		r, _ = utf8.DecodeRune(parts)
	}
	return plainest(r)
}

// newline reports whether r ends a line in any system.
func newline(r rune) bool {
	return '\n' <= r && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// unseen reports whether r is invisible. Space does not count as invisible.
func unseen(r rune) bool {
	if r < utf8.RuneSelf {
		return (r < ' ' || r == 0x7f) && !unicode.IsSpace(r)
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && !unicode.IsSpace(r)
}

// plainest returns the small Latin letter, or the mark, that r looks like.
func plainest(r rune) rune {
	switch {
	case 0x1F1E6 <= r && r <= 0x1F1FF: // flags
		return 'a' + r - 0x1F1E6
	case 0x1F150 <= r && r <= 0x1F169: // in black circles
		return 'a' + r - 0x1F150
	case 0x1F170 <= r && r <= 0x1F189: // in black squares
		return 'a' + r - 0x1F170
	}
	r = unicode.ToLower(r)
	if plain, ok := confusable[r]; ok {
		return plain
	}
	if openers[r] {
		return '['
	}
	return r
}

// confusable maps letters of other alphabets, in lower case, to the Latin letters that they look
// like, in either case.
var confusable = pairs(
	"авсԁеғԍһнієіїјкӏмпорԛгѕтуѵԝх"+ // Cyrillic
		"αβϲεϝηικμνορστυχζ"+ // Greek
		"օոսհցք"+ // Armenian
		"ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ"+ // small capitals
		"ıɩɡƒꞙɑøłđ"+
		"ꭲꭱꮇꮎꮪꮲ"+ // Cherokee
		"ꓝꓣꓳꓟꓔꓢ"+ // Lisu
		"։׃ː∶꞉˸ǀ∣¦│❘▏",
	"abcdefghhieiijklmnopqrstyvwx"+
		"abcefnikmnopstuxz"+
		"onuhgp"+
		"abcdefghijklmnoprstuvwyz"+
		"iigffaold"+
		"trmosp"+
		"fromts"+
		"::::::||||||")

// The brackets with which an envelope or a token may seem to begin, and those that replace them in
// escaped text. All are different, so that [Unescape] knows which one it was.
const (
	squares = "[［⁅〔【〖〘〚⟦⟬❲﹝︹︻︗﹇⦋⦍⦏⎡⎣⌈⌊"
	rounds  = "(（⁽₍❨❪⦅⸨｟⟮﹙︵⎛⎜⎝⧼⦇⦓⦕⦗⟅⧘⧚"
	angles  = "<＜﹤]"
	tamed   = "‹〈⟨)"
)

var (
	openers = set(squares)
	tame    = pairs(squares+angles, rounds+tamed)
	wild    = pairs(rounds+tamed, squares+angles)
)

// pairs returns a map from each letter of from to the letter of to at the same place.
func pairs(from, to string) map[rune]rune {
	m, letters := make(map[rune]rune), []rune(to)
	for i, r := range []rune(from) {
		m[r] = letters[i]
	}
	return m
}

func set(letters string) map[rune]bool {
	m := make(map[rune]bool)
	for _, r := range letters {
		m[r] = true
	}
	return m
}
