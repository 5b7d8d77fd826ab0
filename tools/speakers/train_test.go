package main

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"earshot/models/voiceprint/cast"
	"earshot/speakers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestFit finds what answers are worth that were drawn by it.
func TestFit(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 2))
	is := speakers.Calibration{Usual: -1.5, Counts: 0.8}
	var answers []answer
	for range 20000 {
		sure := luck.Float64()
		answers = append(answers, answer{sure, luck.Float64() < is.Of(sure)})
	}
	if w := fit(answers); math.Abs(w.Usual-is.Usual) > 0.1 || math.Abs(w.Counts-is.Counts) > 0.1 {
		t.Errorf("they are worth %+v, want %+v", w, is)
	}
}

// TestGather: in each room there are as many as were asked for, each once, and somebody has
// a relative there.
func TestGather(t *testing.T) {
	said := []saying{{who: len(cast.Relatives()) - 1}}
	luck := rand.New(rand.NewPCG(1, 2))
	for _, r := range rooms {
		people, families := gather(said, r.of, luck), make(map[int]bool)
		seen := make(map[int]bool)
		for _, who := range people {
			seen[who], families[who/relatives] = true, true
		}
		if len(seen) != r.of || len(families) > (r.of+1)/2 {
			t.Errorf("of %d there are %d, of %d families", r.of, len(seen), len(families))
		}
	}
	for i, p := range cast.Relatives() {
		voice := func(p cast.Person) string { return p.Engine + p.Voice[strings.IndexByte(p.Voice, '+')+1:] }
		if first := cast.Relatives()[i-i%relatives]; voice(p) != voice(first) {
			t.Errorf("%s is no relative of %s", p.Name, first.Name)
		}
	}
}

// TestShipped: the file was made from as many people.
func TestShipped(t *testing.T) {
	text, err := os.ReadFile("../../speakers/trust.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "35 people") || len(cast.Relatives()) != 35 {
		t.Errorf("it was made from others than the %d people; go generate ./speakers makes it anew:\n%s", len(cast.Relatives()), text)
	}
}
