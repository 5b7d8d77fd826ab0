package webcam_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/models/see"
	"earshot/models/see/wire"
	"earshot/providers/webcam"
)

// A script is a camera source that shows the listed pictures, one a second.
type script struct {
	pictures []wire.Observation
	show     func(see.Observation)
}

func (s *script) Run(ctx context.Context) error {
	for i, o := range s.pictures {
		if o.Number == 0 {
			o.Number = uint64(i + 1)
		}
		o.Width, o.Height, o.Brightness, o.Contrast = 640, 480, 0.5, 0.2
		s.show(see.Observation{At: time.Now(), Observation: o})
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
	return nil
}

// TestNewBaseline: when the baseline is replaced by a picture with a sitting person in it, and the
// detector then misses them once, they do not count as gone.
func TestNewBaseline(t *testing.T) {
	still := wire.Observation{Motion: 0.001, Novelty: 0.001}
	missed := wire.Observation{Motion: 0.001, Novelty: 0.001, Detected: true}
	for name, anew := range map[string][]wire.Observation{
		"a new helper":  {{Number: 1, Motion: 0, Novelty: 0, Detected: true}},
		"another light": {{Motion: 0.6, Novelty: 0.8}, {Novelty: 0.8}, {Novelty: 0.8}, missed},
	} {
		t.Run(name, func(t *testing.T) {
			s := new(script)
			for i := range 10 { // somebody walks about
				s.pictures = append(s.pictures, wire.Observation{Motion: 0.05, Novelty: 0.06, Detected: true, Seen: []earshot.Seen{{What: earshot.Person, Box: box(0.2+0.05*float64(i%3), 0.3), Sure: 0.7}}})
			}
			s.pictures = append(s.pictures, wire.Observation{Motion: 0.05, Novelty: 0.06}) // and sits down
			for range 4 {
				s.pictures = append(s.pictures, wire.Observation{Motion: 0.001, Novelty: 0.06})
			}
			s.pictures = append(s.pictures, anew...)
			for range 10 {
				s.pictures = append(s.pictures, still)
			}
			out := watching(t, webcam.Camera{}, s, nil, func(sense *webcam.Provider) { s.show = sense.Observe })
			for _, told := range out.sights {
				if strings.HasPrefix(told, "0@") {
					t.Errorf("told %v", out.sights)
				}
			}
		})
	}
}
