package sight

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive/scene"
	"earshot/internal/lockorder"
	"earshot/participants"
)

const (
	// maxCameras is of how many cameras a room remembers what they see: more than any home has.
	// Beyond that, the cameras that have seen nothing for longest are forgotten.
	maxCameras = 16

	// maxCamera is the longest name of a camera in bytes.
	maxCamera = 64
)

// The brightness of a room, as a share of the maximum, below which the room is called dark or dim,
// and how far past a limit it must be to be called otherwise again. A room with a lamp on at night
// is above the first, and values in between change all evening.
const (
	darkBelow   = 0.08
	dimBelow    = 0.22
	lightMargin = 0.03
)

// A cameraStatus is what a camera currently sees, as far as the room knows.
type cameraStatus struct {
	at    time.Time // of the last look at which it saw
	sees  int       // the number of people then; -1 if it has never seen
	light string    // the word for the brightness; empty if that is unknown
	last  time.Time // when it last reported anything
}

// Statuses say what each camera sees at the moment. The zero value is empty. It is safe for
// concurrent use.
type Statuses struct {
	mu  lockorder.Mutex[lockorder.Leaf]
	all map[string]cameraStatus
}

// CheckSight returns what a camera has noticed in the form in which it may be kept.
func CheckSight(s earshot.Sight, from earshot.Handle, who participants.Participant) (earshot.Sight, error) {
	s.Text = earshot.Text(strings.ToValidUTF8(string(s.Text), "\uFFFD"))
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

// CheckGlance returns what a camera currently sees in the form in which it may be believed.
func CheckGlance(g earshot.Glance, from earshot.Handle, who participants.Participant) (earshot.Glance, error) {
	g.Camera = from.ID
	return g, plausible(from, who, g.Eyes, []int{g.People, g.Faces}, g.Sure, g.Brightness, g.Motion, g.Novelty)
}

// plausible says why something cannot be what a camera sees; nil if it can. A known participant
// cannot send camera events.
func plausible(from earshot.Handle, who participants.Participant, eyes earshot.Eyesight, people []int, shares ...float64) error {
	many := func(n int) bool { return n < 0 || n > earshot.MaxSeen }
	share := func(x float64) bool { return !(x >= 0 && x <= 1) }
	switch {
	case who.ID != "":
		return errors.New("a known participant cannot send camera events")
	case from.ID == "" || len(from.ID) > maxCamera:
		return fmt.Errorf("the name of a camera has from 1 to %d bytes", maxCamera)
	case eyes.Words() == "" || slices.ContainsFunc(people, many) || slices.ContainsFunc(shares, share):
		return errors.New("a camera cannot see that: a value is out of range")
	}
	return nil
}

// camera returns the ID of the entry that says what a camera sees.
func camera(h earshot.Handle) string { return h.Provider + ":" + h.ID }

// Name returns how texts refer to a camera.
func Name(h earshot.Handle) string { return earshot.CameraCalled(participants.OneLine(h.ID)) }

// people returns how many people a camera saw around a time, 0 if unknown.
func (v *Statuses) people(name string, at time.Time) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	is, known := v.all[name]
	if !known || is.sees < 0 || at.Sub(is.at).Abs() > stillThere {
		return 0
	}
	return is.sees
}

// stillThere is how long before and after a camera saw somebody they count as being in its
// pictures.
const stillThere = 3 * time.Second

// called returns the word for a brightness; was is the previous word.
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

// keep stores the status of a camera. v.mu must be held.
func (v *Statuses) keep(name string, is cameraStatus) {
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

// Item returns something that a camera noticed as an entry of the scene.
func Item(e earshot.Event, s earshot.Sight) scene.Item {
	return scene.Item{
		Field: scene.Visual, Source: e.From.Provider, Event: e.ID, At: e.At, Visibility: e.Visibility,
		Text: earshot.Text(Name(earshot.Handle{ID: s.Camera})) + ": " + s.Words(),
	}
}

// People takes in how many people a camera sees, and returns the entry of the scene that says so. If
// the camera no longer sees anything, the entry says what it saw last, and when. fits is false if
// this is older than the camera's last report.
func (v *Statuses) People(e earshot.Event, people int, eyes earshot.Eyesight) (i scene.Item, fits bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	is, known := v.all[e.From.ID]
	switch {
	case !known:
		is.sees = -1
	case e.At.Before(is.last):
		return i, false
	}
	is.last = e.At
	if eyes == earshot.Clear {
		is.at, is.sees = e.At, people
	}
	v.keep(e.From.ID, is)
	text := earshot.InView(people)
	if eyes != earshot.Clear {
		text = string(eyes.Words())
		if is.sees >= 0 {
			text += fmt.Sprintf("; before that, at %s: %s", is.at.Local().Format("15:04:05"), earshot.InView(is.sees))
		}
	}
	return scene.Item{
		ID: camera(e.From), Field: scene.Visual, Source: e.From.Provider, At: e.At, Watched: true,
		Text: earshot.Text(Name(e.From) + ": " + text), Visibility: earshot.Visibility{Scope: earshot.Public},
	}, true
}

// Light takes in how bright it is before a camera, and returns the entry of the scene that says so.
// fits is false if that cannot be told.
func (v *Statuses) Light(e earshot.Event, g earshot.Glance) (i scene.Item, fits bool) {
	if g.Eyes != earshot.Clear && g.Eyes != earshot.Dark {
		return i, false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	is, known := v.all[e.From.ID]
	if !known {
		return i, false
	}
	is.light = called(is.light, g.Brightness)
	v.keep(e.From.ID, is)
	return scene.Item{
		ID: "light:" + camera(e.From), Field: scene.Environment, Source: e.From.Provider, At: e.At, Watched: true,
		Text:       earshot.Text("it is " + is.light + " before the " + Name(e.From)),
		Visibility: earshot.Visibility{Scope: earshot.Public},
	}, true
}
