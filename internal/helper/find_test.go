package helper_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/internal/testkit"
)

// TestFind: a helper is looked for beside the program, then in libexec, then in PATH.
func TestFind(t *testing.T) {
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	const beside, libexec, path = "bin/earshot-something", "libexec/earshot/earshot-something", "path/earshot-something"
	for _, tt := range []struct {
		name  string
		files map[string]os.FileMode
		want  string
	}{
		{"everywhere", map[string]os.FileMode{beside: 0o755, libexec: 0o755, path: 0o755}, beside},
		{"installed", map[string]os.FileMode{libexec: 0o755, path: 0o755}, libexec},
		{"in PATH", map[string]os.FileMode{path: 0o755}, path},
		{"not a program", map[string]os.FileMode{beside: 0o644, path: 0o755}, path},
		{"a folder", map[string]os.FileMode{beside: os.ModeDir | 0o755, path: 0o755}, path},
		{"nowhere", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, "bin/program"), 0o755, self)
			for name, mode := range tt.files {
				put(t, filepath.Join(dir, name), mode, nil)
			}
			link := filepath.Join(dir, "link") // such as a package manager makes
			if err := os.Symlink("bin/program", link); err != nil {
				t.Fatal(err)
			}
			cmd := testkit.Command(t, link)
			cmd.Env = append(os.Environ(), as+"=finds", "PATH="+filepath.Join(dir, "path"))
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintln(filepath.Join(dir, tt.want), nil)
			if tt.want == "" {
				want = " the program earshot-something is not installed\n"
			}
			if string(out) != want {
				t.Errorf("found %q, want %q", strings.TrimSpace(string(out)), want)
			}
		})
	}
}

// put makes a file or a folder, and the folders above it.
func put(t *testing.T, name string, mode os.FileMode, content []byte) {
	t.Helper()
	if mode.IsDir() {
		if err := os.MkdirAll(name, mode.Perm()); err != nil {
			t.Fatal(err)
		}
		return
	}
	put(t, filepath.Dir(name), os.ModeDir|0o755, nil)
	if err := os.WriteFile(name, content, mode); err != nil {
		t.Fatal(err)
	}
}
