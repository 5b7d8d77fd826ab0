// Package search says what a search is for, and what of a text is found by it. It is pure:
// the index of the store, the search of the monitor and what is shown of a text that was
// found are all made by the same tokens, so that they agree.
//
// A word is a run of letters, marks and numbers, in its compatible form (NFKC) and without
// case; in Latin and Greek also without accents, and with ss for ß. The s of "Ann's" is none.
// English words are found by their stems. What is written without spaces, such as Chinese,
// Japanese and Thai, is found by any part.
package search

import (
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"golang.org/x/text/unicode/norm"
)

// unspaced are the scripts that are written without spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// firstUnspaced is the first letter of these.
const firstUnspaced = 'ก'

// accented are the scripts in which a letter with an accent is found without it.
var accented = []*unicode.RangeTable{unicode.Latin, unicode.Greek}

// A token is a word of a text, or a run of letters that are written without spaces.
type token struct {
	text       string // as it is compared
	start, end int    // where it stands, in bytes of the text
	dense      bool   // it is unspaced: any part of it is found
	starts     []int  // of a dense one: where the letter stands to which each byte belongs
}

// isLetter reports whether c is part of a word by itself.
func isLetter(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.Is(unicode.Co, c)
}

// A tokenizer makes tokens of the letters of a text.
type tokenizer struct {
	yield func(token) bool
	buf   []byte
	form  []byte // the compatible form of a letter and its marks
	now   token
	whole bool // the token has a letter
	bare  bool // the last letter was accented, or could have been
	ended bool // nobody wants more
	owner int  // where what follows an apostrophe begins that a token stands before
}

// tokens yields the tokens of a text in order, until yield returns false. One letter of the
// text, with its accents, may make more than one token, as ½ does.
func tokens(text string, yield func(token) bool) {
	t := tokenizer{yield: yield, owner: -1}
	for at := 0; at < len(text) && !t.ended; {
		if c := text[at]; c < utf8.RuneSelf && (at+1 == len(text) || text[at+1] < utf8.RuneSelf) {
			t.ascii(c, at)
			at++
			continue
		}
		n := norm.NFKC.NextBoundaryInString(text[at:], true)
		t.form = norm.NFKC.AppendString(t.form[:0], text[at:at+n])
		for i := 0; i < len(t.form); {
			c, size := utf8.DecodeRune(t.form[i:])
			t.letter(c, at, at+n)
			i += size
		}
		at += n
	}
	t.end()
}

// ascii takes one character on which no mark stands.
func (t *tokenizer) ascii(c byte, at int) {
	switch {
	case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
	case 'A' <= c && c <= 'Z':
		c += 'a' - 'A'
	default:
		t.apart(rune(c), at+1)
		return
	}
	if t.now.dense {
		t.end()
	}
	t.put(rune(c), at, at+1)
	t.whole, t.bare = true, true
}

// letter takes one character of what stands between two places of the text.
func (t *tokenizer) letter(c rune, start, end int) {
	switch {
	case unicode.IsMark(c):
		if !t.bare {
			t.put(c, start, end)
		} else if len(t.buf) > 0 {
			t.now.end = end
		}
	case !isLetter(c):
		t.apart(c, end)
	case c == 'ß' || c == 'ẞ':
		t.letter('s', start, end)
		t.letter('s', start, end)
	default:
		if dense := c >= firstUnspaced && unicode.In(c, unspaced...); dense != t.now.dense {
			t.end()
			t.now.dense = dense
		}
		if t.bare = c < utf8.RuneSelf || unicode.In(c, accented...); t.bare {
			c = unaccented(c)
		}
		t.put(unicode.ToLower(c), start, end)
		t.whole = true
	}
}

// apart ends the token before c, which is no letter and ends somewhere.
func (t *tokenizer) apart(c rune, end int) {
	owner := -1
	if t.whole && (c == '\'' || c == '’') {
		owner = end
	}
	t.end()
	t.owner = owner
}

func (t *tokenizer) put(c rune, start, end int) {
	if len(t.buf) == 0 {
		t.now.start = start
	}
	t.now.end = end
	had := len(t.buf)
	t.buf = utf8.AppendRune(t.buf, c)
	if t.now.dense {
		for range len(t.buf) - had {
			t.now.starts = append(t.now.starts, start)
		}
	}
}

// end yields the token, if there is one.
func (t *tokenizer) end() {
	if owns := string(t.buf) == "s" && t.now.start == t.owner; t.whole && !t.ended && !owns {
		t.now.text = string(t.buf)
		t.ended = !t.yield(t.now)
	}
	t.buf = t.buf[:0]
	t.now, t.whole, t.bare = token{}, false, false
}

// unaccented returns the letter that c is with an accent.
func unaccented(c rune) rune {
	if c < utf8.RuneSelf {
		return c
	}
	var as [utf8.UTFMax]byte
	parts := norm.NFD.Properties(as[:utf8.EncodeRune(as[:], c)]).Decomposition()
	if len(parts) > 0 {
		c, _ = utf8.DecodeRune(parts)
	}
	return c
}

// stem returns the stem of an English word: what "tide" and "tides" have in common. Of other
// words, which have other letters or numbers in them, it is the word.
func stem(w string) string {
	if len(w) < 3 || len(w) > longest {
		return w
	}
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	env := snowballstem.NewEnv(w)
	english.Stem(env)
	return env.Current()
}
