package main

import (
	"math"

	"earshot/speakers"
)

// An answer is how sure a book is, and whether it is right.
type answer struct {
	sure  float64
	right bool
}

// fit finds what the answers are worth: a logistic regression by Newton's method.
func fit(answers []answer) (w speakers.Calibration) {
	w.Counts = 1
	for range 30 {
		var slope [2]float64
		bend := [3]float64{1e-6, 0, 1e-6} // the upper triangle
		for _, a := range answers {
			x := logOdds(a.sure)
			p, want := w.Of(a.sure), 0.0
			if a.right {
				want = 1
			}
			v := p * (1 - p)
			slope[0] += want - p
			slope[1] += (want - p) * x
			bend[0] += v
			bend[1] += v * x
			bend[2] += v * x * x
		}
		volume := bend[0]*bend[2] - bend[1]*bend[1]
		w.Usual += (bend[2]*slope[0] - bend[1]*slope[1]) / volume
		w.Counts += (bend[0]*slope[1] - bend[1]*slope[0]) / volume
	}
	return w
}

// logOdds is what [speakers.Calibration] makes of being so sure.
func logOdds(sure float64) float64 {
	sure = min(max(sure, 1e-4), 1-1e-4)
	return math.Log(sure / (1 - sure))
}
