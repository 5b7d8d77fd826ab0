package participants

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
