package llmtest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"earshot/llm"
)

// deltas returns the pieces of an answer, and whether MaxTokens cut it. A
// piece counts as a token. A tool that was not offered is not called: the model
// says that it has none of that name.
func deltas(r Rule, req *llm.Request) (all []llm.Delta, cut bool) {
	if req.Think {
		for _, p := range pieces(r.Thinking, req.Whole) {
			all = append(all, llm.Delta{Thinking: p})
		}
	}
	calls, missing := offered(r.Calls, req.Tools)
	if r.Reply == "" {
		missing = strings.TrimPrefix(missing, " ")
	}
	for _, p := range pieces(r.Reply+missing, req.Whole) {
		all = append(all, llm.Delta{Text: p})
	}
	for _, c := range calls {
		all = append(all, llm.Delta{Call: &c})
	}
	if req.MaxTokens > 0 && len(all) > req.MaxTokens {
		return all[:req.MaxTokens], true
	}
	return all, false
}

// offered returns those of calls that tools allow, with their IDs, and what is
// said of the others.
func offered(calls []llm.Call, tools []llm.Tool) (can []llm.Call, missing string) {
	for _, c := range calls {
		if !slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == c.Tool }) {
			missing += fmt.Sprintf(" I have no tool %s.", c.Tool)
			continue
		}
		c.ID = fmt.Sprintf("call_%d", len(can)+1)
		can = append(can, c)
	}
	return can, missing
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
