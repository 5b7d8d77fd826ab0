// Package sets installs sets of neural models into a folder, and removes them. Nobody ever finds a set
// that is not complete there: it is put together beside, and then moved. Its description has the
// checksum of each file, also of those for which nobody had published one, as they were first
// downloaded.
//
// What happens when a reader is slow: the disk is the only one, and servers wait for it.
package sets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/adrg/xdg"

	"earshot/internal/atomicfile"
	"earshot/internal/download"
	"earshot/models/catalog"
)

// A Store is a folder of models. Several programs may use it at a time.
type Store struct{ Dir string }

// Default returns the store of this user.
func Default() Store { return Store{filepath.Join(xdg.DataHome, "earshot", "models")} }

// folder is where a set is, once it is complete.
func (s Store) folder(name string) string { return filepath.Join(s.Dir, "sets", name) }

// parts is where it is put together.
func (s Store) parts() string { return filepath.Join(s.Dir, ".part") }

// List returns the sets that are installed, in the order of their names. What is damaged is left out,
// and an error says why.
func (s Store) List() (all []catalog.Installed, err error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, "sets"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		is, bad := catalog.Open(s.folder(e.Name()))
		if bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		all = append(all, is)
	}
	return all, err
}

// Current reports whether an installed set is the one that a catalogue describes.
func Current(set catalog.Set, is catalog.Installed) bool {
	return reflect.DeepEqual(set.Pinned(is.Set), is.Set)
}

// A Progress is told what is being done, and how many bytes of how many are done; 0 is unknown.
type Progress func(doing string, have, all int64)

// Get installs a set, or mends it, and reports whether anything had to be done. Files are taken from
// source; nil is the net. What was installed once is mended only by the same files. If another program
// does the same, Get waits for it. If it ends early, it goes on the next time where it ended.
func (s Store) Get(ctx context.Context, set catalog.Set, source *Source, tell Progress) (is catalog.Installed, changed bool, err error) {
	lock, err := s.lock(ctx, set.Name)
	if err != nil {
		return is, false, err
	}
	defer lock.Close()
	if is, err = catalog.Open(s.folder(set.Name)); err == nil {
		pinned := set.Pinned(is.Set)
		archived := reflect.DeepEqual(pinned.Archive, is.Archive)
		if archived { // in another archive, other files have the same names
			set = pinned
		}
		if archived && reflect.DeepEqual(set.Files, is.Files) {
			tell("checking", 0, 0)
			damage, err := is.Damage(ctx)
			switch {
			case ctx.Err() != nil:
				return is, false, context.Cause(ctx)
			case damage == "" && err == nil && Current(set, is):
				return is, false, nil
			case damage == "" && err == nil: // only what is said of it has changed
				is.Set = set
				return is, true, describe(set, is.Dir)
			}
		}
	}
	w := &work{Store: s, source: source, tell: tell, stage: filepath.Join(s.parts(), set.Name+".set")}
	if err := w.begin(set); err != nil {
		return is, false, err
	}
	if set.Archive != nil && !source.unpacked(set) {
		err = w.unpackArchive(ctx)
	} else {
		err = w.fetchFiles(ctx)
	}
	if err == nil {
		err = w.finish()
	}
	return catalog.Installed{Set: w.set, Dir: s.folder(set.Name)}, err == nil, err
}

// Remove removes a set, also a damaged one. It is an [os.ErrNotExist] if there is none.
func (s Store) Remove(ctx context.Context, name string) error {
	if filepath.Base(name) != name || !filepath.IsLocal(name) {
		return os.ErrNotExist
	}
	lock, err := s.lock(ctx, name)
	if err != nil {
		return err
	}
	defer lock.Close()
	gone, err := s.takeAway(name)
	return errors.Join(err, os.RemoveAll(gone))
}

// lock waits until no other program changes a set. Whoever closes the file lets the next one do so.
func (s Store) lock(ctx context.Context, name string) (*os.File, error) {
	if err := os.MkdirAll(s.parts(), 0o700); err != nil {
		return nil, err
	}
	return download.Lock(ctx, filepath.Join(s.parts(), name+".lock"))
}

// takeAway moves a set from its place, and returns where it is then.
func (s Store) takeAway(name string) (gone string, err error) {
	gone = filepath.Join(s.parts(), name+".removed")
	if err := os.RemoveAll(gone); err != nil {
		return gone, err
	}
	return gone, os.Rename(s.folder(name), gone)
}

// A work is a set that is being put together.
type work struct {
	Store
	set    catalog.Set // with what is known of its files by now
	source *Source
	stage  string
	tell   Progress
}

// begin takes over what an earlier program has downloaded of a set, and looks whether it will fit.
func (w *work) begin(set catalog.Set) error {
	before, err := catalog.Open(w.stage)
	w.set = set.Pinned(before.Set)
	if err == nil && !reflect.DeepEqual(w.set, before.Set) { // it is of another version
		w.set = set.Pinned(catalog.Set{})
		err = os.RemoveAll(w.stage)
	} else {
		err = nil
	}
	if err = errors.Join(err, os.MkdirAll(w.stage, 0o700)); err != nil {
		return err
	}
	disk, _ := w.set.Size()
	if set.Archive != nil {
		disk += cmp.Or(w.set.Unpacked(), disk)
	}
	entries, err := os.ReadDir(w.parts())
	for _, e := range entries { // what is here of it already is not needed twice
		if about, err := e.Info(); err == nil && about.Mode().IsRegular() {
			disk -= about.Size()
		}
	}
	return errors.Join(err, download.Room(w.parts(), disk))
}

// bring puts a file at path, and returns what is known of it then.
func (w *work) bring(ctx context.Context, f catalog.File, path string) (catalog.File, error) {
	if w.source != nil {
		return w.source.copy(ctx, f, path)
	}
	d := &download.Downloader{Parts: w.parts(), Progress: func(have, all int64) { w.tell("downloading", have, all) }}
	sum, err := d.Get(ctx, download.File{SHA256: f.SHA256, Bytes: f.Bytes, URLs: f.URLs}, path)
	if err != nil {
		return f, err
	}
	about, err := os.Stat(path)
	if err != nil {
		return f, err
	}
	f.SHA256, f.Bytes = sum, about.Size()
	return f, nil
}

// fetchFiles brings each file that has an address of its own.
func (w *work) fetchFiles(ctx context.Context) error {
	for _, part := range slices.Sorted(maps.Keys(w.set.Files)) {
		path := filepath.Join(w.stage, w.set.Files[part].Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		f, err := w.bring(ctx, w.set.Files[part], path)
		if err != nil {
			return fmt.Errorf("%s: %w", w.set.Files[part].Path, err)
		}
		w.set.Files[part] = f
		if err := describe(w.set, w.stage); err != nil {
			return err
		}
	}
	return nil
}

// unpackArchive brings an archive, and takes the files out of it.
func (w *work) unpackArchive(ctx context.Context) error {
	path := filepath.Join(w.parts(), w.set.Name+".archive")
	a, err := w.bring(ctx, *w.set.Archive, path)
	if err != nil {
		return fmt.Errorf("%s: %w", w.set.Archive.Path, err)
	}
	w.set.Archive = &a
	if err := describe(w.set, w.stage); err != nil {
		return err
	}
	archive, err := os.Open(path)
	if err != nil {
		return err
	}
	defer archive.Close()
	got, err := unpack(ctx, archive, a.Bytes, w.set.Files, w.stage, w.tell)
	if err != nil {
		return fmt.Errorf("%s: %w", w.set.Archive.Path, err)
	}
	w.set.Files = got
	return nil
}

// describe writes the description.
func describe(set catalog.Set, dir string) error {
	text, err := json.MarshalIndent(set, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, catalog.Description), text)
}

// finish moves the set to its place, which nobody sees half done.
func (w *work) finish() error {
	if err := describe(w.set, w.stage); err != nil {
		return err
	}
	for _, f := range w.set.Files {
		if err := download.SyncFolder(filepath.Dir(filepath.Join(w.stage, f.Path))); err != nil {
			return err
		}
	}
	place := w.folder(w.set.Name)
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	if err := w.replace(place); err != nil {
		return err
	}
	return errors.Join(download.SyncFolder(filepath.Dir(place)),
		os.RemoveAll(w.stage), os.RemoveAll(filepath.Join(w.parts(), w.set.Name+".archive")))
}

// replace moves what was put together to its place, and what is there, if anything, away.
func (w *work) replace(place string) error {
	err := atomicfile.Exchange(w.stage, place)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return os.Rename(w.stage, place)
	case !errors.Is(err, errors.ErrUnsupported):
		return err
	}
	// Between two renames a machine that fails would lose the set: on systems that know no better.
	old, err := w.takeAway(w.set.Name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(w.stage, place); err != nil {
		return errors.Join(err, os.Rename(old, place))
	}
	return os.RemoveAll(old)
}
