package keyfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"earshot/internal/atomicfile"
)

// version is the version of the format of a [List].
const version = 1

// A List is a file that holds entries, such as tokens, as JSON, under the name that What is.
type List[T any] struct {
	File
	Entries int               // the most that there may be
	Whole   func(T) bool      // whether an entry has all that it must
	Keys    func(T) [2]string // of which no two entries may have the same: its name, and by what it is let in
}

// Read returns the entries of the file, none if there is no file.
func (l List[T]) Read() ([]T, Stamp, error) {
	data, stamp, err := l.File.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Stamp{}, nil
	}
	if err != nil {
		return nil, Stamp{}, err
	}
	all, err := l.Parse(data)
	if err != nil {
		return nil, stamp, l.Damaged(err)
	}
	return all, stamp, nil
}

// Parse returns the entries in the content of a file. Its errors quote nothing of it.
func (l List[T]) Parse(data []byte) ([]T, error) {
	if int64(len(data)) > l.Most {
		return nil, errors.New("the file is too large")
	}
	var in map[string]json.RawMessage
	if err := decode(data, &in); err != nil {
		return nil, err
	}
	var is int
	if err := json.Unmarshal(in["version"], &is); err != nil || is != version {
		return nil, fmt.Errorf("it has version %d, but this earshot knows version %d", is, version)
	}
	var all []T
	if decode(in[l.What], &all) != nil || len(in) != 2 {
		return nil, errJSON
	}
	if len(all) > l.Entries {
		return nil, fmt.Errorf("it holds %d %s; at most %d are possible", len(all), l.What, l.Entries)
	}
	known := make(map[string]bool)
	for i, e := range all {
		if !l.Whole(e) {
			return nil, fmt.Errorf("entry %d is incomplete", i+1)
		}
		for _, key := range l.Keys(e) {
			if known[key] {
				return nil, fmt.Errorf("entry %d appears twice", i+1)
			}
			known[key] = true
		}
	}
	return all, nil
}

var errJSON = errors.New("it is not valid JSON for this file")

func decode(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if d.Decode(to) != nil {
		return errJSON
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("it continues after its end")
	}
	return nil
}

// Format returns the content of a file with some entries.
func (l List[T]) Format(all []T) ([]byte, error) {
	data, err := json.MarshalIndent(map[string]any{"version": version, l.What: append([]T{}, all...)}, "", "  ")
	return append(data, '\n'), err
}

// Change replaces the entries with the result of to. No other process changes them meanwhile.
func (l List[T]) Change(to func([]T) ([]T, error)) error {
	unlock, err := l.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	all, _, err := l.Read()
	if err != nil {
		return err
	}
	if all, err = to(all); err != nil {
		return err
	}
	data, err := l.Format(all)
	if err == nil {
		err = atomicfile.Write(l.Path, data)
	}
	if err != nil {
		return fmt.Errorf("writing the %s: %w", l.What, err)
	}
	return nil
}

// Remove removes the entry with a name, or returns none.
func (l List[T]) Remove(name string, none error) error {
	if _, err := os.Lstat(l.Path); errors.Is(err, fs.ErrNotExist) {
		return none // and perhaps no directory, in which to lock it
	}
	return l.Change(func(all []T) ([]T, error) {
		rest := slices.DeleteFunc(all, func(e T) bool { return l.Keys(e)[0] == name })
		if len(rest) == len(all) {
			return nil, none
		}
		return rest, nil
	})
}

// Still returns a copy of the file without the entries by which nobody is let in here any more, and how
// many it left out: what was removed must not be valid again through an older copy. Without a file
// nothing was removed, and the copy is returned whole.
func (l List[T]) Still(data []byte) (still []byte, gone int, err error) {
	here, stamp, err := l.Read()
	if err != nil {
		return nil, 0, err
	}
	all, err := l.Parse(data)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the copy of the %s: %w", l.What, err)
	}
	if stamp == (Stamp{}) {
		return data, 0, nil
	}
	before := len(all)
	all = slices.DeleteFunc(all, func(e T) bool {
		return !slices.ContainsFunc(here, func(k T) bool { return l.Keys(k)[1] == l.Keys(e)[1] })
	})
	still, err = l.Format(all)
	return still, before - len(all), err
}
