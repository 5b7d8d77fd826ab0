package voiceprint_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/models/voiceprint"
)

// buzz returns a voice of duration d that says vowels: pulses at about the given pitch in Hz
// through two moving resonances.
func buzz(pitch, low, high float64, d time.Duration) []audio.Frame {
	luck := rand.New(rand.NewPCG(uint64(pitch), uint64(low)))
	wave := make([]float64, int(d/audio.Time)*audio.Samples)
	phase := 0.0
	for i := range wave {
		if phase += pitch * (1 + 0.1*math.Sin(float64(i)/5000)) / audio.Rate; phase >= 1 {
			phase--
			wave[i] = 2000
		}
		wave[i] += 10 * luck.NormFloat64()
	}
	resonate(wave, low, 2100)
	resonate(wave, high, 1700)
	return frames(wave)
}

// resonate filters wave by a resonance that moves up and down by 30 % in so many samples.
func resonate(wave []float64, at, moves float64) {
	const r = 0.96
	last, before := 0.0, 0.0
	for i, v := range wave {
		c := 2 * r * math.Cos(2*math.Pi*at*(1+0.3*math.Sin(float64(i)/moves))/audio.Rate)
		last, before = 0.3*v+c*last-r*r*before, last
		wave[i] = last
	}
}

func frames(wave []float64) []audio.Frame {
	all := make([]audio.Frame, len(wave)/audio.Samples)
	for i := range all {
		all[i].Voiced = true
		for j := range all[i].PCM {
			all[i].PCM[j] = int16(min(max(wave[i*audio.Samples+j], math.MinInt16), math.MaxInt16))
		}
	}
	return all
}

func listen(x *voiceprint.Extractor, frames []audio.Frame) {
	for i := range frames {
		x.Step(&frames[i])
	}
}

// ann and bob return voices as different as those of a woman and a man.
func ann(d time.Duration) []audio.Frame { return buzz(210, 850, 2900, d) }
func bob(d time.Duration) []audio.Frame { return buzz(105, 600, 2100, d) }

func TestVoice(t *testing.T) {
	x := voiceprint.New()
	listen(x, bob(voiceprint.Least-audio.Time))
	if _, ok := x.Voice("mic"); ok {
		t.Error("there is a print of too little")
	}
	listen(x, bob(audio.Time))
	v, ok := x.Voice("mic")
	if !ok || v.Heard != voiceprint.Least || v.Channel != "mic" || len(v.Print) != voiceprint.Size {
		t.Errorf("got %v of %v through %q with %d numbers, %v", v, v.Heard, v.Channel, len(v.Print), ok)
	}
	x.Reset()
	if _, ok := x.Voice("mic"); ok {
		t.Error("there is a print of nothing")
	}
}

// TestNotVoiced: frames that are not voiced do not change the print.
func TestNotVoiced(t *testing.T) {
	x, y := voiceprint.New(), voiceprint.New()
	pause := ann(time.Second)
	for i := range pause {
		pause[i].Voiced = false
	}
	listen(x, bob(time.Second))
	listen(y, bob(time.Second))
	listen(y, pause)
	a, _ := x.Voice("")
	b, ok := y.Voice("")
	if !ok || a.Heard != b.Heard {
		t.Fatalf("heard %v and %v", a.Heard, b.Heard)
	}
	for i := range a.Print {
		if a.Print[i] != b.Print[i] {
			t.Fatal("a pause is in the print")
		}
	}
}

func TestApart(t *testing.T) {
	hear := func(frames []audio.Frame) []float32 {
		x := voiceprint.New()
		listen(x, frames)
		v, ok := x.Voice("")
		if !ok {
			t.Fatal("no print")
		}
		return v.Print
	}
	a, b := hear(ann(2*time.Second)), hear(bob(2*time.Second))
	again := hear(buzz(104, 610, 2120, 2*time.Second))
	same, other := voiceprint.Score(b, again), voiceprint.Score(a, b)
	if same < 0 || other > 0 {
		t.Errorf("one voice scores %.2f with itself and %.2f with another", same, other)
	}
	if p, q := voiceprint.Probability(same, 2*time.Second), voiceprint.Probability(other, 2*time.Second); p < 0.8 || q > 0.1 {
		t.Errorf("they are one with %.2f, and two are one with %.2f", p, q)
	}
}

// TestNobody: a sound that is not a voice has no print.
func TestNobody(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 1))
	const n = 2 * audio.Rate
	noise, square, constant, clicks := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		noise[i] = 3000 * luck.NormFloat64()
		square[i] = math.Copysign(40000, math.Sin(2*math.Pi*120*float64(i)/audio.Rate))
		constant[i] = 12000
		if luck.IntN(4000) == 0 {
			clicks[i] = 30000
		}
	}
	for name, wave := range map[string][]float64{
		"silence": make([]float64, n), "noise": noise, "what is cut off": square, "a constant": constant, "clicks": clicks,
	} {
		x := voiceprint.New()
		listen(x, frames(wave))
		if _, ok := x.Voice(""); ok {
			t.Errorf("%s has a print", name)
		}
	}
}

// ears are all the parts that listen to a frame of the microphone.
type ears struct {
	voiceprint.Analyser
	*voiceprint.Extractor
	*voiceprint.SpeakerChangeDetector
	voiceprint.OverlapDetector
}

func newEars() *ears {
	return &ears{Extractor: voiceprint.New(), SpeakerChangeDetector: voiceprint.NewSpeakerChangeDetector()}
}

func (e *ears) hear(f *audio.Frame) {
	s := e.Analyser.Step(f)
	e.Extractor.Take(s)
	e.SpeakerChangeDetector.Take(s)
	e.OverlapDetector.Take(s)
}

// TestTogether: an extractor that gets measurements shared with others hears the same as one that
// measures by itself.
func TestTogether(t *testing.T) {
	alone, e := voiceprint.New(), newEars()
	for _, f := range ann(time.Second) {
		alone.Step(&f)
		e.hear(&f)
	}
	a, _ := alone.Voice("")
	b, ok := e.Voice("")
	if !ok || a.Heard != b.Heard || !slices.Equal(a.Print, b.Print) {
		t.Errorf("alone it hears %v, and together %v", a.Heard, b.Heard)
	}
}

func TestAllocatesNothing(t *testing.T) {
	x, e, frames := voiceprint.New(), newEars(), bob(time.Second)
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		i = (i + 1) % len(frames)
		x.Step(&frames[i])
		e.hear(&frames[i])
		if i == 0 {
			x.Reset()
			e.SpeakerChangeDetector.Reset()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStep(b *testing.B) {
	x, frames := voiceprint.New(), bob(time.Second)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Step(&frames[i%len(frames)])
	}
}

// BenchmarkTogether measures what a frame of the microphone costs for all parts that listen to it.
func BenchmarkTogether(b *testing.B) {
	e, frames := newEars(), babble(110, 1, 20*time.Second)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%len(frames) == 0 {
			e.SpeakerChangeDetector.Reset()
		}
		e.hear(&frames[i%len(frames)])
	}
}

// FuzzStep: no sound makes an impossible print.
func FuzzStep(f *testing.F) {
	f.Add([]byte("\x00\x80\xff\x7f"), true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, sound []byte, lost bool) {
		x := voiceprint.New()
		var pcm [audio.Samples]int16
		n := max(audio.DecodePCM(pcm[:], sound), 1)
		for i := range 40 {
			frame := audio.Frame{Voiced: true}
			for j := range frame.PCM {
				frame.PCM[j] = pcm[(i+j)%n]
			}
			if lost && i%8 == 0 {
				frame.Lost = 3
			}
			x.Step(&frame)
		}
		v, _ := x.Voice("")
		for _, number := range v.Print {
			if !(math.Abs(float64(number)) <= 8) {
				t.Fatalf("a number of a print is %v", number)
			}
		}
	})
}

func TestCrowd(t *testing.T) {
	hear := func(frames []audio.Frame) bool {
		c := new(voiceprint.OverlapDetector)
		var a voiceprint.Analyser
		for i := range frames {
			c.Take(a.Step(&frames[i]))
		}
		return c.Overlap()
	}
	a, b := buzz(190, 850, 2900, time.Second), buzz(112, 600, 2100, time.Second)
	mixed := buzz(190, 850, 2900, time.Second)
	for i := range mixed {
		for j, s := range b[i].PCM {
			mixed[i].PCM[j] = mixed[i].PCM[j]/2 + s/2
		}
	}
	if hear(a) || hear(b) || hear(nil) {
		t.Error("one voice is two")
	}
	if !hear(mixed) {
		t.Error("two voices are one")
	}
}
