package webcam

import (
	"time"

	"earshot"
	"earshot/models/see"
	"earshot/models/see/scenery"
)

const (
	// steady is how long a changed count must last to be reported: two people who cross each other
	// are one for a moment. The first person in an empty view is reported at once.
	steady = 2 * time.Second

	// forgets is how long nothing must have been seen before the people are forgotten: a person who
	// has switched the light off and on again has not arrived anew.
	forgets = 5 * time.Minute

	// settles is how long the picture must have been stable for the camera to stand still again,
	// and moves the time until a move is reported once more.
	settles, moves = 3 * time.Second, 30 * time.Second

	// mostNew is the largest new share at which the reference picture is not about to be replaced;
	// see package scenery.
	mostNew = 0.5

	// lately is how long detections count as current while something moves.
	lately = 3 * time.Second
)

// A sceneTracker tracks what one camera shows. It has no clock and no goroutine: the loop in
// [Provider.Run] steps it. A step takes a picture, or the lack of one, and returns what is to be
// reported, in order.
type sceneTracker struct {
	camera string

	at    time.Time // of the last step
	eyes  eyesightTracker
	saw   time.Time // when it could see, last
	crowd peopleTracker
	codes codes

	number  uint64  // of the last picture in which people were looked for
	novelty float64 // of it

	people  int       // as last reported
	others  int       // the current number
	since   time.Time // since when it is that number
	certain float64
	faces   int // last found

	cut, moved time.Time // when the picture changed as a whole, and when that was reported; zero if not needed

	sights []earshot.Sight // of this step
}

func newWatch(camera string) *sceneTracker {
	return &sceneTracker{camera: camera, eyes: eyesightTracker{is: earshot.Away, seems: earshot.Away}}
}

// look handles a picture.
func (w *sceneTracker) look(o see.Observation, now time.Time) (earshot.Glance, []earshot.Sight) {
	o.At = w.step(o.At, now)
	if w.eyes.look(o) {
		w.say(earshot.EyesChanged, 1)
	}
	switch {
	case w.eyes.is != earshot.Clear:
		w.faces = 0
	case w.eyes.seems == earshot.Clear: // otherwise it may be dark soon, and nobody found because of that
		w.saw = o.At
		w.see(o)
		w.count(o.At)
		w.stand(o.At)
		for _, code := range w.codes.look(o.At, o.Seen) {
			w.say(earshot.CodeRead, code.Sure).Text = code.Text
		}
	}
	return earshot.Glance{
		Camera: w.camera, People: w.people, Faces: w.faces, Sure: w.certain, Eyes: w.eyes.is,
		Brightness: o.Brightness, Motion: o.Motion, Novelty: o.Novelty,
	}, w.sights
}

// wait records that there is no new picture.
func (w *sceneTracker) wait(now time.Time) []earshot.Sight {
	last := w.at
	if w.eyes.wait(w.step(now, now)) {
		w.say(earshot.EyesChanged, 1)
	}
	if len(w.sights) == 0 {
		w.at = last // the next picture may have been taken before now
	}
	return w.sights
}

// close records that pictures have stopped.
func (w *sceneTracker) close(now time.Time) []earshot.Sight {
	at := w.step(now, now)
	if w.eyes.seem(earshot.Away, at) {
		w.say(earshot.EyesChanged, 1)
	}
	return w.sights
}

// step begins a step, and returns its time: that of the picture, never after now nor before the
// last. The people are forgotten when nothing was seen for long.
func (w *sceneTracker) step(at, now time.Time) time.Time {
	if at.After(now) {
		at = now
	}
	if at.Before(w.at) {
		at = w.at
	}
	w.at, w.sights = at, nil
	if w.eyes.is != earshot.Clear && at.Sub(w.saw) >= forgets {
		w.crowd, w.certain = peopleTracker{}, 0
		w.tell(0, 0)
	}
	return at
}

// say adds a sight, with the state from now on.
func (w *sceneTracker) say(what earshot.Noticed, sure float64) *earshot.Sight {
	w.sights = append(w.sights, earshot.Sight{Camera: w.camera, What: what, People: w.people, Eyes: w.eyes.is, Sure: sure})
	return &w.sights[len(w.sights)-1]
}

// tell adds the number of people in view, if that is new.
func (w *sceneTracker) tell(n int, sure float64) {
	if were := w.people; n != were {
		w.people, w.others = n, n
		w.say(earshot.PeopleChanged, sure).Were = were
	}
}

// see handles the contents of a picture.
func (w *sceneTracker) see(o see.Observation) {
	moving := o.Motion > scenery.Still || o.Cut
	if o.Cut {
		w.crowd.loose = anywhere
		w.cut = o.At
	}
	if o.Cut || o.Number < w.number || w.novelty > mostNew && o.Novelty <= mostNew && !moving {
		w.crowd.rebase(o.Novelty)
	}
	w.number, w.novelty = o.Number, o.Novelty
	if o.Detected {
		all, faces := figures(o.Seen)
		w.faces = faces
		w.crowd.look(o.At, all, o.Novelty, float64(o.Height)/float64(o.Width))
	} else if moving && o.At.Sub(w.crowd.looked) >= lately {
		w.faces = 0
	}
	w.crowd.pass(o.At, moving, o.Novelty)
}

// count reports the number of people when it has become steady.
func (w *sceneTracker) count(at time.Time) {
	n, certain := w.crowd.count()
	w.certain = certain
	if n != w.others {
		w.others, w.since = n, at
	}
	if w.people == 0 || at.Sub(w.since) >= steady {
		w.tell(n, certain)
	}
}

// stand reports that the picture changed as a whole, once it has settled.
func (w *sceneTracker) stand(at time.Time) {
	if !w.cut.IsZero() && at.Sub(w.cut) >= settles && at.Sub(w.moved) >= moves {
		w.cut, w.moved = time.Time{}, at
		w.say(earshot.SceneChanged, 1)
	}
}
