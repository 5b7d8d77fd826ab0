package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"earshot/internal/atomicfile"
)

// TestWriteFunc: the file has exactly what was written, and only its owner may read it; or, after
// an error, it is as it was. Nothing else is left beside it.
func TestWriteFunc(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name, before, want string
		fails              error
	}{
		{"new", "", "after", nil},
		{"replaced", "before", "after", nil},
		{"it fails", "before", "before", broken},
		{"it fails, and there was none", "", "", broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if tt.before != "" {
				if err := os.WriteFile(path, []byte(tt.before), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			err := atomicfile.WriteFunc(path, func(w io.Writer) error {
				_, err := io.WriteString(w, "after")
				return errors.Join(err, tt.fails)
			})
			if !errors.Is(err, tt.fails) {
				t.Errorf("it returns %v", err)
			}
			got, err := os.ReadFile(path)
			if tt.want == "" != os.IsNotExist(err) || string(got) != tt.want {
				t.Errorf("it is %q, %v", got, err)
			}
			if info, err := os.Stat(path); err == nil && tt.want == "after" && info.Mode().Perm() != 0o600 {
				t.Errorf("its mode is %v", info.Mode())
			}
			left, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(left) > 1 {
				t.Errorf("left are %v, %v", left, err)
			}
		})
	}
	if err := atomicfile.Write(filepath.Join(t.TempDir(), "missing", "file"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into a folder that is missing: %v", err)
	}
}

// TestExchange: two folders change places, with all that is in them; if one is missing, the other
// stays.
func TestExchange(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, folder := range []string{a, b} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(folder)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.Exchange(a, b); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this file system cannot exchange folders:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(a, "b"), filepath.Join(b, "a")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if err := atomicfile.Exchange(a, filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("with a folder that is missing: %v", err)
	}
	if _, err := os.Stat(filepath.Join(a, "b")); err != nil {
		t.Error(err)
	}
}
