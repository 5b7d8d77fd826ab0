// Package tool is what agents can do besides talking: the one registry of tools, who may use them,
// and the loop in which a model uses them.
//
// A call is what the protocol of the model marks as one, never something that is read out of prose.
// The rights of the askers are checked before each call. Its result is data for the model, and no
// instruction.
package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"earshot"
	"earshot/llm"
	"earshot/participants"
)

// A Scope says for whom and where a tool is used: one turn of an agent, or its part in another
// agent's.
type Scope struct {
	Agent earshot.ParticipantID
	Home  earshot.Path // whose workspace it works in: its own, or its maker's
	Room  earshot.RoomID
	Turn  earshot.TurnID
	About earshot.EventID // the event that is answered

	// Askers are all participants whose words are answered. Each must have the capability that the
	// tool needs. If there are none, nobody asked.
	Askers []participants.Participant

	// Asked are those askers who called for an answer, and did not just say something beside it:
	// what the others hold back, one of these may confirm.
	Asked []participants.Participant

	// Audience is who will perceive the result, and Visibility who may see what is kept of it.
	Audience   earshot.Audience
	Visibility earshot.Visibility

	// Rests returns what the answer rests on so far, including the question, and so does everything
	// made from it: it is erased when any of that is forgotten. May be nil.
	Rests func() []earshot.EventID

	// Budget is what is left to the turn, for all the agents that have a part in it together. It is
	// required.
	Budget *Budget
}

// A Tool is one entry of the registry.
type Tool struct {
	llm.Tool

	// Needs is the capability that everybody who asks must have. If empty, every known participant
	// may use the tool.
	Needs participants.Capability

	// Do uses the tool. It gives up when ctx ends, and is safe for concurrent use. An error is
	// shown to the model, which can correct its call by it; it reveals nothing about the internals
	// of the program. See [Refuse].
	Do func(ctx context.Context, s Scope, arguments json.RawMessage) (Answer, error)
}

// An Answer is the result of a call.
type Answer struct {
	Text earshot.Text

	// Images are shown to the model with Text, if it accepts pictures. They are not kept.
	Images []llm.Image

	// Who may see it, and what it was made from: nothing derived from it reaches further. A zero
	// Visibility means that of the scope.
	Visibility earshot.Visibility
	Sources    []earshot.EventID
}

// A Table is all tools that an agent may use.
type Table []Tool

// New returns a tool whose arguments are a T, as [Arguments] parses them; parameters is their JSON
// schema. do is [Tool].Do with the parsed arguments.
func New[T any](name, description, parameters string, needs participants.Capability, do func(context.Context, Scope, T) (Answer, error)) Tool {
	return Tool{
		Tool:  llm.Tool{Name: name, Description: description, Parameters: json.RawMessage(parameters)},
		Needs: needs,
		Do: func(ctx context.Context, s Scope, arguments json.RawMessage) (Answer, error) {
			given, err := Arguments[T](arguments)
			if err != nil {
				return Answer{}, err
			}
			return do(ctx, s, given)
		},
	}
}

// Arguments parses the arguments of a tool call as a T, a struct with a json name for each of its
// fields. Unknown fields and wrong types are errors: a model that is told what was wrong calls
// again, and one that is understood anyway does not learn.
func Arguments[T any](given json.RawMessage) (T, error) {
	var into T
	if len(bytes.TrimSpace(given)) == 0 {
		return into, nil
	}
	d := json.NewDecoder(bytes.NewReader(given))
	d.DisallowUnknownFields()
	err := d.Decode(&into)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more than one object")
		}
	}
	if err != nil {
		return into, fmt.Errorf("the arguments are wrong: %s; they are one JSON object with %s", wrong(err), takes(reflect.TypeFor[T]()))
	}
	return into, nil
}

// wrong describes an error in the words of JSON, not of Go.
func wrong(err error) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if t.Field == "" {
			return fmt.Sprintf("a %s instead of an object", t.Value)
		}
		return fmt.Sprintf("%s is a %s, and must be %s", t.Field, t.Value, kind(t.Type))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

func takes(t reflect.Type) string {
	var fields []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields = append(fields, fmt.Sprintf("%s (%s)", name, kind(f.Type)))
	}
	if len(fields) == 0 {
		return "nothing in it"
	}
	return strings.Join(fields, ", ")
}

func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	}
	return "a number"
}
