package ollamatest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// version is the server's version, as in scripts/ollama/build.
const version = "0.17.4"

// Start runs a server until the test ends.
//
// The binary is the one in EARSHOT_OLLAMA, or else the one that scripts/ollama/build installs. If
// it is missing the test fails, unless EARSHOT_WITHOUT names ollama: then it is skipped.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	without := strings.FieldsFunc(os.Getenv("EARSHOT_WITHOUT"), func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(without, "ollama") {
		t.Skip("told by EARSHOT_WITHOUT to do without ollama")
	}
	binary := Binary()
	if _, err := os.Stat(binary); err != nil {
		t.Fatalf("no Ollama server to test with: build one with scripts/ollama/build, or do without by EARSHOT_WITHOUT=ollama: %v", err)
	}
	s, err := Run(t.Context(), binary, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop()
		if t.Failed() {
			t.Logf("the server printed:\n%s", Tail(s.log.Bytes()))
		}
	})
	return s
}

// Binary returns the path of the server binary.
func Binary() string {
	if named := os.Getenv("EARSHOT_OLLAMA"); named != "" {
		return named
	}
	cache, _ := os.UserCacheDir() // without one, nothing is there either
	return filepath.Join(cache, "earshot", "ollama-"+version, "ollama")
}
