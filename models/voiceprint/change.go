package voiceprint

import (
	"math"

	"earshot"
)

// What tells another voice from one that says another thing, in nats: by how the prints of
// the two sides differ, by what [SpeakerChange.Gained] says of their shapes, by how like each other
// the two halves of the first side are, as a voice that differs from itself will go on to,
// and by how many seconds there are of the shorter side. A logistic regression on what
// a [SpeakerChangeDetector] finds in 816 recordings of one voice of cast.Background, through three channels,
// and 450 of two; on cast.Strangers it was measured, see make bench.
const (
	changeUsual  = -4.68
	changePrints = 0.715
	changeShapes = 0.666 / 100
	changeItself = 0.135
	changeSecond = 0.414
)

// Change returns how likely the sound after a place is another voice than before it, where a
// [SpeakerChangeDetector] has found a gain. If either side is too short to tell, it is 0.5.
func Change(before, after []Sound, gained float64) float64 {
	x := New()
	a, b := x.of(before), x.of(after)
	if a == nil || b == nil {
		return 0.5
	}
	heard := min(a.Heard, b.Heard)
	itself := 0.0
	half := len(before) / 2
	if one, other := x.of(before[:half]), x.of(before[half:]); one != nil && other != nil {
		itself = evidence(Score(one.Print, other.Print))
	}
	odds := changeUsual - changePrints*model.Near.Of(evidence(Score(a.Print, b.Print)), heard) +
		changeShapes*gained + changeItself*itself + changeSecond*heard.Seconds()
	return 1 / (1 + math.Exp(-odds))
}

// of returns what is heard in sounds alone; nil if it is too little.
func (x *Extractor) of(sounds []Sound) *earshot.Voice {
	x.Reset()
	for i := range sounds {
		x.Take(&sounds[i])
	}
	if v, ok := x.Voice(""); ok {
		return &v
	}
	return nil
}
