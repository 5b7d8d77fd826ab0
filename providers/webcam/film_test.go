package webcam_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/models/see"
	"earshot/models/see/scenery"
	"earshot/models/see/wire"
	"earshot/providers/webcam"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A film draws what is before a camera, one character a second:
//
//	.  nobody, and nothing moves      ,  something moves, but nobody is there
//	p  somebody walks about           P  two people do
//	s  somebody sits still            S  two people do
//	x  somebody walks about whom the detector does not find
//	z  somebody sits still whom it does not find
//	o  a picture of a person on the wall; something moves before it
//	O  the same, and somebody walks about
//	f  the detector sees somebody who is not there
//	j  somebody walks about, with both body and face seen
//	d  it is dark                     =  the picture is the same to the last bit
//	-  there is no picture            !  the camera is moved
//	c  a code is held up              C  a new code each second
type film string

// perSecond is how many pictures a second the projector shows.
const perSecond = 2

// A projector is a camera source that shows a film truthfully, but for the random errors that it is
// told to make.
type projector struct {
	film   film
	random *rand.Rand
	miss   float64 // share of people that the detector misses
	false  float64 // share of looks in which it finds somebody who is not there
	end    error   // what Run returns after the film

	show  func(see.Observation)
	looks scenery.Looks
	n     uint64
	same  time.Duration
}

func (p *projector) Run(ctx context.Context) error {
	t := time.NewTicker(time.Second / perSecond)
	defer t.Stop()
	for i := range len(p.film) * perSecond {
		select {
		case <-ctx.Done():
			return nil
		case now := <-t.C:
			if c := p.film[i/perSecond]; c != '-' {
				p.show(p.take(now, c, i))
			}
		}
	}
	return p.end
}

// take makes up what a helper reports of a picture with c in it.
func (p *projector) take(at time.Time, c byte, i int) see.Observation {
	p.n++
	o := wire.Observation{Number: p.n, Width: 640, Height: 480, Brightness: 0.5, Contrast: 0.2, Motion: 0.001, Novelty: 0.002}
	var there []earshot.Seen
	somebody := func(x float64) {
		there = append(there, earshot.Seen{What: earshot.Person, Box: box(x, 0.3), Sure: 0.7})
	}
	walked := 0.2 + 0.3*float64(i%6)/6
	switch c {
	case ',', 'f', 'o':
		o.Motion = 0.02
	case 'p', 'P', 'x', 'j', 'O':
		o.Motion, o.Novelty = 0.05, 0.06
	case 's', 'S', 'z':
		o.Novelty = 0.06
	case 'd':
		o.Brightness, o.Contrast = 0.02, 0.01
	case '!':
		o.Motion, o.Novelty, o.Cut = 0.9, 0, true
	}
	switch c {
	case 'p':
		somebody(walked)
	case 'P':
		somebody(walked)
		somebody(walked + 0.3)
		o.Novelty = 0.12
	case 's':
		somebody(0.4)
	case 'S':
		somebody(0.4)
		somebody(0.7)
		o.Novelty = 0.12
	case 'j':
		somebody(walked)
		there = append(there, earshot.Seen{What: earshot.Face, Box: earshot.Box{X: walked + 0.05, Y: 0.33, Width: 0.05, Height: 0.07}, Sure: 0.7})
	case 'O':
		somebody(walked)
		somebody(0.8 + 0.01*p.random.Float64())
	case 'o':
		somebody(0.8 + 0.01*p.random.Float64()) // a detector's box jitters
	case 'f':
		somebody(0.8 * p.random.Float64())
	case 'c':
		there = append(there, earshot.Seen{What: earshot.Code, Box: box(0.5, 0.5), Sure: 1, Text: "hello"})
	case 'C':
		there = append(there, earshot.Seen{What: earshot.Code, Box: box(0.5, 0.5), Sure: 1, Text: earshot.Text(fmt.Sprint("code ", i/perSecond))})
	}
	if p.same += time.Second / perSecond; c != '=' {
		p.same = 0
	}
	o.Same = p.same
	if o.Detected = p.looks.Due(at, scenery.View{Motion: o.Motion, Novelty: o.Novelty, Cut: o.Cut}); o.Detected {
		for _, s := range there {
			if p.random.Float64() >= p.miss {
				o.Seen = append(o.Seen, s)
			}
		}
		if p.random.Float64() < p.false {
			o.Seen = append(o.Seen, earshot.Seen{What: earshot.Person, Sure: 0.5, Box: box(0.9*p.random.Float64(), 0.5*p.random.Float64())})
		}
	} else if c == 'c' || c == 'C' {
		o.Detected, o.Seen = true, there
	}
	return see.Observation{At: at, Observation: o}
}

func box(x, y float64) earshot.Box {
	return earshot.Box{X: min(x, 0.85), Y: y, Width: 0.15, Height: 0.45}
}

// A tape records what a sense tells.
type tape struct {
	began   time.Time
	sights  []string
	raw     []earshot.Sight
	glances []earshot.Glance
	notices []string
	last    time.Time
	faults  []string
}

// emit takes an event, and notes violations of the rules for every sense.
func (t *tape) emit(_ context.Context, e earshot.Event) error {
	if e.At.Before(t.last) || e.At.After(time.Now()) {
		t.faults = append(t.faults, fmt.Sprintf("told of %v after %v, at %v", e.At, t.last, time.Now()))
	}
	t.last = e.At
	certain := func(sure float64) {
		if !(sure >= 0 && sure <= 1) {
			t.faults = append(t.faults, fmt.Sprintf("sure by %v", sure))
		}
	}
	switch b := e.Body.(type) {
	case earshot.Glance:
		certain(b.Sure)
		if n := len(t.raw); n > 0 && (b.People != t.raw[n-1].People || b.Eyes != t.raw[n-1].Eyes) {
			t.faults = append(t.faults, fmt.Sprintf("a glance has %d %s, the last sight %d %s", b.People, b.Eyes, t.raw[n-1].People, t.raw[n-1].Eyes))
		}
		t.glances = append(t.glances, b)
	case earshot.Sight:
		certain(b.Sure)
		were, eyes := 0, earshot.Away
		if n := len(t.raw); n > 0 {
			were, eyes = t.raw[n-1].People, t.raw[n-1].Eyes
		}
		var text string
		switch b.What {
		case earshot.PeopleChanged:
			text = fmt.Sprint(b.People)
			if b.People == were || b.Were != were {
				t.faults = append(t.faults, fmt.Sprintf("%d people after %d is no change, or not from %d", b.People, were, b.Were))
			}
		case earshot.EyesChanged:
			text = string(b.Eyes)
			if b.Eyes == eyes || b.People != were {
				t.faults = append(t.faults, fmt.Sprintf("%s after %s is no change, or people changed with it", b.Eyes, eyes))
			}
		case earshot.CodeRead:
			text = strings.ReplaceAll(string(b.Text), " ", "_")
		default:
			text = string(b.What)
		}
		t.raw = append(t.raw, b)
		t.sights = append(t.sights, fmt.Sprintf("%s@%d", text, int(e.At.Sub(t.began).Seconds())))
	}
	return nil
}

// show shows a film to a sense, and returns what the sense tells.
func show(t *testing.T, c webcam.Camera, p *projector) (out tape) {
	t.Helper()
	if p.random == nil {
		p.random = rand.New(rand.NewPCG(1, 2))
	}
	return watching(t, c, p, p.end, func(sense *webcam.Provider) { p.show = sense.Observe })
}

// watching has a sense watch a camera source in virtual time until that ends with the error end,
// and returns what the sense tells.
func watching(t *testing.T, c webcam.Camera, e webcam.CameraSource, end error, before func(*webcam.Provider)) (out tape) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		out.began = time.Now()
		sense := webcam.New(c, webcam.Parts{Source: e, Notice: func(n earshot.Notice) {
			out.notices = append(out.notices, fmt.Sprintf("%v@%d", !n.Over, int(time.Since(out.began).Seconds())))
		}})
		before(sense)
		if err := sense.Run(t.Context(), out.emit); err != end {
			t.Errorf("ended with %v, want %v", err, end)
		}
	})
	for _, f := range out.faults {
		t.Error(f)
	}
	return out
}
