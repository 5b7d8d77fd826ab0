package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// The bounds of the calls in a reply. Beyond them, the model does not mean anything.
const (
	maxCalls     = 32       // of one reply
	maxArguments = 64 << 10 // bytes of one call: a file of twenty pages
	maxName      = 64       // bytes of the name of a tool, or of an ID
)

// ErrCall says that a reply cannot be parsed as calls, or as a choice among tools. An engine
// reports it as [BadAnswer].
var ErrCall = errors.New("the model's call of a tool cannot be understood")

// ErrNoChoice is an [ErrCall]: the model does not choose, but says something else, or nothing. An
// engine repeats the request without tools.
var ErrNoChoice = fmt.Errorf("%w: it chooses none of the tools", ErrCall)

// Calls assembles the calls of one reply, for an engine. It is for one goroutine; the zero value
// is ready.
//
// An error of the server, such as more calls than anybody means, is an [ErrCall]. An error of the
// model alone is passed on, so that the model can be told: an unknown tool, and arguments that are
// not a JSON object, which are then nil.
type Calls struct {
	list []*pending
	at   map[int]*pending // by the server's number, the last call of each
}

// A pending call may not be complete yet.
type pending struct {
	id, tool  string
	arguments []byte
}

// Add adds a piece of the call with the server's number. The arguments of the pieces are joined;
// the ID and the tool may come with any of them. A second ID under the same number begins another
// call, since some servers number all with 0.
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

// End returns the calls, in the order in which they began, as the last deltas of the reply before
// its end. In a truncated reply the last call may be incomplete.
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

// object returns the JSON object in data, or nil. Empty data, if complete, is an empty object:
// some models call tools without arguments like that.
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
