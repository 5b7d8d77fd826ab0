package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/field"
	"earshot/internal/probe"
	"earshot/internal/testkit"
	"earshot/models/see"
	"earshot/participants"
	"earshot/providers/webcam"
	"earshot/server"
)

// TestHours: people are told when a camera is closed by its hours, and when it is open
// again, once each, and not that it was closed by something else.
func TestHours(t *testing.T) {
	var told []string
	e := &camera{name: "desk", config: webcam.Camera{Hours: "08:00-20:00"}, tell: func(text string) { told = append(told, text) }}
	day, night := time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local), time.Date(2026, 1, 1, 23, 0, 0, 0, time.Local)
	ended, end := context.WithCancel(t.Context())
	end()
	at := func(now time.Time) func() time.Time { return func() time.Time { return now } }
	e.wakes()
	e.resting(t.Context(), at(night)) // it was lost
	e.resting(ended, at(day))         // the room was paused
	e.wakes()
	e.resting(ended, at(night))
	e.resting(ended, at(night))
	e.wakes()
	e.wakes()
	want := "The camera desk is now closed: its hours are 08:00-20:00.|The camera desk is now open: its hours are 08:00-20:00."
	if got := strings.Join(told, "|"); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestShut: a camera is closed in the modes that want it, and outside its hours.
func TestShut(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)
	for _, tt := range []struct {
		mode  earshot.Mode
		hours field.Hours
		want  string
	}{
		{earshot.Live, "", ""},
		{earshot.Muted, "", ""},
		{earshot.Live, "08:00-20:00", ""},
		{earshot.Paused, "08:00-20:00", "the room is paused; /resume ends that"},
		{earshot.OffRecord, "", "the room is off the record; /resume ends that"},
		{earshot.Live, "20:00-08:00", "its hours are 20:00-08:00"},
	} {
		if got := probe.Closed(tt.mode, tt.hours, noon); got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.mode, tt.hours, got, tt.want)
		}
	}
}

// TestTally: a face belongs to the body that has it.
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
		if fillView(&s, earshot.Picture{Seen: tt.seen}, false); s.People != tt.people || s.Faces != tt.faces {
			t.Errorf("%v: %d people and %d faces", tt.seen, s.People, s.Faces)
		}
	}
}

// TestEyes: a camera that does not run is away; one that nobody has is none; and how it
// sees is known since when that changed.
func TestEyes(t *testing.T) {
	var all eyes
	if _, err := all.Look(t.Context(), "", time.Time{}); !errors.Is(err, errNoCamera) || len(all.Cameras()) != 0 {
		t.Errorf("a look at nothing: %v", err)
	}
	e := &camera{name: "desk"}
	all.are([]*camera{e, {name: "door"}})
	if _, err := all.Look(t.Context(), "", time.Time{}); !errors.Is(err, see.ErrAway) || !strings.Contains(err.Error(), "the camera desk") {
		t.Errorf("a look through what does not run: %v", err)
	}
	if _, err := all.Look(t.Context(), "attic", time.Time{}); !errors.Is(err, errNoCamera) {
		t.Errorf("a look through what is not there: %v", err)
	}
	now, passed := time.Now(), 0
	emit := e.notes(func(context.Context, earshot.Event) error { passed++; return nil })
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

// TestWhoLooksIsTold: those who may be in the picture are told who looks: of each picture
// that is taken away, and of the same person's questions seldom.
func TestWhoLooksIsTold(t *testing.T) {
	e := new(camera)
	now := time.Now()
	var told []bool
	for _, at := range []struct {
		who   earshot.ParticipantID
		after time.Duration
	}{{"ann", 0}, {"ann", time.Minute}, {"bob", time.Minute}, {"ann", 11 * time.Minute}} {
		told = append(told, e.asks(at.who, now.Add(at.after)))
	}
	if told[0] != true || told[1] != false || told[2] != true || told[3] != true {
		t.Errorf("told %v", told)
	}
	for took, want := range map[bool]string{true: "Ann has taken a picture with the camera and may keep it.", false: "Ann has asked what the camera sees."} {
		if got := lookedBy(participants.Participant{Name: "Ann"}, "camera", took); got != want {
			t.Errorf("told %q", got)
		}
	}
}

// TestPresent: who is at a terminal of the desk may look, whom it does not belong to;
// who only says their name is not there.
func TestPresent(t *testing.T) {
	d := inhabited(t, t.TempDir())
	defer d.close()
	d.config().ExternalActors.AllowDynamicCreation = true
	defer runs(t, d)()
	p := backend{d}
	bob := server.Claim{Name: "Bob", New: true}
	who, err := p.Identify(t.Context(), p.daemon.account, bob)
	if err != nil || who.Present {
		t.Fatalf("%+v, %v", who, err)
	}
	board := &testkit.Voice{Called: "board"}
	defer p.daemon.desk.Enter(board, p.daemon.audience())()
	handle, leave := p.Join(participants.Session{ID: "1", Room: earshot.Desk, Participant: who.ID, Account: p.daemon.account, Outlet: "terminal-1", Connection: "terminal", Since: time.Now()}, nil, p.daemon.audience())
	is := func(here bool) {
		t.Helper()
		err := p.daemon.Admit(t.Context(), earshot.Event{At: time.Now(), From: handle(), Via: "terminal-1", Body: earshot.Presence{Session: "1", Here: here}})
		if err != nil {
			t.Fatal(err)
		}
	}
	is(true)
	if who, err = p.Identify(t.Context(), p.daemon.account, bob); err != nil || !who.Present {
		t.Errorf("%+v, %v", who, err)
	}
	is(false)
	leave()
	if who, err = p.Identify(t.Context(), p.daemon.account, bob); err != nil || who.Present {
		t.Errorf("%+v, %v", who, err)
	}
	if s, err := p.Look(t.Context(), who, api.LookRequest{}); err != nil || viewText(s, time.Now()) != "There is no camera." {
		t.Errorf("seen was %+v, %v", s, err)
	}
}

// TestExpectedCameras: what the start still looks for is a camera that does not work yet; one
// that is off is none.
func TestExpectedCameras(t *testing.T) {
	all := new(eyes)
	c := webcam.DefaultConfig()
	c.Enabled = false
	all.expect(c)
	if got := all.Cameras(); len(got) != 0 {
		t.Errorf("a camera that is off is expected: %+v", got)
	}
	c.Enabled = true
	all.expect(c)
	if got := all.Cameras(); len(got) != 1 || got[0].Eyesight != earshot.Away || !got[0].Since.IsZero() {
		t.Errorf("before the start has looked there is %+v", got)
	}
	all.are(nil)
	if got := all.Cameras(); len(got) != 0 {
		t.Errorf("when the start has found none there is %+v", got)
	}
}
