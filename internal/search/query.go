package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Query is what somebody looks for. All that it says must hold.
type Query struct {
	From          []string  // who said it, by names; any of them
	Since, Before time.Time // when it began: from then on, and before then; zero is no bound

	terms []term
}

// A term is a word, the beginning of one, or words that follow one another.
type term struct {
	words  []word
	prefix bool
	phrase bool // as they are written, and in this order
}

// A word is one that is looked for.
type word struct {
	text  string
	stem  string
	dense bool
}

const (
	mostWords = 32  // nobody types more
	mostTerms = 128 // that stand for them in an index

	// leastPrefix is how many letters stand before a star. One letter would be the beginning
	// of a large part of all that was ever said.
	leastPrefix = 2
)

// What is wrong with a query. None of it repeats what somebody looks for.
var (
	errNoWords     = errors.New("nothing to search for: give at least one word or number")
	errManyWords   = errors.New("too many words to search for: give the rarest few")
	errShortPrefix = fmt.Errorf("too little before a star to search for: give at least %d letters, as in ti*", leastPrefix)
	errNobody      = errors.New(`nobody to search for: give a name, as in from:Ann or from:"Ann Lee"`)
	errNoTime      = errors.New("no time is left to search for: give an earlier time for since, or a later one for before")
)

// Parse reads a query as people type it at a time, whose zone is theirs. It is words that must
// all be there; the beginning of a word with a star; "words in quotes" as they are written and
// in that order; and who said it and when:
//
//	from:Ann  from:"Ann Lee"  on:2026-11-20  since:yesterday  before:monday
//
// All else is passed over: a query is never interpreted as anything more.
func Parse(text string, now time.Time) (q Query, err error) {
	for rest := strings.ToValidUTF8(text, " "); ; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			return q, q.check()
		}
		key, value, after := option(rest)
		if key != "" {
			err = q.set(key, value, now)
		} else if value, after = quoted(rest); value != "" {
			q.phrase(value)
		} else {
			value, after = untilSpace(rest)
			err = q.words(value)
		}
		if err != nil {
			return Query{}, err
		}
		rest = after
	}
}

// String returns a query as it can be parsed, whenever and wherever that is.
func (q Query) String() string {
	var all []string
	for _, t := range q.terms {
		var words []string
		for _, w := range t.words {
			words = append(words, w.text)
		}
		text := strings.Join(words, " ")
		switch {
		case t.phrase:
			text = `"` + text + `"`
		case t.prefix:
			text += "*"
		}
		all = append(all, text)
	}
	for _, name := range q.From {
		all = append(all, `from:"`+name+`"`)
	}
	if !q.Since.IsZero() {
		all = append(all, "since:"+q.Since.Format(time.RFC3339Nano))
	}
	if !q.Before.IsZero() {
		all = append(all, "before:"+q.Before.Format(time.RFC3339Nano))
	}
	return strings.Join(all, " ")
}

// check says what is wrong with a query as a whole.
func (q Query) check() error {
	n := 0
	for _, t := range q.terms {
		n += len(t.words)
	}
	switch {
	case n == 0 && !q.bounded():
		return errNoWords
	case n > mostWords || len(q.From) > mostWords || len(q.Lookups()) > mostTerms:
		return errManyWords
	case !q.Since.IsZero() && !q.Before.IsZero() && !q.Since.Before(q.Before):
		return errNoTime
	}
	return nil
}

func (q Query) bounded() bool { return len(q.From) > 0 || !q.Since.IsZero() || !q.Before.IsZero() }

// options are what has a meaning before a colon.
var options = []string{"from", "on", "since", "before"}

// option returns the option that a text begins with, its value and what follows. An option
// without a value is none, but a word.
func option(text string) (key, value, after string) {
	key, _, is := strings.Cut(text[:min(len(text), len("before:"))], ":")
	key = strings.ToLower(key)
	if !is || !slices.Contains(options, key) {
		return "", "", text
	}
	after = text[len(key)+1:]
	if value, rest := quoted(after); value != "" {
		return key, value, rest
	}
	if value, rest := untilSpace(after); value != "" {
		return key, value, rest
	}
	return "", "", text
}

// quotes are those that open a phrase, and close it.
var quotes = map[rune]string{'"': `"”“`, '“': `”"“`, '„': `“”"`, '«': "»", '»': "«"}

// quoted returns what stands in quotes at the beginning of a text, and what follows. A quote
// that nothing closes is none.
func quoted(text string) (inner, after string) {
	open, n := utf8.DecodeRuneInString(text)
	closing, is := quotes[open]
	end := strings.IndexAny(text[n:], closing)
	if !is || end < 0 {
		return "", text
	}
	_, width := utf8.DecodeRuneInString(text[n+end:])
	return text[n : n+end], text[n+end+width:]
}

// untilSpace returns the part of a text before the first space, and the rest.
func untilSpace(text string) (part, rest string) {
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

// set notes an option.
func (q *Query) set(key, value string, now time.Time) error {
	if key == "from" {
		name := strings.Trim(strings.ReplaceAll(value, `"`, " "), " @“”„«»")
		if name == "" {
			return errNobody
		}
		q.From = append(q.From, name)
		return nil
	}
	from, to, err := span(key, value, now)
	if err != nil {
		return err
	}
	if key != "before" && from.After(q.Since) {
		q.Since = from
	}
	if key == "before" {
		to = from
	}
	if key != "since" && (q.Before.IsZero() || to.Before(q.Before)) {
		q.Before = to
	}
	return nil
}

// phrase adds words that follow one another. One word in quotes is that word as it is written.
func (q *Query) phrase(text string) {
	t := term{phrase: true}
	tokens(text, func(is token) bool {
		t.words = append(t.words, word{text: is.text, dense: is.dense})
		return len(t.words) <= mostWords
	})
	q.add(t)
}

// words adds the words of a text without spaces, of which the last may be only a beginning.
func (q *Query) words(text string) error {
	var all []token
	tokens(text, func(is token) bool {
		all = append(all, is)
		return len(all) <= mostWords
	})
	for i, is := range all {
		t := term{words: []word{{is.text, stem(is.text), is.dense}}}
		next := len(text)
		if i+1 < len(all) {
			next = max(is.end, all[i+1].start)
		}
		if strings.HasPrefix(text[is.end:next], "*") && !is.dense {
			if t.prefix = true; utf8.RuneCountInString(is.text) < leastPrefix {
				return errShortPrefix
			}
		}
		q.add(t)
	}
	return nil
}

// add adds a term, if it is any.
func (q *Query) add(t term) {
	if len(t.words) > 0 && len(q.terms) <= mostWords {
		q.terms = append(q.terms, t)
	}
}
