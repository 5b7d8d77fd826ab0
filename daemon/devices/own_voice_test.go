package devices

import (
	"context"
	"iter"
	"testing"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/models/tts"
	"earshot/models/voiceprint"
	"earshot/speakers"
)

// A parrot says the same sound to any text, in pieces of an odd size.
type parrot struct{ pcm []int16 }

func (p parrot) Ready() (bool, <-chan struct{}) { return true, nil }

func (p parrot) Rate() int { return audio.Rate }

func (p parrot) Say(context.Context, string) iter.Seq2[tts.Chunk, error] {
	return func(yield func(tts.Chunk, error) bool) {
		for at := 0; at < len(p.pcm); at += 777 {
			if !yield(tts.Chunk{PCM: p.pcm[at:min(at+777, len(p.pcm))]}, nil) {
				return
			}
		}
	}
}

// hum returns so much sound of a voice that sings one vowel after the other.
func hum(d time.Duration) []int16 {
	pcm := make([]int16, int(d.Seconds()*audio.Rate))
	y1, y2 := 0.0, 0.0
	for i := range pcm {
		x := 0.0
		if i%133 == 0 { // 120 Hz
			x = 3000
		}
		a := 1.6 - 0.5*float64(i/3200%3)
		y := x + a*y1 - 0.94*y2
		y1, y2 = y, y1
		pcm[i] = int16(max(-30000, min(30000, y)))
	}
	return pcm
}

// TestOwnVoice: what the agent has said with its own voice is never attributed to anybody.
func TestOwnVoice(t *testing.T) {
	book, err := speakers.Open("", speakers.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	learnt := 0
	m := &LearnedVoice{Fickle: parrot{hum(12 * time.Second)}, learn: func(v *earshot.Voice) { learnt++; book.LearnOwn(v) }}
	if err := m.Rehearse(t.Context()); err != nil || learnt != 1 {
		t.Errorf("%v; before it speaks it is learnt from %d times", err, learnt)
	}
	for range 5 {
		heard := 0
		for c, err := range m.Say(t.Context(), "hello") {
			if heard += len(c.PCM); err != nil {
				t.Fatal(err)
			}
		}
		if heard != len(hum(12*time.Second)) {
			t.Errorf("of the sound %d samples came through", heard)
		}
	}
	if learnt == 0 || learnt > 4 {
		t.Errorf("it was learnt from %d times", learnt)
	}
	r := voiceSample{ear: voiceprint.New()}
	r.take(tts.Chunk{PCM: hum(3 * time.Second)})
	v, ok := r.ear.Voice("microphone:default")
	if !ok {
		t.Fatal("no voice is in it")
	}
	if j := book.Whose(&v, time.Now()); !j.Own || j.Speaker.ID != "" || j.New {
		t.Errorf("it is %+v", j)
	}
}
