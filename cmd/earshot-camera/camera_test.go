//go:build cgo

package main

import (
	"context"
	"image"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gocv.io/x/gocv"

	"earshot"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/models/see"
	"earshot/models/see/seetest"
	"earshot/models/see/wire"
)

func TestMain(m *testing.M) {
	configure()
	stuck = time.Minute // on a machine that is busy nothing hangs that is late
	jpegs.Bytes, jpegs.Waste = 1<<20, 1<<18
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

// A camera is one at which a helper in this process looks.
type camera struct {
	*see.Camera
	stop context.CancelFunc

	mu    sync.Mutex
	seen  []see.Observation
	ended bool
	how   error
}

// watching returns a camera at which is looked until the test is over.
func watching(t testing.TB, o wire.Open) *camera {
	t.Helper()
	testkit.Need(t, "camera")
	c := new(camera)
	c.Camera = see.New(see.Config{
		Name: "camera", Dial: helpertest.Dialer("camera", serve), Open: o,
		On: func(o see.Observation) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.seen = append(c.seen, o)
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	c.stop = stop
	var running sync.WaitGroup
	running.Go(func() {
		err := c.Run(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended, c.how = true, err
	})
	t.Cleanup(func() {
		stop()
		testkit.Finish(t, 5*testkit.Patience, "the end of the helper", running.Wait)
	})
	return c
}

// now returns what was seen so far, and whether it is over.
func (c *camera) now() (all []see.Observation, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]see.Observation(nil), c.seen...), c.ended
}

// end waits until it is over, and returns what was seen and how it ended.
func (c *camera) end(t testing.TB) ([]see.Observation, error) {
	t.Helper()
	testkit.Await(t, 2*time.Minute, "the camera to end", func() bool { _, over := c.now(); return over })
	all, _ := c.now()
	return all, c.how
}

// until waits until something is seen, and returns all that was.
func (c *camera) until(t testing.TB, what string, ok func([]see.Observation) bool) []see.Observation {
	t.Helper()
	var all []see.Observation
	testkit.Await(t, time.Minute, what, func() bool {
		var over bool
		all, over = c.now()
		if over && !ok(all) {
			t.Fatalf("before %s it ended: %v", what, c.how)
		}
		return ok(all)
	})
	return all
}

// last reports whether the last of all is like that.
func last(like func(see.Observation) bool) func([]see.Observation) bool {
	return func(all []see.Observation) bool { return len(all) > 0 && like(all[len(all)-1]) }
}

// some returns how many of a thing are in a picture.
func some(seen []earshot.Seen, what earshot.Thing) (n int) {
	for _, s := range seen {
		if s.What == what {
			n++
		}
	}
	return n
}

// footage is a video or picture of Debian's opencv-doc.
func footage(t testing.TB, name string) string {
	t.Helper()
	testkit.Need(t, "camera")
	path := "/usr/share/doc/opencv-doc/examples/data/" + name
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; scripts/setup test installs it", err)
	}
	return path
}

// film makes a video of n pictures, rate a second, compressed as cheap cameras do.
func film(t testing.TB, rate float64, n int, picture func(int) *image.RGBA) string {
	t.Helper()
	testkit.Need(t, "camera")
	path := filepath.Join(t.TempDir(), "film.avi")
	size := picture(0).Rect.Size()
	w, err := gocv.VideoWriterFile(path, "MJPG", rate, size.X, size.Y, true)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range n {
		m, err := gocv.NewMatFromBytes(size.Y, size.X, gocv.MatTypeCV8UC4, picture(i).Pix)
		if err != nil {
			t.Fatal(err)
		}
		gocv.CvtColor(m, &m, gocv.ColorRGBAToBGR)
		err = w.Write(m)
		m.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// watched makes a film, two pictures a second, and returns what is seen in it.
func watched(t testing.TB, o wire.Open, n int, picture func(int) *image.RGBA) []see.Observation {
	t.Helper()
	o.Source, o.Unpaced, o.Idle, o.Active = film(t, 2, n, picture), true, 2, 2
	all, err := watching(t, o).end(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != n {
		t.Fatalf("%d of %d pictures were looked at", len(all), n)
	}
	return all
}

// noisy is what a cheap sensor makes of m, for the picture of that number.
func noisy(m *image.RGBA, number int) *image.RGBA { return seetest.Noisy(m, 3, uint64(number)) }

// somebody is a room with somebody in it who stands at x.
func somebody(x int) *image.RGBA {
	m := seetest.Room()
	seetest.Person(m, x, 470, 300)
	return m
}
