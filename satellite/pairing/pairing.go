// Package pairing keeps which satellites a hub lets in, and makes the codes that are pasted at
// their machines. A satellite proves who it is by a key of its own (an nkey): the file holds the
// public half, the code the other one, which is shown once.
//
// The file is the truth, and is read again when its metadata has changed. A missing file holds
// nobody; one that is damaged, or that others could have written, is an error and lets nobody in.
package pairing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nkeys"

	"earshot"
	"earshot/internal/field"
	"earshot/internal/keyfile"
	"earshot/satellite"
)

// The names of files: the satellites, and the certificate of the bus, by which satellites know the hub, with
// its key.
const (
	File            = "satellites.json"
	CertificateFile = "bus.pem"
)

const (
	most      = 64
	roomBytes = 256
	fileBytes = most * (6*roomBytes + 512) // every byte of a room's ID may be escaped
)

// Errors of [Registry.Pair] and [Registry.Remove]. The errors that wrap them say more.
var (
	ErrTaken = errors.New("there is a satellite of this name")
	ErrNone  = errors.New("there is no satellite of this name; see: earshot pair list")
)

// A Satellite is one that is paired.
type Satellite struct {
	ID      string         `json:"id"`
	Room    earshot.RoomID `json:"room"` // that it serves
	Key     string         `json:"key"`  // public
	Created time.Time      `json:"created"`
}

// A Registry holds the satellites in a file. It may be used from many goroutines and processes.
type Registry struct{ list keyfile.List[Satellite] }

// In returns the registry in a directory, which is that of the journal.
func In(directory string) *Registry {
	return &Registry{keyfile.List[Satellite]{
		File: keyfile.File{
			Path: filepath.Join(directory, File), What: "satellites", Most: fileBytes,
			Create: "earshot pair NAME", Review: "remove what you did not pair, see: earshot pair list",
		},
		Entries: most,
		Whole: func(s Satellite) bool {
			return satellite.CheckID(s.ID) == nil && s.Room != "" && len(s.Room) <= roomBytes && nkeys.IsValidPublicUserKey(s.Key) && !s.Created.IsZero()
		},
		Keys: func(s Satellite) [2]string { return [2]string{s.ID, s.Key} },
	}}
}

// List returns all satellites, the oldest first.
func (r *Registry) List() ([]Satellite, error) {
	all, _, err := r.list.Read()
	return all, err
}

// Pair adds a satellite of a room, and returns its secret key, which is not kept.
func (r *Registry) Pair(id string, room earshot.RoomID) (Satellite, field.Secret, error) {
	if err := satellite.CheckID(id); err != nil {
		return Satellite{}, "", err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return Satellite{}, "", fmt.Errorf("making a key: %w", err)
	}
	seed, seedErr := pair.Seed()
	public, err := pair.PublicKey()
	if err = errors.Join(seedErr, err); err != nil {
		return Satellite{}, "", fmt.Errorf("making a key: %w", err)
	}
	made := Satellite{id, room, public, time.Now().UTC().Truncate(time.Second)}
	err = r.list.Change(func(all []Satellite) ([]Satellite, error) {
		switch {
		case slices.ContainsFunc(all, func(s Satellite) bool { return s.ID == id }):
			return nil, fmt.Errorf("%w; choose another one, or remove that one: earshot pair remove %s", ErrTaken, id)
		case len(all) >= most:
			return nil, fmt.Errorf("there are already %d satellites, the most possible; remove some: earshot pair remove NAME", len(all))
		}
		return append(all, made), nil
	})
	return made, field.Secret(seed), err
}

// Remove removes a satellite, or returns [ErrNone].
func (r *Registry) Remove(id string) error { return r.list.Remove(id, ErrNone) }

// Still returns an older copy of the file without the satellites that are not paired here any more; see
// [keyfile.List.Still].
func (r *Registry) Still(data []byte) (still []byte, gone int, err error) { return r.list.Still(data) }

// lookEvery is how often the file is looked at: a change takes effect within a second.
const lookEvery = 500 * time.Millisecond

// Follow calls take with what [Registry.List] returns, first now and then whenever that may have
// changed, until ctx ends.
func (r *Registry) Follow(ctx context.Context, take func([]Satellite, error)) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		all, read, err := r.list.Read()
		take(all, err)
		same := true
		for same {
			select {
			case <-look.C:
			case <-ctx.Done():
				return
			}
			now, _ := r.list.Stamp()
			same = now == read && (err != nil || now.Settled(time.Now()))
		}
	}
}
