package cameras

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/executive/sight"
	"earshot/providers/webcam"
)

// A Set holds the cameras of the daemon. The setting executive.sight.rooms says where agents may
// look through those of this machine; those of a satellite are for its room.
type Set struct {
	mu       sync.Mutex
	all      []*Camera
	far      []*Camera // of satellites
	expected []string  // the names of those that the start still looks for
}

// Expect records which cameras are configured, before the start has looked for them: none works
// yet, which is not the same as having none.
func (all *Set) Expect(c webcam.Config) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if c.Enabled {
		for _, one := range c.List() {
			all.expected = append(all.expected, one.Name)
		}
	}
}

// Replace replaces the cameras.
func (all *Set) Replace(list []*Camera) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.all, all.expected = list, nil
}

// ReplaceFar replaces the cameras of satellites.
func (all *Set) ReplaceFar(list []*Camera) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.far = list
}

// List returns the cameras, in the order of the configuration, and then those of satellites that have
// one.
func (all *Set) List() []*Camera {
	all.mu.Lock()
	defer all.mu.Unlock()
	return slices.DeleteFunc(slices.Concat(all.all, all.far), func(e *Camera) bool { return e.Away != nil && e.Away() == NoCamera })
}

// Find returns the camera with a name; the first if the name is empty.
func (all *Set) Find(name string) *Camera {
	for _, e := range all.List() {
		if name == "" || e.Name == name {
			return e
		}
	}
	return nil
}

// errNoCamera says that there is no camera, or none with the name.
var errNoCamera = errors.New("there is no such camera")

// A roomCameras is the cameras of which a room may know.
type roomCameras struct {
	*Set
	room earshot.RoomID
}

// In returns the cameras of which a room may know: those of its satellites and of this machine.
func (all *Set) In(room earshot.RoomID) sight.Cameras { return roomCameras{all, room} }

// Cameras implements [sight.Cameras].
func (all roomCameras) Cameras() (list []sight.Camera) {
	for _, e := range all.List() {
		now, at := e.state(), len(list)
		if e.Room == all.room && e.Room != earshot.Desk {
			at = 0 // it shows the room better than those of the desk
		}
		if e.Room == "" || e.Room == all.room {
			list = slices.Insert(list, at, sight.Camera{Name: e.Name, Eyesight: now.eyes, Since: now.since, Own: e.Room != ""})
		}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, name := range all.expected {
		list = append(list, sight.Camera{Name: name, Eyesight: earshot.Away})
	}
	return list
}

// Look implements [sight.Cameras].
func (all roomCameras) Look(ctx context.Context, camera string, at time.Time) (earshot.Picture, error) {
	e := all.Find(camera)
	if e == nil || e.Room != "" && e.Room != all.room {
		return earshot.Picture{}, errNoCamera
	}
	p, err := e.Look(ctx, at, false)
	if err != nil {
		return p, fmt.Errorf("looking through the %s: %w", earshot.CameraCalled(e.Name), err)
	}
	return p, nil
}
