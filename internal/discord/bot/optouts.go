package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"earshot/internal/atomicfile"
)

// OptOutsFile is the name of the file, in the directory of the journal.
const OptOutsFile = "optouts.json"

// OptOuts are the Discord users who refuse to be heard. They are stored beside the journal,
// because erasing what a user said would also erase the refusal. Its methods may be called from
// any goroutine.
type OptOuts struct {
	path string

	setting sync.Mutex                      // held while they change
	unsaved bool                            // the file lacks some
	all     atomic.Pointer[map[uint64]bool] // never changed, only replaced
}

// An optOutsError says why the refusals are not known.
type optOutsError struct {
	path string
	err  error
}

func (e *optOutsError) Error() string {
	return fmt.Sprintf("the list of people who do not want to be heard cannot be read, so nobody is heard: %v", e.err)
}

func (e *optOutsError) Unwrap() error { return e.err }

// Cure says what to do about it.
func (e *optOutsError) Cure() string {
	return "mend " + e.path + ", or remove it and ask everybody to opt out again"
}

// Is says that a restart does not help.
func (e *optOutsError) Is(target error) bool { return target == errors.ErrUnsupported }

// OpenOptOuts reads those in a directory. Without a file there are none; an unreadable file is an
// error, since nobody who has refused may be heard.
func OpenOptOuts(directory string) (*OptOuts, error) {
	o := &OptOuts{path: filepath.Join(directory, OptOutsFile)}
	o.all.Store(new(map[uint64]bool))
	return o, o.Read()
}

// Read reads the file again, which another daemon may have changed. Refusals that could not be stored remain. An
// error changes nothing.
func (o *OptOuts) Read() error {
	o.setting.Lock()
	defer o.setting.Unlock()
	return o.read()
}

// read is Read. The caller holds setting.
func (o *OptOuts) read() error {
	data, err := os.ReadFile(o.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	all := make(map[uint64]bool)
	if o.unsaved {
		all = o.copied()
	}
	if err == nil {
		err = parseOptOuts(all, data)
	}
	if err != nil {
		return &optOutsError{o.path, err}
	}
	o.all.Store(&all)
	return nil
}

// parseOptOuts adds those of a file.
func parseOptOuts(to map[uint64]bool, data []byte) error {
	var users []uint64
	if err := json.Unmarshal(data, &users); err != nil {
		return err
	}
	for _, user := range users {
		to[user] = true
	}
	return nil
}

// formatOptOuts returns what a file holds.
func formatOptOuts(all map[uint64]bool) ([]byte, error) {
	data, err := json.Marshal(slices.Sorted(maps.Keys(all)))
	return append(data, '\n'), err
}

// MergeOptOuts returns the file of all who refuse by one of two: nobody who has refused at one of several
// daemons may be heard because somebody else did at another.
func MergeOptOuts(one, other []byte) ([]byte, error) {
	all := make(map[uint64]bool)
	if err := errors.Join(parseOptOuts(all, one), parseOptOuts(all, other)); err != nil {
		return nil, &optOutsError{OptOutsFile, err}
	}
	return formatOptOuts(all)
}

// copied returns a copy of them.
func (o *OptOuts) copied() map[uint64]bool {
	all := make(map[uint64]bool)
	maps.Copy(all, *o.all.Load())
	return all
}

// CheckOptOuts reports why a copy of the file, in a backup, cannot be restored.
func CheckOptOuts(data []byte) error {
	if err := parseOptOuts(make(map[uint64]bool), data); err != nil {
		return fmt.Errorf("%s in it is damaged, so it is not known who does not want to be heard: %w\n  → restore another backup", OptOutsFile, err)
	}
	return nil
}

// Join adds those of a valid copy of the file: restoring an older one must not make anybody heard
// again.
func (o *OptOuts) Join(data []byte) error {
	all := o.copied()
	if err := parseOptOuts(all, data); err != nil {
		return err
	}
	o.all.Store(&all)
	return o.write(all)
}

// Out reports whether a user refuses to be heard. It does not wait for a disk.
func (o *OptOuts) Out(user uint64) bool { return (*o.all.Load())[user] }

// Set records that a user refuses to be heard, or agrees again. A refusal takes effect at once,
// even if it cannot be stored; an agreement only if it can.
func (o *OptOuts) Set(user uint64, out bool) error {
	o.setting.Lock()
	defer o.setting.Unlock()
	err := o.read()
	if err == nil && !o.unsaved && o.Out(user) == out {
		return nil
	}
	next := o.copied()
	next[user] = true
	if !out {
		delete(next, user)
	} else {
		o.all.Store(&next)
	}
	if err == nil {
		err = o.write(next)
	}
	if o.unsaved = err != nil; err != nil {
		return fmt.Errorf("saving who does not want to be heard: %w", err)
	}
	o.all.Store(&next)
	return nil
}

// write stores them, all or nothing.
func (o *OptOuts) write(all map[uint64]bool) error {
	data, err := formatOptOuts(all)
	if err != nil {
		return err
	}
	return atomicfile.Write(o.path, data)
}
