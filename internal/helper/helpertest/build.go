package helpertest

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"earshot/internal/helper"
	"earshot/internal/testkit"
)

// built holds the directory of the real helpers, and why one could not be built.
var built struct {
	sync.Mutex
	dir  string
	errs map[string]error
}

// Build builds the real helpers with these names, such as earshot-sound, once per test binary, and
// returns their directory. A test that may run without a voice, a camera or neural models is skipped;
// see [testkit.Need]. The caller must call [Remove] when all tests are over.
func Build(t testing.TB, names ...string) (dir string) {
	t.Helper()
	for _, name := range names {
		if what := needed(name); what != "" {
			testkit.Need(t, what)
		}
	}
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		built.errs = make(map[string]error)
		var err error
		if built.dir, err = os.MkdirTemp("", "earshot-"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		if _, done := built.errs[name]; !done {
			built.errs[name] = build(built.dir, name)
		}
		if err := built.errs[name]; err != nil {
			t.Fatal(err)
		}
	}
	return built.dir
}

// needed returns what a test needs in order to use a helper, if that is not everywhere.
func needed(name string) string {
	switch name {
	case helper.BusProgram:
		return ""
	case helper.CameraProgram:
		return "camera"
	case helper.NeuralProgram:
		return "neural"
	}
	return "voice"
}

func build(dir, name string) error {
	cmd := exec.Command("go", "build", "-o", dir, "earshot/cmd/"+name)
	if needed(name) != "" {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", name, err, out)
	}
	return nil
}

// Remove removes what was built.
func Remove() {
	built.Lock()
	defer built.Unlock()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	built.dir = ""
}
