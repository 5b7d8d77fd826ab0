package testkit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Files calls each with every regular file below a folder, and what it holds. A file that goes while
// the folder is read is left out: a program that runs may replace its files.
func Files(t testing.TB, folder string, each func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.Type().IsRegular() {
			return nil
		}
		var data []byte
		if err == nil {
			data, err = os.ReadFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) && path != folder {
			return nil
		}
		if err == nil {
			each(path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
