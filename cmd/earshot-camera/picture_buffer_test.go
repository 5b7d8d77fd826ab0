//go:build cgo

package main

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/models/see/wire"
)

// TestAlbum: it keeps what is young and fits, and shows the nearest to what is meant.
func TestAlbum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newPictureBuffer()
		a.alone(true) // its time is that of the last picture
		at := time.Unix(1000, 0)
		var all []*bufferedPicture
		shown := 0
		for range rapid.IntRange(1, 200).Draw(t, "pictures") {
			at = at.Add(time.Duration(rapid.Int64Range(1, int64(time.Second)).Draw(t, "gap")))
			if rapid.Bool().Draw(t, "somebody waits") {
				a.await(func(p *bufferedPicture) { shown++ })
			}
			waiting := len(a.waiting)
			before := shown
			p := &bufferedPicture{at: at, jpeg: make([]byte, rapid.IntRange(1, earshot.MaxPicture).Draw(t, "bytes")), searched: rapid.Bool().Draw(t, "searched")}
			a.put(p)
			all = append(all, p)
			if p.searched && (shown != before+waiting || a.wanted()) {
				t.Fatalf("%d of %d who waited were shown it", shown-before, waiting)
			}
			if rapid.IntRange(0, 20).Draw(t, "too large") == 0 && a.wanted() {
				waiting, before = 0, shown+len(a.waiting)
				if a.miss(); shown != before || a.wanted() {
					t.Fatal("who waited for a picture that could not be kept waits on")
				}
			}
			if !p.searched && (shown != before || a.wanted() != (waiting > 0) || len(a.wish) != min(1, waiting)) {
				t.Fatal("who waited was shown what was found in another picture")
			}
		}
		bytes := 0
		for i, p := range a.pages {
			bytes += len(p.jpeg)
			if p != all[len(all)-len(a.pages)+i] {
				t.Fatal("not the youngest are kept")
			}
		}
		if bytes != a.bytes || bytes > most || at.Sub(a.pages[0].at) > wire.Memory {
			t.Fatalf("%d pictures are kept with %d bytes, of %v", len(a.pages), bytes, at.Sub(a.pages[0].at))
		}
		age := time.Duration(rapid.Int64Range(1, int64(2*wire.Memory)).Draw(t, "age"))
		meant := at.Add(-age)
		got := a.nearest(age)
		if got == nil {
			if !meant.Before(a.pages[0].at.Add(-unlike)) {
				t.Fatalf("nothing of %v ago, although the oldest is of %v", age, at.Sub(a.pages[0].at))
			}
			return
		}
		for _, p := range a.pages {
			if p.at.Sub(meant).Abs() < got.at.Sub(meant).Abs() {
				t.Fatalf("meant %v ago: %v, and not %v", age, at.Sub(got.at), at.Sub(p.at))
			}
		}
	})
}

// TestDistinct: the same thing is said once, the surest of it, and different things all.
func TestDistinct(t *testing.T) {
	at := func(what earshot.Thing, x, sure float64) earshot.Seen {
		return earshot.Seen{What: what, Box: earshot.Box{X: x, Y: 0.1, Width: 0.2, Height: 0.4}, Sure: sure}
	}
	got := distinct([]earshot.Seen{
		at(earshot.Person, 0.1, 0.5), at(earshot.Person, 0.12, 0.9), at(earshot.Person, 0.5, 0.4), at(earshot.Face, 0.1, 0.3), at(earshot.Person, 0.7, 0.35),
	}, 3)
	want := []earshot.Seen{at(earshot.Person, 0.12, 0.9), at(earshot.Person, 0.5, 0.4), at(earshot.Person, 0.7, 0.35)}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v", got)
	}
}
