package speakers

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
)

//go:generate go run earshot/tools/speakers -o trust.txt

//go:embed trust.txt
var trusted string

// A Calibration says what a judgement is worth: the logarithm of the odds by which the model of
// voices considers it right, times Counts, plus Usual. A model knows the voices it was trained on
// too well to judge its own judgements.
type Calibration struct{ Usual, Counts float64 }

// Of returns how likely a judgement that claims to be this sure is to be right.
func (w Calibration) Of(sure float64) float64 {
	sure = min(max(sure, least), 1-least)
	return 1 / (1 + math.Exp(-w.Usual-w.Counts*math.Log(sure/(1-sure))))
}

// least is the least uncertainty about anything; it bounds the logarithms.
const least = 1e-4

// Calibrations say what judgements are worth on sound that came through the same channel as the
// print, and through other channels. They were learnt by tools/speakers (go generate).
type Calibrations struct{ Same, Across Calibration }

// trust is what was learnt. It is part of the program, so it can be invalid only if the program was
// built wrongly.
var trust = func() Calibrations {
	t, err := ParseCalibrations(trusted)
	if err != nil {
		panic("speakers: " + err.Error() + "; go generate ./speakers makes it anew")
	}
	return t
}()

// String returns t as a file, which [ParseCalibrations] reads.
func (t Calibrations) String() string {
	return fmt.Sprintf("same %.3f %.3f\nacross %.3f %.3f\n", t.Same.Usual, t.Same.Counts, t.Across.Usual, t.Across.Counts)
}

// ParseCalibrations parses what String wrote. Lines that begin with # say what it was learnt from.
func ParseCalibrations(text string) (t Calibrations, err error) {
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	_, err = fmt.Sscanf(text, "same %f %f\nacross %f %f\n", &t.Same.Usual, &t.Same.Counts, &t.Across.Usual, &t.Across.Counts)
	if err == nil && !(t.Same.Counts > 0 && t.Across.Counts > 0) {
		err = fmt.Errorf("a surer judgement would count for less: %+v", t)
	}
	if err != nil {
		return Calibrations{}, fmt.Errorf("reading the calibration of voices: %w", err)
	}
	return t, nil
}

// worth returns what the judgement that p is a print of v is worth.
func (v *voice) worth(p print) Calibration {
	if v.through(p.channel) {
		return trust.Same
	}
	return trust.Across
}
