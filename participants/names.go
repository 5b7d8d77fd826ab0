package participants

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"
)

// maxName is the longest name in bytes: enough for any person, too short for a speech.
const maxName = 64

// CheckName returns name as it is shown, or an error that says what is wrong with it and what to do
// about it. A name is one or more words of letters, digits and - ' . _ (RFC 8265, section 3.5), all
// in one script, with at least one letter. Neither the name nor any of its words may be reserved.
// Reserved words can appear where a name can, such as "system" or "all", or say in a prompt who
// speaks to whom, such as "to". CheckName does not compare the name with those of other
// participants: see [Registry.Claim].
func CheckName(name string) (string, error) {
	shown, problem := check(name)
	return shown, wrongName(name, problem)
}

// CheckAgent is like [CheckName], for the name of an agent. Such a name may say what the agent is,
// as in "Coder Agent".
func CheckAgent(name string) (string, error) {
	shown, problem := checkWhole(name)
	if problem == "" {
		problem = among(shown, "agent", "ai", "assistant", "bot")
	}
	if err := wrongName(name, problem); err != nil {
		return "", err
	}
	return shown, nil
}

func wrongName(name, problem string) error {
	switch {
	case problem == "":
		return nil
	case strings.TrimSpace(name) == "":
		return Refuse(ErrName, "the name is missing", "give a name")
	}
	return Refuse(ErrName, fmt.Sprintf("the name %q %s", OneLine(name), problem), "choose another, such as "+example(name))
}

// example returns a valid name that is as close to name as possible.
func example(name string) string { return cmp.Or(nearest(name), "Ann") }

// nearest returns a valid name made from name; empty if there is none.
func nearest(name string) string {
	plain := only(OneLine(name), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || r == ' ' })
	for _, e := range []string{plain, unreserved(plain)} {
		if shown, problem := check(e); problem == "" {
			return shown
		}
	}
	return ""
}

// check returns name as it is shown, or what is wrong with it, worded to follow the name.
func check(name string) (shown, problem string) {
	if shown, problem = checkWhole(name); problem == "" {
		problem = among(shown)
	}
	if problem != "" {
		return "", problem
	}
	return shown, ""
}

// checkWhole is like check, but does not examine the single words of name.
func checkWhole(name string) (shown, problem string) {
	switch {
	case !utf8.ValidString(name):
		return "", "is not text"
	case len(name) > 4*maxName: // no spelling makes a name this much longer
		return "", fmt.Sprintf("has %d bytes; it may have %d", len(name), maxName)
	}
	if i := strings.IndexFunc(name, hidden); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		return "", fmt.Sprintf("has an invisible character in it (%U)", r)
	}
	words := strings.Fields(strings.ReplaceAll(name, "’", "'")) // as telephones write it
	for i, w := range words {
		var err error
		if words[i], err = precis.UsernameCasePreserved.String(w); err != nil {
			return "", "has a character that a name cannot have"
		}
	}
	shown = strings.Join(words, " ")
	for _, wrong := range []func(string) string{form, scripts, whole} {
		if problem = wrong(shown); problem != "" {
			return "", problem
		}
	}
	return shown, ""
}

// hidden reports whether r is a control character, ends a line or changes the direction of text.
// Joiners are not hidden: some scripts need them, and the rules for names know where.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d'
}

// form says what is wrong with the characters of name.
func form(name string) string {
	last, _ := utf8.DecodeLastRuneInString(name)
	first, _ := utf8.DecodeRuneInString(name)
	bad := strings.IndexFunc(name, func(r rune) bool { return !solid(r) && !strings.ContainsRune(" -'._\u200c\u200d", r) })
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("has %d bytes; it may have %d", len(name), maxName)
	case bad >= 0:
		r, _ := utf8.DecodeRuneInString(name[bad:])
		return fmt.Sprintf("has %q in it; it may have letters, digits, spaces and - ' . _", r)
	case !solid(first) || !solid(last):
		return "must begin and end with a letter or a digit"
	case !strings.ContainsFunc(name, unicode.IsLetter):
		return "has no letter in it"
	}
	return ""
}

// solid reports whether r is a letter, a mark on one, or a digit.
func solid(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.Nd) }

// together are the scripts that may be mixed in one word (UTS 39, section 5.1).
var together = [][]string{{"Han", "Hiragana", "Katakana"}, {"Han", "Hangul"}, {"Bopomofo", "Han"}}

// scripts says if the letters of name belong to more than one script.
func scripts(name string) string {
	used := make(map[string]bool)
	for _, r := range name {
		for script, table := range unicode.Scripts {
			if script != "Common" && script != "Inherited" && unicode.Is(table, r) {
				used[script] = true
			}
		}
	}
	all := slices.Sorted(maps.Keys(used))
	if len(all) < 2 || slices.ContainsFunc(together, func(t []string) bool {
		return !slices.ContainsFunc(all, func(s string) bool { return !slices.Contains(t, s) })
	}) {
		return ""
	}
	return "has letters of more than one script in it: " + strings.Join(all, ", ")
}

// reserved are words that can appear where a name can, in an envelope, an address, a command or on
// a screen; the roles that a model can play; and the words by which prompts say who speaks to whom;
// see package conversation.
var reserved = strings.Fields(`
	system all allagents everyone everybody anyone anybody someone somebody noone nobody none null nil unknown
	anonymous guest human humans person people me myself i you user users owner operator admin administrator moderator
	agent agents mainagent assistant ai bot model tool function developer voice voices speaker microphone
	console terminal satellite from to says said here channel room world last`)

// double are the reserved words that are also names of people, as in Ai Weiwei and Edward Said. In
// a name of several words, they count as names if they are written as such.
var double = strings.Fields("ai i last noone person said")

// named reports whether a word in a longer name is a name although it is reserved.
func named(word string) bool {
	first, size := utf8.DecodeRuneInString(word)
	return unicode.IsUpper(first) && !strings.ContainsFunc(word[size:], unicode.IsUpper) && slices.Contains(double, reservedAs(word))
}

// reservedLook maps the key of each reserved word to the word.
var reservedLook = sync.OnceValue(func() map[string]string {
	m := make(map[string]string)
	for _, w := range reserved {
		m[Key(w)] = w
	}
	return m
})

// whole says if name as a whole is a reserved word, possibly with digits and signs, as in "voice
// 3", or looks like one.
func whole(name string) string {
	if w := reservedAs(name); w != "" && w != "said" { // which means nothing on its own, and is a name
		return fmt.Sprintf("stands for something else: %q is a reserved word", w)
	}
	return ""
}

// among says if any word of name is reserved, apart from the given exceptions.
func among(name string, besides ...string) string {
	words := wordsIn(name)
	if len(words) == 1 {
		return "" // whole has checked it
	}
	for _, part := range append(words, joined(name)...) {
		if w := reservedAs(part); w != "" && !named(part) && !slices.Contains(besides, w) {
			return fmt.Sprintf("has %q in it, which stands for something else: %q is a reserved word", part, w)
		}
	}
	return ""
}

// reservedAs returns the reserved word that somebody could read in text; empty if there is none.
func reservedAs(text string) string {
	looks := []string{Key(letters(fold(text))), letters(Key(text))}
	if strings.ContainsFunc(text, unicode.IsLower) || !ascii(text) { // among ASCII capitals an I does not look like an l
		looks = append(looks, letters(settle(skeleton(text))))
	}
	for _, look := range looks {
		if w := reservedLook()[look]; w != "" {
			return w
		}
	}
	return ""
}

// wordsIn returns the words of name, separated by blanks and signs.
func wordsIn(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !solid(r) })
}

// joined returns the words that the pieces of a name spell, as in "Ann T O", "Ann FR OM" and "Ann
// F-R-O-M": every run of pieces without signs. An initial with a full stop is not a piece.
func joined(name string) (all []string) {
	var pieces []string
	for _, w := range append(strings.Fields(name), ".") {
		if parts := wordsIn(w); len(parts) > 1 {
			all = append(all, runs(parts)...)
		}
		if strings.HasSuffix(w, ".") {
			all = append(all, runs(pieces)...)
			pieces = nil
			continue
		}
		pieces = append(pieces, strings.Join(wordsIn(w), ""))
	}
	return all
}

// mostJoined is longer than any reserved word, with digits.
const mostJoined = 16

// runs returns every run of two or more adjacent pieces as one word.
func runs(pieces []string) (all []string) {
	for i := range pieces {
		run := pieces[i]
		for _, next := range pieces[i+1:] {
			if run += next; utf8.RuneCountInString(run) > mostJoined {
				break
			}
			all = append(all, run)
		}
	}
	return all
}

// unreserved returns name without its reserved words and their articles.
func unreserved(name string) string {
	words, had := strings.Fields(name), 0
	left := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		is := reservedAs(w) != "" && !named(w)
		if is {
			had++
		}
		return is
	})
	if had == 0 {
		return name
	}
	return strings.Join(slices.DeleteFunc(left, func(w string) bool { return fold(w) == "the" }), " ")
}

func letters(s string) string { return only(s, unicode.IsLetter) }

// only returns the characters of s that fit.
func only(s string, fits func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if fits(r) {
			return r
		}
		return -1
	}, s)
}

// OneLine returns name in a form that can be part of a line of a prompt or a screen: without
// control characters, brackets or needless space, and not too long.
func OneLine(name string) string { return line(name, maxName) }

// line returns the beginning of text, at most most bytes, in a form that can be part of a line.
func line(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f || r == '\uFFFD':
			return ' '
		case r == '[' || r == ']' || r == ':':
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	return cut(strings.Join(strings.Fields(text), " "), most)
}

// cut returns the beginning of name in whole characters, at most most bytes.
func cut(name string, most int) string {
	for len(name) > most {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return strings.TrimSpace(name)
}

// CheckWord returns s as one word of an address, in small letters and in its only spelling, or an
// error that says what is wrong with it and what to do about it. A word consists of letters, digits
// and - . _, all in one script, and begins and ends with a letter or a digit. Unlike a name, it may
// be a reserved word or a number.
func CheckWord(s string) (string, error) {
	w, problem := checkWord(s)
	if problem == "" {
		return w, nil
	}
	return "", Refuse(ErrName, fmt.Sprintf("%q cannot be used in an address: it %s", OneLine(s), problem),
		"use only letters, digits and - . _, such as daily-sync")
}

func checkWord(s string) (w, problem string) {
	switch {
	case !utf8.ValidString(s):
		return "", "is not text"
	case len(s) > 4*maxName: // no spelling makes a word this much longer
		return "", fmt.Sprintf("has %d bytes; it may have %d", len(s), maxName)
	}
	w = fold(s)
	bad := strings.IndexFunc(w, func(r rune) bool { return !solid(r) && !strings.ContainsRune("-._", r) })
	first, _ := utf8.DecodeRuneInString(w)
	last, _ := utf8.DecodeLastRuneInString(w)
	switch {
	case w == "":
		return "", "is empty"
	case len(w) > maxName:
		return "", fmt.Sprintf("has %d bytes; it may have %d", len(w), maxName)
	case bad >= 0:
		r, _ := utf8.DecodeRuneInString(w[bad:])
		return "", fmt.Sprintf("has %q in it", r)
	case !solid(first) || unicode.Is(unicode.M, first) || !solid(last):
		return "", "must begin and end with a letter or a digit"
	case fold(w) != w:
		return "", "has letters in it that can be written in more than one way"
	}
	if ascii(w) {
		return w, ""
	}
	return w, scripts(w)
}

// Near reports whether two names look the same.
func Near(a, b string) bool {
	n := makeNames()
	n.add(a, "a", false)
	_, near := n.same(b, "b")
	return near
}

// NearMain reports whether people could mistake an agent for the main one because of their names.
func NearMain(name, main string) bool {
	n := makeNames()
	n.add(main, Agent, true)
	_, near := n.near(name, "", true)
	return near
}
