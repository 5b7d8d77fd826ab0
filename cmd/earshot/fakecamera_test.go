package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/helper"
	"earshot/models/see/wire"
)

// fakeCamera is the name of a helper that needs no camera. Its source is a file that describes the
// scene, one item a line:
//
//	person 2      so many people are in view, and move; 3 at most
//	face          the last of them faces the camera
//	dark          there is no light
//	frozen        every picture is the same
//	code TEXT     a code is held up
//	fault TEXT    the camera cannot go on
//	die           the process ends
//
// In all else it behaves as the real one: it speaks the protocol, looks ten times a second, and
// keeps its pictures.
const fakeCamera = "fake-camera"

// beFakeCamera makes this test binary act as that helper.
func beFakeCamera() {
	if len(os.Args) > 1 && os.Args[1] == "check" {
		_ = json.NewEncoder(os.Stdout).Encode(api.CheckResult{Works: true, Text: "a camera for tests"})
		return
	}
	err := helper.Serve(context.Background(), "earshot-camera", helper.Stdio(os.Stdin, os.Stdout), pretendToSee)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// withFakeCamera returns a folder for PATH that contains the fake helper.
func withFakeCamera(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\nexec " + fakeCamera + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, helper.CameraProgram), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A pretender is the fake helper at work.
type pretender struct {
	*helper.Server
	mu    sync.Mutex
	next  []wire.Look // requests that wait for the next picture
	last  []byte
	taken time.Time
	seen  []earshot.Seen
}

func pretendToSee(ctx context.Context, s *helper.Server) error {
	p := &pretender{Server: s}
	var looking sync.WaitGroup
	defer looking.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return s.Controls(func(c helper.Control) error {
		switch c.Name {
		case wire.OpenName:
			var open wire.Open
			if err := c.Decode(&open); err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, "opening", open.Source)
			looking.Go(func() { p.look(ctx, open.Source) })
		case wire.LookName:
			var l wire.Look
			if err := c.Decode(&l); err != nil {
				return err
			}
			if l.Age > 0 {
				return p.show(l)
			}
			p.mu.Lock()
			p.next = append(p.next, l)
			p.mu.Unlock()
		}
		return nil
	})
}

// look reports what the file describes, ten times a second, until ctx ends.
func (p *pretender) look(ctx context.Context, source string) {
	if _, err := os.Stat(source); err != nil {
		_ = p.Send(wire.FaultName, helper.Fault{Text: "opening " + source + ": no pictures", Cure: "look whether " + source + " is there"})
		return
	}
	_ = p.Send(wire.ReadyName, wire.Ready{Width: 64, Height: 48, Rate: 10})
	same := time.Duration(0)
	for n, tick := uint64(1), time.NewTicker(100*time.Millisecond); ; n++ {
		o := wire.Observation{Number: n, Width: 64, Height: 48, Brightness: 0.5, Contrast: 0.2, Motion: 0.1, Novelty: 0.1, Detected: true}
		data, _ := os.ReadFile(source)
		box := earshot.Box{X: 0.02 * float64(n%8), Y: 0.1, Width: 0.2, Height: 0.6} // people move
		for line := range strings.Lines(string(data)) {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch word {
			case "person":
				many, _ := strconv.Atoi(rest)
				for range many {
					box.X += 0.25
					o.Seen = append(o.Seen, earshot.Seen{What: earshot.Person, Box: box, Sure: 0.9})
				}
			case "face":
				o.Seen = append(o.Seen, earshot.Seen{What: earshot.Face, Box: earshot.Box{X: box.X + 0.05, Y: 0.15, Width: 0.1, Height: 0.1}, Sure: 0.9})
			case "code":
				o.Seen = append(o.Seen, earshot.Seen{What: earshot.Code, Box: box, Sure: 1, Text: earshot.Text(rest)})
			case "dark":
				o.Brightness, o.Contrast, o.Motion, o.Novelty = 0.01, 0.005, 0, 0
			case "frozen":
				same += 100 * time.Millisecond
				o.Same, o.Motion, o.Novelty = same, 0, 0
			case "fault":
				_ = p.Send(wire.FaultName, helper.Fault{Text: rest, Cure: "mend it"})
				return
			case "die":
				os.Exit(3)
			}
		}
		if o.Same == 0 {
			same = 0
		}
		if p.Send(wire.ObservationName, o) != nil || p.took(o) != nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// took stores a picture, and sends it to those who wait for one.
func (p *pretender) took(o wire.Observation) error {
	m := image.NewGray(image.Rect(0, 0, 64, 48))
	for i := range m.Pix {
		m.Pix[i] = uint8(255 * o.Brightness)
	}
	for i := range o.Seen {
		m.Set(i, 0, color.White)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		return err
	}
	p.mu.Lock()
	p.last, p.taken, p.seen = b.Bytes(), time.Now(), o.Seen
	wait := p.next
	p.next = nil
	p.mu.Unlock()
	for _, l := range wait {
		if err := p.show(l); err != nil {
			return err
		}
	}
	return nil
}

// show sends the last picture.
func (p *pretender) show(l wire.Look) error {
	p.mu.Lock()
	data, taken, seen := p.last, p.taken, p.seen
	p.mu.Unlock()
	err := p.Send(wire.PictureName, wire.Picture{Request: l.Request, Bytes: len(data), Age: time.Since(taken), Width: 64, Height: 48, Seen: seen})
	if err != nil || len(data) == 0 {
		return err
	}
	if err := p.SendSound(l.Request, data); err != nil {
		return err
	}
	return p.SendSound(l.Request, nil)
}
