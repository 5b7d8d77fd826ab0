package sight_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/executive/sight"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A camera answers with its pictures, one after the other, and then not at all.
type camera []func(at time.Time) (earshot.Picture, error)

func (c *camera) Cameras() []sight.Camera {
	return []sight.Camera{{Name: "desk", Eyesight: earshot.Clear}}
}

func (c *camera) Look(ctx context.Context, _ string, at time.Time) (earshot.Picture, error) {
	if len(*c) == 0 {
		<-ctx.Done()
		return earshot.Picture{}, context.Cause(ctx)
	}
	next := (*c)[0]
	*c = (*c)[1:]
	return next(at)
}

// A shuttered camera takes no picture before open is closed.
type shuttered struct {
	*camera
	open chan struct{}
}

func (s *shuttered) Look(ctx context.Context, name string, at time.Time) (earshot.Picture, error) {
	<-s.open
	return s.camera.Look(ctx, name, at)
}

// TestTake: a look ends in time whatever the camera does, and shows what was meant.
func TestTake(t *testing.T) {
	picture := func(jpeg string, seen ...earshot.Seen) func(time.Time) (earshot.Picture, error) {
		return func(at time.Time) (earshot.Picture, error) {
			return earshot.Picture{JPEG: []byte(jpeg), At: at, Seen: seen}, nil
		}
	}
	past := func(at time.Time) (earshot.Picture, error) {
		if at.IsZero() {
			return earshot.Picture{JPEG: []byte("jpeg")}, nil
		}
		return earshot.Picture{}, errors.New("no picture of that time")
	}
	person := earshot.Seen{What: earshot.Person}
	for _, tt := range []struct {
		name   string
		camera camera
		there  int // people whom the camera sees at the moment
		seen   bool
		people int
	}{
		{"a picture", camera{picture("jpeg", person)}, 0, true, 1},
		{"none of that time any more", camera{past, past}, 0, true, 0},
		{"empty", camera{picture("")}, 0, false, 0},
		{"huge", camera{picture(strings.Repeat("x", earshot.MaxPicture+1))}, 0, false, 0},
		{"no answer", nil, 0, false, 0},
		{"not searched, as the next one is", camera{picture("jpeg"), picture("jpeg", person, person)}, 0, true, 2},
		{"not searched, and no next one", camera{picture("jpeg")}, 0, true, 0},
		{"somebody sits still", camera{picture("jpeg"), picture("jpeg")}, 2, true, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := 0
				v := &sight.Viewer{Cameras: &tt.camera, Now: time.Now, Log: slog.New(slog.DiscardHandler), Done: func() { done++ }}
				e := earshot.Event{From: earshot.Handle{Provider: "webcam", ID: "desk"}, At: time.Now()}
				if _, fits := v.Status.People(e, tt.there, earshot.Clear); !fits {
					t.Fatal("the camera's report is not taken")
				}
				slow := make(chan struct{})
				v.Cameras = &shuttered{&tt.camera, slow}
				began := time.Now()
				l := v.Take(t.Context(), v.List()[0], began)
				if !l.Pending() || l.Seen() || len(l.Picture().JPEG) > 0 {
					t.Error("it is over before it began")
				}
				close(slow)
				v.Wait()
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it took %v", took)
				}
				if l.Pending() || l.Seen() != tt.seen || sight.People(l.Picture().Seen) != tt.people || done != 1 {
					t.Errorf("it shows %+v, done %d", l.Picture(), done)
				}
				if why := v.Unable(l); (why == "") != tt.seen {
					t.Errorf("the answer is %q", why)
				}
			})
		})
	}
}

// TestNoLook: without a camera that sees, nothing is taken, and the answer says why.
func TestNoLook(t *testing.T) {
	v := &sight.Viewer{Now: time.Now}
	for _, tt := range []struct {
		camera sight.Camera
		want   string
	}{
		{sight.Camera{}, "I have no camera."},
		{sight.Camera{Name: "desk", Eyesight: earshot.Away}, "I have no camera that works."},
		{sight.Camera{Name: "desk", Eyesight: earshot.Dark, Since: time.Now()}, "dark"},
	} {
		l := v.Take(t.Context(), tt.camera, time.Time{})
		if got := v.Unable(l); l.Pending() || l.Seen() || !strings.Contains(got, tt.want) {
			t.Errorf("%+v answers %q, want %q", tt.camera, got, tt.want)
		}
	}
	var none *sight.Look
	if none.Pending() || none.Seen() {
		t.Error("no look shows something")
	}
}

// TestCaptioner: the picture is taken at once and described when the room is quiet, unless it grows
// old or is forgotten meanwhile.
func TestCaptioner(t *testing.T) {
	e := earshot.Event{ID: "e", At: time.Now(), Body: earshot.Sight{Camera: "desk", What: earshot.PeopleChanged, People: 1, Eyes: earshot.Clear}}
	for _, tt := range []struct {
		name string
		does func(*sight.Captioner)
		at   time.Duration
		may  bool
		want bool
	}{
		{"quiet later", func(*sight.Captioner) {}, time.Second, true, true},
		{"quiet too late", func(*sight.Captioner) {}, 2 * time.Minute, true, false},
		{"not allowed any more", func(*sight.Captioner) {}, time.Second, false, false},
		{"forgotten", func(c *sight.Captioner) { c.Forget(func(id earshot.EventID) bool { return id == "e" }) }, time.Second, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := camera{func(at time.Time) (earshot.Picture, error) {
				return earshot.Picture{JPEG: []byte("jpeg"), At: at}, nil
			}, func(at time.Time) (earshot.Picture, error) { return earshot.Picture{JPEG: []byte("jpeg"), At: at}, nil }}
			v := &sight.Viewer{Cameras: &all, Now: time.Now, Log: slog.New(slog.DiscardHandler), Done: func() {}}
			var c sight.Captioner
			take := func(e earshot.Event) *sight.Look { return v.Take(t.Context(), all.Cameras()[0], e.At) }
			c.Note(e)
			if next := c.Next(e.At, 4, true, false, take); next != nil {
				t.Fatal("described while somebody speaks")
			}
			v.Wait()
			tt.does(&c)
			if next := c.Next(e.At.Add(tt.at), 4, tt.may, true, take); (next != nil) != tt.want {
				t.Errorf("described: %v", next != nil)
			}
			if c.Next(e.At.Add(tt.at), 4, true, true, take) != nil {
				t.Error("described twice")
			}
		})
	}
}
