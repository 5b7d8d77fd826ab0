package audio_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"earshot/internal/audio"
)

// tone returns a second of a sine.
func tone(rate int, hz float64) []int16 {
	pcm := make([]int16, rate)
	for i := range pcm {
		pcm[i] = int16(math.Round(10000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))))
	}
	return pcm
}

// TestResampler: a tone that both rates can hold stays the same tone, and one that the lower rate
// cannot hold is silent.
func TestResampler(t *testing.T) {
	for _, from := range []int{8000, 16000, 22050, 24000, 44100, 48000} {
		for _, hz := range []float64{100, 440, 3000, 9500} {
			if hz > float64(from)*0.45 {
				continue
			}
			r := audio.NewResampler(from, audio.Rate)
			got := r.Flush(r.Append(nil, tone(from, hz)))
			want := tone(audio.Rate, hz)
			if hz > audio.Rate/2 && from != audio.Rate {
				clear(want)
			}
			if len(got) < len(want) {
				t.Fatalf("%d Hz to %d: %d samples of a second", from, audio.Rate, len(got))
			}
			worst := 0
			for i := 400; i < len(want)-400; i++ { // the ends ring
				worst = max(worst, int(math.Abs(float64(got[i])-float64(want[i]))))
			}
			if worst > 40 {
				t.Errorf("%d to %d Hz: a tone of %v Hz is off by %d of 10000", from, audio.Rate, hz, worst)
			}
		}
	}
}

// TestResamplerPieces: the pieces in which samples come make no difference.
func TestResamplerPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom([]int{8000, 22050, 24000, 48000}).Draw(t, "from")
		pcm := rapid.SliceOfN(rapid.Int16(), 0, 500).Draw(t, "pcm")
		whole, pieces := audio.NewResampler(from, audio.Rate), audio.NewResampler(from, audio.Rate)
		want := whole.Flush(whole.Append(nil, pcm))
		for range 2 { // a flushed one is as good as new
			var got []int16
			for rest := pcm; len(rest) > 0; {
				n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
				got = pieces.Append(got, rest[:n])
				rest = rest[n:]
			}
			if got = pieces.Flush(got); !slices.EqualFunc(got, want, func(a, b int16) bool { return a-b <= 1 && b-a <= 1 }) {
				t.Fatalf("%d samples in pieces, %d as a whole", len(got), len(want))
			}
		}
	})
}
