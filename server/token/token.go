// Package token keeps the tokens by which participants prove who they are,
// where a name alone does not do. A token is 256 random bits that are shown
// once, when it is made; the file knows its hash.
//
// The file is the truth: it is looked at for every question, and read if it looks otherwise
// than before, so that a token that was revoked by another process holds no longer. A file that is not there
// holds no tokens. One that is damaged, or that others could have written, is
// an error and lets nobody in.
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

// The limits of what is kept.
const (
	most      = 256 // tokens: a household with a script or two each
	noteBytes = 200
	nameBytes = 256 // of a participant's ID
)

// prefix makes a token known for one where it was left lying about.
const prefix = "earshot_"

// alphabet writes random bits as people can copy them.
var alphabet = base32.StdEncoding.WithPadding(base32.NoPadding)

// Errors of [Store.Check] and [Store.Revoke]. More is said in the errors that
// wrap them.
var (
	ErrUnknown = errors.New("this token is unknown here; it may have been revoked")
	ErrExpired = errors.New("this token has expired")
	ErrNone    = errors.New("there is no token with this ID; see: earshot token list")
)

// A Token is what is known about one, which is not the secret.
type Token struct {
	ID          string                `json:"id"` // short, for people
	Participant earshot.ParticipantID `json:"participant"`
	Note        string                `json:"note,omitempty"` // what it is for
	Created     time.Time             `json:"created"`
	Expires     time.Time             `json:"expires,omitzero"` // zero is never
}

// expired reports whether t has expired at a time.
func (t Token) expired(at time.Time) bool { return !t.Expires.IsZero() && !at.Before(t.Expires) }

// A Store is the tokens in a file. It may be used from many goroutines and
// many processes. It is not copied after first use.
type Store struct {
	Path string           // its directory must be there
	Now  func() time.Time // nil is the clock

	last atomic.Pointer[memory] // what was read last, for as long as the file looks like that
}

// In returns the tokens that are kept in a directory, which is that of the journal.
func In(directory string) *Store { return &Store{Path: filepath.Join(directory, "tokens.json")} }

// Create makes a token of a participant. Without a time to expire it lasts
// until it is revoked. The secret is not kept.
func (s *Store) Create(of earshot.ParticipantID, note string, expires time.Time) (Token, field.Secret, error) {
	t := Token{Participant: of, Note: note, Created: s.now().UTC().Truncate(time.Second), Expires: expires.UTC().Truncate(time.Second)}
	if err := t.check(); err != nil {
		return Token{}, "", err
	}
	if t.expired(s.now()) {
		return Token{}, "", errors.New("the time of expiry is in the past; give a later one")
	}
	secret := prefix + strings.ToLower(alphabet.EncodeToString(random(32)))
	err := s.change(func(all []entry) ([]entry, error) {
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

// check reports what is wrong with what somebody wants to be known of a token.
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

// List returns all tokens, the oldest first, with those that have expired.
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

// Revoke takes a token away, or returns [ErrNone].
func (s *Store) Revoke(id string) error {
	return s.change(func(all []entry) ([]entry, error) {
		rest := slices.DeleteFunc(all, func(e entry) bool { return e.ID == id })
		if len(rest) == len(all) {
			return nil, ErrNone
		}
		return rest, nil
	})
}

// Check returns whose token secret is. It takes the same time for every secret
// of a length, however much of it is right.
func (s *Store) Check(secret field.Secret) (earshot.ParticipantID, error) {
	all, err := s.known()
	if err != nil {
		return "", err
	}
	sum, found := sha256.Sum256([]byte(secret.Reveal())), -1
	for i, e := range all {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], e.hash[:]), i, found)
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
	_, _ = rand.Read(b) // never fails; see there
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
