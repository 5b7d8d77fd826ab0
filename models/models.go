// Package models finds the speech models on this machine, and says where they come from. The
// packages below it are the clients of the helpers in which they run.
//
// It looks at the disk when it is asked and keeps nothing, so there is no slow reader.
package models

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Model is one trained model. So far all come unchanged from the package that holds them, so
// earshot keeps no checksum of its own.
type Model struct {
	Name   string   // for people
	Origin string   // the Debian package that it comes in
	Files  []string // required files, below one folder
}

// The models of the embedded path, which needs no download: which sounds are heard, which words
// follow which, and which words those sounds are. The licence of all is BSD-2-Clause.
var (
	Acoustic = Model{
		Name: "English acoustic model", Origin: sphinx,
		Files: []string{"en-us/mdef", "en-us/means", "en-us/variances", "en-us/sendump", "en-us/transition_matrices", "en-us/feat.params", "en-us/noisedict"},
	}
	Language = Model{
		Name: "English language model", Origin: sphinx,
		Files: []string{"en-us.lm.bin"},
	}
	Dictionary = Model{
		Name: "English dictionary", Origin: sphinx,
		Files: []string{"cmudict-en-us.dict"},
	}
)

// sphinx is the Debian package of the recognition models.
const sphinx = "pocketsphinx-en-us"

// places are where packages put their models: Debian, built by hand, Homebrew.
var places = []string{
	"/usr/share/pocketsphinx/model/en-us",
	"/usr/local/share/pocketsphinx/model/en-us",
	"/opt/homebrew/share/pocketsphinx/model/en-us",
}

// Find returns the folder with the files of m: the first of these folders, or of the usual ones if
// none are given. If there is none, the error is a [*MissingError].
func Find(m Model, in ...string) (string, error) {
	if len(in) == 0 {
		in = places
	}
	for _, dir := range in {
		if m.isIn(dir) {
			return dir, nil
		}
	}
	return "", &MissingError{Model: m}
}

// isIn reports whether dir holds all files of m.
func (m Model) isIn(dir string) bool {
	for _, name := range m.Files {
		about, err := os.Stat(filepath.Join(dir, name))
		if err != nil || !about.Mode().IsRegular() || about.Size() == 0 {
			return false
		}
	}
	return true
}

// A MissingError says that a model is not installed. A restart does not help, so it is an
// [errors.ErrUnsupported].
type MissingError struct{ Model Model }

// Error says what is missing.
func (e *MissingError) Error() string { return fmt.Sprintf("the %s is not installed", e.Model.Name) }

// Cure says how to get it.
func (e *MissingError) Cure() string { return "sudo apt-get install " + e.Model.Origin }

// Is reports that the error is lasting.
func (e *MissingError) Is(target error) bool { return target == errors.ErrUnsupported }
