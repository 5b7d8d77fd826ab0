package token

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"earshot/internal/atomicfile"
)

// version is the version of the file format.
const version = 1

// fileBytes is the longest file: as many tokens as allowed, each with the longest note and every
// byte of it escaped.
const fileBytes = most * 6 * (noteBytes + nameBytes + 256)

// An entry is a token as the file holds it.
type entry struct {
	Token
	hash [sha256.Size]byte
}

// A file is the JSON of the file.
type file struct {
	Version int      `json:"version"`
	Tokens  []record `json:"tokens"`
}

// A record is the JSON of an entry.
type record struct {
	Token
	Hash string `json:"sha256"`
}

// damaged is the error of a file that cannot be trusted, so nobody is let in.
type damaged struct {
	path, problem, cure string
}

func (d *damaged) Error() string { return fmt.Sprintf("the tokens in %s %s", d.path, d.problem) }

// Cure says how to repair it.
func (d *damaged) Cure() string { return d.cure }

// settled is how long a file must have been unchanged before its content is cached: file system
// clocks are coarse, so a file that is changed twice at once can look the same as before.
const settled = 2 * time.Second

// A look is the metadata of a file. Any change to the file changes it.
type look struct {
	device, inode    uint64
	bytes            int64
	mode, owner      uint32
	written, changed time.Time // of the content and of the metadata; nobody can set the latter
}

// lookOf returns the metadata of a file.
func lookOf(is *unix.Stat_t) look {
	return look{uint64(is.Dev), is.Ino, is.Size, uint32(is.Mode), is.Uid, time.Unix(is.Mtim.Unix()), time.Unix(is.Ctim.Unix())} // the types are those of Linux only there
}

// A memory is the content of a file, and the metadata it had.
type memory struct {
	of  look
	all []entry
}

// known is read, for callers that do not change the result. A file whose metadata is unchanged is
// not read again: with a thousand followers the tokens are checked a thousand times for every
// event.
func (s *Store) known() ([]entry, error) {
	var now unix.Stat_t
	if is := s.last.Load(); is != nil && unix.Stat(s.Path, &now) == nil && lookOf(&now) == is.of {
		return is.all, nil
	}
	return s.read()
}

// read returns the tokens in the file.
func (s *Store) read() ([]entry, error) {
	f, err := s.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var is unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &is); err != nil { // before reading, so that no change is missed in between
		return nil, fmt.Errorf("reading the tokens: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, fileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the tokens: %w", err)
	}
	all, err := parse(data)
	if err != nil {
		return nil, &damaged{s.Path, "cannot be read: " + err.Error(), fmt.Sprintf("move %s away, and create new tokens: earshot token create NAME", s.Path)}
	}
	if of := lookOf(&is); s.now().Sub(of.changed) > settled {
		s.last.Store(&memory{of, slices.Clone(all)})
	}
	return all, nil
}

// open opens the file, unless somebody else may have written it.
func (s *Store) open() (*os.File, error) {
	f, err := os.OpenFile(s.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not wait for a pipe
	if err != nil {
		return nil, fmt.Errorf("reading the tokens: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = s.trust(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// trust reports why a file may have been written by somebody else.
func (s *Store) trust(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return &damaged{s.Path, "are not a regular file", "move it away"}
	case !ok || int(stat.Uid) != os.Geteuid() && stat.Uid != 0:
		return &damaged{s.Path, "belong to another user", "move them away, and create new ones: earshot token create NAME"}
	case info.Mode().Perm()&0o022 != 0:
		return &damaged{s.Path, "can be changed by others", "chmod 600 " + s.Path + "; then revoke what you did not make, see: earshot token list"}
	}
	return nil
}

// parse returns the tokens in a file. Its errors quote nothing of it.
func parse(data []byte) ([]entry, error) {
	if len(data) > fileBytes {
		return nil, errors.New("the file is too large")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var in file
	if err := d.Decode(&in); err != nil {
		return nil, errors.New("it is not valid JSON for this file")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it continues after its end")
	}
	if in.Version != version {
		return nil, fmt.Errorf("it has version %d, but this earshot knows version %d", in.Version, version)
	}
	if len(in.Tokens) > most {
		return nil, fmt.Errorf("it holds %d tokens; at most %d are possible", len(in.Tokens), most)
	}
	return entries(in.Tokens)
}

// entries returns the tokens that records describe.
func entries(in []record) ([]entry, error) {
	ids, hashes := make(map[string]bool), make(map[[sha256.Size]byte]bool)
	all := make([]entry, 0, len(in))
	for i, r := range in {
		e := entry{Token: r.Token}
		n, err := hex.Decode(e.hash[:], []byte(r.Hash[:min(len(r.Hash), 2*len(e.hash))]))
		switch {
		case err != nil || n != len(e.hash) || len(r.Hash) != 2*n:
			return nil, fmt.Errorf("token %d has no hash", i+1)
		case !isID(e.ID) || e.check() != nil || e.Created.IsZero():
			return nil, fmt.Errorf("token %d is incomplete", i+1)
		case ids[e.ID] || hashes[e.hash]:
			return nil, fmt.Errorf("token %d appears twice", i+1)
		}
		ids[e.ID], hashes[e.hash] = true, true
		all = append(all, e)
	}
	return all, nil
}

// isID reports whether id could come from [unused].
func isID(id string) bool {
	return len(id) == 8 && !strings.ContainsFunc(id, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '2' || r > '7') })
}

// format returns the content of a file with some tokens.
func format(all []entry) ([]byte, error) {
	out := file{Version: version, Tokens: make([]record, 0, len(all))}
	for _, e := range all {
		out.Tokens = append(out.Tokens, record{e.Token, hex.EncodeToString(e.hash[:])})
	}
	data, err := json.MarshalIndent(out, "", "  ")
	return append(data, '\n'), err
}

// change replaces the tokens with the result of to. No other process changes them meanwhile.
func (s *Store) change(to func([]entry) ([]entry, error)) error {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	all, err := s.read()
	if err != nil {
		return err
	}
	if all, err = to(all); err != nil {
		return err
	}
	data, err := format(all)
	if err != nil {
		return fmt.Errorf("writing the tokens: %w", err)
	}
	if err := atomicfile.Write(s.Path, data); err != nil {
		return fmt.Errorf("writing the tokens: %w", err)
	}
	return nil
}

// Still returns a copy of the file without the tokens that are not known here any more, and how
// many it left out: a revoked token must not become valid again through an older copy. Without a
// file nothing was revoked, and the copy is returned whole.
func (s *Store) Still(data []byte) (still []byte, gone int, err error) {
	if _, err := os.Lstat(s.Path); errors.Is(err, fs.ErrNotExist) {
		return data, 0, nil
	}
	here, err := s.read()
	if err != nil {
		return nil, 0, err
	}
	all, err := parse(data)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the copy of the tokens: %w", err)
	}
	before := len(all)
	all = slices.DeleteFunc(all, func(e entry) bool {
		return !slices.ContainsFunc(here, func(k entry) bool { return k.hash == e.hash })
	})
	still, err = format(all)
	return still, before - len(all), err
}

// lock waits until nobody else changes the tokens. The lock file stays, since removing it would
// take it away from a process that has just locked it.
func (s *Store) lock() (unlock func(), err error) {
	f, err := os.OpenFile(s.Path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the tokens: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("locking the tokens: %w", err)
	}
	return func() { f.Close() }, nil
}
