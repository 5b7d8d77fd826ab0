package attention

import (
	"strings"
	"unicode"

	"earshot/language"
)

// A sentence is one sentence of a text.
type sentence struct {
	words []string
	asks  bool // it has a question mark
}

// sentences returns the sentences of a text. Without punctuation it is one.
func sentences(text string) (all []sentence) {
	for text != "" {
		end := strings.IndexAny(text, ".!?")
		if end < 0 {
			end = len(text) - 1
		}
		s := sentence{words: language.Plain(text[:end+1]), asks: text[end] == '?'}
		if len(s.words) > 0 {
			all = append(all, s)
		}
		text = strings.TrimLeftFunc(text[end+1:], unicode.IsPunct)
	}
	return all
}

// A question says what kind of question a sentence asks, and whom.
type question int

const (
	none    question = iota
	own              // something that only some people know, or a question to one of them
	anybody          // something that anybody may know, asked of everybody
	fact             // something that can be known without having been there
)

func asks(s sentence) question {
	ws := begun(s.words)
	text := said(ws)
	switch {
	case len(ws) < 2 || !s.asks && !interrogative[ws[0]] && !says(text, open):
		return none
	case says(text, open):
		if says(text, knowing) && !has(ws, theirs) {
			return anybody
		}
		return own
	case says(text, trueOrNot):
		return fact
	case says(text, smallTalk) || has(generic(ws), personal):
		return own
	case factual(ws):
		return fact
	}
	return own
}

// begun returns the words of a sentence without introductory ones.
func begun(ws []string) []string {
	for len(ws) > 1 && fillers[ws[0]] {
		ws = ws[1:]
	}
	if len(ws) > 2 && (ws[0] == "at" || ws[0] == "in" || ws[0] == "on" || ws[0] == "for" || ws[0] == "to") && interrogative[ws[1]] {
		return ws[1:]
	}
	return ws
}

// generic returns the words of a sentence without a "you" that means anybody: how something is
// done, or how much of it is needed.
func generic(ws []string) []string {
	if ws[0] != "how" {
		return ws
	}
	for i, w := range ws {
		if w == "you" && i > 0 && (ws[i-1] == "do" || ws[i-1] == "can") && i+1 < len(ws) && !intimate[ws[i+1]] {
			return append(append([]string(nil), ws[:i]...), ws[i+1:]...)
		}
	}
	return ws
}

// factual reports whether a question about nobody present can be answered from general knowledge.
// Questions about household things can be only if they ask how such things are in general.
func factual(ws []string) bool {
	second := ws[1]
	switch ws[0] {
	case "what", "which":
		return (len(ws) > 3 || verbs[second] && len(ws) > 2) && !has(ws, household) // "what kind?" continues something
	case "whats":
		return second == "the" || second == "a" || second == "an"
	case "who":
		return makers[second] || (second == "is" || second == "was" || second == "were") && len(ws) > 2 && !has(ws, household)
	case "when":
		return !has(ws, household)
	case "where":
		return len(ws) > 2 && (second == "is" || second == "are" || second == "was") && ws[2] != "the" && ws[2] != "a" && !has(ws, household)
	case "why":
		return !has(ws, household) && !has(ws, grumbling)
	case "how":
		return measured[second] && len(ws) > 3
	}
	return false
}
