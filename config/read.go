package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A reader fills a configuration from the nodes of a file. It goes on after a
// fault, so that all are found at once. How deep it goes is given by the
// configuration and not by the file.
type reader struct {
	file   string
	lines  map[string]int    // where each key stands
	whole  map[string]string // each last part of a key to the whole one
	faults []Fault
}

func (r *reader) fault(line int, key, format string, args ...any) {
	r.faults = append(r.faults, Fault{r.file, line, key, fmt.Sprintf(format, args...)})
}

// value reads n into v.
func (r *reader) value(key string, n *yaml.Node, v reflect.Value) {
	r.lines[dotted(key)] = n.Line
	switch t := v.Type(); {
	case n.Kind == yaml.AliasNode:
		r.fault(n.Line, key, "is an alias, *%s; write the value itself", shown(n.Value))
	case isSection(t):
		r.section(key, n, v)
	case isList(t):
		r.list(key, n, v)
	default:
		r.scalar(key, n, v)
	}
}

// section reads the keys of n into the struct v. A section without any keys is
// one where all of them are commented out.
func (r *reader) section(key string, n *yaml.Node, v reflect.Value) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n.Line, key, "is %s; must be a section, with keys below it", form(n))
		return
	}
	known := members(v)
	first := make(map[string]int) // the line that a key was seen in
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		at := join(key, shown(name.Value))
		if name.Kind != yaml.ScalarNode {
			r.fault(name.Line, key, "has %s for a key; must be a word", form(name))
			continue
		}
		if line, twice := first[name.Value]; twice {
			r.fault(name.Line, at, "stands here a second time; the first is in line %d", line)
			continue
		}
		first[name.Value] = name.Line
		if j := slices.IndexFunc(known, func(m member) bool { return m.name == name.Value }); j >= 0 {
			r.value(at, value, known[j].value)
			r.lines[dotted(at)] = name.Line
			continue
		}
		r.fault(name.Line, at, "%s", r.unknown(name.Value, known))
	}
}

// unknown says that a section has no key called name, and which may be meant.
func (r *reader) unknown(name string, known []member) string {
	var names []string
	for _, m := range known {
		names = append(names, m.name)
	}
	if near, ok := Nearest(name, names); ok {
		return fmt.Sprintf("is not a key; did you mean %q?", near)
	}
	if whole, ok := r.whole[name]; ok {
		return fmt.Sprintf("is not a key here; did you mean %s?", whole)
	}
	return "is not a key; there are " + strings.Join(names, ", ")
}

// A defaulter is an entry of a list that is something else than its zero value
// where the file does not say what it is.
type defaulter interface{ SetDefaults() }

// list reads the entries of n into the slice v, instead of what it held.
func (r *reader) list(key string, n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		r.fault(n.Line, key, "is %s; must be a list, such as [a, b], or [] for none", form(n))
		return
	}
	entries := reflect.Zero(v.Type())
	if len(n.Content) > 0 {
		entries = reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	}
	for i, entry := range n.Content {
		if d, ok := entries.Index(i).Addr().Interface().(defaulter); ok {
			d.SetDefaults()
		}
		r.value(fmt.Sprintf("%s[%d]", key, i), entry, entries.Index(i))
	}
	v.Set(entries)
}

// scalar reads the one value of n into v.
func (r *reader) scalar(key string, n *yaml.Node, v reflect.Value) {
	switch {
	case isNull(n):
		r.fault(n.Line, key, "has no value; give one, or remove the key")
	case n.Kind != yaml.ScalarNode:
		r.fault(n.Line, key, "is %s; must be one value", form(n))
	case !strings.HasPrefix(n.ShortTag(), "!!"):
		r.fault(n.Line, key, "has the tag %s; there are no tags here", shown(strings.TrimLeft(n.Tag, "!")))
	default:
		if err := set(n, v); err != nil {
			r.fault(n.Line, key, "%s", err.Error())
		}
	}
}

// set sets v to what n says. The error reads on from the key.
func set(n *yaml.Node, v reflect.Value) error {
	if readsItself(v.Type()) {
		return n.Decode(v.Addr().Interface())
	}
	tag := n.ShortTag()
	switch kind := v.Kind(); {
	case kind == reflect.String:
		v.SetString(n.Value)
		return nil
	case kind == reflect.Bool:
		if tag == "!!bool" && n.Decode(v.Addr().Interface()) == nil {
			return nil
		}
		return fmt.Errorf("is %s; must be true or false", quote(n.Value))
	case v.CanInt():
		if tag == "!!int" && n.Decode(v.Addr().Interface()) == nil {
			return nil
		}
		return fmt.Errorf("is %s; must be a whole number", quote(n.Value))
	case v.CanFloat():
		if (tag == "!!int" || tag == "!!float") && n.Decode(v.Addr().Interface()) == nil {
			return nil
		}
		return fmt.Errorf("is %s; must be a number", quote(n.Value))
	}
	panic("config: no file can hold a " + v.Type().String())
}

// isNull reports whether nothing stands where n does.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// form says what kind of thing n is.
func form(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a section"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case isNull(n):
		return "nothing"
	}
	return "a single value"
}
