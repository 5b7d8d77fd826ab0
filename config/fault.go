package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"earshot/internal/field"
)

// A Fault is one thing that is wrong with the configuration, and where.
type Fault struct {
	Where   string `json:"where,omitempty"` // the file or the environment variable; empty where it is nobody's
	Line    int    `json:"line,omitempty"`  // in the file; 0 where it is about no line
	Key     string `json:"key,omitempty"`
	Problem string `json:"problem"`
}

// String returns f in one line, the place first.
func (f Fault) String() string {
	var b strings.Builder
	if f.Where != "" {
		b.WriteString(f.Where)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		b.WriteString(": ")
	}
	if f.Key != "" {
		b.WriteString(f.Key + ": ")
	}
	b.WriteString(f.Problem)
	return b.String()
}

// mostFaults is how many are told; who has more has named the wrong file.
const mostFaults = 50

// An Error is a configuration that cannot be used, with every reason.
type Error struct {
	Faults []Fault
	More   int // faults that are not told, since there are too many
}

// Error returns the faults, one a line.
func (e *Error) Error() string {
	var lines []string
	for _, f := range e.Faults {
		lines = append(lines, f.String())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// Concerns reports whether the value of key, which belongs to a section, may differ from what the
// author of the configuration meant, because something is wrong with the key, its section, or the
// whole file.
func (e *Error) Concerns(key string) bool {
	section := key[:max(0, strings.LastIndexByte(key, '.'))]
	return e.More > 0 || slices.ContainsFunc(e.Faults, func(f Fault) bool {
		at := dotted(f.Key)
		return f.Key == "" || under(key, at) || under(at, section)
	})
}

// asError makes an error of faults, in the order of the file, the environment
// last. It returns nil for none.
func asError(file string, faults []Fault) error {
	if len(faults) == 0 {
		return nil
	}
	order := func(f Fault) int {
		if f.Where == file {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(order(a)-order(b), cmp.Compare(a.Line, b.Line))
	})
	told := faults[:min(len(faults), mostFaults)]
	return &Error{Faults: told, More: len(faults) - len(told)}
}

// alone is an error about the file as a whole.
func alone(file, format string, args ...any) error {
	return &Error{Faults: []Fault{{Where: file, Problem: fmt.Sprintf(format, args...)}}}
}

// join returns the key of what stands under name in the section at key.
func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// dotted returns key with a place in a list as a part of its own, so that what
// is above it is found by cutting parts off.
func dotted(key string) string {
	return strings.NewReplacer("[", ".", "]", "").Replace(key)
}

// longest is how much of somebody's text a fault repeats, in bytes.
const longest = 60

// quote returns text, which may be anything, fit to be shown.
func quote(text string) string {
	if len(text) > longest {
		cut := longest
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		return strconv.Quote(text[:cut]) + "…"
	}
	return strconv.Quote(text)
}

// shown returns name as it stands if it looks like a key, quoted otherwise.
func shown(name string) string {
	plain := name != "" && len(name) <= longest && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if plain {
		return name
	}
	return quote(name)
}

// refused returns what the sections themselves refuse, but for the keys that
// could not be read in the first place.
func refused(c *Config, unread []Fault, at func(key string) (where string, line int)) (faults []Fault) {
	for _, f := range field.Faults(c.Validate()) {
		key := dotted(f.Key)
		if slices.ContainsFunc(unread, func(u Fault) bool { return under(dotted(u.Key), key) }) {
			continue
		}
		where, line := at(key)
		faults = append(faults, Fault{where, line, f.Key, f.Problem})
	}
	return faults
}

// under reports whether key is section or lies below it.
func under(key, section string) bool {
	return key == section || strings.HasPrefix(key, section+".")
}
