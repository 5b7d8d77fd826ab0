// Package sight looks through the cameras of a room. It takes pictures for questions, tracks what each
// camera sees, chooses the pictures that a model describes, and says in the program's words what was
// found. It knows no room: it returns texts and entries for the scene, and [Viewer] has what it needs
// of the room.
package sight

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
)

const (
	// lookTimeout is how long a look may take while somebody waits for it. A running camera has the
	// picture in memory, and answers within milliseconds.
	lookTimeout = 2 * time.Second

	// seenNextTolerance is how old a picture without findings may be for the findings of the next
	// one to count for it too. Detectors look where something moves, so a picture of somebody who
	// sits still is usually not searched, but the next one that somebody asks for is.
	seenNextTolerance = 2 * time.Second
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

// A Camera is a configured camera, and how it sees.
type Camera struct {
	Name     string           // its name in the configuration; empty for none
	Eyesight earshot.Eyesight // now
	Since    time.Time        // since when; zero if unknown
	Own      bool             // it belongs to the room alone, which may look through it whatever the configuration says
}

// Works reports whether any of some cameras has seen anything since the program started. A program
// that never had a camera still lists one that it waits for.
func Works(all []Camera) bool {
	return slices.ContainsFunc(all, func(c Camera) bool { return c.Eyesight == earshot.Clear || !c.Since.IsZero() })
}

// Find returns the camera of that name. Without a name it returns the first that sees, or else the
// first.
func Find(all []Camera, name string) (Camera, bool) {
	fits := func(c Camera) bool { return c.Eyesight == earshot.Clear }
	if name != "" {
		fits = func(c Camera) bool { return strings.EqualFold(c.Name, name) }
	}
	switch i := slices.IndexFunc(all, fits); {
	case i >= 0:
		return all[i], true
	case name != "" || len(all) == 0:
		return Camera{}, false
	}
	return all[0], true
}

// A Viewer takes the looks of a room. All fields must be set, except that Cameras may be nil. It is
// safe for concurrent use.
type Viewer struct {
	Captioner Captioner // of what the cameras notice

	Cameras Cameras
	Now     func() time.Time
	Log     *slog.Logger

	// Done is called when a look is over. It returns at once.
	Done func()

	Status  Statuses // what the cameras see now
	running sync.WaitGroup
}

// List returns the cameras of the program.
func (v *Viewer) List() []Camera {
	if v.Cameras == nil {
		return nil
	}
	return v.Cameras.Cameras()
}

// Wait returns when no look is being taken any more.
func (v *Viewer) Wait() { v.running.Wait() }

// A Look is a picture that is taken because of some event, as soon as that event is on record and
// however long its answer has to wait, so that the picture shows that moment. It is safe for
// concurrent use.
type Look struct {
	Camera Camera

	done    chan struct{} // closed when the following fields are set
	picture earshot.Picture
	seen    bool
	took    time.Duration
}

// NoLook returns a look that shows nothing.
func NoLook(c Camera) *Look {
	l := &Look{Camera: c, done: make(chan struct{})}
	close(l.done)
	return l
}

// Pending reports whether the look is still being taken. A nil look is not.
func (l *Look) Pending() bool {
	if l == nil {
		return false
	}
	select {
	case <-l.done:
		return false
	default:
		return true
	}
}

// Seen reports whether there is a picture. It is false for a nil look, and while the look is being
// taken.
func (l *Look) Seen() bool { return l != nil && !l.Pending() && l.seen }

// Picture returns what was seen; the zero value if nothing was, or not yet.
func (l *Look) Picture() earshot.Picture {
	if !l.Seen() {
		return earshot.Picture{}
	}
	return l.picture
}

// Took returns how long the look took.
func (l *Look) Took() time.Duration {
	if l.Pending() {
		return 0
	}
	return l.took
}

// Take takes a look through a camera for something that happened at a time. If the camera does not
// see, it returns a look without a picture, so nobody waits in vain.
func (v *Viewer) Take(ctx context.Context, c Camera, at time.Time) *Look {
	if c.Eyesight != earshot.Clear {
		return NoLook(c)
	}
	l := &Look{Camera: c, done: make(chan struct{})}
	v.running.Go(func() {
		began := v.Now()
		l.picture, l.seen = v.Through(ctx, c.Name, at)
		l.took = v.Now().Sub(began)
		close(l.done)
		v.Done()
	})
	return l
}

// Through takes a picture, and reports whether it is usable. People who were in view at that time,
// but were not detected in the picture, are added.
func (v *Viewer) Through(ctx context.Context, name string, at time.Time) (earshot.Picture, bool) {
	ctx, cancel := context.WithTimeoutCause(ctx, lookTimeout, errors.New("the camera is too slow"))
	defer cancel()
	p, err := v.Cameras.Look(ctx, name, at)
	if err != nil && !at.IsZero() && ctx.Err() == nil { // the camera no longer has a picture of that time, or has none yet
		at = time.Time{}
		p, err = v.Cameras.Look(ctx, name, at)
	}
	if err == nil && (len(p.JPEG) == 0 || len(p.JPEG) > earshot.MaxPicture) {
		err = errors.New("an invalid picture")
	}
	if err != nil {
		v.Log.Warn("a look through the camera failed", "camera", name, "err", err)
		return earshot.Picture{}, false
	}
	if now := v.Now(); p.At.IsZero() || p.At.After(now) {
		p.At = now // the camera's clock differs from ours
	}
	if !at.IsZero() && len(p.Seen) == 0 && v.Now().Sub(p.At) < seenNextTolerance {
		if next, err := v.Cameras.Look(ctx, name, time.Time{}); err == nil {
			p.Seen = next.Seen
		}
	}
	p.Seen = slices.Clone(p.Seen)
	for range v.Status.people(name, p.At) - People(p.Seen) {
		p.Seen = append(p.Seen, earshot.Seen{What: earshot.Person})
	}
	return p, true
}

// The answers when there is nothing to look through.
const (
	noCamera      = "I have no camera."
	noCameraHere  = "I have no camera here."
	noCameraWorks = "I have no camera that works."
	cameraSilent  = "I cannot say what there is to see: my camera does not answer."
)

// Unable returns the answer to somebody who wants the agent to look, if there is nothing to see;
// otherwise it is empty.
func (v *Viewer) Unable(l *Look) string {
	c := l.Camera
	switch {
	case c.Name == "" && len(v.List()) > 0:
		return noCameraHere
	case c.Name == "":
		return noCamera
	case c.Eyesight != earshot.Clear && c.Since.IsZero():
		return noCameraWorks
	case c.Eyesight != earshot.Clear:
		return Unseen(c.Eyesight, c.Since, v.Now())
	case !l.Seen():
		return cameraSilent
	}
	return ""
}

// Describe returns in the program's words what was seen.
func (l *Look) Describe(now time.Time) string {
	found := string(Found(l.picture))
	verb := "I see "
	if strings.HasPrefix(found, Nobody) { // detectors can tell that
		verb = "I can make out "
	}
	return Opening(l.picture.At, now) + verb + found + "."
}
