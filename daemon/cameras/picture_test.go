package cameras

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot"
)

// TestKeep: a saved picture can only be read by the user, and overwrites nothing unless told
// to.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, make := range []error{
		os.WriteFile(at("there.jpg"), []byte("old"), 0o644), os.Mkdir(at("folder"), 0o700),
		os.WriteFile(at("target.jpg"), []byte("old"), 0o644), os.Symlink(at("target.jpg"), at("link.jpg")), os.Symlink(at("none.jpg"), at("dangling.jpg")),
	} {
		if make != nil {
			t.Fatal(make)
		}
	}
	for _, tt := range []struct {
		name  string
		force bool
		fault string // the error before looking; empty if the picture is kept
	}{
		{"new.jpg", false, ""},
		{"new.jpg", false, "already exists"},
		{"there.jpg", false, "already exists"},
		{"there.jpg", true, ""},
		{"folder", true, "is not a regular file"},
		{"link.jpg", true, "is not a regular file"},
		{"dangling.jpg", false, "is not a regular file"},
		{"nowhere/new.jpg", false, "is not a folder"},
		{"there.jpg/new.jpg", false, "not a directory"},
	} {
		err := MayKeep(at(tt.name), tt.force)
		if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: beforehand it says %v", tt.name, err)
		}
		if err := Keep(at(tt.name), []byte("new"), tt.force); (err == nil) != (tt.fault == "") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if tt.fault != "" {
			continue
		}
		about, err := os.Stat(at(tt.name))
		data, _ := os.ReadFile(at(tt.name))
		if err != nil || about.Mode().Perm() != 0o600 || string(data) != "new" {
			t.Errorf("%s has %q, %v, %v", tt.name, data, about.Mode(), err)
		}
	}
	if data, _ := os.ReadFile(at("target.jpg")); string(data) != "old" {
		t.Error("a picture was written through a link")
	}
	if err := Keep(at("large.jpg"), make([]byte, earshot.MaxPicture+1), false); err == nil {
		t.Error("a picture that is too large was kept")
	}
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		if strings.HasPrefix(e.Name(), ".earshot") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}
