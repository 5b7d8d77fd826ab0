package webcam

import (
	"cmp"
	"math"
	"slices"
	"time"

	"earshot"
)

// Detectors miss one person in five pictures, and in one of twenty see one who is not there. So a
// person counts as there when they were found three or four times, each time about where they were
// before, and have moved meanwhile: a picture on a wall never does. They stay until detectors miss
// them again and again after something has moved; how much that weighs depends on whether the
// picture has changed by as much as the person takes of it.
const (
	// found is the weight of a detection: borne out if as much of the picture is new as a new
	// person would take, and faced if the body has a face: the two detectors err in different ways.
	found, borneOut, faced = 0.9, 1.2, 1.8

	// sure is the weight from which on a person is there, and surest the largest weight.
	sure, surest = 3.5, 7

	// The weights of a miss: missed in a picture that is mostly unchanged, or doubted if the person
	// may not exist; left in one that has changed; and vanished in one that is empty.
	doubted, missed, left, vanished = 0.5, 0.2, 1.5, 3.0

	// leaves is how long a person must not have been found to be gone, and over in how many looks.
	leaves, looks = 3 * time.Second, 2

	// likelier is how much farther away a person who is there may be, compared with a possible one,
	// to be matched with a detection; in widths of a body. So the picture on the wall keeps its
	// place when somebody leaves.
	likelier = 1.5

	// fades is how long a possible person is remembered.
	fades = 10 * time.Second

	// shifts is how far a real person moves, in widths of their box: more than a detector's box
	// jitters around a still thing.
	shifts = 0.25

	// empty is the largest share of the picture that is new while nobody is there.
	empty = 0.005

	// anywhere is the number of looks after a camera move in which everybody may be anywhere.
	anywhere = 3

	// lively is the relative change of the new share in a picture in which many move, though nobody
	// comes or goes.
	lively = 0.4

	// recalled is of how many looks the counts are remembered. If none of them found as many as are
	// there, there is one less. For one more, that many must have been found together in several of
	// the latest; in a crowd all are seldom found at once.
	recalled, latest, together, crowded, some = 20, 10, 4, 4, 2

	// mostTracks is how many possible people are followed.
	mostTracks = 64
)

// A figure is a person found in a picture: a body, a face, or both.
type figure struct {
	box   earshot.Box // of the body, or else of the face
	body  bool
	faced bool // there is a face, and a body if body is set
}

// head returns where the head is, and how wide the body is; both in widths of the picture.
func (f figure) head(ratio float64) (x, y, wide float64) {
	x = f.box.X + f.box.Width/2
	if f.body {
		return x, (f.box.Y + f.box.Height*0.15) * ratio, f.box.Width
	}
	return x, (f.box.Y + f.box.Height/2) * ratio, min(0.6, 3*f.box.Width)
}

// share estimates the share of the picture that the person takes.
func (f figure) share() float64 {
	area := f.box.Width * f.box.Height
	if f.body {
		return min(0.4, area*0.6)
	}
	return min(0.4, area*6) // shoulders and chest below it
}

// figures joins detections: overlapping bodies are one, and a face in the upper half of a body
// belongs to it.
func figures(seen []earshot.Seen) (all []figure, faces int) {
	for _, s := range seen {
		if s.What == earshot.Person && !slices.ContainsFunc(all, func(f figure) bool { return covers(f.box, s.Box) > 0.5 }) {
			all = append(all, figure{box: s.Box, body: true})
		}
	}
	bodies := all
	for _, s := range seen {
		if s.What != earshot.Face {
			continue
		}
		faces++
		at := slices.IndexFunc(bodies, func(f figure) bool { return !f.faced && wears(f.box, s.Box) })
		if at >= 0 {
			all[at].faced = true
			continue
		}
		all = append(all, figure{box: s.Box, faced: true})
	}
	return all, faces
}

// covers returns the share of the smaller of two boxes that lies in the other.
func covers(a, b earshot.Box) float64 {
	wide := min(a.X+a.Width, b.X+b.Width) - max(a.X, b.X)
	high := min(a.Y+a.Height, b.Y+b.Height) - max(a.Y, b.Y)
	if wide <= 0 || high <= 0 {
		return 0
	}
	return wide * high / min(a.Width*a.Height, b.Width*b.Height)
}

// wears reports whether a face is where a body has its own.
func wears(body, face earshot.Box) bool {
	x, y := face.X+face.Width/2, face.Y+face.Height/2
	return x >= body.X && x <= body.X+body.Width && y >= body.Y && y <= body.Y+body.Height/2
}

// A track is a possible person.
type track struct {
	last   figure
	weight float64 // the evidence for it
	there  bool    // the person is there

	began, hit time.Time // when they were found first and last
	misses     int       // looks since
	novelty    float64   // of the picture in which they were found last

	body, face earshot.Box // where each was found first
	moved      int         // how often they were found elsewhere
}

// A past is the number of people found in one look.
type past struct {
	at time.Time
	n  int
}

// A peopleTracker tracks the possible people. It has no clock.
type peopleTracker struct {
	tracks []*track
	looked time.Time // when detectors last looked
	past   []past    // what they found lately
	moved  time.Time // when anything last moved
	loose  int       // the number of looks in which everybody may still be anywhere
}

// count returns how many people are there, and how sure that is.
func (c *peopleTracker) count() (n int, certain float64) {
	var doubt float64
	for _, t := range c.tracks {
		if t.there {
			n++
			certain += 0.5 + t.weight/surest/2
		} else {
			doubt = max(doubt, min(1, t.weight/sure))
		}
	}
	if n > 0 {
		return n, certain / float64(n)
	}
	return 0, 1 - doubt/2
}

// look adds the detections at a time, in a picture with a share that is new. The ratio is its
// height divided by its width.
func (c *peopleTracker) look(at time.Time, all []figure, novelty, ratio float64) {
	if len(c.past) >= recalled {
		c.past = slices.Delete(c.past, 0, 1)
	}
	c.past = append(c.past, past{at, len(all)})
	met := c.meet(at, all, ratio)
	for _, t := range c.tracks {
		if !slices.Contains(met, t) {
			t.miss(novelty)
		}
	}
	for i, f := range all {
		if t := met[i]; t != nil {
			t.found(at, f, novelty)
		} else if len(c.tracks) < mostTracks {
			t := &track{began: at}
			t.found(at, f, novelty)
			c.tracks = append(c.tracks, t)
		}
	}
	c.looked = at
	if c.loose > 0 {
		c.loose--
	}
	for _, t := range slices.Clone(c.tracks) {
		if !t.there && t.weight >= sure && t.moved >= 2 {
			c.admit(t)
		}
	}
	c.recount()
}

// meet returns the track of each figure, the nearest first; nil is a new one.
func (c *peopleTracker) meet(at time.Time, all []figure, ratio float64) []*track {
	type pair struct {
		t    *track
		i    int
		away float64
	}
	var pairs []pair
	for _, t := range c.tracks {
		for i, f := range all {
			if away, ok := t.away(at, f, ratio, c.loose > 0 && t.there); ok {
				if t.there { // it is more likely that they are seen than that nobody is
					away -= likelier
				}
				pairs = append(pairs, pair{t, i, away})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.away, b.away) })
	met := make([]*track, len(all))
	for _, p := range pairs {
		if met[p.i] == nil && !slices.Contains(met, p.t) {
			met[p.i] = p.t
		}
	}
	return met
}

// away returns how far a figure is from the last place of t, in widths of a body, and whether they
// can be the same: people walk two such widths in a second, and a body is not found twice as
// large.
func (t *track) away(at time.Time, f figure, ratio float64, anywhere bool) (float64, bool) {
	x, y, wide := f.head(ratio)
	tx, ty, twide := t.last.head(ratio)
	size := max(wide, twide)
	away := math.Hypot(x-tx, y-ty) / size
	passed := min(3, max(0, at.Sub(t.hit).Seconds()))
	alike := max(wide, twide) <= 2*min(wide, twide)
	return away, anywhere || alike && away <= 0.6+1.2*passed
}

// found records that t was found.
func (t *track) found(at time.Time, f figure, novelty float64) {
	more := found
	switch {
	case f.body && f.faced:
		more = faced
	case novelty >= f.share()/3:
		more = borneOut
	}
	t.weight = min(surest, t.weight+more)
	first := &t.face
	if f.body {
		first = &t.body
	}
	if *first == (earshot.Box{}) {
		*first = f.box
	} else if shifted(*first, f.box) {
		t.moved++
	}
	t.last, t.hit, t.misses, t.novelty = f, at, 0, novelty
}

// shifted reports whether a box has moved.
func shifted(a, b earshot.Box) bool {
	x, y := (a.X+a.Width/2)-(b.X+b.Width/2), (a.Y+a.Height/2)-(b.Y+b.Height/2)
	return math.Abs(x) > shifts*a.Width || math.Abs(y) > shifts*a.Height
}

// miss records that t was not found.
func (t *track) miss(novelty float64) {
	t.misses++
	changed := math.Abs(novelty-t.novelty) > max(empty, t.last.share()/2, lively*t.novelty)
	less := missed
	switch {
	case changed && novelty <= empty:
		less = vanished
	case changed:
		less = left
	case !t.there:
		less = doubted
	}
	t.weight = max(0, t.weight-less)
}

// rebase records a new reference picture: of a restarted helper, of a camera that was moved, or in
// another light. The people present are part of it, so an unchanged picture does not mean that
// they have gone.
func (c *peopleTracker) rebase(novelty float64) {
	for _, t := range c.tracks {
		t.novelty = novelty
	}
}

// present returns how many people are there, and the one of them who is unseen for longest; nil if
// all were found in the last look.
func (c *peopleTracker) present() (n int, lost *track) {
	for _, t := range c.tracks {
		if !t.there {
			continue
		}
		n++
		if t.misses > 0 && (lost == nil || t.hit.Before(lost.hit)) {
			lost = t
		}
	}
	return n, lost
}

func (c *peopleTracker) remove(gone *track) {
	c.tracks = slices.DeleteFunc(c.tracks, func(t *track) bool { return t == gone })
}

// recount removes the person unseen for longest, if for long not as many were found at once as are
// there.
func (c *peopleTracker) recount() {
	n, lost := c.present()
	seldom := !slices.ContainsFunc(c.past, func(p past) bool { return p.n >= n })
	if n > 1 && n <= crowded && lost != nil && len(c.past) == recalled && seldom {
		c.remove(lost)
	}
}

// admit makes t a person who is there: an additional one, if that many were found in one picture,
// otherwise the one unseen for longest.
func (c *peopleTracker) admit(t *track) {
	n, lost := c.present()
	enough := 0
	for _, p := range c.past[max(0, len(c.past)-latest):] {
		if !p.at.Before(t.began) && p.n > n {
			enough++
		}
	}
	switch {
	case n == 0, enough >= together, n >= crowded && enough >= some:
		t.there = true
	case lost != nil:
		t.there = true
		c.remove(lost)
	}
}

// pass removes the people who are gone at a time, given the shares of the picture that move and
// that are new. A person who has not moved has not gone.
func (c *peopleTracker) pass(at time.Time, moves bool, novelty float64) {
	if moves {
		c.moved = at
	}
	c.tracks = slices.DeleteFunc(c.tracks, func(t *track) bool {
		since := at.Sub(t.hit)
		if !t.there {
			return t.weight <= 0 || since >= fades && at.Sub(c.looked) < fades
		}
		if c.moved.Before(t.hit) || since < leaves {
			return false
		}
		emptied := t.novelty > 4*empty && novelty <= empty && at.Sub(c.moved) >= leaves
		return t.weight <= 0 && t.misses >= looks || emptied && (t.misses > 0 || c.looked.Before(c.moved))
	})
}
