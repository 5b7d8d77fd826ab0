package speakers_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"earshot"
	"earshot/models/voiceprint"
	"earshot/speakers"
)

// start is when the first voice is heard.
var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// A world makes voices: each person has a print, and each utterance differs from
// it a little.
type world struct {
	cfg  speakers.Config
	book *speakers.Registry
	now  time.Time
	luck *rand.Rand
}

// config is the default with predictable names of voices.
func config() speakers.Config {
	c := speakers.DefaultConfig()
	n := 0
	c.NewID = func() string { n++; return fmt.Sprintf("V%d", n) }
	return c
}

func open(t testing.TB, dir string, c speakers.Config) *world {
	t.Helper()
	b, err := speakers.Open(dir, c)
	if err != nil {
		t.Fatal(err)
	}
	return &world{cfg: c, book: b, now: start, luck: rand.New(rand.NewPCG(1, 2))}
}

// print returns what somebody sounds like: the same for the same name.
func print(name string) []float32 {
	seed := uint64(0)
	for _, c := range name {
		seed = seed*31 + uint64(c)
	}
	luck := rand.New(rand.NewPCG(seed, 7))
	p := make([]float32, voiceprint.Size)
	for i := range p {
		p[i] = float32(luck.NormFloat64())
	}
	return p
}

// voice returns d of somebody's voice, through a channel.
func (w *world) voice(name string, d time.Duration, channel string) *earshot.Voice {
	p := print(name)
	for i := range p {
		p[i] += float32(0.2 * w.luck.NormFloat64())
	}
	return &earshot.Voice{Heard: d, Print: p, Channel: channel}
}

// says lets somebody speak for d, ten seconds after the last one.
func (w *world) says(name string, d time.Duration) speakers.Judgement {
	w.now = w.now.Add(10 * time.Second)
	return w.book.Whose(w.voice(name, d, "desk"), w.now)
}

// said is by Ann, now.
func (w *world) said() speakers.Attestation { return speakers.Attestation{By: "ann", At: w.now} }

func TestWhose(t *testing.T) {
	w := open(t, "", config())
	first := w.says("ann", 2*time.Second)
	if !first.New || first.Speaker != (earshot.Handle{Provider: "voice", ID: "V1"}) {
		t.Fatalf("the first voice is %+v", first)
	}
	other := w.says("bob", 2*time.Second)
	if !other.New || other.Speaker == first.Speaker {
		t.Fatalf("the second voice is %+v", other)
	}
	for range 3 {
		if j := w.says("ann", 2*time.Second); j.Speaker != first.Speaker || j.New || j.Sure < 0.8 {
			t.Errorf("Ann is %+v", j)
		}
		if j := w.says("bob", 2*time.Second); j.Speaker != other.Speaker || j.New || j.Sure < 0.8 {
			t.Errorf("Bob is %+v", j)
		}
	}
	if j := w.says("cleo", time.Second); j != (speakers.Judgement{}) {
		t.Errorf("a second of a voice is %+v", j)
	}
	if j := w.book.Whose(nil, w.now); j != (speakers.Judgement{}) {
		t.Errorf("no voice is %+v", j)
	}
}
