package sets

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"earshot/internal/download"
	"earshot/models/catalog"
)

// maxOffline bounds the files of a folder that are looked at.
const maxOffline = 10_000

// A Source is a folder or a file on this machine that files are taken from instead of the net.
type Source struct {
	path  string
	files []localFile

	// Unproven are the files that were found by their name or size alone, since nobody has published
	// a checksum of them.
	Unproven []string
}

type localFile struct {
	path  string
	bytes int64
}

// OpenSource looks for files in a folder, and in those below it, or at one file.
func OpenSource(path string) (*Source, error) {
	s := &Source{path: path}
	err := filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		about, err := e.Info()
		if err != nil {
			return err
		}
		s.files = append(s.files, localFile{path, about.Size()})
		if len(s.files) > maxOffline {
			return fmt.Errorf("%s has more than %d files\n  → name the folder that has the models alone", s.path, maxOffline)
		}
		return nil
	})
	return s, err
}

// find returns the file that is f: by its checksum if somebody has published it, and else by its name
// and size. It is certain if a checksum or a size has said so.
func (s *Source) find(f catalog.File) (is localFile, certain bool, err error) {
	fits := func(l localFile) bool { return f.Bytes == 0 || l.bytes == f.Bytes }
	named := func(l localFile) bool { return filepath.Base(l.path) == filepath.Base(f.Path) }
	if f.SHA256 == "" {
		if i := slices.IndexFunc(s.files, func(l localFile) bool { return fits(l) && named(l) }); i >= 0 {
			return s.files[i], f.Bytes > 0, nil
		}
		return is, false, fmt.Errorf("%s has no file %s", s.path, filepath.Base(f.Path))
	}
	for _, sameName := range []bool{true, false} { // others are seldom it
		for _, l := range s.files {
			if !fits(l) || named(l) != sameName || f.Bytes == 0 && !sameName {
				continue
			}
			if sum, err := download.Sum(l.path); err != nil || sum == f.SHA256 {
				return l, true, err
			}
		}
	}
	return is, false, fmt.Errorf("%s has no file %s with the published checksum", s.path, filepath.Base(f.Path))
}

// unpacked reports whether the source has the files of an archive, and not the archive. The net never
// has.
func (s *Source) unpacked(set catalog.Set) bool {
	if s == nil {
		return false
	}
	if _, _, err := s.find(*set.Archive); err == nil {
		return false
	}
	for _, f := range set.Files {
		if _, _, err := s.find(f); err != nil {
			return false
		}
	}
	return true
}

// Has reports whether the source has a set for certain, so that nobody needs to say which it is.
func (s *Source) Has(set catalog.Set) bool {
	return !slices.ContainsFunc(set.Downloads(), func(f catalog.File) bool {
		_, certain, err := s.find(f)
		return err != nil || !certain && set.Archive == nil // the name of an archive tells enough
	})
}

// copy puts a file at path, and returns what is known of it then.
func (s *Source) copy(ctx context.Context, f catalog.File, path string) (catalog.File, error) {
	if sum, err := download.Sum(path); err == nil && sum == f.SHA256 {
		return f, nil
	}
	is, _, err := s.find(f)
	if err != nil {
		return f, err
	}
	if f.SHA256 == "" {
		s.Unproven = append(s.Unproven, is.path)
	}
	in, err := os.Open(is.path)
	if err != nil {
		return f, err
	}
	defer in.Close()
	return write(&watched{Reader: in, each: func(int64) error { return context.Cause(ctx) }}, f, path)
}
