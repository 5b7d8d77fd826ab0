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

	"earshot/llm"
	"earshot/participants"
)

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
