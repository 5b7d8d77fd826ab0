package room

import (
	"context"

	"earshot"
	"earshot/executive/scene"
)

// Route does to an event what [Room.Admit] does before it acts.
func Route(r *Room, e earshot.Event) error {
	set := r.cfg.Settings()
	_, err := r.resolver.Resolve(context.Background(), &set, e)
	return err
}

// Scene returns the scene of a room, so that a test can spoil it.
func Scene(r *Room) *scene.Scene { return r.scene }

// Wonder lets the room think about something new.
func (r *Room) Wonder(cause earshot.Cause, about earshot.EventID, what earshot.Text) {
	r.mind.Wonder(cause, about, what)
}

// Parked reports whether the mind of a room is parked.
func Parked(r *Room) bool { return r.mind.Held() }

// Prepared returns how many answers were prepared, and how many of them taken.
func Prepared(r *Room) (begun, taken int) { return r.preparation.Counts() }

// Limit bounds the queue for the journal of a room in which nothing happens.
func Limit(r *Room, places int) { r.entries.Limit = places }
