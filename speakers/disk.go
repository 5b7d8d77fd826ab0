package speakers

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"earshot"
)

// The names of the files in the directory. The content before a change has its own name until it is
// overwritten and removed, so that it is found again if the machine fails.
const (
	fileName = "voices.json"
	newEnd   = ".new"
	oldEnd   = ".old"
	badEnd   = ".damaged-"
)

// Path returns the path of the file of voices in a directory.
func Path(dir string) string { return filepath.Join(dir, fileName) }

// Read returns the voices that are kept in a directory, and changes nothing.
func Read(dir string) ([]Speaker, error) {
	all, err := read(Path(dir))
	kept := []Speaker{}
	for _, v := range all {
		kept = append(kept, v.speaker())
	}
	return kept, err
}

// An ErrDamaged says that a file cannot be used. [Open] sets such a file aside, unless a newer
// version wrote it.
type ErrDamaged struct {
	Path string
	err  error
}

func (e *ErrDamaged) Error() string {
	return "the voices in " + e.Path + " cannot be used: " + e.err.Error()
}
func (e *ErrDamaged) Unwrap() error { return e.err }

// Cure returns what to do about it.
func (e *ErrDamaged) Cure() string {
	if errors.Is(e.err, errNewer) {
		return "use the newer earshot; or move the file away and enroll the voices again: earshot speakers enroll NAME"
	}
	return "earshot run    (it sets the file aside), then: earshot speakers enroll NAME"
}

// load reads the voices in the file. A damaged file is set aside.
func (b *Registry) load() error {
	if err := os.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return fmt.Errorf("creating the folder of the voices: %w", err)
	}
	if err := settle(b.path); err != nil {
		return fmt.Errorf("preparing the file of voices: %w", err)
	}
	all, err := read(b.path)
	if bad, ok := errors.AsType[*ErrDamaged](err); ok && !errors.Is(err, errNewer) {
		name, err := aside(b.path)
		if err != nil {
			return fmt.Errorf("setting damaged voices aside: %w", err)
		}
		b.report(earshot.Notice{
			Key: "voices", Text: fmt.Sprintf("%v. The file is now %s", bad, filepath.Base(name)),
			Cure: "earshot speakers enroll NAME    (once for each person)",
		})
		return nil
	}
	b.is.voices = all
	return err
}

func (b *Registry) report(n earshot.Notice) {
	if b.cfg.Report != nil {
		b.cfg.Report(n)
	}
}

// read returns the voices in the file at path; none if there is no file.
func read(path string) ([]*voice, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not wait for a pipe
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the voices: %w", err)
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the voices: %w", err)
	}
	if !about.Mode().IsRegular() {
		return nil, &ErrDamaged{path, errors.New("it is not a file")}
	}
	data, err := io.ReadAll(io.LimitReader(f, fileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the voices: %w", err)
	}
	all, err := parse(data)
	if err != nil {
		return nil, &ErrDamaged{path, err}
	}
	return all, nil
}

// settle finishes a change that was cut short: the replaced content is erased or, if nothing has
// replaced it, restored. A file that others can read is made private.
func settle(path string) error {
	switch _, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.Rename(path+oldEnd, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	case err != nil:
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(erase(path+oldEnd), erase(path+newEnd))
}

// replace writes data to the file at path, completely or not at all, even if the machine fails, and
// overwrites the old content.
func replace(path string, data []byte) error {
	if err := settle(path); err != nil {
		return err
	}
	if err := write(path+newEnd, data); err != nil {
		return errors.Join(err, erase(path+newEnd))
	}
	if err := os.Rename(path, path+oldEnd); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, erase(path+newEnd))
	}
	if err := os.Rename(path+newEnd, path); err != nil {
		return errors.Join(err, settle(path))
	}
	return flush(filepath.Dir(path))
}

// write creates a file with data.
func write(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// erase overwrites the file at path, if there is one, and removes it.
func erase(path string) error {
	about, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if about.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(make([]byte, min(about.Size(), 2*fileBytes)))
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(path), flush(filepath.Dir(path)))
}

// eraseAside erases the files that were set aside, because it is not known whose voices are in
// them.
func eraseAside(path string) error {
	all, err := os.ReadDir(filepath.Dir(path))
	for _, e := range all {
		if setAside(e.Name()) {
			err = errors.Join(err, erase(filepath.Join(filepath.Dir(path), e.Name())))
		}
	}
	return err
}

// setAside reports whether a file holds voices that were set aside, either because they were
// damaged, or because others replaced them when a backup was restored.
func setAside(name string) bool {
	return strings.HasPrefix(name, fileName+badEnd) || strings.HasPrefix(name, fileName+".replaced-")
}

// aside renames the file at path, so that nothing is written to it any more, and returns the new
// name.
func aside(path string) (string, error) {
	base := path + badEnd + time.Now().UTC().Format("20060102T150405Z")
	name := base
	for n := 2; exists(name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name, errors.Join(os.Rename(path, name), flush(filepath.Dir(path)))
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

// flush forces the names in a directory to the disk.
func flush(directory string) error {
	d, err := os.Open(directory)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
