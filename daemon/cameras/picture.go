package cameras

import (
	"earshot/internal/atomicfile"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"earshot"
)

// MayKeep reports, before anything is looked at, why a picture could not be kept in a file.
func MayKeep(path string, force bool) error {
	about, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if in, err := os.Stat(filepath.Dir(path)); err != nil || !in.IsDir() {
			return fmt.Errorf("%s is not a folder, so nothing can be saved there", filepath.Dir(path))
		}
		return nil
	case err != nil:
		return err
	case !about.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file and was not touched", path)
	case !force:
		return fmt.Errorf("%s already exists and was not touched\n  → to overwrite it: --force", path)
	}
	return nil
}

// Keep writes a picture that only the user may read, whole or not at all. What
// is there is only overwritten if that is wanted, and only if it is a file.
func Keep(path string, jpeg []byte, force bool) error {
	if len(jpeg) > earshot.MaxPicture {
		return fmt.Errorf("the picture has %d bytes; at most %d are possible", len(jpeg), earshot.MaxPicture)
	}
	err := atomicfile.WriteFile(path, force, func(w io.Writer) error {
		_, err := w.Write(jpeg)
		return err
	})
	if err != nil {
		return fmt.Errorf("saving the picture: %w", err)
	}
	return nil
}
