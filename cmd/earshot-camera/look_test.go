//go:build cgo

package main

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
	"sync"
	"testing"
	"time"

	"earshot"
	"earshot/internal/testkit"
	"earshot/models/see"
	"earshot/models/see/seetest"
	"earshot/models/see/wire"
)

// light returns how bright the middle of a picture is, 0 to 255.
func light(t *testing.T, p earshot.Picture) uint32 {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(p.JPEG))
	if err != nil {
		t.Fatal(err)
	}
	if size := m.Bounds().Size(); size.X != p.Width || size.Y != p.Height {
		t.Errorf("a picture of %v is said to have %d by %d", size, p.Width, p.Height)
	}
	r, _, _, _ := m.At(p.Width/2, p.Height/4).RGBA()
	return r >> 8
}

// TestLook: who looks gets the picture that was meant, or the next.
func TestLook(t *testing.T) {
	testkit.Need(t, "camera")
	virtual := seetest.NewCamera(20)
	defer virtual.Close()
	c := watching(t, wire.Open{Source: virtual.URL(), Idle: 10, Active: 10})
	bright := c.until(t, "the room", func(all []see.Observation) bool { return len(all) > 3 })
	virtual.Show(seetest.Lit(seetest.Room(), 0.05))
	dark := c.until(t, "the dark", last(func(o see.Observation) bool { return o.Brightness < 0.1 }))
	then, now := bright[len(bright)-1].At, dark[len(dark)-1].At

	for _, tt := range []struct {
		name string
		at   time.Time
		dark bool
	}{
		{"when it was bright", then, false},
		{"when it was dark", now, true},
		{"next", time.Time{}, true},
		{"in the future", now.Add(time.Hour), true},
	} {
		p, err := c.Look(t.Context(), tt.at, false)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := light(t, p) < 60; got != tt.dark {
			t.Errorf("%s: dark is %v", tt.name, got)
		}
		if off := p.At.Sub(tt.at).Abs(); !tt.at.IsZero() && tt.at.Before(time.Now()) && off > 150*time.Millisecond {
			t.Errorf("%s: a picture that was taken %v off", tt.name, off)
		}
	}
	if _, err := c.Look(t.Context(), now.Add(-30*time.Second), false); !errors.Is(err, see.ErrNone) {
		t.Errorf("before there was a camera: %v", err)
	}
}

// TestBoxes: boxes are drawn where somebody is, if that is wished.
func TestBoxes(t *testing.T) {
	testkit.Need(t, "camera")
	virtual := seetest.NewCamera(20)
	defer virtual.Close()
	virtual.Show(somebody(320))
	c := watching(t, wire.Open{Source: virtual.URL()})
	c.until(t, "somebody", func(all []see.Observation) bool { return len(all) > 0 && len(all[0].Seen) > 0 })
	var plain, boxed earshot.Picture
	testkit.Await(t, time.Minute, "a picture in which somebody was seen", func() bool {
		var err, err2 error
		boxed, err = c.Look(t.Context(), time.Time{}, true)
		plain, err2 = c.Look(t.Context(), time.Now(), false)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		return some(boxed.Seen, earshot.Person) == 1
	})
	m, err := jpeg.Decode(bytes.NewReader(boxed.JPEG))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range boxed.Seen {
		at := pixels(s.Box, m.Bounds().Dx(), m.Bounds().Dy())
		r, g, b, _ := m.At(at.Min.X+1, (at.Min.Y+at.Max.Y)/2).RGBA()
		want := colours[s.What]
		if far := diff(r>>8, want.R) + diff(g>>8, want.G) + diff(b>>8, want.B); far > 200 {
			t.Errorf("the edge of the %s is %d %d %d, want %v", s.What, r>>8, g>>8, b>>8, want)
		}
	}
	if bytes.Equal(plain.JPEG, boxed.JPEG) {
		t.Error("there are boxes without being asked for")
	}
}

func diff(a uint32, b uint8) uint32 { return max(a, uint32(b)) - min(a, uint32(b)) }

// TestManyLook: who asks beyond the limit is refused, and nobody is forgotten.
func TestManyLook(t *testing.T) {
	testkit.Need(t, "camera")
	virtual := seetest.NewCamera(20)
	defer virtual.Close()
	c := watching(t, wire.Open{Source: virtual.URL()})
	c.until(t, "the room", func(all []see.Observation) bool { return len(all) > 0 })
	var looking sync.WaitGroup
	how := make(chan string, 100)
	for i := range 100 {
		looking.Go(func() {
			at := time.Time{}
			if i%2 == 0 {
				at = time.Now()
			}
			_, err := c.Look(t.Context(), at, i%3 == 0)
			how <- fmt.Sprint(err)
		})
	}
	testkit.Finish(t, 5*testkit.Patience, "the end of the looks", looking.Wait)
	close(how)
	counts := make(map[string]int)
	for h := range how {
		counts[h]++
	}
	if counts["<nil>"] < wire.MaxRequests || counts["<nil>"]+counts[see.ErrBusy.Error()] != 100 {
		t.Errorf("%v", counts)
	}
	if _, err := c.Look(t.Context(), time.Time{}, false); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
