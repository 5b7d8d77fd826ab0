package scenery_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/models/see/scenery"
)

// The pictures have half the width and height of those that the helper compares, to be quick under
// the race detector. Everything else here is given in pixels of the larger pictures.
const width, height, scale = 80, 60, 2

// A studio makes pictures of a room and shows them to a scenery.
type studio struct {
	t      *testing.T
	s      *scenery.Scenery
	at     time.Time
	random *rand.Rand
	n      uint64
	every  time.Duration // time between two pictures

	light float64 // gain
	noise float64 // standard deviation
	room  func(x, y int) float64
}

func newStudio(t *testing.T, masks ...earshot.Box) *studio {
	return &studio{
		t: t, s: scenery.New(width, height, masks), at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		random: rand.New(rand.NewPCG(1, 2)), every: time.Second / 5, light: 1, noise: 2, room: livingRoom,
	}
}

// livingRoom has a window, a shelf, a table, and a carpet with a pattern.
func livingRoom(x, y int) float64 {
	switch {
	case x > 100 && x < 140 && y > 10 && y < 50:
		return 200 // window
	case x < 40 && y > 20 && y < 90:
		return 60 + 40*float64(x/5%2) // books
	case y > 85:
		return 90 + 30*float64((x/8+y/8)%2)
	case y > 70 && x > 60 && x < 120:
		return 70
	}
	return 130 + 20*math.Sin(float64(x)/9)
}

// garden is a different place.
func garden(x, y int) float64 {
	return 100 + 50*math.Sin(float64(x*y)/300) + 40*math.Cos(float64(x-2*y)/7)
}

// A body is a rectangle with a pattern.
type body struct{ x, y, wide, high int }

func (b body) has(x, y int) bool {
	return x >= b.x && x < b.x+b.wide && y >= b.y && y < b.y+b.high
}

// take takes a picture of the room with the bodies in it.
func (s *studio) take(bodies ...body) []uint8 {
	p := make([]uint8, width*height)
	for i := range p {
		x, y := i%width*scale, i/width*scale
		g := s.room(x, y)
		for _, b := range bodies {
			if b.has(x, y) {
				g = 40 + 60*float64((x-b.x)/6%2)
			}
		}
		p[i] = uint8(min(255, max(0, math.Round(g*s.light+s.noise*s.random.NormFloat64()))))
	}
	return p
}

// show shows the next picture, and checks the ranges of the result.
func (s *studio) show(p []uint8) scenery.View {
	v := s.look(p)
	for name, share := range map[string]float64{"motion": v.Motion, "novelty": v.Novelty, "brightness": v.Brightness, "contrast": v.Contrast} {
		if !(share >= 0 && share <= 1) {
			s.t.Errorf("%s of %v", name, share)
		}
	}
	return v
}

// look shows a picture, and allocates nothing itself.
func (s *studio) look(p []uint8) scenery.View {
	s.at = s.at.Add(s.every)
	s.n++
	return s.s.Look(s.at, p, s.n)
}

// A worst holds the greatest values over many pictures, and the last view.
type worst struct {
	motion, novelty float64
	last            scenery.View
	cuts            int
	moved           int // number of pictures with motion
}

// run shows pictures for a time.
func (s *studio) run(d time.Duration, next func(i int) []uint8) (w worst) {
	for i := range int(d / s.every) {
		v := s.show(next(i))
		w.motion, w.novelty, w.last = max(w.motion, v.Motion), max(w.novelty, v.Novelty), v
		if v.Cut {
			w.cuts++
		}
		if v.Motion > scenery.Still {
			w.moved++
		}
	}
	return w
}

func (s *studio) nobody(int) []uint8 { return s.take() }

// calm fails t unless nothing moved and nothing was new.
func (w worst) calm(t *testing.T, what string) {
	t.Helper()
	if w.motion > scenery.Still || w.novelty > 0.005 || w.cuts > 0 {
		t.Errorf("%s: motion %.4f, novelty %.4f, %d cuts; want none", what, w.motion, w.novelty, w.cuts)
	}
}

// TestNothingNew: noise, compression, daylight and exposure count neither as motion nor as new.
func TestNothingNew(t *testing.T) {
	for _, tt := range []struct {
		name string
		next func(s *studio, i int) []uint8
	}{
		{"noise", func(s *studio, _ int) []uint8 { return s.take() }},
		{"much noise", func(s *studio, i int) []uint8 { s.noise = 5; return s.take() }},
		{"no noise at all", func(s *studio, _ int) []uint8 { s.noise = 0; return s.take() }},
		{"compression", func(s *studio, i int) []uint8 { return compressed(s.take(), 8) }},
		{"daylight fades", func(s *studio, i int) []uint8 { s.light = 1 - 0.7*float64(i)/100; return s.take() }},
		{"exposure hunts", func(s *studio, i int) []uint8 { s.light = 0.8 + 0.2*math.Sin(float64(i)/5); return s.take() }},
		{"exposure jumps", func(s *studio, i int) []uint8 { s.light = 0.7 + 0.3*float64(i/50%2); return s.take() }},
		{"a lamp flickers", func(s *studio, i int) []uint8 { s.light = 0.9 + 0.1*float64(i%2); return s.take() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStudio(t)
			s.run(4*time.Second, s.nobody)
			s.run(20*time.Second, func(i int) []uint8 { return tt.next(s, i) }).calm(t, tt.name)
		})
	}
}

// compressed imitates compression: fine differences in brightness are lost.
func compressed(p []uint8, step int) []uint8 {
	for i := range p {
		p[i] = uint8(min(255, int(p[i])/step*step+step/2))
	}
	return p
}

func TestSomebodyComes(t *testing.T) {
	s := newStudio(t)
	s.run(10*time.Second, s.nobody)
	walk := s.run(4*time.Second, func(i int) []uint8 { return s.take(body{2 * i, 40, 20, 60}) })
	if share := 20.0 * 60 / 160 / 120; walk.moved < 18 || walk.last.Novelty < share*0.7 || walk.last.Novelty > share*1.6 || walk.cuts > 0 {
		t.Errorf("somebody who takes %.3f walks: motion in %d of 20 pictures, novelty %.3f, %d cuts", share, walk.moved, walk.last.Novelty, walk.cuts)
	}
	// somebody who sits and moves a little once a minute never becomes usual
	s.every = 3 * time.Second
	there := func(i int) []uint8 {
		b := body{38, 40, 20, 60}
		if i%20 < 2 {
			b.x += 2
			b.y += 4
		}
		return s.take(b, body{44, 30 + min(1, i%20), 8, 10})
	}
	if sits := s.run(10*time.Minute, there); sits.last.Novelty < 0.05 || sits.moved > 100 {
		t.Errorf("somebody sits for ten minutes: novelty %.3f, motion in %d pictures", sits.last.Novelty, sits.moved)
	}
	s.show(s.take())
	s.run(time.Minute, s.nobody).calm(t, "they have gone")
}

func TestSomethingStays(t *testing.T) {
	s := newStudio(t)
	s.run(10*time.Second, s.nobody)
	s.every = 2 * time.Second
	box := func(int) []uint8 { return s.take(body{60, 50, 24, 24}) }
	if first := s.run(time.Minute, box); first.last.Novelty < 0.02 || first.moved != 1 {
		t.Errorf("a box after a minute: novelty %.3f, motion in %d pictures", first.last.Novelty, first.moved)
	}
	s.run(3*time.Minute, box)
	s.run(time.Minute, box).calm(t, "a box that has been there for minutes")
	if gone := s.run(2*time.Second, s.nobody); gone.last.Novelty < 0.02 {
		t.Errorf("the box has gone: novelty %.3f", gone.last.Novelty)
	}
}

// TestLightSwitched: switching a light on is one change, and after a while the new light is usual.
func TestLightSwitched(t *testing.T) {
	s := newStudio(t)
	s.light = 0.5
	s.run(10*time.Second, s.nobody)
	lamp := func(x, y int) float64 { // it lights one side and throws a shadow
		g := livingRoom(x, y) * (0.7 + 1.2*float64(x)/160)
		if x > 50 && x < 90 && y > 60 {
			g *= 0.6
		}
		return g
	}
	s.room = lamp
	on := s.run(10*time.Second, s.nobody)
	if on.moved > 1 || on.cuts > 0 {
		t.Errorf("a lamp is switched on: motion in %d pictures, %d cuts", on.moved, on.cuts)
	}
	s.every = 2 * time.Second
	s.run(4*time.Minute, s.nobody)
	s.run(time.Minute, s.nobody).calm(t, "the lamp has been on for minutes")
}

// TestDark: after the light was off, the room is still known as it was.
func TestDark(t *testing.T) {
	s := newStudio(t)
	s.run(10*time.Second, s.nobody)
	s.light, s.noise = 0.03, 1
	s.every = 2 * time.Second
	off := s.run(5*time.Minute, s.nobody)
	if off.moved > 1 || off.cuts > 0 || off.last.Brightness > 0.05 || off.last.Contrast > 0.05 {
		t.Errorf("in the dark: motion in %d pictures, %d cuts, %+v", off.moved, off.cuts, off.last)
	}
	s.light, s.noise = 1, 2
	on := s.run(4*time.Second, s.nobody)
	if on.moved > 1 || on.cuts > 0 || on.last.Novelty > 0.005 {
		t.Errorf("in the light again: motion in %d pictures, %d cuts, novelty %.3f", on.moved, on.cuts, on.last.Novelty)
	}
}

// TestCurtain: something that moves all the time becomes usual after a while.
func TestCurtain(t *testing.T) {
	s := newStudio(t)
	s.run(10*time.Second, s.nobody)
	curtain := func(int) []uint8 {
		p := s.take()
		for y := 5; y < 25; y++ {
			for x := 50; x < 70; x++ {
				p[y*width+x] = uint8(120 + 30*s.random.IntN(2))
			}
		}
		return p
	}
	if first := s.run(10*time.Second, curtain); first.last.Motion < 0.02 {
		t.Errorf("a curtain: motion %.3f", first.last.Motion)
	}
	s.run(90*time.Second, curtain)
	if later := s.run(10*time.Second, curtain); later.motion > scenery.Still {
		t.Errorf("a curtain after a while: motion %.3f", later.motion)
	}
}

func TestCut(t *testing.T) {
	s := newStudio(t)
	s.run(10*time.Second, s.nobody)
	s.room = garden
	if other := s.run(10*time.Second, s.nobody); other.cuts != 1 || other.last.Novelty > 0.005 {
		t.Errorf("another place: %d cuts, novelty %.3f", other.cuts, other.last.Novelty)
	}
	s.room = livingRoom
	s.light = 0.6
	if back := s.run(10*time.Second, s.nobody); back.cuts != 1 {
		t.Errorf("the first place again, in less light: %d cuts", back.cuts)
	}
	if close := s.run(10*time.Second, func(int) []uint8 { return s.take(body{30, 10, 90, 110}) }); close.cuts != 0 {
		t.Errorf("somebody comes close: %d cuts", close.cuts)
	}
}

// TestMask: masked parts are ignored.
func TestMask(t *testing.T) {
	s := newStudio(t, earshot.Box{X: 0.5, Width: 0.5, Height: 1})
	black := func(p []uint8) []uint8 {
		for i := range p {
			if i%width >= width/2 {
				p[i] = 0
			}
		}
		return p
	}
	s.run(10*time.Second, func(int) []uint8 { return black(s.take()) })
	w := s.run(4*time.Second, func(i int) []uint8 { return s.take(body{80 + i, 40, 20, 60}) }) // the helper would blacken this
	w.calm(t, "somebody walks behind the mask")
	if w.last.Brightness < 0.3 {
		t.Errorf("brightness %.3f beside the mask", w.last.Brightness)
	}
	all := scenery.New(width, height, []earshot.Box{{Width: 1, Height: 1}})
	for range 3 {
		if v := all.Look(s.at, s.take(), 1); v != (scenery.View{}) {
			t.Errorf("all is masked, and it sees %+v", v)
		}
	}
}

func TestSame(t *testing.T) {
	s := newStudio(t)
	p := s.take()
	at := s.at
	for i, want := range []time.Duration{0, time.Second, 2 * time.Second} {
		if v := s.s.Look(at.Add(time.Duration(i)*time.Second), p, 7); v.Same != want {
			t.Errorf("after %d s the same for %v", i, v.Same)
		}
	}
	if v := s.s.Look(at.Add(3*time.Second), p, 8); v.Same != 0 {
		t.Errorf("another picture, and the same for %v", v.Same)
	}
	if v := s.s.Look(at, p, 8); v.Same != 0 { // the clock went back
		t.Errorf("the same for %v", v.Same)
	}
}

// picture draws a random picture of n pixels.
func picture(t *rapid.T, name string, n int) []uint8 {
	seed := rapid.Uint64().Draw(t, name)
	least, most := rapid.IntRange(0, 200).Draw(t, name+" from"), 0
	most = rapid.IntRange(least, 200).Draw(t, name+" to")
	smooth := rapid.IntRange(1, 40).Draw(t, name+" smooth")
	r := rand.New(rand.NewPCG(seed, 1))
	p := make([]uint8, n)
	var last uint8
	for i := range p {
		if i%smooth == 0 {
			last = uint8(least + r.IntN(most-least+1))
		}
		p[i] = last
	}
	return p
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(8, 100).Draw(t, "width"), rapid.IntRange(8, 100).Draw(t, "height")
		s := scenery.New(w, h, nil)
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		sum := uint64(0)
		look := func(p []uint8) scenery.View {
			at = at.Add(rapid.SampledFrom([]time.Duration{0, time.Second / 5, time.Second, time.Hour, -time.Second}).Draw(t, "after"))
			sum++
			v := s.Look(at, p, sum)
			for _, share := range []float64{v.Brightness, v.Contrast, v.Motion, v.Novelty} {
				if !(share >= 0 && share <= 1) {
					t.Fatalf("a share that is none: %+v", v)
				}
			}
			return v
		}
		var p []uint8
		for range rapid.IntRange(1, 5).Draw(t, "pictures") {
			p = picture(t, "picture", w*h)
			look(p)
		}
		if v := look(p); v.Motion != 0 || v.Cut {
			t.Errorf("the same picture again moves: %+v", v)
		}
		// the same picture, only brighter
		fresh := scenery.New(w, h, nil)
		fresh.Look(at, p, 1)
		fresh.Look(at.Add(time.Second), p, 2)
		more := uint8(rapid.IntRange(0, 50).Draw(t, "more"))
		for i := range p {
			p[i] += more
		}
		if v := fresh.Look(at.Add(2*time.Second), p, 3); v.Novelty != 0 || v.Motion != 0 || v.Cut {
			t.Errorf("brighter by %d, and it is new: %+v", more, v)
		}
	})
}

func TestNoMemory(t *testing.T) {
	s := newStudio(t)
	p, q := s.take(), s.take(body{40, 40, 20, 60})
	if n := testing.AllocsPerRun(50, func() {
		s.look(p)
		s.look(q)
	}); n != 0 {
		t.Errorf("%v allocations for two pictures", n)
	}
}

func TestPanics(t *testing.T) {
	for name, do := range map[string]func(){
		"too small":  func() { scenery.New(7, 100, nil) },
		"other size": func() { scenery.New(16, 16, nil).Look(time.Time{}, make([]uint8, 15*16), 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			do()
		}()
	}
}

// TestLooks: when detectors look at a film with one character for half a second: m something moves,
// n something new is there, . nothing.
func TestLooks(t *testing.T) {
	const rest = "................................" // 16 s
	for _, tt := range []struct{ name, film, want string }{
		// one character for half a second
		{"nothing", "......", "......"},
		{"somebody passes", "..mmmm" + rest, "..l.l.l...l.......l...............l..."},
		{"twice", "..m..m", "..l.l."},
		{"somebody stays", "mn" + rest, "l.l...l.......l...............l..."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var l scenery.Looks
			at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			var got []byte
			for _, c := range tt.film {
				v := scenery.View{}
				switch c {
				case 'm':
					v.Motion, v.Novelty = 0.1, 0.1
				case 'n':
					v.Novelty = 0.1
				}
				mark := byte('.')
				if l.Due(at, v) {
					mark = 'l'
				}
				got = append(got, mark)
				at = at.Add(time.Second / 2)
			}
			if string(got) != tt.want {
				t.Errorf("looked\n%s, want\n%s", got, tt.want)
			}
		})
	}
	// while something is there, about once a minute
	var l scenery.Looks
	at, n := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 0
	l.Due(at, scenery.View{Motion: 0.1})
	for range 600 {
		at = at.Add(time.Second)
		if l.Due(at, scenery.View{Novelty: 0.1}) {
			n++
		}
	}
	if n < 5+8 || n > 5+10 {
		t.Errorf("looked %d times in ten minutes", n)
	}
}

func BenchmarkLook(b *testing.B) {
	s := &studio{s: scenery.New(160, 120, nil), random: rand.New(rand.NewPCG(1, 2)), every: time.Second / 5}
	p, q := make([]uint8, 160*120), make([]uint8, 160*120)
	for i := range p {
		p[i], q[i] = uint8(livingRoom(i%160, i/160)), uint8(garden(i%160, i/160))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			s.look(p)
		} else {
			s.look(q)
		}
	}
}

// TestLampAtDusk: a sight that becomes usual in little light may be brighter than white would have
// been in the light before.
func TestLampAtDusk(t *testing.T) {
	s := newStudio(t)
	s.every = time.Second
	s.run(10*time.Second, s.nobody)
	dusk := func(x, y int) float64 { return 0.4 * livingRoom(x, y) }
	s.room = dusk
	s.run(time.Minute, s.nobody)
	s.room = func(x, y int) float64 {
		if x >= 48 && x < 96 && y >= 16 && y < 64 {
			return 250
		}
		return dusk(x, y)
	}
	s.run(4*time.Minute, s.nobody)
	s.run(time.Minute, s.nobody).calm(t, "a lamp that has been on for minutes")
}
