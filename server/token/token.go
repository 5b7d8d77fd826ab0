// Package token keeps the tokens by which participants prove who they are, where a name alone is
// not enough. A token is 256 random bits that are shown once, when it is made; the file holds only
// its hash.
//
// The file is the truth: its metadata is checked for every question, and its content is read if
// the metadata changed, so that a token that another process revoked is refused at once. A missing
// file holds no tokens. A file that is damaged, or that others could have written, is an error and
// lets nobody in.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"earshot"
	"earshot/internal/field"
)

// The limits of what is stored.
const (
	most      = 256 // tokens: a household with a script or two each
	noteBytes = 200
	nameBytes = 256 // of a participant's ID
)

// prefix makes a token recognisable where it was left lying about.
const prefix = "earshot_"

// alphabet encodes random bits so that people can copy them.
var alphabet = base32.StdEncoding.WithPadding(base32.NoPadding)

// Errors of [Store.Check] and [Store.Revoke]. The errors that wrap them say more.
var (
	ErrUnknown = errors.New("this token is unknown here; it may have been revoked")
	ErrExpired = errors.New("this token has expired")
	ErrNone    = errors.New("there is no token with this ID; see: earshot token list")
)

// A Token is what is known about a token, without the secret.
type Token struct {
	ID          string                `json:"id"` // short, for people
	Participant earshot.ParticipantID `json:"participant"`
	Note        string                `json:"note,omitempty"` // what it is for
	Created     time.Time             `json:"created"`
	Expires     time.Time             `json:"expires,omitzero"` // zero is never
}

// expired reports whether t has expired at a time.
func (t Token) expired(at time.Time) bool { return !t.Expires.IsZero() && !at.Before(t.Expires) }

// A Store holds the tokens in a file. It may be used from many goroutines and many processes. It
// must not be copied after first use.
type Store struct {
	Path string           // its directory must exist
	Now  func() time.Time // nil means the system clock

	last atomic.Pointer[memory] // the last content read, valid while the file's metadata is unchanged
}

// In returns the store in a directory, which is that of the journal.
func In(directory string) *Store { return &Store{Path: filepath.Join(directory, "tokens.json")} }

// Create makes a token for a participant. Without an expiry time it lasts until it is revoked. The
// secret is not stored.
func (s *Store) Create(of earshot.ParticipantID, note string, expires time.Time) (Token, field.Secret, error) {
	t := Token{Participant: of, Note: note, Created: s.now().UTC().Truncate(time.Second), Expires: expires.UTC().Truncate(time.Second)}
	if err := t.check(); err != nil {
		return Token{}, "", err
	}
	if t.expired(s.now()) {
		return Token{}, "", errors.New("the time of expiry is in the past; give a later one")
	}
	secret := prefix + strings.ToLower(alphabet.EncodeToString(random(32)))
	err := s.file().Change(func(all []entry) ([]entry, error) {
		if len(all) >= most {
			return nil, fmt.Errorf("there are already %d tokens, the most possible; revoke some: earshot token revoke ID", len(all))
		}
		t.ID = unused(all)
		return append(all, entry{t, sha256.Sum256([]byte(secret))}), nil
	})
	if err != nil {
		return Token{}, "", err
	}
	return t, field.Secret(secret), nil
}

// check reports what is wrong with the description of a token.
func (t Token) check() error {
	switch {
	case t.Participant == "" || len(t.Participant) > nameBytes:
		return errors.New("a token needs an owner")
	case len(t.Note) > noteBytes:
		return fmt.Errorf("the note of a token has %d bytes; at most %d are possible", len(t.Note), noteBytes)
	case strings.ContainsFunc(t.Note, unicode.IsControl):
		return errors.New("the note of a token must be one line of text")
	}
	return nil
}

// List returns all tokens, the oldest first, including expired ones.
func (s *Store) List() ([]Token, error) {
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	tokens := make([]Token, 0, len(all))
	for _, e := range all {
		tokens = append(tokens, e.Token)
	}
	return tokens, nil
}

// Revoke removes a token, or returns [ErrNone].
func (s *Store) Revoke(id string) error { return s.file().Remove(id, ErrNone) }

// Check returns the owner of the token secret. It takes the same time for every secret of a
// length, however much of it is right.
func (s *Store) Check(secret field.Secret) (earshot.ParticipantID, error) {
	all, err := s.known()
	if err != nil {
		return "", err
	}
	sum, found := sha256.Sum256([]byte(secret.Reveal())), -1
	for i, e := range all {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], e.Hash[:]), i, found)
	}
	switch {
	case found < 0:
		return "", ErrUnknown
	case all[found].expired(s.now()):
		return "", ErrExpired
	}
	return all[found].Participant, nil
}

func (s *Store) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// random returns n bytes that nobody can guess.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails; see its documentation
	return b
}

// unused returns an ID that no token has.
func unused(all []entry) string {
	for {
		id := strings.ToLower(alphabet.EncodeToString(random(5)))
		if !slices.ContainsFunc(all, func(e entry) bool { return e.ID == id }) {
			return id
		}
	}
}
