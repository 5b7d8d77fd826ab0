// Package pairing keeps which satellites a hub lets in, and makes the codes that are pasted at
// their machines. A satellite proves who it is by a key of its own (an nkey): the file holds the
// public half, the code the other one, which is shown once.
//
// The file is the truth, and is read again when its metadata has changed. A missing file holds
// nobody; one that is damaged, or that others could have written, is an error and lets nobody in.
package pairing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	version   = 1 // of the file
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
type Registry struct{ file keyfile.File }

// In returns the registry in a directory, which is that of the journal.
func In(directory string) *Registry {
	return &Registry{keyfile.File{
		Path: filepath.Join(directory, File), What: "satellites", Most: fileBytes,
		Create: "earshot pair NAME", Review: "remove what you did not pair, see: earshot pair list",
	}}
}

// contents is the JSON of the file.
type contents struct {
	Version    int         `json:"version"`
	Satellites []Satellite `json:"satellites"`
}

// List returns all satellites, the oldest first.
func (r *Registry) List() ([]Satellite, error) {
	all, _, err := r.read()
	return all, err
}

func (r *Registry) read() ([]Satellite, keyfile.Stamp, error) {
	data, stamp, err := r.file.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, stamp, nil
	}
	if err != nil {
		return nil, stamp, err
	}
	all, err := parse(data)
	if err != nil {
		return nil, stamp, r.file.Damaged(err)
	}
	return all, stamp, nil
}

// parse returns the satellites in a file. Its errors quote nothing of it.
func parse(data []byte) ([]Satellite, error) {
	if len(data) > fileBytes {
		return nil, errors.New("the file is too large")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var in contents
	if err := d.Decode(&in); err != nil {
		return nil, errors.New("it is not valid JSON for this file")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it continues after its end")
	}
	if in.Version != version || len(in.Satellites) > most {
		return nil, fmt.Errorf("it has version %d and %d satellites, but this earshot knows version %d and at most %d", in.Version, len(in.Satellites), version, most)
	}
	ids, keys := make(map[string]bool), make(map[string]bool)
	for i, s := range in.Satellites {
		switch {
		case satellite.CheckID(s.ID) != nil || s.Room == "" || len(s.Room) > roomBytes || !nkeys.IsValidPublicUserKey(s.Key) || s.Created.IsZero():
			return nil, fmt.Errorf("satellite %d is incomplete", i+1)
		case ids[s.ID] || keys[s.Key]:
			return nil, fmt.Errorf("satellite %d appears twice", i+1)
		}
		ids[s.ID], keys[s.Key] = true, true
	}
	return in.Satellites, nil
}

// change replaces the satellites with the result of to.
func (r *Registry) change(to func([]Satellite) ([]Satellite, error)) error {
	return r.file.Change(func() ([]byte, error) {
		all, _, err := r.read()
		if err != nil {
			return nil, err
		}
		if all, err = to(all); err != nil {
			return nil, err
		}
		return format(all)
	})
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
	err = r.change(func(all []Satellite) ([]Satellite, error) {
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
func (r *Registry) Remove(id string) error {
	return r.change(func(all []Satellite) ([]Satellite, error) {
		rest := slices.DeleteFunc(all, func(s Satellite) bool { return s.ID == id })
		if len(rest) == len(all) {
			return nil, ErrNone
		}
		return rest, nil
	})
}

// Still returns a copy of the file without the satellites that are not paired here any more, and how many
// it left out: one that was removed must not be let in again through an older copy. Without a file none
// was removed, and the copy is returned whole.
func (r *Registry) Still(data []byte) (still []byte, gone int, err error) {
	here, stamp, err := r.read()
	if err != nil {
		return nil, 0, err
	}
	all, err := parse(data)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the copy of the satellites: %w", err)
	}
	if stamp == (keyfile.Stamp{}) {
		return data, 0, nil
	}
	before := len(all)
	all = slices.DeleteFunc(all, func(s Satellite) bool {
		return !slices.ContainsFunc(here, func(k Satellite) bool { return k.Key == s.Key })
	})
	still, err = format(all)
	return still, before - len(all), err
}

func format(all []Satellite) ([]byte, error) {
	data, err := json.MarshalIndent(contents{version, all}, "", "  ")
	return append(data, '\n'), err
}

// lookEvery is how often the file is looked at: a change takes effect within a second.
const lookEvery = 500 * time.Millisecond

// Follow calls take with what [Registry.List] returns, first now and then whenever that may have
// changed, until ctx ends.
func (r *Registry) Follow(ctx context.Context, take func([]Satellite, error)) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		all, read, err := r.read()
		take(all, err)
		same := true
		for same {
			select {
			case <-look.C:
			case <-ctx.Done():
				return
			}
			now, _ := r.file.Stamp()
			same = now == read && (err != nil || now.Settled(time.Now()))
		}
	}
}
