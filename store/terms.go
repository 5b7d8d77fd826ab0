package store

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"earshot"
)

// searchable returns what an event can be found by.
func searchable(e earshot.Event) earshot.Text {
	switch b := e.Body.(type) {
	case earshot.Message:
		return b.Whole()
	case earshot.Utterance:
		return b.Text
	case earshot.Memo:
		return b.Text
	case earshot.Edit:
		if b.Field == "notes" && b.Act != earshot.Ended { // whose words it would repeat
			return b.Text
		}
	case earshot.Reply:
		return b.Delivered()
	case earshot.Sight: // of a code or a caption
		return b.Text
	}
	return ""
}

// unspaced are the scripts that are written without spaces between words. Any part of
// what is written in them can be looked for.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// accented are the scripts in which a letter with an accent is found without it.
var accented = []*unicode.RangeTable{unicode.Latin, unicode.Greek}

// A word is a part of a text that can be looked for, without capitals and accents.
type word struct {
	text     string
	unspaced bool // any part of it can be
}

// letter reports whether c is part of a word by itself.
func letter(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.Is(unicode.Co, c)
}

// wordsOf yields the words of a text. What each letter is told apart by is its
// compatible form (NFKC) without case, and in some scripts without accents.
func wordsOf(text string, do func(word)) {
	text = norm.NFKC.String(strings.ToValidUTF8(text, " "))
	var b strings.Builder
	whole, dense, bare := false, false, false // it has a letter; it is unspaced; the last letter was accented or could have been
	end := func() {
		if whole {
			do(word{b.String(), dense})
		}
		b.Reset()
		whole, dense, bare = false, false, false
	}
	for _, c := range text {
		if c < utf8.RuneSelf {
			switch {
			case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			case 'A' <= c && c <= 'Z':
				c += 'a' - 'A'
			default:
				end()
				continue
			}
			if dense {
				end()
			}
			b.WriteByte(byte(c))
			whole, bare = true, true
			continue
		}
		switch {
		case unicode.IsMark(c):
			if !bare {
				b.WriteRune(c)
			}
		case !letter(c):
			end()
		default:
			if is := unicode.In(c, unspaced...); is != dense {
				end()
				dense = is
			}
			if bare = unicode.In(c, accented...); bare {
				c, _ = utf8.DecodeRuneInString(norm.NFD.String(string(c)))
			}
			b.WriteRune(unicode.ToLower(c))
			whole = true
		}
	}
	end()
}

// longestTerm is how many bytes of a word are in the index. Of what is longer the
// beginning is looked for, and then the text itself decides.
const longestTerm = 64

// cut shortens a term to what is in the index.
func cut(term string) string {
	if len(term) <= longestTerm {
		return term
	}
	n := longestTerm
	for !utf8.RuneStart(term[n]) {
		n--
	}
	return term[:n]
}

// grams yields each letter of an unspaced word and each two that follow one another.
func grams(w string, single bool, do func(string)) {
	before := -1
	for at, c := range w {
		next := at + utf8.RuneLen(c)
		if single || next-at == len(w) {
			do(cut(w[at:next]))
		}
		if before >= 0 {
			do(cut(w[before:next]))
		}
		before = at
	}
}

// terms returns what a text is found by in the index, sorted, each once.
func terms(text earshot.Text) []string {
	var all []string
	wordsOf(string(text), func(w word) {
		if w.unspaced {
			grams(w.text, true, func(g string) { all = append(all, g) })
			return
		}
		all = append(all, cut(w.text))
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// A query is what is looked for: all of some words.
type query struct {
	words []word
	terms []string // that stand for them in the index
}

const maxWords = 32 // nobody types more

// ask makes a query of what somebody typed. Whatever it is, it is words and nothing else.
func parse(text string) (q query, err error) {
	seen := make(map[word]bool)
	n := 0
	wordsOf(text, func(w word) {
		if n++; seen[w] {
			return
		}
		seen[w] = true
		q.words = append(q.words, w)
		if w.unspaced {
			grams(w.text, false, func(g string) { q.terms = append(q.terms, g) })
			return
		}
		q.terms = append(q.terms, cut(w.text))
	})
	switch {
	case n == 0:
		return q, errNoWords
	case n > maxWords || len(q.terms) > 4*maxWords:
		return q, errManyWords
	}
	slices.Sort(q.terms)
	q.terms = slices.Compact(q.terms)
	return q, nil
}

// matches reports whether a text has all words of the query. It alone decides; the index
// only leaves out what cannot match.
func (q query) matches(text earshot.Text) bool {
	missing := slices.Clone(q.words)
	wordsOf(string(text), func(has word) {
		missing = slices.DeleteFunc(missing, func(w word) bool {
			return w == has || w.unspaced && has.unspaced && strings.Contains(has.text, w.text)
		})
	})
	return len(missing) == 0
}
