package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRemains: everything that earshot writes below the home of its user is listed in
// docs/keeping.md, so that one can remove all of it.
func TestRemains(t *testing.T) {
	h := newHome(t, "EARSHOT_EXECUTIVE_TOOLS_ENABLED=true")
	h.scripted("reply: Good day.\nrules:\n- when: write\n  reply: I write it down.\n  calls:\n  - tool: write_file\n    arguments: {path: list.txt, content: milk}\n- result: written\n  reply: It is there.\n")
	h.write("config/earshot/config.yaml", "{}\n")
	d := h.daemon()
	for _, c := range [][]string{
		{"say", "write that down"}, {"say", "--identity", "Ann", "hello"}, {"token", "create", "Ann"}, {"mute"}, {"status"}, {"history"},
		{"doctor"}, {"service", "logs"}, {"forget", "--since", "10m", "--yes"},
	} {
		h.earshot(nil, c...)
	}
	d.end(syscall.SIGTERM)
	text, err := os.ReadFile("../../docs/keeping.md")
	if err != nil {
		t.Fatal(err)
	}
	_, listed, _ := strings.Cut(string(text), "## Remove everything")
	listed, _, _ = strings.Cut(listed, "\n## ")
	places := strings.NewReplacer("state/", "`~/.local/state/", "config/", "`~/.config/")
	found := 0
	err = filepath.WalkDir(h.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at, err := filepath.Rel(h.dir, path)
		if err != nil || e.IsDir() || at == "model.yaml" {
			return err
		}
		found++
		part := strings.Split(at, "/")
		if listed == "" || len(part) < 3 || !strings.Contains(listed, places.Replace(strings.Join(part[:min(len(part), 3)], "/"))) && !strings.Contains(listed, places.Replace(strings.Join(part[:2], "/"))+"`") && !strings.Contains(listed, "`"+part[2]+"`") {
			t.Errorf("%s is not listed", at)
		}
		return nil
	})
	if err != nil || found < 4 {
		t.Errorf("%d files, %v", found, err)
	}
	if all, err := os.ReadDir(filepath.Dir(h.socket)); err == nil {
		for _, f := range all {
			if f.Name() != "earshot.sock.lock" {
				t.Errorf("%s is left beside the socket", f.Name())
			}
		}
	}
}
