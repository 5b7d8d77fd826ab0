// Package atomicfile replaces files, whole or not at all.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write writes a file, whole or not at all: whoever reads it, also after a crash,
// finds what it was before or what it is now. Only the user may read it.
func Write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // with 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already, if all is well
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
