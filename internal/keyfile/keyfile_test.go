package keyfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/internal/keyfile"
)

// TestMode: a file that others can write is not trusted, nor is one that others can read if it holds a secret.
func TestMode(t *testing.T) {
	for _, tt := range []struct {
		mode   fs.FileMode
		secret bool
		want   string // of the error; empty is none
	}{
		{0o600, false, ""}, {0o600, true, ""}, {0o400, true, ""},
		{0o644, false, ""}, {0o644, true, "can be read or changed by others"}, {0o640, true, "can be read or changed by others"},
		{0o620, false, "can be changed by others"}, {0o602, true, "can be read or changed by others"},
	} {
		f := keyfile.File{Path: filepath.Join(t.TempDir(), "keys"), What: "keys", Most: 100, Secret: tt.secret, Create: "earshot new", Review: "earshot list"}
		if err := errors.Join(os.WriteFile(f.Path, []byte("hello"), 0o600), os.Chmod(f.Path, tt.mode)); err != nil {
			t.Fatal(err)
		}
		data, _, err := f.Read()
		var cure interface{ Cure() string }
		switch {
		case tt.want == "" && (err != nil || string(data) != "hello"):
			t.Errorf("%v: %q, %v", tt.mode, data, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !errors.As(err, &cure) || cure.Cure() != "chmod 600 "+f.Path+"; then earshot list"):
			t.Errorf("%v: %v, to be cured by %v", tt.mode, err, cure)
		}
	}
}
