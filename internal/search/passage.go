package search

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"earshot"
)

const (
	short      = 160 // runes of a text that is shown as a whole
	mostParts  = 4   // of a longer one; more would be the text again
	aroundWord = 8   // words on each side of a hit
	aroundRune = 60  // runes likewise, where words are long or nothing is between them; and of a hit
	mostHits   = 64  // of one word that are marked
)

// A part is a stretch of a text, in bytes.
type part struct{ start, end int }

// Passage returns what is to be shown of a text: all of it if it is short, and otherwise whole
// words around the first place of each thing that is looked for, joined by "…". Spaces, ends of
// lines and control characters are one space. It has some hundred letters at most.
func (q Query) Passage(text string) (p earshot.SearchPassage) {
	m := q.look(text, mostHits)
	hits, parts := merged(m.hits), partsOf(text, merged(m.firsts))
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i > 0:
			b.WriteString(" … ")
		case strings.TrimSpace(text[:part.start]) != "":
			b.WriteString("… ")
		}
		p.Hits = append(p.Hits, write(&b, text, part, hits)...)
	}
	if strings.TrimSpace(text[parts[len(parts)-1].end:]) != "" {
		b.WriteString(" …")
	}
	p.Text = b.String()
	return p
}

// partsOf returns the parts of a text around some hits.
func partsOf(text string, hits []earshot.SearchHit) (parts []part) {
	if whole := forward(text, 0, len(text), short); whole == len(text) || len(hits) == 0 {
		return []part{{0, whole}}
	}
	for _, h := range hits {
		end := min(h.End, forward(text, h.Start, len(text), aroundRune))
		next := part{backward(text, h.Start), forward(text, end, aroundWord, aroundRune)}
		if n := len(parts); n > 0 && next.start <= parts[n-1].end {
			parts[n-1].end = max(parts[n-1].end, next.end)
		} else if n < mostParts {
			parts = append(parts, next)
		}
	}
	return parts
}

// forward returns where so many words behind a place end, or as many as so many runes have. If
// that is none, a word is cut.
func forward(text string, at, words, runes int) int {
	return extent(at, len(text), words, runes, func(yield func(int, rune) bool) {
		for i, c := range text[at:] {
			if !yield(at+i, c) {
				return
			}
		}
	})
}

// backward returns where the words before a place begin that are shown with it.
func backward(text string, at int) int {
	return extent(at, 0, aroundWord, aroundRune, func(yield func(int, rune) bool) {
		for i := at; i > 0; {
			c, n := utf8.DecodeLastRuneInString(text[:i])
			if !yield(i, c) {
				return
			}
			i -= n
		}
	})
}

// extent returns how far so many words reach from a place, or as many as so many runes have; end if
// there are no more. along yields each rune, and the place on its near side.
func extent(at, end, words, runes int, along iter.Seq2[int, rune]) int {
	whole, in := at, false
	for i, c := range along {
		switch space := unicode.IsSpace(c); {
		case space && in:
			whole, in = i, false
			if words--; words == 0 {
				return whole
			}
		case !space:
			in = true
		}
		if runes--; runes < 0 && !unicode.IsMark(c) {
			if whole != at {
				return whole
			}
			return i
		}
	}
	return end
}

// write writes a part of a text on one line, and returns where in what was written the hits in
// that part stand.
func write(b *strings.Builder, text string, is part, hits []earshot.SearchHit) (at []earshot.SearchHit) {
	space, h, open, first := false, 0, -1, b.Len()
	for i, c := range text[is.start:is.end] {
		for h < len(hits) && hits[h].End <= is.start+i {
			h++
		}
		if unicode.IsSpace(c) || unicode.IsControl(c) {
			space = true
			continue
		}
		if space && b.Len() > first {
			b.WriteByte(' ')
		}
		space = false
		begin := b.Len()
		b.WriteRune(c)
		switch {
		case h == len(hits) || is.start+i < hits[h].Start:
		case open == h:
			at[len(at)-1].End = b.Len()
		default:
			at, open = append(at, earshot.SearchHit{Start: begin, End: b.Len()}), h
		}
	}
	return at
}
