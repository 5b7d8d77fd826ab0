// Package openapi describes an HTTP API in OpenAPI 3.1, from the Go types that are sent and
// received, as encoding/json encodes them. So the description cannot differ from the program.
package openapi

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// A Schema is a JSON Schema.
type Schema map[string]any

// Schemas collects the schemas of types. The zero value is empty.
type Schemas struct {
	named map[string]Schema
	by    map[reflect.Type]string
	own   map[reflect.Type]func() Schema
}

// Own has make describe the values of a type, instead of its fields: the type has its own
// encoding.
func (s *Schemas) Own(t reflect.Type, made func() Schema) {
	if s.own == nil {
		s.own = make(map[reflect.Type]func() Schema)
	}
	s.own[t] = made
}

// Named returns the schemas of all named types that were met, by name.
func (s *Schemas) Named() map[string]Schema { return s.named }

var (
	times      = reflect.TypeFor[time.Time]()
	durations  = reflect.TypeFor[time.Duration]()
	raws       = reflect.TypeFor[json.RawMessage]()
	writesJSON = reflect.TypeFor[json.Marshaler]()
	writesText = reflect.TypeFor[encoding.TextMarshaler]()
)

// Of returns the schema of the values of a type. A named struct is described once, and referenced.
// A type that JSON cannot encode is a bug of the caller.
func (s *Schemas) Of(t reflect.Type) Schema {
	switch {
	case t.Kind() == reflect.Pointer:
		return s.Of(t.Elem())
	case t == times:
		return Schema{"type": "string", "format": "date-time"}
	case t == durations:
		return Schema{"type": "integer", "description": "nanoseconds"}
	case t == raws, t.Kind() == reflect.Interface:
		return Schema{}
	case s.own[t] != nil:
		return s.refer(t, s.own[t])
	case t.Implements(writesJSON), reflect.PointerTo(t).Implements(writesJSON):
		panic(fmt.Sprintf("openapi: %v has its own JSON encoding; describe it with Own", t))
	case t.Implements(writesText):
		return Schema{"type": "string"}
	}
	switch t.Kind() {
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Schema{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return Schema{"type": "number"}
	case reflect.Slice, reflect.Array:
		return s.list(t)
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": s.Of(t.Elem())}
	case reflect.Struct:
		if t.Name() == "" {
			return s.object(t)
		}
		return s.refer(t, func() Schema { return s.object(t) })
	}
	panic(fmt.Sprintf("openapi: %v cannot be encoded as JSON", t))
}

// list returns the schema of a list. A nil list is encoded as null.
func (s *Schemas) list(t reflect.Type) Schema {
	if t.Elem().Kind() == reflect.Uint8 && t.Kind() == reflect.Slice {
		return Schema{"type": "string", "contentEncoding": "base64"}
	}
	list := Schema{"type": "array", "items": s.Of(t.Elem())}
	if t.Kind() == reflect.Slice {
		list["type"] = []string{"array", "null"}
	}
	return list
}

// refer returns a reference to the schema of a named type.
func (s *Schemas) refer(t reflect.Type, made func() Schema) Schema {
	name, known := s.by[t]
	if !known {
		name = s.name(t)
		if s.by == nil {
			s.by, s.named = make(map[reflect.Type]string), make(map[string]Schema)
		}
		s.by[t], s.named[name] = name, nil // it may contain itself
		s.named[name] = made()
	}
	return Schema{"$ref": "#/components/schemas/" + name}
}

// name returns the name of a type's schema: its Go name, with the package if another type has the
// same name.
func (s *Schemas) name(t reflect.Type) string {
	title := func(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
	name := title(t.Name())
	if _, taken := s.named[name]; taken {
		path := t.PkgPath()
		name = title(path[strings.LastIndexByte(path, '/')+1:]) + name
	}
	if _, taken := s.named[name]; taken {
		panic(fmt.Sprintf("openapi: there are two types called %s", name))
	}
	return name
}

// object returns the schema of a struct, as encoding/json encodes it.
func (s *Schemas) object(t reflect.Type) Schema {
	properties, required := make(map[string]Schema), []string{}
	s.fields(t, properties, &required)
	o := Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// fields collects the fields of a struct, with those of embedded structs.
func (s *Schemas) fields(t reflect.Type, properties map[string]Schema, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case name == "-" && options == "":
		case f.Anonymous && name == "" && kind.Kind() == reflect.Struct:
			s.fields(kind, properties, required)
		case !f.IsExported():
		default:
			if name == "" {
				name = f.Name
			}
			properties[name] = s.Of(f.Type)
			if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
				*required = append(*required, name)
			}
		}
	}
}
