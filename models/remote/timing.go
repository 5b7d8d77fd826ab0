package remote

import (
	"math"
	"strings"
	"unicode"

	"earshot/models/wire"
)

// usual is how many seconds a letter takes, on average over English: some 15 are said in a second.
const usual = 0.065

// pause is how many letters a comma or the end of a sentence takes.
const pause = 5

// A wordTimer estimates when the words of a text begin, by their share of its letters.
type wordTimer struct {
	words []placedWord
	total float64 // letters
	next  int     // the first word that is not marked yet
	last  int     // the sample of the last mark
}

// A placedWord is a word at some byte of a text, after so many letters.
type placedWord struct {
	at    int
	after float64
}

func newWordTimer(text string) *wordTimer {
	w := new(wordTimer)
	between := true
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			between = true
			continue
		case between:
			w.words = append(w.words, placedWord{i, w.total})
			between = false
		}
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			w.total++
		case strings.ContainsRune(".,;:!?", r):
			w.total += pause
		}
	}
	return w
}

// before returns the marks of the words that begin before a sample, of those that were not returned
// yet, if a letter takes so many samples. None is before the sample given, which is past.
func (w *wordTimer) before(sample, given int, letter float64) (marks []wire.Mark) {
	for ; w.next < len(w.words); w.next++ {
		p := w.words[w.next]
		at := max(int(p.after*letter), w.last, given)
		if at >= sample {
			break
		}
		w.last = at
		marks = append(marks, wire.Mark{Byte: uint32(p.at), Sample: uint32(at)})
	}
	return marks
}

// rest returns the marks of all words that were not returned yet, if the whole text takes so many
// samples.
func (w *wordTimer) rest(samples, given int) []wire.Mark {
	return w.before(math.MaxInt32, min(given, samples), float64(samples)/max(w.total, 1))
}
