package console

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// listed is how many of several completions are shown: a few rows.
const listed = 30

// complete completes the word before the cursor: a /command, the recipient of a private message,
// or an @name. Of several completions it writes the common beginning, or lists them if that adds
// nothing.
func (s *session) complete(commands, names []string) keyEffect {
	word, sign := completed(s.line.Text()[:s.line.Cursor()])
	all := names
	if sign == "/" {
		all = commands
	}
	fit, common := completions(all, word)
	switch {
	case sign == "" || len(fit) == 0:
		return keyEffect{bell: true}
	case len(fit) == 1:
		common = fit[0] + " "
	}
	if common != word && (len(fit) == 1 || len(common) > len(word)) {
		if !s.line.Replace(len(word), common) {
			return keyEffect{bell: true}
		}
		return keyEffect{}
	}
	mark := sign
	if sign == whom {
		mark = ""
	}
	more := ""
	if len(fit) > listed {
		fit, more = fit[:listed], " …"
	}
	return keyEffect{hint: mark + strings.Join(fit, " "+mark) + more}
}

// whom marks the recipient of a private message.
const whom = "to"

// completed returns the word before the cursor, and its kind: / for a command, @ for a name, or
// whom; "" if it is none of these.
func completed(before string) (word, sign string) {
	if name, is := strings.CutPrefix(before, "/"); is && !strings.ContainsFunc(name, unicode.IsSpace) && !strings.HasPrefix(name, "/") {
		return name, "/"
	}
	if len(before) >= len("/msg ") && strings.EqualFold(before[:len("/msg ")], "/msg ") {
		if at := strings.LastIndexByte(before, ','); at > 0 {
			return strings.TrimLeft(before[at+1:], " "), whom
		}
		return strings.TrimLeft(before[len("/msg "):], " "), whom
	}
	at := strings.LastIndexByte(before, '@')
	if at < 0 {
		return "", ""
	}
	if r, _ := utf8.DecodeLastRuneInString(before[:at]); at > 0 && (unicode.IsLetter(r) || unicode.IsNumber(r)) {
		return "", "" // as in an address
	}
	return before[at+1:], "@"
}

// completions returns those of all that begin with a word, ignoring case, in their order and once
// each, and their common beginning, in the spelling of the first.
func completions(all []string, word string) (fit []string, common string) {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, one := range slices.Compact(sorted) {
		if begins(one, word) < 0 {
			continue
		}
		if fit = append(fit, one); len(fit) == 1 {
			common = one
		}
		for begins(one, common) < 0 {
			_, n := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-n]
		}
	}
	return fit, common
}

// begins returns how many bytes of text match a word at its beginning, ignoring case; -1 if it
// does not begin with it.
func begins(text, word string) int {
	n := 0
	for range word {
		_, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 {
			return -1
		}
		n += size
	}
	if !strings.EqualFold(text[:n], word) {
		return -1
	}
	return n
}
