//go:build cgo

package main

import (
	"cmp"
	"image"
	"math"
	"slices"

	"earshot"
)

// pixels returns b in a picture of a size: every pixel that it touches.
func pixels(b earshot.Box, width, height int) image.Rectangle {
	w, h := float64(width), float64(height)
	return image.Rect(
		int(math.Floor(b.X*w)), int(math.Floor(b.Y*h)),
		int(math.Ceil((b.X+b.Width)*w)), int(math.Ceil((b.Y+b.Height)*h)),
	).Intersect(image.Rect(0, 0, width, height))
}

// share returns r as a share of a picture of a size, and whether any of it is within.
func share(r image.Rectangle, width, height int) (earshot.Box, bool) {
	r = r.Intersect(image.Rect(0, 0, width, height))
	if r.Empty() {
		return earshot.Box{}, false
	}
	w, h := float64(width), float64(height)
	return earshot.Box{
		X: float64(r.Min.X) / w, Y: float64(r.Min.Y) / h,
		Width: float64(r.Dx()) / w, Height: float64(r.Dy()) / h,
	}, true
}

// same is how much of the smaller of two boxes must lie in the other for both to show the same
// thing.
const same = 0.6

// distinct returns the detections without those that show the same thing as a surer one, the
// surest first, at most most of them.
func distinct(things []earshot.Seen, most int) (kept []earshot.Seen) {
	slices.SortStableFunc(things, func(a, b earshot.Seen) int { return cmp.Compare(b.Sure, a.Sure) })
	for _, t := range things {
		again := slices.ContainsFunc(kept, func(k earshot.Seen) bool { return k.What == t.What && covers(k.Box, t.Box) > same })
		if !again && len(kept) < most {
			kept = append(kept, t)
		}
	}
	return kept
}

// covers returns which share of the smaller box lies in the other.
func covers(a, b earshot.Box) float64 {
	w := min(a.X+a.Width, b.X+b.Width) - max(a.X, b.X)
	h := min(a.Y+a.Height, b.Y+b.Height) - max(a.Y, b.Y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return w * h / min(a.Width*a.Height, b.Width*b.Height)
}
