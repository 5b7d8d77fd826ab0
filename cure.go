package earshot

import (
	"errors"
	"strings"
)

// Cure returns what mends err, or nothing: an error says so by a method of that name.
func Cure(err error) string {
	var known interface{ Cure() string }
	if !errors.As(err, &known) {
		return ""
	}
	return known.Cure()
}

// Explain returns what went wrong, and what mends it. What a daemon refused says
// both in one.
func Explain(err error) (problem, cure string) {
	problem, cure = err.Error(), Cure(err)
	if cure != "" {
		problem = strings.TrimSuffix(problem, "; "+cure)
	}
	return problem, cure
}
