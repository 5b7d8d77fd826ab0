package search

import (
	"unicode/utf8"

	"earshot"
)

// TextOf returns what an event is found by: of what was written, noted, heard and seen.
func TextOf(e earshot.Event) earshot.Text {
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

// longest is how many bytes of a word are in the index. Of what is longer the beginning is
// looked for, and then the text itself decides.
const longest = 64

// cut shortens a word to what is in the index.
func cut(w string) string {
	if len(w) <= longest {
		return w
	}
	n := longest
	for !utf8.RuneStart(w[n]) {
		n--
	}
	return w[:n]
}

// What is looked at of a text to find its terms. No text of [earshot.MaxText] bytes has more but
// one of letters that stand for many, such as ½ or ﷺ, of which 64 KiB would take long.
const (
	lettersRead = earshot.MaxText     // bytes of words
	wordsRead   = earshot.MaxText / 2 // each ends with something
)

// Terms returns what a text is found by in an index, each once, in the order of the text and
// at most so many: every word, its stem, and each letter and pair of letters of what is
// written without spaces.
func Terms(text string, most int) []string {
	letters, words := 0, 0
	var all []string
	seen := make(map[string]bool)
	add := func(term string) bool {
		if !seen[term] {
			seen[term] = true
			all = append(all, term)
		}
		return len(all) < most
	}
	tokens(text, func(t token) bool {
		if t.dense {
			grams(t.text, true, add)
		} else if w := cut(t.text); !seen[w] {
			add(w)
			add(stem(w))
		}
		letters, words = letters+len(t.text), words+1
		return len(all) < most && letters < lettersRead && words < wordsRead
	})
	return all[:min(len(all), most)]
}

// grams calls do with each letter of an unspaced word, or only with the one of a word of one
// letter, and with each two that follow one another, until it returns false.
func grams(w string, single bool, do func(string) bool) {
	before, more := -1, true
	for at, c := range w {
		next := at + utf8.RuneLen(c)
		if single || next-at == len(w) {
			more = do(cut(w[at:next]))
		}
		if before >= 0 && more {
			more = do(cut(w[before:next]))
		}
		if before = at; !more {
			return
		}
	}
}

// A Lookup is one term that a text must have in an index to be found.
type Lookup struct {
	Term   string
	Prefix bool // any term that begins so
}

// Lookups returns what a text must have in an index to be found by q, each once. A text that
// has all of it need not match: [Query.Match] decides.
func (q Query) Lookups() []Lookup {
	var all []Lookup
	seen := make(map[Lookup]bool)
	add := func(term string, prefix bool) {
		if l := (Lookup{term, prefix}); !seen[l] {
			seen[l] = true
			all = append(all, l)
		}
	}
	for _, t := range q.terms {
		for _, w := range t.words {
			switch {
			case w.dense:
				grams(w.text, false, func(g string) bool { add(g, false); return true })
			case t.phrase:
				add(cut(w.text), false)
			case t.prefix:
				add(cut(w.text), true)
			default:
				add(stem(cut(w.text)), false)
			}
		}
	}
	return all
}
