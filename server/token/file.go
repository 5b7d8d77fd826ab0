package token

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"earshot/internal/keyfile"
)

// fileBytes is the longest file: as many tokens as allowed, each with the longest note and every
// byte of it escaped.
const fileBytes = most * 6 * (noteBytes + nameBytes + 256)

// An entry is a token as the file holds it.
type entry struct {
	Token
	Hash digest `json:"sha256"`
}

// A digest is a SHA-256, in hexadecimal in the file.
type digest [sha256.Size]byte

// MarshalText implements [encoding.TextMarshaler].
func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *digest) UnmarshalText(text []byte) error {
	if len(text) != 2*len(d) {
		return errors.New("it is no SHA-256")
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// A memory is the content of a file, and the metadata it had.
type memory struct {
	of  keyfile.Stamp
	all []entry
}

// file returns the file of the tokens.
func (s *Store) file() keyfile.List[entry] {
	return keyfile.List[entry]{
		File: keyfile.File{
			Path: s.Path, What: "tokens", Most: fileBytes,
			Create: "earshot token create NAME", Review: "revoke what you did not make, see: earshot token list",
		},
		Entries: most,
		Whole:   func(e entry) bool { return isID(e.ID) && e.check() == nil && !e.Created.IsZero() && e.Hash != digest{} },
		Keys:    func(e entry) [2]string { return [2]string{e.ID, string(e.Hash[:])} },
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
	all, of, err := s.file().Read()
	if err == nil && of.Settled(s.now()) {
		s.last.Store(&memory{of, slices.Clone(all)})
	}
	return all, err
}

// isID reports whether id could come from [unused].
func isID(id string) bool {
	return len(id) == 8 && !strings.ContainsFunc(id, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '2' || r > '7') })
}

// Still returns an older copy of the file without the tokens that are not known here any more; see
// [keyfile.List.Still].
func (s *Store) Still(data []byte) (still []byte, gone int, err error) { return s.file().Still(data) }
