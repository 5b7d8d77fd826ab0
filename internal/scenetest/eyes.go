package scenetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/executive/sight"
	"earshot/models/see"
	"earshot/providers"
	"earshot/providers/replay"
	"earshot/providers/webcam"
)

// largest is the longest side of a picture of a scene, in pixels: the pictures are written by hand.
const largest = 64

// A part is which camera a part of a scene is for, and from when on.
type part struct {
	camera string
	from   time.Duration // since the scene began
}

// A frame is a picture that a camera of a scene shows from a time on.
type frame struct {
	part
	picture image.Image
}

// A film is what a camera of a scene sees from a time on, as the real helper recorded it.
type film struct {
	part
	seen see.Recording
}

// before parses the name of such a part: the camera, perhaps a time, and an ending.
func before(name, ending string) (p part, err error) {
	camera, at, timed := strings.Cut(strings.TrimSuffix(name, ending), " ")
	p.camera = camera
	if timed {
		if p.from, err = time.ParseDuration(at); err != nil || p.from < 0 {
			return p, fmt.Errorf("%q is not a time; the name is one such as desk 10s%s", at, ending)
		}
	}
	return p, nil
}

// play plays the film to the sense of a camera, as if the real helper saw it now.
func (f film) play(ctx context.Context, emit providers.Emit) error {
	r := &reel{film: f}
	sense := webcam.New(webcam.Camera{Name: f.camera}, webcam.Parts{Source: r})
	r.show = sense.Observe
	return sense.Run(ctx, emit)
}

// A reel is a camera source that plays a film.
type reel struct {
	film
	show func(see.Observation)
}

// Run implements [webcam.CameraSource].
func (r *reel) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(r.from):
		r.seen.Play(ctx, r.show)
	}
	return nil
}

// parsePGM parses a grey picture in the plain text form of PGM: P2, the width and height, the value
// of white, and a number for each pixel. A # begins a comment.
func parsePGM(data []byte) (*image.Gray, error) {
	var words []string
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words = append(words, strings.Fields(line)...)
	}
	if len(words) < 4 || words[0] != "P2" {
		return nil, errors.New("it is no plain PGM, which begins with P2, its width and height, and the value of white")
	}
	var numbers []int
	for _, w := range words[1:] {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is no number from 0", w)
		}
		numbers = append(numbers, n)
	}
	width, height, white, values := numbers[0], numbers[1], numbers[2], numbers[3:]
	switch {
	case width < 1 || width > largest || height < 1 || height > largest:
		return nil, fmt.Errorf("it has %d by %d pixels; from 1 to %d each", width, height, largest)
	case white < 1 || white > 255 || slices.Max(append(values, 0)) > white:
		return nil, fmt.Errorf("white is %d; it must be from 1 to 255, and nothing is whiter", white)
	case len(values) != width*height:
		return nil, fmt.Errorf("it has %d values for %d by %d pixels", len(values), width, height)
	}
	picture := image.NewGray(image.Rect(0, 0, width, height))
	for i, v := range values {
		picture.Pix[i] = uint8(v * 255 / white)
	}
	return picture, nil
}

// eyes are the cameras of a scene. The lines with a camera's name say what it sees, and how well.
// Its pictures are in parts of their own; without one, the picture is plain grey.
type eyes struct {
	began  time.Time
	frames []frame
	names  []string

	mu    sync.Mutex
	looks map[string][]look // by camera, the oldest first
}

// A look is what a camera sees from a time on.
type look struct {
	at   time.Time
	eyes earshot.Eyesight
	seen []earshot.Seen
}

// eyes returns the cameras of s; nil if it has none.
func (s *Scene) eyes() *eyes {
	all := &eyes{began: time.Now(), frames: s.frames, looks: make(map[string][]look)}
	add := func(name string) {
		if !slices.Contains(all.names, name) {
			all.names = append(all.names, name)
			all.looks[name] = []look{{at: all.began, eyes: earshot.Clear}}
		}
	}
	for _, f := range s.frames {
		add(f.camera)
	}
	for _, f := range s.films {
		add(f.camera)
	}
	for _, at := range s.Heard {
		if at.Event.From.Provider == replay.Webcam {
			add(at.Event.From.ID)
		}
	}
	if len(all.names) == 0 {
		return nil
	}
	return all
}

// note takes in what a camera reports.
func (all *eyes) note(e earshot.Event) {
	if all == nil || e.From.Provider != replay.Webcam {
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	had := all.looks[e.From.ID]
	now := look{at: time.Now(), eyes: had[len(had)-1].eyes, seen: had[len(had)-1].seen}
	switch body := e.Body.(type) {
	case earshot.Glance:
		now.eyes, now.seen = body.Eyes, nil
		for range body.People {
			now.seen = append(now.seen, earshot.Seen{What: earshot.Person, Sure: body.Sure})
		}
		for range body.Faces {
			now.seen = append(now.seen, earshot.Seen{What: earshot.Face, Sure: body.Sure})
		}
	case earshot.Sight:
		switch body.What {
		case earshot.EyesChanged:
			now.eyes = body.Eyes
		case earshot.CodeRead:
			now.seen = append(slices.Clone(now.seen), earshot.Seen{What: earshot.Code, Sure: body.Sure, Text: body.Text})
		}
	}
	all.looks[e.From.ID] = append(had, now)
}

// Cameras implements [sight.Cameras].
func (all *eyes) Cameras() (list []sight.Camera) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, name := range all.names {
		looks := all.looks[name]
		c := sight.Camera{Name: name, Eyesight: looks[len(looks)-1].eyes}
		for _, l := range slices.Backward(looks) {
			if l.eyes != c.Eyesight {
				break
			}
			c.Since = l.at
		}
		list = append(list, c)
	}
	return list
}

// Look implements [sight.Cameras]. The next picture is the current one.
func (all *eyes) Look(_ context.Context, camera string, at time.Time) (earshot.Picture, error) {
	if at.IsZero() {
		at = time.Now()
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	now := look{eyes: earshot.Away}
	for _, l := range all.looks[camera] {
		if !l.at.After(at) || now.at.IsZero() {
			now = l
		}
	}
	if now.eyes == earshot.Away {
		return earshot.Picture{}, errors.New("it is away")
	}
	var picture image.Image = image.NewUniform(color.Gray{128})
	size := image.Pt(8, 8)
	for _, f := range all.frames {
		if f.camera == camera && !all.began.Add(f.from).After(at) {
			picture, size = f.picture, f.picture.Bounds().Size()
		}
	}
	var data bytes.Buffer
	if err := jpeg.Encode(&data, cropped{picture, size}, nil); err != nil {
		return earshot.Picture{}, err
	}
	return earshot.Picture{Camera: camera, At: at, Width: size.X, Height: size.Y, JPEG: data.Bytes(), Seen: now.seen}, nil
}

// cropped is a picture of a given size.
type cropped struct {
	image.Image
	size image.Point
}

// Bounds implements [image.Image].
func (c cropped) Bounds() image.Rectangle { return image.Rectangle{Max: c.size} }
