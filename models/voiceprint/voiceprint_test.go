package voiceprint_test

import (
	"math"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/models/voiceprint"
)

// buzz is d of a voice that hums: pulses at so many hertz through one resonance.
func buzz(pitch, formant float64, d time.Duration) []audio.Frame {
	frames := make([]audio.Frame, d/audio.Time)
	var y1, y2, phase float64
	r, theta := 0.97, 2*math.Pi*formant/audio.Rate
	for i := range frames {
		frames[i].Voiced = true
		for j := range frames[i].PCM {
			pulse := 0.0
			if phase += pitch / audio.Rate; phase >= 1 {
				phase--
				pulse = 3000
			}
			y := pulse + 2*r*math.Cos(theta)*y1 - r*r*y2
			y1, y2 = y, y1
			frames[i].PCM[j] = int16(max(-32768, min(32767, y)))
		}
	}
	return frames
}

func listen(x *voiceprint.Extractor, frames []audio.Frame) {
	for i := range frames {
		x.Step(&frames[i])
	}
}

func TestVoice(t *testing.T) {
	x := voiceprint.New()
	listen(x, buzz(120, 700, voiceprint.Least-audio.Time))
	if _, ok := x.Voice("mic"); ok {
		t.Error("there is a print of too little")
	}
	listen(x, buzz(120, 700, audio.Time))
	v, ok := x.Voice("mic")
	if !ok || v.Heard != voiceprint.Least || v.Channel != "mic" || len(v.Print) != voiceprint.Size {
		t.Errorf("got %v of %v through %q with %d numbers, %v", v, v.Heard, v.Channel, len(v.Print), ok)
	}
	x.Reset()
	if _, ok := x.Voice("mic"); ok {
		t.Error("there is a print of nothing")
	}
}
