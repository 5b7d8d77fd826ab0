package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"earshot"
	"earshot/executive/tool"
)

// provenanceDir is the folder of the files' provenances. No path of an agent begins like this.
const provenanceDir = ".sources"

// A provenance says from what a file was made, so that forgetting an event also reaches the file.
// It holds no word of the file except its name.
type provenance struct {
	Folder string `json:"folder"` // of the workspace, below the common folder
	Name   string `json:"name"`

	// Named is the event that was answered when the file was given its name.
	Named earshot.EventID `json:"named,omitempty"`

	// NamedOf is what else that turn rested on: the name may have words of it.
	NamedOf []earshot.EventID `json:"named_of,omitempty"`

	// Parts are the parts of the file, in order, and Before what they were until it was last
	// written: a crash may have come in between.
	Parts  []stretch `json:"parts"`
	Before []stretch `json:"before,omitempty"`
}

// A stretch is a part of a file, with what it was made from.
type stretch struct {
	Bytes int               `json:"bytes"`
	Of    []earshot.EventID `json:"of,omitempty"`
}

// A file is one file in a workspace.
type file struct{ workspace, name string }

// at returns the path of the provenance of a file.
func (s *Store) at(folder, name string) string {
	sum := sha256.Sum256([]byte(folder + "\x00" + name))
	return filepath.Join(s.Dir, provenanceDir, hex.EncodeToString(sum[:16])+".json")
}

// loadProvenance returns the provenance of a file in a workspace; an empty one if it has none.
func (s *Store) loadProvenance(workspace, name string) (provenance, error) {
	folder, err := filepath.Rel(s.Dir, workspace)
	if err != nil {
		return provenance{}, errBroken
	}
	t, err := follow(s.at(folder, name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errErased) {
		return provenance{Folder: folder, Name: name}, nil
	}
	if err != nil {
		return t, errBroken
	}
	return t, nil
}

// errErased says that a provenance was being erased when a crash came.
var errErased = errors.New("it was to be taken away")

// follow reads a provenance.
func follow(path string) (t provenance, err error) {
	data, err := os.ReadFile(path)
	if err == nil && len(data) > 0 && data[0] == 0 {
		return t, errErased
	}
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err == nil && (!filepath.IsLocal(t.Folder) || !filepath.IsLocal(t.Name)) { // nobody else writes one
		err = errBroken
	}
	return t, err
}

// name returns the events that the name of a file may have words of.
func (t provenance) name() []earshot.EventID {
	if t.Named == "" || slices.Contains(t.NamedOf, t.Named) {
		return t.NamedOf
	}
	return append([]earshot.EventID{t.Named}, t.NamedOf...)
}

// of returns the parts of a file with so many bytes. If the file is not as it was written, all of
// it may be made from anything that it ever was made from.
func (t provenance) of(bytes int) []stretch {
	is, was := length(t.Parts) == bytes, length(t.Before) == bytes && t.Before != nil
	switch {
	case is && !was:
		return t.Parts
	case was && !is:
		return t.Before
	}
	return []stretch{{Bytes: bytes, Of: events(slices.Concat(t.Parts, t.Before))}}
}

func length(parts []stretch) (n int) {
	for _, p := range parts {
		n += p.Bytes
	}
	return n
}

// events returns what some parts were made from, without duplicates.
func events(parts []stretch) (all []earshot.EventID) {
	for _, p := range parts {
		all = append(all, p.Of...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// writeProvenance stores a provenance, or removes it if it is empty.
func (s *Store) writeProvenance(t provenance) error {
	path := s.at(t.Folder, t.Name)
	if len(events(slices.Concat(t.Parts, t.Before))) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errBroken
		}
		return nil
	}
	data, err := json.Marshal(t)
	if err != nil {
		return errBroken
	}
	root, err := enter(filepath.Dir(path), true)
	if err != nil {
		return errBroken
	}
	defer root.Close()
	return replace(root, filepath.Base(path), data)
}

// notes records from what a file is made that is about to be written: had, its previous contents,
// if data is appended, or what elder says about the beginning of data; and everything else on which
// the turn rests.
func (s *Store) notes(of tool.Scope, f file, had, data []byte, elder []stretch, end bool) error {
	t, err := s.loadProvenance(f.workspace, f.name)
	if err != nil {
		return err
	}
	t.Before = nil
	if had != nil {
		t.Before = t.of(len(had))
	}
	if had != nil && end {
		elder = t.Before
	}
	more := stretch{Bytes: len(data) - length(elder)}
	if of.Rests != nil {
		more.Of = of.Rests()
	}
	if had == nil {
		t.Named, t.NamedOf = of.About, more.Of
	}
	t.Parts = append(slices.Clone(elder), more)
	return s.writeProvenance(t)
}

// made returns what a file with so many bytes was made from.
func (s *Store) made(f file, bytes int) []earshot.EventID {
	t, err := s.loadProvenance(f.workspace, f.name)
	if err != nil {
		return nil
	}
	return events(t.of(bytes))
}

// named returns the events that the name of a file may have words of, if known.
func (s *Store) named(f file) []earshot.EventID {
	t, err := s.loadProvenance(f.workspace, f.name)
	if err != nil {
		return nil
	}
	return t.name()
}

// Sources returns the events that files were made from, and removes what a crash has left of
// forgotten ones.
func (s *Store) Sources() (all []earshot.EventID, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.tidy(); err != nil {
		return nil, err
	}
	err = s.each(func(t provenance) error {
		all = append(all, append(events(slices.Concat(t.Parts, t.Before)), t.name()...)...)
		return nil
	})
	slices.Sort(all)
	return slices.Compact(all), err
}

// Touched returns how many files were made, wholly or in part, from events that fit.
func (s *Store) Touched(is func(earshot.EventID) bool) (n int, err error) {
	err = s.each(func(t provenance) error {
		if t.rests(is) {
			n++
		}
		return nil
	})
	return n, err
}

// rests reports whether anything of a file was made from an event that fits.
func (t provenance) rests(is func(earshot.EventID) bool) bool {
	return slices.ContainsFunc(t.name(), is) || slices.ContainsFunc(events(slices.Concat(t.Parts, t.Before)), is)
}

// Forget removes from all files what was made from events that fit, and returns how many it has
// changed. A file that becomes empty is removed; one that was named for such an event gets another
// name. The old contents are overwritten.
func (s *Store) Forget(is func(earshot.EventID) bool) (n int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	err = s.each(func(t provenance) error {
		if !t.rests(is) {
			return nil
		}
		n++
		return s.forget(t, is)
	})
	return n, err
}

// Loosen removes events that fit from the sources of file parts that also have other sources: from
// then on those parts are not known to rest on these events.
func (s *Store) Loosen(is func(earshot.EventID) bool) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.each(func(t provenance) error {
		if !t.rests(is) {
			return nil
		}
		for _, parts := range [][]stretch{t.Parts, t.Before} {
			for i := range parts {
				if left := slices.DeleteFunc(slices.Clone(parts[i].Of), is); len(left) > 0 {
					parts[i].Of = left
				}
			}
		}
		if left := slices.DeleteFunc(slices.Clone(t.NamedOf), is); len(left) > 0 {
			t.NamedOf = left
		}
		return s.writeProvenance(t)
	})
}

// each calls do with the provenance of every file.
func (s *Store) each(do func(provenance) error) error {
	all, err := os.ReadDir(filepath.Join(s.Dir, provenanceDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking through the workspaces: %w", err)
	}
	var faults []error
	for _, d := range all {
		if !strings.HasSuffix(d.Name(), ".json") {
			continue
		}
		t, err := follow(filepath.Join(s.Dir, provenanceDir, d.Name()))
		if errors.Is(err, errErased) {
			continue
		}
		if err == nil {
			err = do(t)
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// tidy overwrites and removes the provenance files that were being overwritten when a crash came.
func (s *Store) tidy() error {
	root, err := enter(filepath.Join(s.Dir, provenanceDir), false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	all, err := os.ReadDir(filepath.Join(s.Dir, provenanceDir))
	faults := []error{err}
	for _, d := range all {
		if _, err := follow(filepath.Join(s.Dir, provenanceDir, d.Name())); errors.Is(err, errErased) {
			faults = append(faults, overwrite(root, d.Name()))
		}
	}
	return errors.Join(faults...)
}

// forget removes from one file what was made from events that fit.
func (s *Store) forget(t provenance, is func(earshot.EventID) bool) error {
	root, err := enter(filepath.Join(s.Dir, t.Folder), false)
	if errors.Is(err, fs.ErrNotExist) {
		return s.removeProvenance(t)
	}
	if err != nil {
		return err
	}
	defer root.Close()
	about, err := root.Lstat(t.Name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !about.Mode().IsRegular() { // it is none of our files
		return s.removeProvenance(t)
	}
	if err != nil {
		return errBroken
	}
	data, err := read(root, t.Name)
	if err != nil {
		return err
	}
	var left []byte
	kept := provenance{Folder: t.Folder, Name: t.Name, Named: t.Named, NamedOf: t.NamedOf}
	at := 0
	for _, p := range t.of(len(data)) {
		if !slices.ContainsFunc(p.Of, is) {
			left, kept.Parts = append(left, data[at:at+p.Bytes]...), append(kept.Parts, p)
		}
		at += p.Bytes
	}
	if slices.ContainsFunc(t.name(), is) {
		kept.Name, kept.Named, kept.NamedOf = "kept-"+strings.TrimSuffix(filepath.Base(s.at(t.Folder, t.Name)), ".json")[:8]+path.Ext(t.Name), "", nil
	}
	if len(left) > 0 {
		during := kept
		if kept.Name == t.Name {
			during.Before = t.of(len(data)) // until the file has its new contents, also after a crash
		}
		if err := errors.Join(s.writeProvenance(during), put(root, kept.Name, left), s.writeProvenance(kept)); err != nil {
			return err
		}
		if kept.Name == t.Name {
			return nil
		}
	}
	return errors.Join(overwrite(root, t.Name), s.removeProvenance(t))
}

// put replaces a file, and overwrites the old contents.
func put(root *os.Root, name string, data []byte) error {
	old, err := root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errBroken
	}
	if err := replace(root, name, data); err != nil || old == nil {
		return err
	}
	about, err := old.Stat()
	if err == nil {
		_, err = old.Write(make([]byte, about.Size()))
	}
	return errors.Join(err, old.Sync(), old.Close())
}

// overwrite fills a file with zeros and removes it.
func overwrite(root *os.Root, name string) error {
	about, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !about.Mode().IsRegular() {
		return errBroken
	}
	f, err := root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return errBroken
	}
	_, err = f.Write(make([]byte, about.Size()))
	return errors.Join(err, f.Sync(), f.Close(), root.Remove(name))
}

// removeProvenance removes a provenance, which contains the name of a file.
func (s *Store) removeProvenance(t provenance) error {
	root, err := enter(filepath.Join(s.Dir, provenanceDir), false)
	if err != nil {
		return errBroken
	}
	defer root.Close()
	return overwrite(root, filepath.Base(s.at(t.Folder, t.Name)))
}
