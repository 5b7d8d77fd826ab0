package llmtest

import (
	"slices"
	"strings"

	"earshot/llm"
)

// fits reports whether r answers req.
func (r Rule) fits(req *llm.Request) bool {
	result, called := afterCall(req)
	switch {
	case use(req) != r.For:
		return false
	case called != (r.Result != nil):
		return false
	case r.Pictures != nil && *r.Pictures != shown(req):
		return false
	case called && !holds(result, *r.Result):
		return false
	}
	return holds(asks(req), r.When) && (r.Agent == "" || told(req, r.Agent))
}

// holds reports whether text contains part, ignoring case.
func holds(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// afterCall returns the last message, if it is the result of a call.
func afterCall(req *llm.Request) (text string, ok bool) {
	if len(req.Messages) == 0 {
		return "", false
	}
	last := req.Messages[len(req.Messages)-1]
	return last.Text, last.Role == llm.Result
}

// shown returns the number of pictures in req.
func shown(req *llm.Request) (n int) {
	for _, m := range req.Messages {
		n += len(m.Images)
	}
	return n
}

// told reports whether the system tells the model that it is the agent with a name.
func told(req *llm.Request, name string) bool {
	return slices.ContainsFunc(req.Messages, func(m llm.Message) bool {
		return m.Role == llm.System && strings.Contains(m.Text, "You are "+name+".")
	})
}

// asks returns the text in which r.When is searched: for a thought the last message, whoever its
// author is.
func asks(req *llm.Request) string {
	if n := len(req.Messages); n > 0 && use(req) != ForReply {
		return req.Messages[n-1].Text
	}
	return lastOfUser(req)
}

// lastOfUser returns the last message of the user.
func lastOfUser(req *llm.Request) string {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role == llm.User {
			return m.Text
		}
	}
	return ""
}
