package cameras

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/models/see"
	"earshot/participants"
	"earshot/providers/webcam"
)

// TestHours: people are told once when a camera is closed by its hours and once when it is open
// again, but not when something else closes it.
func TestHours(t *testing.T) {
	var told []string
	e := &Camera{Name: "desk", Config: webcam.Camera{Hours: "08:00-20:00"}, tell: func(text string) { told = append(told, text) }}
	day, night := time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local), time.Date(2026, 1, 1, 23, 0, 0, 0, time.Local)
	ended, end := context.WithCancel(t.Context())
	end()
	at := func(now time.Time) func() time.Time { return func() time.Time { return now } }
	e.announceOpen()
	e.announceClosed(t.Context(), at(night)) // the camera was lost
	e.announceClosed(ended, at(day))         // the room was paused
	e.announceOpen()
	e.announceClosed(ended, at(night))
	e.announceClosed(ended, at(night))
	e.announceOpen()
	e.announceOpen()
	want := "The camera desk is now closed: its hours are 08:00-20:00.|The camera desk is now open: its hours are 08:00-20:00."
	if got := strings.Join(told, "|"); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestTally: a face and the body that it belongs to count as one person.
func TestTally(t *testing.T) {
	body := func(x float64) earshot.Seen {
		return earshot.Seen{What: earshot.Person, Box: earshot.Box{X: x, Y: 0.1, Width: 0.2, Height: 0.8}}
	}
	face := func(x float64) earshot.Seen {
		return earshot.Seen{What: earshot.Face, Box: earshot.Box{X: x, Y: 0.15, Width: 0.1, Height: 0.1}}
	}
	for _, tt := range []struct {
		seen          []earshot.Seen
		people, faces int
	}{
		{nil, 0, 0},
		{[]earshot.Seen{body(0), body(0.5)}, 2, 0},
		{[]earshot.Seen{body(0), face(0.05)}, 1, 1},
		{[]earshot.Seen{face(0.8), body(0), {What: earshot.Code}}, 2, 1},
	} {
		var s api.CameraView
		if SetPicture(&s, earshot.Picture{Seen: tt.seen}, false); s.People != tt.people || s.Faces != tt.faces {
			t.Errorf("%v: %d people and %d faces", tt.seen, s.People, s.Faces)
		}
	}
}

// TestEyes: a camera that does not run is away, and an unknown camera is an error. The state of a
// camera includes since when it has been so.
func TestEyes(t *testing.T) {
	var set Set
	all := set.In(earshot.Desk)
	if _, err := all.Look(t.Context(), "", time.Time{}); !errors.Is(err, errNoCamera) || len(all.Cameras()) != 0 {
		t.Errorf("a look at nothing: %v", err)
	}
	e := &Camera{Name: "desk"}
	set.Replace([]*Camera{e, {Name: "door"}})
	if _, err := all.Look(t.Context(), "", time.Time{}); !errors.Is(err, see.ErrAway) || !strings.Contains(err.Error(), "the camera desk") {
		t.Errorf("a look through what does not run: %v", err)
	}
	if _, err := all.Look(t.Context(), "attic", time.Time{}); !errors.Is(err, errNoCamera) {
		t.Errorf("a look through what is not there: %v", err)
	}
	now, passed := time.Now(), 0
	emit := e.Observe(func(context.Context, earshot.Event) error { passed++; return nil })
	for i, eyes := range []earshot.Eyesight{earshot.Clear, earshot.Clear, earshot.Dark, earshot.Dark} {
		if err := emit(t.Context(), earshot.Event{At: now.Add(time.Duration(i) * time.Second), Body: earshot.Glance{Eyes: eyes}}); err != nil {
			t.Fatal(err)
		}
	}
	closed, shut := context.WithCancel(t.Context())
	shut()
	if err := emit(closed, earshot.Event{At: now.Add(time.Minute), Body: earshot.Glance{Eyes: earshot.Clear}}); err == nil {
		t.Error("what comes after it was closed is noted")
	}
	c := all.Cameras()
	if len(c) != 2 || c[0].Name != "desk" || c[0].Eyesight != earshot.Dark || !c[0].Since.Equal(now.Add(2*time.Second)) || c[1].Eyesight != earshot.Away || passed != 4 {
		t.Errorf("the cameras are %v, and %d events passed", c, passed)
	}
}

// TestWhoLooksIsTold: people who may be in the picture are told who looks: every time a picture is
// taken away, and only now and then if the same person just asks.
func TestWhoLooksIsTold(t *testing.T) {
	e := new(Camera)
	now := time.Now()
	var told []bool
	for _, at := range []struct {
		who   earshot.ParticipantID
		after time.Duration
	}{{"ann", 0}, {"ann", time.Minute}, {"bob", time.Minute}, {"ann", 11 * time.Minute}} {
		told = append(told, e.ShouldTell(at.who, now.Add(at.after)))
	}
	if told[0] != true || told[1] != false || told[2] != true || told[3] != true {
		t.Errorf("told %v", told)
	}
	for took, want := range map[bool]string{true: "Ann has taken a picture with the camera and may keep it.", false: "Ann has asked what the camera sees."} {
		if got := LookedBy(participants.Participant{Name: "Ann"}, "camera", took); got != want {
			t.Errorf("told %q", got)
		}
	}
}

// TestExpectedCameras: a camera that the start is still looking for counts as one that does not
// work yet. A camera that is turned off does not count.
func TestExpectedCameras(t *testing.T) {
	set := new(Set)
	all := set.In(earshot.Desk)
	c := webcam.DefaultConfig()
	c.Enabled = false
	set.Expect(c)
	if got := all.Cameras(); len(got) != 0 {
		t.Errorf("a camera that is off is expected: %+v", got)
	}
	c.Enabled = true
	set.Expect(c)
	if got := all.Cameras(); len(got) != 1 || got[0].Eyesight != earshot.Away || !got[0].Since.IsZero() {
		t.Errorf("before the start has looked there is %+v", got)
	}
	set.Replace(nil)
	if got := all.Cameras(); len(got) != 0 {
		t.Errorf("when the start has found none there is %+v", got)
	}
}

// TestFarCameras: the camera of a satellite is there when the satellite has said so, for its own room
// only, and as that room's own; those of this machine are for whichever room may look through them.
func TestFarCameras(t *testing.T) {
	set, why := new(Set), NoCamera
	e, _ := NewFar("oven", "kitchen", func() string { return why }, nil, slog.New(slog.DiscardHandler), nil, nil, func() {})
	set.Replace([]*Camera{{Name: "desk"}})
	set.ReplaceFar([]*Camera{e})
	names := func(room earshot.RoomID) (all []string) {
		for _, c := range set.In(room).Cameras() {
			if c.Own {
				c.Name += ", its own"
			}
			all = append(all, c.Name)
		}
		return all
	}
	if got := names("kitchen"); !slices.Equal(got, []string{"desk"}) {
		t.Errorf("without a camera there are %q", got)
	}
	why = ""
	if got, desk := names("kitchen"), names(earshot.Desk); !slices.Equal(got, []string{"satellite-oven, its own", "desk"}) || !slices.Equal(desk, []string{"desk"}) {
		t.Errorf("the kitchen has %q, the desk %q", got, desk)
	}
	if _, err := set.In(earshot.Desk).Look(t.Context(), "satellite-oven", time.Time{}); !errors.Is(err, errNoCamera) {
		t.Errorf("the desk looks into the kitchen: %v", err)
	}
	if _, err := set.In("kitchen").Look(t.Context(), "satellite-oven", time.Time{}); !errors.Is(err, see.ErrAway) {
		t.Errorf("the kitchen looks through its own: %v", err)
	}
}
