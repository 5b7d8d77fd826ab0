package llm

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The keys of a choice.
const (
	sayKey  = "say"
	toolKey = "tool"
	withKey = "arguments"
)

// A ToolChoiceReader reads the reply to a request of [EmulateTools]. What the model says comes out
// as text as soon as it is written, and the chosen tool as a [Call] at the end. It is for one
// reply and one goroutine; the zero value is ready.
//
// The output does not depend on how the reply was split into pieces.
//
// A reply that does not begin like such an object is [ErrNoChoice]. One that turns out to be
// something else is an [ErrCall], as soon as that is known; so is one that ends too early. What
// was said until then stays said. Only a truncated reply may end anywhere: then its words are a
// truncated reply, and a tool that it had named is called with broken arguments, so that the model
// is told.
type ToolChoiceReader struct {
	at        choiceState
	keys      []string         // so far; the value of the last one is being read
	text      jsonStringReader // the key, or the value, that is being read
	name      []byte           // the key that is being read
	said      []byte           // in this piece
	tool      []byte
	arguments jsonObjectReader
	thoughts  Thoughts
}

// A choiceState is the position of a [ToolChoiceReader] in its object.
type choiceState int

const (
	before   choiceState = iota // the object
	opened                      // behind its brace
	inKey                       // of a member
	afterKey                    // before its colon
	atValue                     // behind its colon
	inText                      // in a value that is text
	inObject                    // in the arguments
	between                     // behind a value
	atKey                       // behind a comma
	behind                      // the object
)

// Next takes the next delta of the reply and returns what is known by now, or an empty delta,
// which is valid even if there is an error. After an error it must not be called any more.
func (c *ToolChoiceReader) Next(d Delta) ([]Delta, error) {
	switch {
	case d.Done != nil:
		return c.end(d)
	case d.Text == "":
		return []Delta{d}, nil
	}
	var err error
	c.said = c.said[:0]
	for i := 0; i < len(d.Text) && err == nil; i++ {
		err = c.step(d.Text[i])
	}
	out := c.thoughts.Next(string(c.said))
	switch {
	case err != nil:
		out = c.thoughts.rest(out)
	case len(out) == 0:
		out = []Delta{{}}
	}
	return out, err
}

// end returns what is left at the end of the reply, and that end.
func (c *ToolChoiceReader) end(done Delta) ([]Delta, error) {
	out := c.thoughts.End()
	whole := c.at == behind
	switch {
	case whole || done.Done.Truncated:
	case c.at == before:
		return out, ErrNoChoice
	default:
		return out, fmt.Errorf("%w: the choice ended too early", ErrCall)
	}
	named := slices.Contains(c.keys, toolKey) && (c.at != inText || c.key() != toolKey)
	if len(c.tool) > 0 && named {
		call := &Call{ID: "call_1", Tool: valid(string(c.tool))}
		if whole {
			call.Arguments = object(c.arguments.data, true)
		}
		out = append(out, Delta{Call: call})
	}
	return append(out, done), nil
}

// key returns the key whose value is being read.
func (c *ToolChoiceReader) key() string { return c.keys[len(c.keys)-1] }

// step takes the next byte of the object.
func (c *ToolChoiceReader) step(b byte) error {
	switch c.at {
	case inKey:
		return c.inKey(b)
	case inText:
		return c.inText(b)
	case inObject:
		return c.inObject(b)
	}
	if b == ' ' || b == '\t' || b == '\r' || b == '\n' {
		return nil
	}
	switch next := (move{c.at, b}); {
	case next == move{before, '{'}:
		c.at = opened
	case next == move{opened, '"'}, next == move{atKey, '"'}:
		c.at, c.name = inKey, nil
	case next == move{afterKey, ':'}:
		c.at = atValue
	case next == move{atValue, '"'} && c.key() != withKey:
		c.at = inText
	case next == move{atValue, '{'} && c.key() == withKey:
		c.at = inObject
		return c.inObject(b)
	case next == move{between, ','}:
		c.at = atKey
	case next == move{between, '}'}:
		c.at = behind
		return c.whole()
	case c.at == before:
		return ErrNoChoice
	default:
		return fmt.Errorf("%w: the choice is not an object", ErrCall)
	}
	return nil
}

// A move is a byte that leads from one state to another.
type move struct {
	at choiceState
	b  byte
}

// inKey handles a byte of a key.
func (c *ToolChoiceReader) inKey(b byte) error {
	end, err := c.text.step(&c.name, b)
	if err != nil || len(c.name) > len(withKey) {
		return fmt.Errorf("%w: the choice has an unknown key", ErrCall)
	}
	if !end {
		return nil
	}
	key := string(c.name)
	if !slices.Contains([]string{sayKey, toolKey, withKey}, key) || slices.Contains(c.keys, key) {
		return fmt.Errorf("%w: the choice has an unknown key", ErrCall)
	}
	c.at, c.keys = afterKey, append(c.keys, key)
	return nil
}

// inText handles a byte of the words, or of the name of the tool.
func (c *ToolChoiceReader) inText(b byte) error {
	to := &c.said
	if c.key() == toolKey {
		to = &c.tool
	}
	end, err := c.text.step(to, b)
	if err != nil {
		return err
	}
	if len(c.tool) > maxName {
		return fmt.Errorf("%w: the name of a tool of more than %d bytes", ErrCall, maxName)
	}
	if end {
		c.at = between
	}
	return nil
}

// inObject handles a byte of the arguments.
func (c *ToolChoiceReader) inObject(b byte) error {
	switch end := c.arguments.step(b); {
	case len(c.arguments.data) > maxArguments:
		return fmt.Errorf("%w: arguments of more than %d bytes", ErrCall, maxArguments)
	case end && !json.Valid(c.arguments.data):
		return fmt.Errorf("%w: the arguments are not an object", ErrCall)
	case end:
		c.at = between
	}
	return nil
}

// whole returns what is missing in the object, if anything.
func (c *ToolChoiceReader) whole() error {
	says, chooses := slices.Contains(c.keys, sayKey), len(c.tool) > 0
	if !chooses && (!says || len(c.keys) > 1) {
		return fmt.Errorf("%w: the choice is empty", ErrCall)
	}
	return nil
}
