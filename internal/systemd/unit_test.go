package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"earshot/internal/testkit"
)

// TestUnit: systemd accepts the unit, whatever the program's path, and docs/service.md explains its
// directives.
func TestUnit(t *testing.T) {
	t.Parallel()
	about, err := os.ReadFile("../../docs/service.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(Unit("/usr/bin/earshot", 252)) {
		name, _, is := strings.Cut(line, "=")
		if !is || strings.HasPrefix(line, "#") || name == "Description" || name == "ExecStart" || name == "WantedBy" ||
			name == "SystemCallErrorNumber" || name == "ExecReload" || strings.HasPrefix(name, "StartLimit") {
			continue
		}
		if !strings.Contains(string(about), name) {
			t.Errorf("docs/service.md does not say why there is %s", name)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd cannot be asked: ", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"earshot", "with a space", `with%s$HOME`} {
		program := filepath.Join(dir, name)
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, UnitName)
		if err := os.WriteFile(file, []byte(Unit(program, 252)), 0o600); err != nil {
			t.Fatal(err)
		}
		c := testkit.Command(t, analyze, "verify", "--user", file)
		c.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_RUNTIME_DIR="+dir)
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
}

func TestSystemdVersion(t *testing.T) {
	for out, want := range map[string]int{
		"systemd 252 (252.38-1~deb12u1)\n+PAM": 252, "systemd 257.4\n": 257, "": 0, "elogind 252": 0, "systemd x": 0,
	} {
		if got := systemdVersion(out); got != want {
			t.Errorf("%q is %d", out, got)
		}
	}
}
