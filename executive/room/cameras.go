package room

import (
	"context"
	"time"

	"earshot"
)

// Cameras are the cameras of the program. It is safe for concurrent use.
type Cameras interface {
	// Cameras returns the configured cameras, in the order in which they are used if nobody names
	// one. It returns at once.
	Cameras() []Camera

	// Look returns the picture of a camera that was taken nearest to a time, which may be a few
	// seconds ago; the zero time means the next picture. It gives up when ctx ends. Its error is
	// for the log and holds nothing that was seen.
	Look(ctx context.Context, camera string, at time.Time) (earshot.Picture, error)
}

// A Camera is one of them, with how it sees.
type Camera struct {
	Name     string           // its name in the configuration
	Eyesight earshot.Eyesight // now
	Since    time.Time        // since when; zero if unknown
}
