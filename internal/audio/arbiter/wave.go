package arbiter

import (
	"math"
	"time"

	"earshot/internal/audio"
)

// Sound is compared at 2 kHz, by the highest correlation of 400 ms of one with the other. Of speech
// with 8 to 25 dB of noise, in rooms that return up to four times the energy of the direct sound, it
// was more than 0.31 in 99 of 100 cases, and of two different speakers less than 0.3 in 99 of 100. The
// loudness alone, in one to five bands, did not tell them apart.
const (
	every8   = 8
	perFrame = audio.Samples / every8 // samples
	perSec   = audio.Rate / every8
	window   = 2 * perSec / 5

	// shift is the most by which one is later than another, 80 ms: 10 m of air take 30, and the clocks of
	// two machines may be wrong.
	shift = 4 * perFrame

	// near is how far the shift is searched around the last one that was found.
	near = 8

	// leastLikeness is the least correlation of a copy that is 6 dB lower than who leads, and nearLikeness
	// what is added for each dB more: the nearer a microphone is, the more of its sound is direct, and the
	// more is it another's if it is not. steadyLikeness is the least at a shift that is known: two people
	// have that only if each microphone hears the other one at -15 dB or more.
	leastLikeness, nearLikeness, steadyLikeness = 0.3, 0.01, 0.26

	// stored is how many samples are: those that are compared, twice the shift, and what has come later
	// than that of the other.
	stored = 64 * perFrame
)

// A wave is the sound of the last 1.28 s of a source, without hum.
type wave struct {
	data  [stored]float32 // a ring
	total int             // samples so far
	end   time.Time       // of the newest
	last  float32
}

// add adds a frame, and silence for those that are missing before it.
func (w *wave) add(f *audio.Frame) {
	if missing := int(f.At.Sub(w.end).Round(audio.Time) / audio.Time); missing > 0 {
		for range min(missing*perFrame, stored) {
			w.put(0)
		}
	}
	for i := 0; i < audio.Samples; i += every8 {
		var sum float32
		for _, x := range f.PCM[i : i+every8] {
			sum += float32(x)
		}
		w.put(sum - w.last)
		w.last = sum
	}
	w.end = f.At.Add(audio.Time)
}

func (w *wave) put(x float32) {
	w.data[w.total%stored] = x
	w.total++
}

// copy fills out with the samples before end, the last of which is the one before the newest of w by
// that much. What is not known is zero.
func (w *wave) copy(out []float32, before int) {
	first := w.total - before - len(out)
	for i := range out {
		if n := first + i; n >= max(0, w.total-stored) && n < w.total {
			out[i] = w.data[n%stored]
		}
	}
}

// likeness returns the highest correlation of x with y, and by how much x is later there, within bounds
// of at most shift.
func likeness(x, y *wave, from, to int) (most float64, at int) {
	from, to = max(from, -shift), min(to, shift)
	skew := int(x.end.Sub(y.end) * perSec / time.Second) // x is newer by that
	if skew > window || skew < -window {
		return 0, 0 // one gives no sound any more, or it heard that at another time
	}
	var a [window]float32
	var b [window + 2*shift]float32
	x.copy(a[:], shift+max(0, skew))
	y.copy(b[:], max(0, -skew))
	xx, yy := 0.0, 0.0
	first := shift - to
	for i := range window {
		xx += float64(a[i]) * float64(a[i])
		yy += float64(b[first+i]) * float64(b[first+i])
	}
	for k := first; k <= shift-from; k++ {
		sum := float32(0)
		for i, v := range b[k : k+window] {
			sum += a[i] * v
		}
		if r := math.Abs(float64(sum)) / math.Sqrt(xx*yy+1); r > most {
			most, at = r, shift-k
		}
		if k+window < len(b) {
			yy = max(0, yy+float64(b[k+window])*float64(b[k+window])-float64(b[k])*float64(b[k]))
		}
	}
	return most, at
}
