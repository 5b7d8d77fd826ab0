package participants

import (
	"bytes"
	"cmp"
	_ "embed" // for prototypes.txt
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// prototypes.txt lists the characters that look like others, and what they look like (Unicode
// Technical Standard 39, section 4), if they can be part of a name. A line has the code points of
// the look, joined by "+", and those of all characters with that look.
//
// To regenerate it, install the package that [TestPrototypes] names, and run go generate.
//
//go:generate go test -run TestPrototypes -update
//go:embed prototypes.txt
var prototypes []byte

// prototype maps each character to what it looks like.
var prototype = sync.OnceValue(func() map[rune]string {
	m := make(map[rune]string)
	for line := range bytes.Lines(prototypes) {
		if line[0] == '#' || line[0] == '\n' {
			continue
		}
		fields := strings.Fields(string(line))
		var look strings.Builder
		for code := range strings.SplitSeq(fields[0], "+") {
			look.WriteRune(point(code))
		}
		for _, code := range fields[1:] {
			m[point(code)] = look.String()
		}
	}
	return m
})

// point returns the character of a code point in prototypes.txt.
func point(code string) rune {
	n, err := strconv.ParseUint(code, 16, 32)
	if err != nil {
		panic("participants: prototypes.txt: " + err.Error())
	}
	return rune(n)
}

// fold returns the form that all spellings of one name share: it ignores case, width and repeated
// spaces. Participants are found by it.
func fold(name string) string {
	if ascii(name) { // most names are, and the library takes ten times as long
		return strings.ToLower(strings.Join(strings.Fields(name), " "))
	}
	name = strings.Join(strings.Fields(norm.NFKC.String(name)), " ")
	return norm.NFKC.String(strings.Map(oneCase, cases.Fold().String(name)))
}

// ascii reports whether name has only ASCII characters.
func ascii(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
}

// oneCase returns r, or the capital of a Cherokee letter: folding exchanges the two.
func oneCase(r rune) rune {
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

// Key returns the look of a name in small letters, by which people could mistake it for another. No
// two people or agents have the same key. It is only for comparison, and means nothing to people.
func Key(name string) string { return settle(fold(name)) }

// keys returns the keys that no other name may share: the look of name in small letters, and its
// look as written, because a capital I looks like a small l. Both leave out what people overlook.
func keys(name string) []string {
	small, written := bare(Key(name)), bare(settle(skeleton(norm.NFKC.String(name))))
	if small == written {
		return []string{small}
	}
	return []string{small, written}
}

// spellings returns the forms of a name whose letters are compared one by one: its keys, and the
// name with only the looks that are single letters. An m looks like rn, but is still one letter.
func spellings(name string) (all [][]rune) {
	for _, k := range append(keys(name), bare(single(fold(name)))) {
		if letters := []rune(k); !slices.ContainsFunc(all, func(had []rune) bool { return slices.Equal(had, letters) }) {
			all = append(all, letters)
		}
	}
	return all
}

// single returns name with each character replaced by its look, if that is a single character.
func single(name string) string {
	return strings.Map(func(r rune) rune {
		if look, size := utf8.DecodeRuneInString(prototype()[r]); size > 0 && size == len(prototype()[r]) {
			return look
		}
		return r
	}, norm.NFD.String(name))
}

// bare returns a look without what people overlook in a name: blanks, signs and accents. It keeps
// the vowels of scripts that write them as marks.
func bare(look string) string {
	left := only(look, func(r rune) bool { return solid(r) && !accent(r) })
	return cmp.Or(left, look) // some letters look like signs
}

// accent reports whether r is a mark that is often left out. The two marks that turn a kana into
// another syllable are not.
func accent(r rune) bool {
	return unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Hebrew) && r != '\u3099' && r != '\u309a'
}

// slip reports whether a and b are the same, or differ in exactly one letter that is added, missing
// or changed, or in two swapped letters. An added digit does not count, because a number
// distinguishes names.
func slip(a, b []rune) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case i == len(b): // they are the same
		return true
	case len(a) < len(b):
		return !unicode.IsDigit(b[i]) && slices.Equal(a[i:], b[i+1:])
	case slices.Equal(a[i+1:], b[i+1:]):
		return !unicode.IsDigit(a[i]) || !unicode.IsDigit(b[i])
	}
	return a[i] == b[i+1] && a[i+1] == b[i] && slices.Equal(a[i+2:], b[i+2:])
}

// settle returns the look of name in small letters. The look of a character may be a capital whose
// small letter looks like something else, so the step is repeated until nothing changes. That has
// never taken more than three rounds.
func settle(name string) string {
	for range 8 {
		next := skeleton(fold(name))
		if next == name {
			break
		}
		name = next
	}
	return name
}

// skeleton returns name with each character replaced by its look, and without invisible characters
// (UTS 39, section 4).
func skeleton(name string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(name) {
		switch look, ok := prototype()[r]; {
		case unseen(r):
		case ok:
			b.WriteString(look)
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFD.String(b.String())
}

// unseen reports whether r is invisible: a joiner, a mark of direction, a variation selector or the
// like.
func unseen(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
