package webcam

import (
	"time"

	"earshot"
	"earshot/models/see"
)

const (
	// A picture becomes dark below dim in brightness and pale in contrast: something in front of
	// the lens lets some light through, evenly, while a dark room has a lamp or a window in it. A
	// picture without any contrast is dark, however bright. It stops being dark above the second
	// values.
	dim, lit       = 0.06, 0.09
	pale, rich     = 0.05, 0.07
	blank, pattern = 0.01, 0.02

	// darkens is how long a picture must be dark, and clears how long it must not be, so that a
	// person who walks past the lens does not count as night.
	darkens, clears = 3 * time.Second, time.Second

	// freezes is how long the pictures must be identical to be frozen. Those of a camera never are:
	// light is noise. Thaws is how many must differ for the end of that.
	freezes = 10 * time.Second
	thaws   = 3

	// missing is how long there may be no picture.
	missing = 15 * time.Second

	// nightfall is how long it may be dark before people are told, and well how long it must have
	// been well before the all-clear.
	nightfall = time.Minute
	well      = 5 * time.Second
)

// An eyesightTracker tracks how well a camera sees. It has no clock.
type eyesightTracker struct {
	is    earshot.Eyesight
	since time.Time

	seems  earshot.Eyesight // what the pictures suggest
	seemed time.Time        // since when
	others int              // different pictures since it was frozen
	last   time.Time        // when there last was a picture

	told earshot.Eyesight // the fault that people were told of; empty if none
}

// look adds what is known of a picture, and reports whether the eyesight has changed.
func (e *eyesightTracker) look(o see.Observation) bool {
	e.last = o.At
	switch {
	case o.Same == 0:
		e.others++
	case o.Same >= freezes:
		e.others = 0
	}
	return e.seem(e.judge(o), o.At)
}

// judge returns what a picture suggests.
func (e *eyesightTracker) judge(o see.Observation) earshot.Eyesight {
	least, flat, nothing := dim, pale, blank
	if e.is == earshot.Dark {
		least, flat, nothing = lit, rich, pattern
	}
	switch {
	case o.Brightness < least && o.Contrast < flat || o.Contrast < nothing:
		return earshot.Dark
	case o.Same >= freezes || e.is == earshot.Frozen && e.others < thaws:
		return earshot.Frozen
	}
	return earshot.Clear
}

// seem adds a suggestion, and reports whether the eyesight has changed.
func (e *eyesightTracker) seem(so earshot.Eyesight, at time.Time) bool {
	if so != e.seems {
		e.seems, e.seemed = so, at
	}
	lasts := at.Sub(e.seemed)
	switch {
	case so == e.is:
		return false
	case so == earshot.Dark && lasts < darkens, so == earshot.Clear && e.is == earshot.Dark && lasts < clears:
		return false
	}
	e.is, e.since = so, at
	return true
}

// wait records that there was no picture until now.
func (e *eyesightTracker) wait(now time.Time) bool {
	return now.Sub(e.last) >= missing && e.seem(earshot.Away, now)
}

// tell returns what to tell people at a time, if anything.
func (e *eyesightTracker) tell(camera string, now time.Time) (n earshot.Notice, ok bool) {
	lasts := now.Sub(e.since)
	key := earshot.CameraCalled(camera) // the same name as the part that looks
	switch {
	case e.is == earshot.Clear && e.told != "" && lasts >= well:
		e.told = ""
		return earshot.Notice{Key: key, Text: "the " + key + " sees again", Over: true}, true
	case e.told != "":
		return n, false
	case e.is == earshot.Dark && lasts >= nightfall:
		e.told = e.is
		return earshot.Notice{
			Key: key, Text: "the " + key + " sees nothing: it is dark, or something covers its lens",
			Cure: "switch on a light, or uncover the lens",
		}, true
	case e.is == earshot.Frozen:
		e.told = e.is
		return earshot.Notice{
			Key: key, Text: "the " + key + " shows the same picture again and again",
			Cure: "unplug it and plug it in again, or restart the program that sends its pictures",
		}, true
	}
	return n, false
}
