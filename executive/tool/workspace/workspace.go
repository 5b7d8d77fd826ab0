// Package workspace is where an agent keeps its files, and the three tools for that: list_files,
// read_file and write_file.
//
// Each agent has a folder of its own, at its path below a common folder. It is opened as an
// [os.Root] for each use, so nothing outside is reached, whatever stands in a path and wherever a
// link leads. Only plain files are read and written, small ones and not too many: models have put
// them there.
//
// What an agent writes in a private conversation is stored separately, and found only by the same
// people: otherwise a file would carry it to whoever asks next. The same holds for what it writes
// in a room that not everybody may enter.
package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"earshot"
	"earshot/executive/tool"
)

// The bounds of a workspace. A model writes a few kilobytes at once, and no home has an agent that
// needs more.
const (
	mostFile  = 256 << 10 // bytes of a file to read or write
	mostBytes = 64 << 20  // of all files of an agent
	mostFiles = 2000      // files and folders of an agent
)

// A Store is the workspaces of all agents. It is safe for concurrent use.
type Store struct {
	Dir string // the common folder; created, accessible only to its owner, when the first file is written

	// Closed reports whether a room is closed to some people. If nil, everybody may enter each
	// room.
	Closed func(earshot.RoomID) bool

	writing sync.Mutex // so that the counted usage stays correct until the file is written
}

var (
	errNone   = errors.New("there is no such file; list_files shows those there are")
	errFolder = errors.New("that is a folder; list_files shows what is in it")
	errNoFile = tool.Refuse("that is no plain file, so it is neither read nor written")
	errOut    = tool.Refuse("that leads out of your workspace, where nothing is yours; use paths within it, such as notes/today.txt")
	errBroken = errors.New("the workspace could not be used; do without files, and say so")
)

// The folders of what is not for everybody: what was written in private, and what in a room that
// not everybody may enter. No path of an agent begins like this.
const (
	apart = ".private"
	rooms = ".rooms"
)

// folders returns the folders of the files that an agent may use in a conversation. It writes into
// the first one, and reads missing files from the next.
func (s *Store) folders(of tool.Scope) (all []string, err error) {
	segments := strings.TrimPrefix(string(of.Home), "/")
	if !beneath(segments) || s.Dir == "" || s.closed(of.Room) && !beneath(string(of.Room)) {
		return nil, errBroken // the program made the path, so this is a bug of ours
	}
	if !open(of) {
		all = append(all, filepath.Join(s.Dir, apart, among(of.Visibility.Members)))
	}
	if s.closed(of.Room) {
		all = append(all, filepath.Join(s.Dir, rooms, string(of.Room)))
	}
	all = append(all, s.Dir)
	for i := range all {
		all[i] = filepath.Join(all[i], filepath.FromSlash(segments))
	}
	return all, nil
}

// beneath reports whether a path leads to something below, but to no folder that is kept separate.
func beneath(p string) bool {
	return filepath.IsLocal(p) && path.Clean(p) == p && !strings.HasPrefix(p, ".")
}

// closed reports whether a room is closed to some people.
func (s *Store) closed(room earshot.RoomID) bool { return s.Closed != nil && s.Closed(room) }

// open reports whether a conversation is for everybody in the room.
func open(of tool.Scope) bool {
	return of.Visibility.Scope == earshot.Public || of.Visibility.Scope == earshot.System
}

// among returns a name for some people and agents, whatever their order.
func among(members []earshot.ParticipantID) string {
	sum := sha256.New()
	for _, m := range slices.Sorted(slices.Values(members)) {
		fmt.Fprintf(sum, "%q", m)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// enter opens a folder; make says whether to create it. If there is none, the error is
// [fs.ErrNotExist].
func enter(dir string, make bool) (*os.Root, error) {
	if make {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, errBroken
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errBroken
	}
	return root, err
}

// plain opens a plain file for reading. A pipe or a device is not even opened, because that alone
// may have an effect.
func plain(root *os.Root, name string) (*os.File, int64, error) {
	about, err := root.Stat(name)
	if err != nil {
		return nil, 0, told(err)
	}
	if err := readable(about); err != nil {
		return nil, 0, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // otherwise a pipe that took its place would block us
	if err != nil {
		return nil, 0, told(err)
	}
	if about, err = f.Stat(); err == nil {
		err = readable(about)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, about.Size(), nil
}

// readable says why a file is not read; nil if it is.
func readable(about fs.FileInfo) error {
	switch {
	case about.IsDir():
		return errFolder
	case !about.Mode().IsRegular():
		return errNoFile
	case about.Size() > mostFile:
		return tool.Refuse("the file has %d bytes; only those of at most %d are read", about.Size(), mostFile)
	}
	return nil
}

// told returns the text of a system error for a model: the system's own words may reveal where the
// workspace is.
func told(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errNone
	case errors.Is(err, syscall.ENOTDIR):
		return errors.New("a part of the path is a file, and no folder")
	case errors.Is(err, syscall.EISDIR):
		return errFolder
	case escapes(err):
		return errOut
	}
	return errBroken
}

// escapes reports whether a path led out of the root. The library has no value to compare with.
func escapes(err error) bool {
	p, ok := errors.AsType[*fs.PathError](err)
	return ok && strings.Contains(p.Err.Error(), "escapes") || errors.Is(err, syscall.ELOOP)
}

// read returns a whole file.
func read(root *os.Root, name string) ([]byte, error) {
	f, _, err := plain(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostFile))
	if err != nil {
		return nil, errBroken
	}
	return data, nil
}

// write replaces a file atomically: a reader at that moment, or after a crash, finds the old or the
// new one. elder says from what the beginning of data was made before.
func (s *Store) write(of tool.Scope, f file, root *os.Root, data []byte, elder []stretch, end bool) (size int, err error) {
	name := f.name
	s.writing.Lock()
	defer s.writing.Unlock()
	had, err := before(root, name)
	if err != nil {
		return 0, err
	}
	if end {
		data = append(had, data...)
	}
	if len(data) > mostFile {
		return 0, tool.Refuse("the file would have %d bytes; at most %d: begin another", len(data), mostFile)
	}
	if err := fits(root, name, had != nil, len(data)-len(had)); err != nil {
		return 0, err
	}
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return 0, told(err)
		}
	}
	if err := s.notes(of, f, had, data, elder, end); err != nil {
		return 0, err
	}
	return len(data), replace(root, name, data)
}

// before returns the contents of a file that will be replaced, nil if there is none.
func before(root *os.Root, name string) ([]byte, error) {
	about, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, told(err)
	case about.Mode()&fs.ModeSymlink != 0:
		return nil, tool.Refuse("that is a link, which is not written through; use another name")
	}
	data, err := read(root, name)
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// replace writes data beside the file, and then renames it.
func replace(root *os.Root, name string, data []byte) error {
	if err := root.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errBroken
	}
	f, err := root.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return errBroken
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = root.Rename(unfinished, name)
	}
	if err != nil {
		root.Remove(unfinished)
		if errors.Is(err, syscall.ENOSPC) {
			return errors.New("the disk is full; say so")
		}
		return told(err)
	}
	return nil
}

// fits says why a workspace takes no more; nil if it does. New folders count, too.
func fits(root *os.Root, name string, known bool, more int) error {
	n, bytes := 0, int64(more)
	if !known {
		n = 1 + strings.Count(name, "/")
	}
	err := walk(root, ".", func(string, fs.DirEntry) error {
		n++
		return nil
	}, func(about fs.FileInfo) { bytes += about.Size() })
	switch {
	case err != nil && !errors.Is(err, errMany):
		return errBroken
	case err != nil, n > mostFiles:
		return tool.Refuse("the workspace has %d files and folders, which is all it takes; write into one that is there", mostFiles)
	case bytes > mostBytes:
		return tool.Refuse("the workspace would have %d bytes; at most %d: write less, or put something short in the place of a long file", bytes, int64(mostBytes))
	}
	return nil
}

var errMany = errors.New("too many")

// walk visits what is below a folder, in order, and no more of it than a workspace may hold. It
// follows no link.
func walk(root *os.Root, dir string, visit func(name string, d fs.DirEntry) error, about func(fs.FileInfo)) error {
	seen := 0
	return fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir || name == unfinished {
			return err
		}
		if seen++; seen > mostFiles {
			return errMany
		}
		if about != nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				about(info)
			}
		}
		return visit(name, d)
	})
}

// shown returns the line for a file in a list.
func shown(name string, d fs.DirEntry) string {
	switch {
	case d.IsDir():
		return name + "/"
	case d.Type()&fs.ModeSymlink != 0:
		return name + " (a link)"
	case !d.Type().IsRegular():
		return name + " (no plain file)"
	}
	size := int64(0)
	if info, err := d.Info(); err == nil {
		size = info.Size()
	}
	return fmt.Sprintf("%s (%d bytes)", name, size)
}
