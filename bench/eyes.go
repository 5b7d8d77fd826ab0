package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"earshot/internal/helper"
	"earshot/models/see"
	"earshot/models/see/seetest"
	"earshot/models/see/wire"
)

const (
	cameraHelper = "earshot-camera"

	// eyeRate is how many pictures a second the camera sends, and eyeLooks how many are
	// looked at.
	eyeRate  = 15
	eyeLooks = 2

	// eyeRounds is how many rounds make the thirty seconds for which it is watched.
	eyeRounds = 60

	// The goals, in percent of a core.
	idleEyes = 4
	busyEyes = 12
)

// eyes measures I, what it costs to see: each stage for a picture of 640 by 480, beside
// what gocv alone needs for the same pictures, and what the helper needs all in all while
// nothing happens and while somebody walks about, of a camera that sends JPEG over HTTP.
func eyes(ctx context.Context, b bench) ([]Row, error) {
	if rows := withoutCamera("eyes"); rows != nil {
		return rows, nil
	}
	binary, err := b.build(ctx, cameraHelper, "earshot/cmd/"+cameraHelper, "CGO_ENABLED=1")
	if err != nil {
		return nil, err
	}
	long := time.Duration(min(b.rounds, eyeRounds)) * 30 * time.Second / eyeRounds
	nobody, err := b.stare(ctx, binary, long, emptyRoom())
	if err != nil {
		return nil, err
	}
	people, err := b.stare(ctx, binary, long, walk())
	if err != nil {
		return nil, err
	}
	bare, err := bareEyes(ctx, binary)
	if err != nil {
		return nil, err
	}
	scene, err := b.glance(ctx, binary)
	if err != nil {
		return nil, err
	}
	name := func(what string) string {
		return fmt.Sprintf("I: looking at %d of %d pictures a second, %s", eyeLooks, eyeRate, what)
	}
	rows := []Row{
		Row{Name: name("nothing happens"), Unit: "% of a core", Ours: same(nobody.cpu), Note: nobody.note()}.goal("", nobody.cpu, idleEyes),
		Row{Name: name("somebody walks about"), Unit: "% of a core", Ours: same(people.cpu), Note: people.note()}.goal("", people.cpu, busyEyes),
		scene,
		{Name: "I: memory of the helper (PSS)", Unit: "MB", Ours: same(people.pss), Note: fmt.Sprintf("RSS %s MB, much of it OpenCV's files", number(people.rss))},
	}
	return append(rows, people.stages(bare)...), nil
}

// withoutCamera says why it is not measured, if it cannot be.
func withoutCamera(name string) []Row {
	if unwanted("camera") {
		return []Row{{Name: name, Note: "not measured: EARSHOT_WITHOUT has camera"}}
	}
	if exec.Command("pkg-config", "--exists", "opencv4").Run() != nil {
		return []Row{{Name: name, Note: "not measured: there is no OpenCV; scripts/setup test says how to get it"}}
	}
	return nil
}

// emptyRoom is a room as a cheap sensor sees it while nothing happens.
func emptyRoom() (film [][]byte) {
	for i := range 4 * eyeRate {
		film = append(film, seetest.JPEG(seetest.Noisy(seetest.Room(), 3, uint64(i))))
	}
	return film
}

// walk is somebody who walks to and fro.
func walk() (film [][]byte) {
	const steps = 4 * eyeRate
	for i := range steps {
		m := seetest.Room()
		x := 150 + 700*i/steps
		if i >= steps/2 {
			x = 850 - 700*i/steps
		}
		seetest.Person(m, x, 470, 280)
		film = append(film, seetest.JPEG(seetest.Noisy(m, 3, uint64(i))))
	}
	return film
}

// A stare is what it took to look for a while.
type stare struct {
	cpu, rss, pss float64 // % of a core, MB
	seen          []wire.Observation
	lasted        time.Duration
}

// stare has the helper look at a film.
func (b bench) stare(ctx context.Context, binary string, long time.Duration, film [][]byte) (s stare, err error) {
	camera := seetest.NewCamera(eyeRate)
	defer camera.Close()
	camera.Play(film)
	var mu sync.Mutex
	pid := make(chan int, 1)
	c := see.New(see.Config{
		Name: "camera",
		Open: wire.Open{Source: camera.URL(), Idle: eyeLooks, Active: eyeLooks},
		Dial: func() (helper.Link, error) {
			p, err := helper.Start(helper.Command{Name: cameraHelper, Path: binary, Log: slog.New(slog.DiscardHandler)})
			if err == nil {
				pid <- p.Pid()
			}
			return p, err
		},
		On: func(o see.Observation) {
			mu.Lock()
			defer mu.Unlock()
			s.seen = append(s.seen, o.Observation)
		},
	})
	during, stop := beside(ctx, c.Run)
	defer func() { err = errors.Join(err, stop()) }()
	looked := func(n int) error {
		return eventually(during, func() (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			return len(s.seen) >= n, nil
		})
	}
	if err := looked(4); err != nil { // libraries are loaded, the noise is known
		return s, err
	}
	eye := <-pid
	before, err := busyOf(eye)
	if err != nil {
		return s, err
	}
	began := time.Now()
	mu.Lock()
	s.seen = s.seen[:0]
	mu.Unlock()
	select {
	case <-time.After(long):
	case <-during.Done():
		return s, context.Cause(during)
	}
	after, err := busyOf(eye)
	if err != nil {
		return s, err
	}
	mu.Lock()
	defer mu.Unlock()
	s.lasted = time.Since(began)
	s.cpu = 100 * float64(after-before) / float64(s.lasted)
	s.rss, s.pss, err = memoryOf(eye)
	s.seen = append([]wire.Observation(nil), s.seen...) // what comes from now on is not part of it
	return s, err
}

// note says what was looked at.
func (s stare) note() string {
	detected, found := 0, 0
	for _, o := range s.seen {
		if o.Detected {
			detected++
			found += min(1, len(o.Seen))
		}
	}
	return fmt.Sprintf("for %v: %d pictures, the detectors looked at %d and found something in %d", s.lasted.Round(time.Second), len(s.seen), detected, found)
}

// stages are the rows of what each picture costs.
func (s stare) stages(bare map[string][]float64) (rows []Row) {
	for _, stage := range []struct {
		name, is string
		of       func(wire.Cost) time.Duration
	}{
		{"read", "take and decode, and pass over those between", func(c wire.Cost) time.Duration { return c.Read }},
		{"motion", "compare it with the last and the usual", func(c wire.Cost) time.Duration { return c.Motion }},
		{"people", "seek people", func(c wire.Cost) time.Duration { return c.People }},
		{"faces", "seek faces", func(c wire.Cost) time.Duration { return c.Faces }},
		{"codes", "seek and read a code; OpenCV only seeks", func(c wire.Cost) time.Duration { return c.Codes }},
		{"keep", "encode it", func(c wire.Cost) time.Duration { return c.Keep }},
	} {
		var took []float64
		for _, o := range s.seen {
			if d := stage.of(o.Cost); d > 0 {
				took = append(took, d.Seconds()*1000)
			}
		}
		if len(took) == 0 || len(bare[stage.name]) == 0 {
			rows = append(rows, Row{Name: "I: " + stage.is, Note: "not measured: it was not done"})
			continue
		}
		rows = append(rows, row("I: "+stage.is, "ms of a core", spread(took), spread(bare[stage.name]), ""))
	}
	return rows
}

// bareEyes returns what the stages cost gocv alone, in ms, by their names in wire.Cost.
func bareEyes(ctx context.Context, binary string) (cost map[string][]float64, err error) {
	camera := seetest.NewCamera(4 * eyeRate)
	defer camera.Close()
	camera.Play(walk())
	c := exec.CommandContext(ctx, binary, "bare", camera.URL())
	var complaints strings.Builder
	c.Stderr = &complaints
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s bare: %w: %s", filepath.Base(binary), err, complaints.String())
	}
	return cost, json.Unmarshal(out, &cost)
}
