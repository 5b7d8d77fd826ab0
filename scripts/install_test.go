package scripts

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"earshot/internal/testkit"
)

// TestInstall: what was built is put below a prefix, as often as one likes, and taken
// away again, and nothing else is.
func TestInstall(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	write := func(name, text string, mode fs.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile("install")
	if err != nil {
		t.Fatal(err)
	}
	write(root+"/scripts/install", string(script), 0o755)
	write(root+"/bin/earshot", "#!/bin/sh\necho \"$@\"\n", 0o755)
	write(root+"/bin/earshot-sound", "helper", 0o755)
	write(root+"/bin/earshot-camera", "helper", 0o755)
	write(root+"/bin/lib/libonnxruntime.so", "library", 0o755)
	write(home+"/.local/state/earshot/journal/earshot.db", "said", 0o600)
	run := func(what string, environ ...string) string {
		t.Helper()
		c := testkit.Command(t, root+"/scripts/install", what)
		c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, environ...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v %s", what, err, out)
		}
		return string(out)
	}
	below := func(dir string) (all []string) {
		filepath.WalkDir(dir, func(path string, f fs.DirEntry, err error) error {
			if err == nil && !f.IsDir() {
				name, _ := filepath.Rel(dir, path)
				all = append(all, name)
			}
			return nil
		})
		return all
	}
	kept := ".local/state/earshot/journal/earshot.db"
	for range 2 {
		if out := run("put"); !strings.Contains(out, home+"/.local/bin is not in your PATH") || !strings.Contains(out, "earshot service install") {
			t.Errorf("it says %s", out)
		}
		want := []string{
			".local/bin/earshot", ".local/libexec/earshot/earshot-camera", ".local/libexec/earshot/earshot-sound",
			".local/libexec/earshot/lib/libonnxruntime.so",
			".local/share/bash-completion/completions/earshot", ".local/share/fish/vendor_completions.d/earshot.fish",
			".local/share/systemd/user/earshot.service", ".local/share/zsh/site-functions/_earshot", kept,
		}
		if got := below(home); !slices.Equal(got, want) {
			t.Errorf("there are %q", got)
		}
	}
	text, _ := os.ReadFile(home + "/.local/share/systemd/user/earshot.service")
	if !strings.HasPrefix(string(text), "service unit --program "+home+"/.local/bin/earshot --systemd ") {
		t.Errorf("the unit is what %q prints", text)
	}
	run("remove")
	if got := below(home); !slices.Equal(got, []string{kept}) {
		t.Errorf("after its removal there are %q", got)
	}
	run("remove") // and nothing is there to be removed

	staged := t.TempDir()
	run("put", "DESTDIR="+staged, "PREFIX=/usr")
	text, _ = os.ReadFile(staged + "/usr/share/systemd/user/earshot.service")
	if got := below(staged); len(got) != 8 || string(text) != "service unit --program /usr/bin/earshot --systemd 0\n" {
		t.Errorf("in the package are %q, with the unit of %q", got, text)
	}
}
