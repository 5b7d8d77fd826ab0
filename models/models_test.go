package models_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/models"
)

// put creates the files of m in dir.
func put(t *testing.T, dir string, m models.Model) {
	t.Helper()
	for _, name := range m.Files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("a model"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFind(t *testing.T) {
	empty, first, second := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, first, models.Language)
	put(t, second, models.Language)
	if dir, err := models.Find(models.Language, empty, first, second); dir != first || err != nil {
		t.Errorf("found in %q, %v; want the first that has it", dir, err)
	}
}

// TestFindWantsAllOfIt: a model with a missing or empty file is not found.
func TestFindWantsAllOfIt(t *testing.T) {
	for _, m := range []models.Model{models.Acoustic, models.Language, models.Dictionary} {
		for _, name := range m.Files {
			dir := t.TempDir()
			put(t, dir, m)
			if _, err := models.Find(m, dir); err != nil {
				t.Errorf("%s is whole and missing: %v", m.Name, err)
			}
			if err := os.Truncate(filepath.Join(dir, name), 0); err != nil {
				t.Fatal(err)
			}
			if _, err := models.Find(m, dir); err == nil {
				t.Errorf("%s was found with %s empty", m.Name, name)
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if _, err := models.Find(m, dir); err == nil {
				t.Errorf("%s was found without %s", m.Name, name)
			}
		}
	}
}

func TestMissing(t *testing.T) {
	_, err := models.Find(models.Dictionary, t.TempDir())
	missing, ok := errors.AsType[*models.MissingError](err)
	if !ok || !errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("the error is %v; want one that is lasting", err)
	}
	if want := "sudo apt-get install pocketsphinx-en-us"; missing.Cure() != want {
		t.Errorf("the cure is %q, want %q", missing.Cure(), want)
	}
	if !strings.Contains(err.Error(), models.Dictionary.Name) {
		t.Errorf("the error %q does not say what is missing", err)
	}
}
