package testkit

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Need skips the test if EARSHOT_WITHOUT names what it needs, such as voice, or if this is a short
// run. Anything that is not named there must be installed.
func Need(t testing.TB, what string) {
	t.Helper()
	without := strings.FieldsFunc(os.Getenv("EARSHOT_WITHOUT"), func(r rune) bool { return r == ',' || r == ' ' })
	if testing.Short() || slices.Contains(without, what) {
		t.Skipf("told to do without %s", what)
	}
}
