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

	"earshot/internal/keyfile"
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

// A fileJSON is the JSON of the file.
type fileJSON struct {
	Version int      `json:"version"`
	Tokens  []record `json:"tokens"`
}

// A record is the JSON of an entry.
type record struct {
	Token
	Hash string `json:"sha256"`
}

// A memory is the content of a file, and the metadata it had.
type memory struct {
	of  keyfile.Stamp
	all []entry
}

// file returns the file of the tokens.
func (s *Store) file() keyfile.File {
	return keyfile.File{
		Path: s.Path, What: "tokens", Most: fileBytes,
		Create: "earshot token create NAME", Review: "revoke what you did not make, see: earshot token list",
	}
}

// known is read, for callers that do not change the result. A file whose metadata is unchanged is
// not read again: with a thousand followers the tokens are checked a thousand times for every
// event.
func (s *Store) known() ([]entry, error) {
	if is := s.last.Load(); is != nil {
		if now, there := s.file().Stamp(); there && now == is.of {
			return is.all, nil
		}
	}
	return s.read()
}

// read returns the tokens in the file.
func (s *Store) read() ([]entry, error) {
	data, of, err := s.file().Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := parse(data)
	if err != nil {
		return nil, s.file().Damaged(err)
	}
	if of.Settled(s.now()) {
		s.last.Store(&memory{of, slices.Clone(all)})
	}
	return all, nil
}

// parse returns the tokens in a file. Its errors quote nothing of it.
func parse(data []byte) ([]entry, error) {
	if len(data) > fileBytes {
		return nil, errors.New("the file is too large")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var in fileJSON
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
	out := fileJSON{Version: version, Tokens: make([]record, 0, len(all))}
	for _, e := range all {
		out.Tokens = append(out.Tokens, record{e.Token, hex.EncodeToString(e.hash[:])})
	}
	data, err := json.MarshalIndent(out, "", "  ")
	return append(data, '\n'), err
}

// change replaces the tokens with the result of to. No other process changes them meanwhile.
func (s *Store) change(to func([]entry) ([]entry, error)) error {
	return s.file().Change(func() ([]byte, error) {
		all, err := s.read()
		if err != nil {
			return nil, err
		}
		if all, err = to(all); err != nil {
			return nil, err
		}
		return format(all)
	})
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
