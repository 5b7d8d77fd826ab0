package think

import (
	"strings"
	"unicode/utf8"

	"earshot/language"
)

// left marks the place where part of a thought was left out.
const left = "\n[…]\n"

// Condensed returns a thought in at most most bytes: all of it, or its beginning and its end, each
// cut between sentences where possible. most must be more than a few words.
func Condensed(thought string, most int) string {
	thought = strings.TrimSpace(thought)
	if len(thought) <= most {
		return thought
	}
	head := strings.TrimSpace(upToSentence(thought[:min(keptHead, most/4)]))
	tail := thought[len(thought)-(most-len(head)-len(left)):]
	return head + left + strings.TrimSpace(fromSentence(tail))
}

// upToSentence returns the whole sentences at the beginning of text, or its words if it has no
// whole sentence.
func upToSentence(text string) string {
	text = language.WholeRunes(text)
	for i := len(text) - 1; i > 0; i-- {
		if ends(text, i) {
			return text[:i]
		}
	}
	if i := strings.LastIndexAny(text, " \n"); i > 0 {
		return text[:i]
	}
	return text
}

// fromSentence returns the whole sentences at the end of text, or its words if it has none.
func fromSentence(text string) string {
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	for i := 1; i < len(text)*3/4; i++ { // better to cut at a word than to lose a quarter of it
		if ends(text, i) {
			return text[i:]
		}
	}
	if i := strings.IndexAny(text, " \n"); i >= 0 {
		return text[i:]
	}
	return text
}

// ends reports whether a sentence or a line ends before byte i.
func ends(text string, i int) bool {
	return text[i] == '\n' || text[i] == ' ' && strings.IndexByte(".!?", text[i-1]) >= 0
}
