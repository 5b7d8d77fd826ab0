package llm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Form is the structure of a prompt. Most servers accept any prompt. The chat templates of
// others refuse a system message after the first, two messages of one role in a row, or any system
// message at all.
type Form int

// The forms, from the most expressive to the one that every template accepts.
const (
	// Plain leaves the prompt unchanged.
	Plain Form = iota

	// OneSystem is a system message, if the prompt begins with one, and then turns: user and
	// assistant alternate, the user comes first, and the assistant is not last. A later system
	// message becomes a note in the adjacent message of the user. An assistant calls one tool at a
	// time, the result follows, and an assistant speaks before the user does again.
	OneSystem

	// NoSystem is the same, with the system message as a note at the beginning of the first message
	// of the user.
	NoSystem
)

// String describes what a server's template requires.
func (f Form) String() string {
	switch f {
	case OneSystem:
		return "one system message and then turns"
	case NoSystem:
		return "no system message, only turns"
	}
	return "messages in any order"
}

const (
	// noted begins a note in a message of the user. It is the envelope that package conversation
	// renders for "System", and removes from what anybody says.
	noted = "[FROM: System] "

	opening = noted + "The conversation goes on from here." // before an assistant that would be first
	yours   = noted + "It is your turn."                    // after one that would be last
	read    = "I have read that."                           // between the result of a tool and a user
)

// Apply returns req in the form f. The order is kept, so that a server that caches the beginning
// of a prompt still finds it. Req itself is not changed.
func (f Form) Apply(req *Request) *Request {
	if f == Plain {
		return req
	}
	var t turns
	rest, leads := req.Messages, len(req.Messages) > 0 && req.Messages[0].Role == System
	if leads {
		rest = rest[1:]
	}
	if leads && f == NoSystem {
		t.add(Message{Role: User, Text: noted + req.Messages[0].Text})
	}
	for i := 0; i < len(rest); i++ {
		m := rest[i]
		switch {
		case m.Role == System:
			t.add(Message{Role: User, Text: noted + m.Text})
		case len(m.Calls) > 0:
			end := i + 1
			for end < len(rest) && rest[end].Role == Result {
				end++
			}
			t.called(m, rest[i+1:end])
			i = end - 1
		default:
			t.add(m)
		}
	}
	if n := len(t.list); n == 0 || t.list[n-1].Role == Assistant {
		t.add(Message{Role: User, Text: yours})
	}
	out := *req
	out.Messages = t.list
	if leads && f == OneSystem {
		out.Messages = slices.Insert(t.list, 0, req.Messages[0])
	}
	return &out
}

// turns are messages without two of the same role in a row.
type turns struct {
	list  []Message
	calls int
}

// add adds a message, by joining it to the last one if that has the same role.
func (t *turns) add(m Message) {
	n := len(t.list)
	switch {
	case n == 0 && m.Role != User:
		t.list = append(t.list, Message{Role: User, Text: opening})
	case n > 0 && m.Role == User && t.list[n-1].Role == Result:
		t.list = append(t.list, Message{Role: Assistant, Text: read})
	case n > 0 && m.Role == t.list[n-1].Role && m.Role != Result && len(t.list[n-1].Calls) == 0:
		t.list[n-1] = merged(t.list[n-1], m)
		return
	}
	t.list = append(t.list, m)
}

// called adds the calls of an assistant, each followed by its result, and the pictures after all
// of them. The calls are renumbered in a way that every template accepts: one demands nine letters
// and digits.
func (t *turns) called(m Message, results []Message) {
	var pictures Message
	results = slices.Clone(results)
	for i, c := range m.Calls {
		t.calls++
		id := fmt.Sprintf("call%05d", t.calls)
		one := Message{Role: Assistant, Calls: []Call{{ID: id, Tool: c.Tool, Arguments: c.Arguments}}}
		if i == 0 {
			one.Text = m.Text
		}
		t.add(one)
		at := slices.IndexFunc(results, func(r Message) bool { return r.Call == c.ID })
		if at < 0 {
			continue
		}
		r := results[at]
		results = slices.Delete(results, at, at+1)
		pictures.Images = append(pictures.Images, r.Images...)
		r.Call, r.Images = id, nil
		t.add(r)
	}
	for _, r := range results { // without a call
		t.add(r)
	}
	if pictures.Images != nil {
		pictures.Role = User
		t.add(pictures)
	}
}

// merged joins two messages of one role.
func merged(a, b Message) Message {
	blind := ""
	if a.AltText != "" || b.AltText != "" {
		blind = paragraphs(cmp.Or(a.AltText, a.Text), cmp.Or(b.AltText, b.Text))
	}
	return Message{
		Role: a.Role, Text: paragraphs(a.Text, b.Text), AltText: blind,
		Images: slices.Concat(a.Images, b.Images), Calls: b.Calls,
	}
}

// paragraphs joins two texts, with an empty line in between if there are two.
func paragraphs(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return strings.TrimRight(a, "\n") + "\n\n" + b
}
