package testkit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Files calls each with the path and contents of every regular file below a folder. It skips files
// that disappear while the folder is being read, because a running program may replace its files.
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
