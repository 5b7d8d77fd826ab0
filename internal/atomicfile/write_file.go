package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// WriteFile writes a file, whole or not at all, for its owner alone.
func WriteFile(path string, force bool, write func(io.Writer) error) (err error) {
	if err := MayWrite(path, force); err != nil {
		return err
	}
	err = WriteFunc(path, func(w io.Writer) error {
		if err := write(w); err != nil {
			return err
		}
		return MayWrite(path, force) // somebody may have written it meanwhile
	})
	if wrong, ok := errors.AsType[*fs.PathError](err); ok && strings.HasPrefix(wrong.Path, path+".") {
		wrong.Path = path // and not what it is called until it is whole
	}
	return err
}

// MayWrite reports whether something may be written at path.
func MayWrite(path string, force bool) error {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a plain file", path)
	case !force:
		return fmt.Errorf("%s already exists\n  → choose another name, or overwrite it with --force", path)
	}
	return nil
}
