package room

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/executive/scene"
	"earshot/participants"
)

const (
	// maxCameras bounds of how many cameras a room knows what they see: more than a house
	// has. Beyond it those that have seen nothing for longest are forgotten.
	maxCameras = 16

	// maxCamera is the longest name of one in bytes.
	maxCamera = 64
)

// The brightness of a room, as shares of the whole, below which it is called dark and dim,
// and how far past that it must be to be called otherwise again: a room in which a lamp is on
// at night is above the first, and what is between changes all evening.
const (
	darkBelow   = 0.08
	dimBelow    = 0.22
	lightMargin = 0.03
)

// A cameraStatus is what a camera sees at the moment, as far as the room knows.
type cameraStatus struct {
	at    time.Time // of the last look at which it saw
	sees  int       // people then; -1 if it has never seen
	light string    // what it is called; empty if that is not known
	last  time.Time // of whatever it told last
}

// cameraStatuses are those of all cameras, by name. The zero value is none. It may be used from many
// goroutines.
type cameraStatuses struct {
	mu  sync.Mutex
	all map[string]cameraStatus
}

// sighted returns what a camera has noticed as it may be kept.
func sighted(s earshot.Sight, from earshot.Handle, who participants.Participant) (earshot.Sight, error) {
	s.Text = valid(s.Text)
	noticed := []earshot.Noticed{earshot.PeopleChanged, earshot.EyesChanged, earshot.SceneChanged, earshot.CodeRead, earshot.Captioned}
	switch {
	case !slices.Contains(noticed, s.What):
		return s, fmt.Errorf("a camera cannot report %q", participants.OneLine(string(s.What)))
	case len(s.Text) > earshot.MaxCode:
		return s, fmt.Errorf("the description of what is seen has %d bytes; at most %d are possible", len(s.Text), earshot.MaxCode)
	case (s.What == earshot.CodeRead || s.What == earshot.Captioned) != (s.Text != ""):
		return s, errors.New("only a code and a caption have a text")
	}
	s.Camera = from.ID
	return s, plausible(from, who, s.Eyes, []int{s.People, s.Were}, s.Sure)
}

// glanced returns what a camera sees at the moment as it may be believed.
func glanced(g earshot.Glance, from earshot.Handle, who participants.Participant) (earshot.Glance, error) {
	g.Camera = from.ID
	return g, plausible(from, who, g.Eyes, []int{g.People, g.Faces}, g.Sure, g.Brightness, g.Motion, g.Novelty)
}

// plausible says why something cannot be what a camera sees, or nothing. Who is known is no
// camera.
func plausible(from earshot.Handle, who participants.Participant, eyes earshot.Eyesight, people []int, shares ...float64) error {
	many := func(n int) bool { return n < 0 || n > earshot.MaxSeen }
	share := func(x float64) bool { return !(x >= 0 && x <= 1) }
	switch {
	case who.ID != "":
		return errors.New("a known participant cannot send camera events")
	case from.ID == "" || len(from.ID) > maxCamera:
		return fmt.Errorf("the name of a camera has from 1 to %d bytes", maxCamera)
	case eyes.Words() == "" || slices.ContainsFunc(people, many) || slices.ContainsFunc(shares, share):
		return errors.New("no camera sees that")
	}
	return nil
}

// updateCameraPeople notes in the scene what a camera sees. What it does not see any more it is said to
// have seen, and when.
func (r *Room) updateCameraPeople(e earshot.Event, people int, eyes earshot.Eyesight) {
	v, fits := r.cameraStatuses.note(e.From.ID, e.At, people, eyes)
	if !fits {
		return
	}
	text := earshot.InView(people)
	if eyes != earshot.Clear {
		text = string(eyes.Words())
		if v.sees >= 0 {
			text += fmt.Sprintf("; before that, at %s: %s", v.at.Local().Format("15:04:05"), earshot.InView(v.sees))
		}
	}
	r.observes(scene.Item{
		ID: camera(e.From), Field: scene.Visual, Source: e.From.Provider, At: e.At, Watched: true,
		Text: earshot.Text(calls(e.From) + ": " + text), Visibility: earshot.Visibility{Scope: earshot.Public},
	})
}

// camera returns what the entry is called that says what a camera sees.
func camera(h earshot.Handle) string { return h.Provider + ":" + h.ID }

// calls returns how a camera is spoken of.
func calls(h earshot.Handle) string { return earshot.CameraCalled(participants.OneLine(h.ID)) }

// updateCameraLight notes in the scene how light it is.
func (r *Room) updateCameraLight(e earshot.Event, g earshot.Glance) {
	if g.Eyes != earshot.Clear && g.Eyes != earshot.Dark {
		return
	}
	light, fits := r.cameraStatuses.light(e.From.ID, g.Brightness)
	if !fits {
		return
	}
	r.observes(scene.Item{
		ID: "light:" + camera(e.From), Field: scene.Environment, Source: e.From.Provider, At: e.At, Watched: true,
		Text:       earshot.Text("it is " + light + " before the " + calls(e.From)),
		Visibility: earshot.Visibility{Scope: earshot.Public},
	})
}

// observes takes what a sense has noticed into the scene.
func (r *Room) observes(i scene.Item) {
	if was, over := r.scene.Observe(i); over {
		r.overruled(was, i.Source)
	}
}

// note notes what a camera sees, and returns what it has seen. It does not fit if it is
// older than what the camera told last.
func (v *cameraStatuses) note(name string, at time.Time, people int, eyes earshot.Eyesight) (is cameraStatus, fits bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	is, known := v.all[name]
	switch {
	case !known:
		is.sees = -1
	case at.Before(is.last):
		return is, false
	}
	is.last = at
	if eyes == earshot.Clear {
		is.at, is.sees = at, people
	}
	v.keep(name, is)
	return is, true
}

// people returns how many a camera has seen about a time, 0 if that is not known.
func (v *cameraStatuses) people(name string, at time.Time) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	is, known := v.all[name]
	if !known || is.sees < 0 || at.Sub(is.at).Abs() > stillThere {
		return 0
	}
	return is.sees
}

// stillThere is how long after a camera saw somebody they are in its pictures, and before.
const stillThere = 3 * time.Second

// light notes how bright it is before a camera that is known, and returns what that is called.
func (v *cameraStatuses) light(name string, brightness float64) (light string, fits bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	is, known := v.all[name]
	if !known {
		return "", false
	}
	is.light = called(is.light, brightness)
	v.keep(name, is)
	return is.light, true
}

// called returns what a brightness is called that was called something before.
func called(was string, brightness float64) string {
	margin := func(below float64, now ...string) float64 {
		if slices.Contains(now, was) {
			return below + lightMargin
		}
		return below
	}
	switch {
	case brightness < margin(darkBelow, "dark"):
		return "dark"
	case brightness < margin(dimBelow, "dark", "dim"):
		return "dim"
	}
	return "light"
}

// keep keeps what is known of a camera. It wants v.mu.
func (v *cameraStatuses) keep(name string, is cameraStatus) {
	if v.all == nil {
		v.all = make(map[string]cameraStatus)
	}
	v.all[name] = is
	for len(v.all) > maxCameras {
		oldest := ""
		for other, had := range v.all {
			if other != name && (oldest == "" || had.last.Before(v.all[oldest].last)) {
				oldest = other
			}
		}
		delete(v.all, oldest)
	}
}

// saw takes something that a camera noticed into a scene.
func saw(into *scene.Scene, e earshot.Event, s earshot.Sight) {
	into.Put(scene.Item{
		Field: scene.Visual, Source: e.From.Provider, Event: e.ID, At: e.At, Visibility: e.Visibility,
		Text: earshot.Text(calls(earshot.Handle{ID: s.Camera})) + ": " + s.Words(),
	})
}
