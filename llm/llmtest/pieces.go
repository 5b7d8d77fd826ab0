package llmtest

import (
	"strings"
	"unicode"

	"earshot/llm"
)

// deltas returns the pieces of an answer, and whether MaxTokens cut it. A
// piece counts as a token.
func deltas(r Rule, req *llm.Request) (all []llm.Delta, cut bool) {
	if req.Think {
		for _, p := range pieces(r.Thinking, req.Whole) {
			all = append(all, llm.Delta{Thinking: p})
		}
	}
	for _, p := range pieces(r.Reply, req.Whole) {
		all = append(all, llm.Delta{Text: p})
	}
	if req.MaxTokens > 0 && len(all) > req.MaxTokens {
		return all[:req.MaxTokens], true
	}
	return all, false
}

// pieces cuts text into words, each with the white space before it, or leaves
// it whole.
func pieces(text string, whole bool) (all []string) {
	for !whole {
		word := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
		if word < 0 {
			break
		}
		end := strings.IndexFunc(text[word:], unicode.IsSpace)
		if end < 0 {
			break
		}
		all, text = append(all, text[:word+end]), text[word+end:]
	}
	if text != "" {
		all = append(all, text)
	}
	return all
}

// words counts the tokens of a prompt, a word as one.
func words(req *llm.Request) (n int) {
	for _, m := range req.Messages {
		n += len(strings.Fields(m.Text))
	}
	return n
}
