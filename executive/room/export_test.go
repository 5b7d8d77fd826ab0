package room

import "earshot"

// Route does to an event what [Room.Admit] does before it acts.
func Route(r *Room, e earshot.Event) error {
	_, err := r.resolve(e)
	return err
}
