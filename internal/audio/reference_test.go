package audio_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"earshot/internal/audio"
)

// A bench is a loudspeaker beside a microphone, each with its own crystal. The loudspeaker plays a
// tone of 500 Hz, whose samples can be computed.
type bench struct {
	ref       audio.Reference
	ppm       float64 // by how much faster the loudspeaker is
	off       time.Duration
	jitter    time.Duration
	r         *rand.Rand
	played    int64
	captured  int64
	gap, drop bool
	rate      int // of what is played, if it is not that of the reference
	down      *audio.Resampler
}

// value returns the sample of the tone at place n.
func value(n float64) float64 { return 8000 * math.Sin(2*math.Pi*500*n/audio.Rate) }

// heard returns when sample n of the loudspeaker is heard.
func (b *bench) heard(n int64) time.Duration {
	return b.off + time.Duration(float64(n)/audio.Rate/(1+b.ppm*1e-6)*float64(time.Second))
}

// frame lets the microphone capture the next frame, and returns the reference for it.
func (b *bench) frame() (far [audio.Samples]int16, follows bool) {
	now := time.Duration(b.captured) * time.Second / audio.Rate
	var pcm [160]int16
	for b.rate != 0 && b.off+time.Duration(b.played)*time.Second/time.Duration(b.rate) < now+100*time.Millisecond {
		b.playAtItsRate()
	}
	for b.rate == 0 && b.heard(b.played) < now+100*time.Millisecond {
		for i := range pcm {
			pcm[i] = int16(math.Round(value(float64(b.played + int64(i)))))
		}
		b.ref.Played(pcm[:], dawn.Add(b.heard(b.played)+b.wrong()), b.gap)
		b.gap = false
		b.played += int64(len(pcm))
	}
	lost := uint16(0)
	if b.drop {
		lost, b.drop = 5, false
		b.captured += 5 * audio.Samples
		now += 5 * audio.Time
	}
	follows = b.ref.Captured(dawn.Add(now+b.wrong()), lost, &far)
	b.captured += audio.Samples
	return far, follows
}

// playAtItsRate plays the next block at another rate, as earshot-sound tells of it.
func (b *bench) playAtItsRate() {
	pcm := make([]int16, b.rate/100)
	for i := range pcm {
		pcm[i] = int16(math.Round(value(float64(b.played+int64(i)) * audio.Rate / float64(b.rate))))
	}
	at := b.off + time.Duration((float64(b.played)-b.down.Behind())/float64(b.rate)*float64(time.Second))
	b.ref.Played(b.down.Append(nil, pcm), dawn.Add(at), false)
	b.played += int64(len(pcm))
}

func (b *bench) wrong() time.Duration {
	if b.jitter == 0 {
		return 0
	}
	return time.Duration(b.r.Int64N(2*int64(b.jitter))) - b.jitter
}

// early returns how long before it is heard the given sound comes, by the phase of the tone, within
// a millisecond of what it should be.
func (b *bench) early(far [audio.Samples]int16) time.Duration {
	heard := (float64(b.captured-audio.Samples)/audio.Rate - b.off.Seconds()) * audio.Rate * (1 + b.ppm*1e-6)
	best, at := math.Inf(1), 0.0
	for shift := -16.0; shift < 16; shift += 0.25 {
		wrong := 0.0
		for i, s := range far {
			d := float64(s) - value(heard+float64(i)*(1+b.ppm*1e-6)+480+shift)
			wrong += d * d
		}
		if wrong < best {
			best, at = wrong, 480+shift
		}
	}
	return time.Duration(at / audio.Rate * float64(time.Second))
}

// TestReference: with perfect clocks, the reference is what is heard 30 ms later, to the sample,
// and stays so.
func TestReference(t *testing.T) {
	b := bench{r: rand.New(rand.NewPCG(1, 2)), off: 7 * time.Millisecond}
	for i := range 500 {
		far, follows := b.frame()
		if follows != (i > 0) {
			t.Errorf("frame %d follows: %v", i, follows)
		}
		if off := (b.early(far) - 30*time.Millisecond).Abs(); off > 50*time.Microsecond {
			t.Fatalf("frame %d is %v from where it should be", i, off)
		}
	}
}

// TestReferenceKeepsPace: whatever the drift and the jitter, once both are known nothing jumps, and
// the reference is as even as an echo canceller needs it: in ten seconds it moves by less than
// three samples.
func TestReferenceKeepsPace(t *testing.T) {
	for i, ppm := range []float64{-100, -20, 0, 50, 100} {
		b := bench{ppm: ppm, jitter: time.Duration(i) * time.Millisecond, r: rand.New(rand.NewPCG(uint64(i), 1))}
		for range 120 * 50 {
			b.frame()
		}
		far, _ := b.frame()
		before := phase(far, &b)
		for range 10 * 50 {
			if _, follows := b.frame(); !follows {
				t.Errorf("%v ppm: it jumped", ppm)
			}
		}
		far, _ = b.frame()
		if moved := math.Mod(phase(far, &b)-before+48, 32) - 16; math.Abs(moved) > 3 {
			t.Errorf("%v ppm: in ten seconds it moved by %.2f samples", ppm, moved)
		}
	}
}

// phase returns the position of a frame in the 32 samples of the tone, relative to what is heard.
func phase(far [audio.Samples]int16, b *bench) float64 {
	var re, im float64
	for i, s := range far {
		w := 2 * math.Pi * 500 * float64(i) / audio.Rate
		re, im = re+float64(s)*math.Sin(w), im+float64(s)*math.Cos(w)
	}
	heard := float64(b.captured-audio.Samples) * (1 + b.ppm*1e-6)
	return math.Mod(math.Atan2(im, re)/(2*math.Pi)*32-math.Mod(heard, 32)+64, 32)
}

// TestReferenceLeaps: if a loudspeaker was stopped or has another delay now, or a microphone lost
// frames, and that is told, the reference follows at once.
func TestReferenceLeaps(t *testing.T) {
	b := bench{r: rand.New(rand.NewPCG(1, 2))}
	for range 50 {
		b.frame()
	}
	for _, gap := range []time.Duration{5 * time.Millisecond, 300 * time.Millisecond} {
		b.off += gap
		b.gap = true
		jumped, last := 0, 0
		for i := range 50 {
			if _, follows := b.frame(); !follows {
				jumped, last = jumped+1, i
			}
		}
		if jumped == 0 || last > 20 {
			t.Errorf("after a gap of %v %d frames did not follow, the last of them number %d", gap, jumped, last)
		}
	}
	far, _ := b.frame()
	if off := (b.early(far) - 30*time.Millisecond).Abs(); off > 50*time.Microsecond {
		t.Errorf("after a gap it is %v from where it should be", off)
	}
	b.drop = true
	if _, follows := b.frame(); follows {
		t.Error("what was lost follows")
	}
	far, follows := b.frame()
	if off := (b.early(far) - 30*time.Millisecond).Abs(); off > 50*time.Microsecond || !follows {
		t.Errorf("after a loss it is %v from where it should be, and follows: %v", off, follows)
	}
}

// TestReferenceOfNothing: a loudspeaker that is closed gives silence.
func TestReferenceOfNothing(t *testing.T) {
	var ref audio.Reference
	var far [audio.Samples]int16
	for i := range 100 {
		far[0] = 1
		if !ref.Captured(dawn.Add(time.Duration(i)*audio.Time), 0, &far) || far != [audio.Samples]int16{} {
			t.Fatalf("frame %d: %v", i, far[:4])
		}
	}
}

// TestReferenceOfAnotherRate: what is played at another rate comes 30 ms before it is heard, too, to
// the sample.
func TestReferenceOfAnotherRate(t *testing.T) {
	for _, rate := range []int{22050, 24000, 48000} {
		b := &bench{rate: rate, down: audio.NewResampler(rate, audio.Rate)}
		for n := range 300 {
			far, follows := b.frame()
			if early := b.early(far); n > 10 && (!follows || (early-30*time.Millisecond).Abs() > 40*time.Microsecond) {
				t.Fatalf("%d Hz: frame %d comes %v early, follows %v", rate, n, early, follows)
			}
		}
	}
}
