package scene

import (
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/language"
)

// fresh is how long after an entry was taken in "no, that is wrong" refers to it.
const fresh = 2 * time.Minute

// About returns the entry that somebody's correction is about. It is the entry that shares most words
// with the correction, where rare words count more than common ones. If several entries share
// equally much, or the correction names nothing, it is the only one among them that is no more than
// a few minutes old. If it is not clear which entry is meant, About returns the entries to choose
// from.
//
// If that entry shares no word with the correction, or the correction itself is about wording, as
// in "I said ship, not shop", the correction is about something that was said aloud. Corrections
// are never about what was written, how an agent's own reply ended, or what passes by itself.
func About(items []Item, correction earshot.Text, now time.Time) (is Item, clear bool, among []Item) {
	aloud := slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return !i.Aloud })
	items = slices.DeleteFunc(slices.Clone(items), func(i Item) bool {
		return i.Field == Messages || i.Field == Agent || i.Source == "clock" || i.Passing
	})
	_, quotes := quoted(correction)
	if len(aloud) > 0 && (quotes || best(items, correction) == 0) && best(aloud, correction) > 0 {
		items = aloud
	}
	return about(items, correction, now)
}

// best returns how well a correction fits the entry that it fits best.
func best(items []Item, correction earshot.Text) (best float64) {
	said := words(correction)
	for _, i := range items {
		for w := range words(i.Text) {
			best = max(best, said[w])
		}
	}
	return best
}

// quoted returns a correction without the words that introduce what was said, such as "I said", and
// whether it has such words.
func quoted(correction earshot.Text) (string, bool) {
	said := undenied(correction)
	all := strings.Fields(said)
	for n, w := range all[:min(len(all), 3)] {
		if saying[strings.ToLower(w)] && n > 0 {
			return strings.Join(all[n+1:], " "), true
		}
	}
	return said, false
}

// saying are the words that introduce what somebody has said.
var saying = language.Set("said meant")

// Reheard applies somebody's correction to words that were said aloud. tells reports whether the
// correction says what the words really were: "ship, not shop" replaces the one by the other, and
// what follows "I said" replaces everything.
func Reheard(was, correction earshot.Text) (text earshot.Text, tells bool) {
	said, quotes := quoted(correction)
	text, out := Corrected(was, earshot.Text(said))
	return text, !out && (quotes || text != earshot.Text(said))
}

// about is [About] over the entries that may be meant.
func about(items []Item, correction earshot.Text, now time.Time) (is Item, clear bool, among []Item) {
	in := make(map[string]int)
	for _, i := range items {
		for w := range words(i.Text) {
			in[w]++
		}
	}
	best := 0.0
	said := words(correction)
	for _, i := range items {
		score := 0.0
		for w := range words(i.Text) {
			score += said[w] / float64(in[w])
		}
		if score > best {
			best, among = score, nil
		}
		if score == best && (score > 0 || i.By == "") { // a note of somebody's is meant only if a word of it is named
			among = append(among, i)
		}
	}
	newest := slices.DeleteFunc(slices.Clone(among), func(i Item) bool { return now.Sub(i.At) > fresh })
	switch {
	case len(among) == 1 && best > 0:
		return among[0], true, nil
	case len(newest) == 1:
		return newest[0], true, nil
	case len(among) == 0:
		return Item{}, false, items
	}
	return Item{}, false, among
}

// idle are words that do not tell what a correction is about.
var idle = language.Set("a an the this that these those it its he she they him her them his their is are was were be been am isn't wasn't aren't " +
	"not no nope never wrong false true right actually really but and or of in on at to for from with by i you we me my your our mine " +
	"have has had do does did don't doesn't didn't there here so just only please sorry mean meant")

// words returns the telling words of text in the form in which they are compared, with their
// weights: a possessive weighs less than the thing itself.
func words(text earshot.Text) map[string]float64 {
	all := make(map[string]float64)
	for _, w := range language.Words(string(text)) {
		w, whose := strings.CutSuffix(strings.Trim(w, "'"), "'s")
		if idle[w] || w == "" {
			continue
		}
		says := 1.0
		if whose {
			says = 0.5
		}
		all[stem(w)] = max(all[stem(w)], says)
	}
	return all
}

// stem returns a word without a plural ending.
func stem(w string) string {
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		return w[:len(w)-1]
	}
	return w
}

// Corrected returns the text of an entry after somebody's correction. out says that the correction
// only denies the entry, which is then removed. "Bob's, not Ann's" replaces the one by the other;
// any other words become the text.
func Corrected(was, correction earshot.Text) (text earshot.Text, out bool) {
	if len(words(correction)) == 0 {
		return "", true
	}
	said := undenied(correction)
	right, wrong, ok := instead(said)
	if !ok || hasAny(right, pointing) || hasAny(right, verbs) { // or the right words are a complete statement
		return earshot.Text(said), false
	}
	lower, part := strings.ToLower(string(was)), strings.ToLower(wrong)
	if at := strings.Index(lower, part); at >= 0 && len(lower) == len(was) && len(part) == len(wrong) {
		return was[:at] + earshot.Text(right) + was[at+len(wrong):], false
	}
	return earshot.Text(said), false
}

// undenied returns a correction without the parts at its beginning that only say that something is
// wrong.
func undenied(correction earshot.Text) string {
	said := strings.TrimSpace(string(correction))
	for {
		first, rest, more := strings.Cut(said, ",")
		if !more || len(words(earshot.Text(first))) > 0 || !hasAny(first, denials) {
			return said
		}
		said = strings.TrimSpace(rest)
	}
}

// denials are words that say that something is wrong.
var denials = language.Set("no nope not wrong actually sorry false")

// hasAny reports whether text has any of some words.
func hasAny(text string, some map[string]bool) bool {
	return slices.ContainsFunc(strings.Fields(strings.ToLower(text)), func(w string) bool { return some[w] })
}

// instead returns the right and the wrong words of "it is X, not Y" and "not Y but X".
func instead(said string) (right, wrong string, ok bool) {
	said = strings.TrimRight(said, ".!")
	if before, after, is := strings.Cut(said, ", not "); is {
		return bare(before), bare(after), bare(before) != "" && bare(after) != ""
	}
	if n := len("not "); len(said) > n && strings.EqualFold(said[:n], "not ") {
		if y, x, is := strings.Cut(said[n:], " but "); is {
			return bare(x), bare(y), bare(x) != "" && bare(y) != ""
		}
	}
	return "", "", false
}

// verbs are the usual verbs of a statement.
var verbs = language.Set("has have had will would can could does did likes wants needs")

// bare returns text without the leading words that point at its subject.
func bare(text string) string {
	for {
		text = strings.TrimSpace(text)
		first, rest, more := strings.Cut(text, " ")
		if !more || !pointing[strings.ToLower(first)] {
			return text
		}
		text = rest
	}
}

var pointing = language.Set("it it's that that's this these those is was are were he he's she she's they they're")
