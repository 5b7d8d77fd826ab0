package cameras

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"earshot"
	"earshot/executive/room"
	"earshot/providers/webcam"
)

// A Set has the cameras of the daemon. Where agents may look through them is for
// executive.sight.rooms to say.
type Set struct {
	mu       sync.Mutex
	all      []*Camera
	expected []string // the names of those that the start still looks for
}

// Expect takes in which cameras are configured, before the start has looked for any: none of
// them works yet, which is not the same as that there is none.
func (all *Set) Expect(c webcam.Config) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if c.Enabled {
		for _, one := range c.List() {
			all.expected = append(all.expected, one.Name)
		}
	}
}

// Replace makes these the cameras.
func (all *Set) Replace(list []*Camera) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.all, all.expected = list, nil
}

// List returns the cameras, in the order of the configuration.
func (all *Set) List() []*Camera {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.all[:len(all.all):len(all.all)]
}

// Find returns the camera of that name; the first if nothing is said.
func (all *Set) Find(name string) *Camera {
	for _, e := range all.List() {
		if name == "" || e.Name == name {
			return e
		}
	}
	return nil
}

// errNoCamera is that there is none, or none of that name.
var errNoCamera = errors.New("there is no such camera")

// Cameras implements [room.Cameras].
func (all *Set) Cameras() (list []room.Camera) {
	for _, e := range all.List() {
		now := e.state()
		list = append(list, room.Camera{Name: e.Name, Eyesight: now.eyes, Since: now.since})
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, name := range all.expected {
		list = append(list, room.Camera{Name: name, Eyesight: earshot.Away})
	}
	return list
}

// Look implements [room.Cameras].
func (all *Set) Look(ctx context.Context, camera string, at time.Time) (earshot.Picture, error) {
	e := all.Find(camera)
	if e == nil {
		return earshot.Picture{}, errNoCamera
	}
	p, err := e.Look(ctx, at, false)
	if err != nil {
		return p, fmt.Errorf("looking through the %s: %w", earshot.CameraCalled(e.Name), err)
	}
	return p, nil
}

// Names returns what the cameras are called.
func (all *Set) Names() (names []string) {
	for _, e := range all.List() {
		names = append(names, e.Name)
	}
	return names
}
