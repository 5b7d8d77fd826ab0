package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// What a reply may call. More is no model that means something.
const (
	maxCalls     = 32       // of one reply
	maxArguments = 64 << 10 // bytes of one call: a file of twenty pages
	maxName      = 64       // bytes of the name of a tool, or of an ID
)

// ErrCall is that a reply cannot be understood as calls, or as a choice among
// tools. An engine tells it as [BadAnswer].
var ErrCall = errors.New("the model's call of a tool cannot be understood")

// ErrNoChoice is an [ErrCall]: the model does not choose at all, but says something,
// or nothing. An engine asks it again without tools.
var ErrNoChoice = fmt.Errorf("%w: it chooses none of the tools", ErrCall)

// Calls puts the calls of one reply together, for an engine. It is for one
// goroutine; the zero value is ready.
//
// What the server does wrong, such as more calls than anybody means, is an
// [ErrCall]. What only the model did wrong is handed on, so that it can be told:
// a tool that there is not, and arguments that are not a JSON object, which are
// nil then.
type Calls struct {
	list []*pending
	at   map[int]*pending // by the server's number, the last one of each
}

// A pending call is one that may not be whole yet.
type pending struct {
	id, tool  string
	arguments []byte
}

// Add adds a piece of the call that the server numbers so. The arguments of its
// pieces are put together; the ID and the tool may stand in any of them. A
// second ID under the same number begins another call, since some servers
// number all with 0.
func (c *Calls) Add(number int, id, tool, arguments string) error {
	p := c.at[number]
	if p == nil || id != "" && p.id != "" && id != p.id {
		if len(c.list) == maxCalls {
			return fmt.Errorf("%w: more than %d calls", ErrCall, maxCalls)
		}
		if c.at == nil {
			c.at = make(map[int]*pending)
		}
		p = new(pending)
		c.list, c.at[number] = append(c.list, p), p
	}
	if p.id == "" {
		p.id = id
	}
	if p.tool == "" {
		p.tool = tool
	}
	if len(p.arguments)+len(arguments) > maxArguments {
		return fmt.Errorf("%w: arguments of more than %d bytes", ErrCall, maxArguments)
	}
	p.arguments = append(p.arguments, arguments...)
	return nil
}

// End returns the calls, in the order in which they began, as the last deltas
// of the reply before its end. Of a reply that was truncated the last call may
// not be whole.
func (c *Calls) End(truncated bool) ([]Delta, error) {
	var all []Delta
	used := make(map[string]bool)
	for i, p := range c.list {
		if p.tool == "" || len(p.tool) > maxName {
			return nil, fmt.Errorf("%w: a call without the name of a tool", ErrCall)
		}
		whole := !truncated || i < len(c.list)-1
		call := &Call{ID: p.id, Tool: valid(p.tool), Arguments: object(p.arguments, whole)}
		for n := i + 1; call.ID == "" || len(call.ID) > maxName || used[call.ID]; n++ {
			call.ID = fmt.Sprintf("call_%d", n)
		}
		used[call.ID] = true
		all = append(all, Delta{Call: call})
	}
	return all, nil
}

// object returns the JSON object that data is, or nil. No data at all, if that is
// whole, is one without anything in it: so some models call what takes nothing.
func object(data []byte, whole bool) json.RawMessage {
	data = bytes.TrimSpace(bytes.ToValidUTF8(data, []byte("\ufffd")))
	if (len(data) == 0 || string(data) == "null") && whole {
		return json.RawMessage("{}")
	}
	var out bytes.Buffer
	if len(data) == 0 || data[0] != '{' || json.Compact(&out, data) != nil {
		return nil
	}
	return out.Bytes()
}
