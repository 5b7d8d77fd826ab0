// Package field is what every section of the configuration is made of: a fault
// and the key it stands under, a secret that cannot be printed, and a number
// of seconds. A section does not know where in the file it stands; its owner
// adds the prefix with [Under].
package field

import (
	"errors"
	"fmt"
)

// A Fault is one thing that is wrong with a configuration.
type Fault struct {
	Key     string // as written in the file, such as "executive.llm.host"
	Problem string // reads on from the key: "is 3; must be at most 2"
}

// Error returns the key and the problem.
func (f *Fault) Error() string {
	if f.Key == "" {
		return f.Problem
	}
	return f.Key + ": " + f.Problem
}

// Errorf returns a [Fault] under key. The operands are printed, not wrapped.
func Errorf(key, format string, args ...any) error {
	return &Fault{Key: key, Problem: fmt.Sprintf(format, args...)}
}

// Check returns nil if ok, and otherwise a [Fault] as Errorf does.
func Check(ok bool, key, format string, args ...any) error {
	if ok {
		return nil
	}
	return Errorf(key, format, args...)
}

// Under puts prefix before the key of every fault that err is made of, also
// where many were joined. It returns nil for nil.
func Under(prefix string, err error) error {
	var faults []error
	for _, f := range Faults(err) {
		key := prefix
		if f.Key != "" {
			key += "." + f.Key
		}
		faults = append(faults, &Fault{Key: key, Problem: f.Problem})
	}
	return errors.Join(faults...)
}

// Faults returns every fault in err, in order. Any other error counts as a fault without a key,
// so nothing is lost.
func Faults(err error) []*Fault {
	switch e := err.(type) {
	case nil:
		return nil
	case *Fault:
		return []*Fault{e}
	case interface{ Unwrap() []error }:
		var faults []*Fault
		for _, one := range e.Unwrap() {
			faults = append(faults, Faults(one)...)
		}
		return faults
	}
	return []*Fault{{Problem: err.Error()}}
}
