package microphone_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/internal/audio"
	"earshot/models/hear"
	"earshot/providers/microphone"
)

// A listening model finds no voice in what is n in a picture, and answers after 200 ms of silence and
// again each 200 ms.
type listening struct {
	turn  float64 // the answer
	takes time.Duration
	none  bool // it finds no voice

	closed int
	most   time.Duration // that was ever being said
	sensed hear.Sensed
}

func (s *listening) Step(f *audio.Frame, said, still time.Duration) (hear.Sensed, float64) {
	s.most = max(s.most, said)
	s.sensed.Voice <<= 1
	s.sensed.None <<= 1
	if s.none {
		s.sensed.None |= 4
	} else {
		s.sensed.Voice |= 4
	}
	if still < 200*time.Millisecond+s.takes {
		return s.sensed, hear.Undecided
	}
	return s.sensed, s.turn
}

func (s *listening) Close() { s.closed++ }

// sensing returns a performance with a model that listens; nil is none.
func sensing(c *take, s *listening, r result) *performance {
	p := &performance{rec: &recogniser{results: []result{r}}, room: &room{began: time.Now()}}
	parts := microphone.Parts{Capture: c, Recogniser: p.rec, Notice: p.room.notice}
	if s != nil {
		parts.Sense = func() microphone.Sense { return s }
	}
	p.Provider = microphone.New(microphone.DefaultConfig(), parts)
	return p
}

// TestSound: how long the microphone waits depends on what the sound says, too, and alone on that
// where there are no words.
func TestSound(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		turn        float64
		lag         time.Duration
		want        time.Duration // of silence, including the 60 ms for understanding
	}{
		{"unclear, and over", "i went there", 0.9, 0, 360 * time.Millisecond},
		{"unclear, and the voice goes on", "i went there", 0.1, 0, 1520 * time.Millisecond},
		{"finished, and over", "what time is it", 0.9, 0, 320 * time.Millisecond},
		{"finished, and nobody knows", "what time is it", 0.5, 0, 360 * time.Millisecond},
		{"finished, and the voice goes on", "what time is it", 0.1, 0, 920 * time.Millisecond},
		{"no words, and over", "", 0.9, 0, 360 * time.Millisecond},
		{"no words, and the voice goes on", "", 0.1, 0, 1520 * time.Millisecond},
		{"dictated, and over", "my number is oh two", 0.9, 0, 960 * time.Millisecond},
		{"words that lag, and over", "what time is it", 0.9, 1280 * time.Millisecond, 360 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := result{text: "all words", lag: tt.lag}
				if tt.words != "" {
					r.partials = []string{tt.words}
				}
				s := &listening{turn: tt.turn, takes: 40 * time.Millisecond}
				p := sensing(&take{picture: "..#####" + strings.Repeat(".", 30)}, s, r)
				if err := p.Run(t.Context(), p.room.emit); err != nil {
					t.Fatal(err)
				}
				got := p.room.at - 700*time.Millisecond
				if got != tt.want || s.closed != 1 {
					t.Errorf("it was ended after %v, want %v; closed %d times", got, tt.want, s.closed)
				}
				if s.most < 700*time.Millisecond {
					t.Errorf("it was told of %v", s.most)
				}
			})
		})
	}
}

// TestNoVoice: what is no voice by its sound pauses nobody, and is not recognised.
func TestNoVoice(t *testing.T) {
	for none, want := range map[bool]string{true: "bo", false: "blU"} {
		synctest.Test(t, func(t *testing.T) {
			p := sensing(&take{picture: "..########............."}, &listening{turn: math.NaN(), none: none}, result{text: "a voice"})
			if err := p.Run(t.Context(), p.room.emit); err != nil {
				t.Fatal(err)
			}
			if got := p.room.saw(); got != want {
				t.Errorf("with no voice %v: %s, want %s", none, got, want)
			}
		})
	}
}

// TestLag: words that come late do not end what was said after them.
func TestLag(t *testing.T) {
	for lag, want := range map[time.Duration]time.Duration{0: 280 * time.Millisecond, 1280 * time.Millisecond: 920 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			// the words of the first second, which nothing follows until the voice has ended
			p := sensing(&take{picture: "..##########" + strings.Repeat(".", 30)}, nil,
				result{partials: []string{"", "", "", "what time is it"}, behind: time.Millisecond, lag: lag, text: "all"})
			if err := p.Run(t.Context(), p.room.emit); err != nil {
				t.Fatal(err)
			}
			if got := p.room.at - 1200*time.Millisecond; got != want {
				t.Errorf("with a lag of %v it was ended after %v, want %v", lag, got, want)
			}
		})
	}
}
