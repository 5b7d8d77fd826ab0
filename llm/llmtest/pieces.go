package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"earshot/llm"
)

// deltas returns the pieces of an answer, and whether MaxTokens cut it. A piece counts as a token.
func deltas(r Rule, req *llm.Request) (all []llm.Delta, cut bool) {
	if req.Think {
		for _, p := range pieces(r.Thinking, req.Whole) {
			all = append(all, llm.Delta{Thinking: p})
		}
	}
	for _, p := range pieces(r.Reply, req.Whole) {
		all = append(all, llm.Delta{Text: p})
	}
	for _, c := range r.Calls {
		all = append(all, llm.Delta{Call: &c})
	}
	if req.MaxTokens > 0 && len(all) > req.MaxTokens {
		return all[:req.MaxTokens], true
	}
	return all, false
}

// offered returns r with those calls that tools allow, with their IDs. About the others it says
// that the model has no such tool.
func offered(r Rule, tools []llm.Tool) Rule {
	calls := r.Calls
	r.Calls = nil
	for _, c := range calls {
		if !slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == c.Tool }) {
			if r.Reply != "" {
				r.Reply += " "
			}
			r.Reply += fmt.Sprintf("I have no tool %s.", c.Tool)
			continue
		}
		c.ID = fmt.Sprintf("call_%d", len(r.Calls)+1)
		r.Calls = append(r.Calls, c)
	}
	return r
}

// choosing returns r in the form of a choice.
func choosing(r Rule) Rule {
	choice := make(map[string]any)
	if r.Reply != "" || len(r.Calls) == 0 {
		choice["say"] = r.Reply
	}
	for _, c := range r.Calls[:min(len(r.Calls), 1)] {
		choice["tool"] = c.Tool
		if c.Arguments != nil {
			choice["arguments"] = c.Arguments
		}
	}
	text, err := json.Marshal(choice)
	if err != nil {
		panic("llmtest: a rule calls with arguments that are not JSON: " + err.Error())
	}
	r.Reply, r.Calls = string(text), nil
	return r
}

// chosen returns a yield for a reply that is a choice.
func chosen(yield func(llm.Delta, error) bool) func(llm.Delta, error) bool {
	var c llm.ToolChoiceReader
	return func(d llm.Delta, err error) bool {
		if err != nil {
			return yield(d, err)
		}
		said, _ := c.Next(d) // which was written here
		for _, d := range said {
			if !yield(d, nil) {
				return false
			}
		}
		return true
	}
}

// pieces splits text into words, each with the white space before it, or leaves it whole.
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

// words counts the tokens of a prompt, one per word.
func words(req *llm.Request) (n int) {
	for _, m := range req.Messages {
		n += len(strings.Fields(m.Text))
	}
	return n
}
