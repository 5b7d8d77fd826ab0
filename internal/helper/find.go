package helper

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A MissingError says that a helper is not installed. A restart does not help, so it is an
// [errors.ErrUnsupported].
type MissingError struct {
	Name string // of the program
}

// Error says what is missing.
func (e *MissingError) Error() string { return fmt.Sprintf("the program %s is not installed", e.Name) }

// Cure says how to mend it.
func (e *MissingError) Cure() string {
	return "make run, in the source of earshot; or put " + e.Name + " beside earshot"
}

// Is reports that the error is lasting.
func (e *MissingError) Is(target error) bool { return target == errors.ErrUnsupported }

// Find returns the path of a program: beside this one, else in ../libexec/earshot, else in PATH.
func Find(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		dir := filepath.Dir(self)
		for _, path := range []string{
			filepath.Join(dir, name),
			filepath.Join(dir, "..", "libexec", "earshot", name),
		} {
			if about, err := os.Stat(path); err == nil && about.Mode().IsRegular() && about.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", &MissingError{Name: name}
}
