//go:build cgo

package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot/models/wire"
)

const (
	// longSentence is how many bytes of a text are said at once: what a network computes grows with
	// their square.
	longSentence = 300

	// pause is how many sounds a comma or the end of a sentence takes.
	pause = 4
)

// A sentence is what a voice says at once. Its words and clauses are those of the text as somebody
// wrote it, with at least one word.
type sentence struct {
	text    string
	words   []spokenWord
	clauses []clause
}

// A spokenWord is a word, without what stands around it.
type spokenWord struct {
	at     int // its first byte in the whole text
	text   string
	sounds int // that it has, by which its length is estimated; a letter is one until it was spelt
	pauses bool
}

// A clause is some words up to a pause.
type clause struct {
	text     string // its words, with one space between
	mark     string // the sign that ends it, or ""
	phonemes string // in letters of the IPA, once it was spelt
}

// divide divides a text into sentences. What has no word in it is left out.
func divide(text string) (all []sentence) {
	var s sentence
	var words []string // of the clause
	from := 0          // of the sentence
	for at := 0; at < len(text); {
		n := strings.IndexFunc(text[at:], unicode.IsSpace)
		if n < 0 {
			n = len(text) - at
		}
		token, end := text[at:at+n], at+n
		word := strings.TrimFunc(token, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if word != "" {
			s.words = append(s.words, spokenWord{at: at + strings.Index(token, word), text: word, sounds: utf8.RuneCountInString(word)})
			words = append(words, word)
		}
		mark := markOf(token)
		over := strings.TrimSpace(text[end:]) == "" || mark != "" && strings.Contains(".!?", mark) || end-from > longSentence
		if len(words) > 0 && (mark != "" || over) {
			s.words[len(s.words)-1].pauses = true
			s.clauses = append(s.clauses, clause{text: strings.Join(words, " "), mark: mark})
			words = nil
		}
		at = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		if over && len(s.words) > 0 {
			s.text = text[from:end]
			all = append(all, s)
			s, from = sentence{}, at
		}
	}
	return all
}

// markOf returns the sign at the end of a token where a voice pauses, or "".
func markOf(token string) string {
	token = strings.TrimRight(token, `"')]}`)
	if token == "" || !strings.ContainsAny(token[len(token)-1:], ".,:;!?") {
		return ""
	}
	return token[len(token)-1:]
}

// marks returns where the words begin, each at its share of so many samples, of which the first is
// number from.
func (s *sentence) marks(from, samples int) (marks []wire.Mark) {
	total := 0
	for _, w := range s.words {
		total += w.length()
	}
	after := 0
	for _, w := range s.words {
		marks = append(marks, wire.Mark{Byte: uint32(w.at), Sample: uint32(from + samples*after/total)})
		after += w.length()
	}
	return marks
}

// length returns how long a word is, in sounds.
func (w spokenWord) length() int {
	if w.pauses {
		return w.sounds + pause
	}
	return max(1, w.sounds)
}
