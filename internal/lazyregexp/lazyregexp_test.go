package lazyregexp_test

import (
	"slices"
	"testing"

	"earshot/internal/lazyregexp"
)

// TestRegexp: it does what a regular expression does, and one that cannot be compiled is found where
// it is made, in a test.
func TestRegexp(t *testing.T) {
	r := lazyregexp.New(`b(\w)d`)
	if !r.MatchString("a bad dog") || r.FindString("a bad dog") != "bad" || !slices.Equal(r.FindStringSubmatch("bud"), []string{"bud", "u"}) || r.ReplaceAllString("bad bid", "$1") != "a i" {
		t.Error("it finds something else")
	}
	defer func() {
		if recover() == nil {
			t.Error("an expression that cannot be compiled is not found")
		}
	}()
	lazyregexp.New("(")
}
