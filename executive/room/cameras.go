package room

import (
	"context"
	"time"

	"earshot"
)

// Cameras are those of the house. They may be used from many goroutines.
type Cameras interface {
	// Cameras returns those that are set up, in the order in which they are asked
	// if nobody says which. It answers at once.
	Cameras() []Camera

	// Look returns the picture of a camera that was taken nearest to a time, which
	// may be a few seconds ago; the zero time is the next picture. It gives up when
	// ctx ends. Its error is for the log and holds nothing that was seen.
	Look(ctx context.Context, camera string, at time.Time) (earshot.Picture, error)
}

// A Camera is one of them, and how it sees.
type Camera struct {
	Name     string           // by which the configuration calls it
	Eyesight earshot.Eyesight // now
	Since    time.Time        // since when it is so; zero if that is not known
}
