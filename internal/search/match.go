package search

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"earshot"
)

// Match reports whether a text has all that q looks for in one.
func (q Query) Match(text string) bool {
	m := q.look(text, 0)
	return m.missing == 0
}

// Within reports whether q looks for what began at a time.
func (q Query) Within(at time.Time) bool {
	return !at.Before(q.Since) && (q.Before.IsZero() || at.Before(q.Before))
}

// Hits returns where in a text anything stands that q looks for, in order and without
// overlaps: of each word, at most the first so many.
func (q Query) Hits(text string, most int) []earshot.SearchHit {
	return merged(q.look(text, most).hits)
}

// merged returns hits in order, and those that overlap as one.
func merged(hits []earshot.SearchHit) (all []earshot.SearchHit) {
	slices.SortFunc(hits, func(a, b earshot.SearchHit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	for _, h := range hits {
		if n := len(all); n > 0 && h.Start < all[n-1].End {
			all[n-1].End = max(all[n-1].End, h.End)
			continue
		}
		all = append(all, h)
	}
	return all
}

// A matcher looks for the terms of a query in the tokens of a text.
type matcher struct {
	terms   []term
	counts  []int               // how often each term was found
	missing int                 // terms that were not found so far
	most    int                 // hits of one term; 0 if it is enough to know whether all are there
	hits    []earshot.SearchHit // of all terms
	firsts  []earshot.SearchHit // of each term
	last    []token             // the newest tokens, as many as the longest phrase has words
	stemmed string              // the stem of the newest token, if it was asked for
}

func (q Query) look(text string, most int) *matcher {
	m := &matcher{terms: q.terms, counts: make([]int, len(q.terms)), missing: len(q.terms), most: most}
	longest := 1
	for _, t := range q.terms {
		longest = max(longest, len(t.words))
	}
	tokens(text, func(is token) bool {
		if len(m.last) == longest {
			m.last = append(m.last[:0], m.last[1:]...)
		}
		m.last, m.stemmed = append(m.last, is), ""
		for i, t := range m.terms {
			switch {
			case m.counts[i] > m.most: // there are enough of it
			case t.phrase:
				m.phrase(i, t)
			default:
				m.word(i, t)
			}
		}
		return m.most > 0 || m.missing > 0
	})
	return m
}

// hit notes that a term stands somewhere.
func (m *matcher) hit(i, start, end int) {
	if m.counts[i]++; m.counts[i] == 1 {
		m.firsts = append(m.firsts, earshot.SearchHit{Start: start, End: end})
		m.missing--
	}
	if m.counts[i] <= m.most {
		m.hits = append(m.hits, earshot.SearchHit{Start: start, End: end})
	}
}

// word looks for a word, or the beginning of one, in the newest token.
func (m *matcher) word(i int, t term) {
	is, w := m.last[len(m.last)-1], t.words[0]
	switch {
	case w.dense != is.dense:
	case w.dense:
		for at := 0; m.counts[i] <= m.most; {
			n := strings.Index(is.text[at:], w.text)
			if n < 0 {
				return
			}
			at += n + len(w.text)
			start, end := is.place(at-len(w.text), at)
			m.hit(i, start, end)
		}
	case t.prefix && strings.HasPrefix(is.text, w.text), is.text == w.text:
		m.hit(i, is.start, is.end)
	case !t.prefix && w.stem[0] == is.text[0]:
		if m.stemmed == "" {
			m.stemmed = stem(is.text)
		}
		if m.stemmed == w.stem {
			m.hit(i, is.start, is.end)
		}
	}
}

// phrase looks for words that end with the newest token. What is unspaced may begin before the
// first of them and end behind the last.
func (m *matcher) phrase(i int, t term) {
	n := len(t.words)
	if len(m.last) < n {
		return
	}
	if n == 1 && t.words[0].dense {
		m.word(i, t)
		return
	}
	some := m.last[len(m.last)-n:]
	start, end := some[0].start, some[n-1].end
	for k, w := range t.words {
		is := some[k]
		switch {
		case w.dense != is.dense:
			return
		case w.dense && k == 0 && strings.HasSuffix(is.text, w.text):
			start, _ = is.place(len(is.text)-len(w.text), len(is.text))
		case w.dense && k == n-1 && strings.HasPrefix(is.text, w.text):
			_, end = is.place(0, len(w.text))
		case is.text != w.text:
			return
		}
	}
	m.hit(i, start, end)
}

// place returns where in the text a part of a dense token stands.
func (t token) place(from, to int) (start, end int) {
	for to < len(t.starts) && t.starts[to] == t.starts[to-1] { // one letter of the text that is two here
		to++
	}
	if to < len(t.starts) {
		return t.starts[from], t.starts[to]
	}
	return t.starts[from], t.end
}
