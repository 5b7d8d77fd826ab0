package midturn

import (
	"slices"
	"strings"

	"earshot/internal/lazyregexp"
	"earshot/language"
)

// A sentence is what somebody said, without the words of politeness.
type sentence struct {
	clauses []string // in lower case, without punctuation
	asks    bool     // it ends with a question mark
	polite  bool     // somebody said please
	denies  bool     // it began with "no" or the like
}

// parse returns text as a sentence. agent is the name by which the text may address the agent.
func parse(text, agent string) sentence {
	var s sentence
	s.asks = strings.HasSuffix(strings.TrimSpace(text), "?")
	name := language.Fold(agent)
	for clause := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(",.;:!?—–\n()", r) }) {
		c := language.Fold(clause)
		if slices.Contains(strings.Fields(c), "please") {
			s.polite = true
		}
		c = plain(c, name)
		if c == "no" || c == "nope" {
			s.denies = true
			continue
		}
		if c != "" {
			s.clauses = append(s.clauses, c)
		}
	}
	return s
}

// whole returns all clauses as one.
func (s sentence) whole() string { return strings.Join(s.clauses, " ") }

// has reports whether the sentence contains a word.
func (s sentence) has(word string) bool { return slices.Contains(strings.Fields(s.whole()), word) }

// fillers are words that mean nothing at the beginning or end of a clause.
var fillers = []string{
	"please", "ok", "okay", "hey", "oh", "ah", "um", "uh", "well", "so", "actually", "sorry", "wait", "just", "hm", "hmm",
	"thanks", "thank you", "maybe", "perhaps", "then", "right now", "now", "yes",
}

// plain returns a clause without fillers and without the name it addresses. A clause that consists
// of nothing else keeps its last filler, so that "wait" and "thanks" can be understood.
func plain(c, name string) string {
	for {
		was := c
		for _, f := range append(slices.Clip(fillers), name) {
			if f == "" || c == f && f != name {
				continue
			}
			c = strings.TrimSuffix(strings.TrimPrefix(c+" ", f+" "), " ")
			c = strings.TrimPrefix(strings.TrimSuffix(" "+c, " "+f), " ")
		}
		if c == was {
			return c
		}
	}
}

// tails are words at the end that only say when; they make no difference to what is asked.
var tails = lazyregexp.New(`( (yet|now|already|so far|by now|right now|at the moment|there|still|anyway|any more|currently|today))+$`)

// bare returns words without such a tail.
func bare(words string) string { return tails.ReplaceAllString(words, "") }

// empty are words that any two sentences may have in common, so they say nothing about the subject.
var empty = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(`about above after again against also always another around because been before being below between
		both cannot could does doing done down during each either else even ever every find first from going good have having here
		into just know last later least less like long look make many maybe more most much must need never next nothing once
		only other over people please really right said same shall should since some something soon still such take tell than that
		them then there these they thing think this those through time today tomorrow tonight under until very want well were what
		when where whether which while whole will with within without work would write your yesterday
		one two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand
		monday tuesday wednesday thursday friday saturday sunday`) {
		m[stem(w)] = true
	}
	return m
}()

// content returns the words of text that say what it is about.
func content(text string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(language.Fold(text)) {
		if w = stem(w); len(w) >= 4 && !empty[w] {
			m[w] = true
		}
	}
	return m
}

// stem returns a word without its plural or tense ending. The result need not be a word.
func stem(w string) string {
	for _, ending := range []string{"ies", "ing", "ed", "es", "s", "y", "e"} {
		if rest, ok := strings.CutSuffix(w, ending); ok && len(rest) >= 3 {
			return rest
		}
	}
	return w
}
