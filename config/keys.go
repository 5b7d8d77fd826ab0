package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"earshot/language"
)

// A member is one key of a section: its name in the file and its value.
type member struct {
	name  string
	value reflect.Value
}

// members returns the keys of a section, in the order of its struct. A struct
// that is placed inline lends its keys.
func members(section reflect.Value) (all []member) {
	for i := range section.NumField() {
		about := section.Type().Field(i)
		name, options, _ := strings.Cut(about.Tag.Get("yaml"), ",")
		switch {
		case name == "-" || !about.IsExported():
		case options == "inline":
			all = append(all, members(section.Field(i))...)
		case name == "":
			panic(fmt.Sprintf("config: %s.%s has no yaml name", section.Type(), about.Name))
		default:
			all = append(all, member{name, section.Field(i)})
		}
	}
	return all
}

var (
	readsText = reflect.TypeFor[encoding.TextUnmarshaler]()
	readsYAML = reflect.TypeFor[yaml.Unmarshaler]()
)

// readsItself reports whether t knows how it is written in the file.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(readsText) || p.Implements(readsYAML)
}

// isSection reports whether values of type t have keys of their own.
func isSection(t reflect.Type) bool { return t.Kind() == reflect.Struct && !readsItself(t) }

// isList reports whether values of type t are lists.
func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice && !readsItself(t) }

// walk calls visit for every key below section, each section before its keys.
// It does not look into lists.
func walk(key string, section reflect.Value, visit func(key string, value reflect.Value)) {
	for _, m := range members(section) {
		at := join(key, m.name)
		visit(at, m.value)
		if isSection(m.value.Type()) {
			walk(at, m.value, visit)
		}
	}
}

// Nearest returns which of known, in small letters, is meant by name, if one is close enough.
func Nearest(name string, known []string) (best string, ok bool) {
	if len(name) > longest {
		return "", false
	}
	least := max(1, min(3, len(name)/3)) + 1
	for _, k := range known {
		if d := language.EditsAndSwaps([]byte(strings.ToLower(name)), []byte(k)); d < least && d < len(k) {
			best, least, ok = k, d, true
		}
	}
	return best, ok
}
