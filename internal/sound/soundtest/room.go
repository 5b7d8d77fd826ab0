package soundtest

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"earshot/internal/audio"
	"earshot/internal/sound"
)

// A Room is a loudspeaker and a microphone that are two devices, in a room with reverberation. Its
// effects are made up, and the same for the same Seed.
type Room struct {
	Echo   float64       // attenuation from the loudspeaker to the microphone, dB; below -90 never
	Delay  time.Duration // additional to what the devices report
	Ring   time.Duration // reverberation time to -60 dB; 0 means 250 ms
	PPM    float64       // by how much the loudspeaker's clock is faster than the microphone's
	Clips  bool          // the loudspeaker is small, and distorts loud sound
	Noise  float64       // level of the microphone's, dB; 0 means -66
	Jitter time.Duration // error of the devices' times
	Gap    time.Duration // of silence, whenever the loudspeaker stutters
	Seed   uint64
}

// stutters is the time between two stutters, in samples: seven seconds.
const stutters = 7 * audio.Rate

// density is how many reflections come back per second: more cannot be told from a dense tail.
const density = 2000

// written is how much earlier something is written than heard.
const written = 80 * time.Millisecond

// Captured returns what a microphone captures while far is played: its echo and noise, beside
// near.
func (m Room) Captured(far, near []int16) []int16 {
	r := rand.New(rand.NewPCG(m.Seed, 1))
	out := m.reflect(m.play(far), len(near), r)
	noise := m.Noise
	if noise == 0 {
		noise = -66
	}
	loud := 32768 * math.Pow(10, noise/20)
	pcm := make([]int16, len(near))
	for i, s := range near {
		pcm[i] = int16(max(math.MinInt16, min(math.Round(out[i]+float64(s)+loud*r.NormFloat64()), math.MaxInt16)))
	}
	return pcm
}

// play returns the movement of the loudspeaker, by the clock of the microphone.
func (m Room) play(far []int16) []float64 {
	const clips = 9000
	out := make([]float64, len(far))
	for i := range out {
		if t, ok := m.at(float64(i) * (1 + m.PPM*1e-6)); ok {
			out[i] = at(far, t)
		}
		if m.Clips {
			out[i] = clips * math.Tanh(out[i]/clips)
		}
	}
	return out
}

// at returns which of its samples a loudspeaker plays that has moved n times, if it does not
// stutter.
func (m Room) at(n float64) (t float64, ok bool) {
	gap := m.Gap.Seconds() * audio.Rate
	whole := math.Floor(n / (stutters + gap))
	rest := n - whole*(stutters+gap)
	return whole*stutters + rest, rest < stutters
}

// at returns a sample between samples.
func at(pcm []int16, t float64) (s float64) {
	n := int(math.Floor(t))
	if t == float64(n) && n < len(pcm) {
		return float64(pcm[n])
	}
	const wide = 12
	for i := max(0, n-wide+1); i <= min(n+wide, len(pcm)-1); i++ {
		x := math.Pi * (t - float64(i))
		s += float64(pcm[i]) * math.Sin(x) / x * (0.5 + 0.5*math.Cos(x/wide))
	}
	return s
}

// reflect returns the direct sound and the reflections.
func (m Room) reflect(sound []float64, n int, r *rand.Rand) []float64 {
	out := make([]float64, n)
	if m.Echo < -90 {
		return out
	}
	ring := m.Ring
	if ring == 0 {
		ring = 250 * time.Millisecond
	}
	late, tail := int(m.Delay.Seconds()*audio.Rate), int(ring.Seconds()*audio.Rate)
	add := func(late int, gain float64) {
		for i := 0; i+late < n && i < len(sound); i++ {
			out[i+late] += gain * sound[i]
		}
	}
	type reflection struct {
		late int
		gain float64
	}
	all, power := []reflection{{late, 1}}, 1.0
	for i := range tail * density / audio.Rate {
		at := (i*audio.Rate + r.IntN(audio.Rate)) / density
		gain := 0.35 * math.Exp(-6.9*float64(at)/float64(tail))
		if r.IntN(2) == 0 {
			gain = -gain
		}
		all, power = append(all, reflection{late + at, gain}), power+gain*gain
	}
	for _, a := range all {
		add(a.late, a.gain*math.Pow(10, m.Echo/20)/math.Sqrt(power))
	}
	return out
}

// Takes returns the helper's input for a rehearsal, from a time on: far and captured, each with
// the times that the devices report.
func (m Room) Takes(from time.Time, far, captured []int16) iter.Seq[sound.Take] {
	return func(yield func(sound.Take) bool) {
		r := rand.New(rand.NewPCG(m.Seed, 2))
		wrong := func() time.Duration {
			return time.Duration(float64(m.Jitter) * (2*r.Float64() - 1))
		}
		var f audio.Frame
		played := 0
		for n := 0; n+audio.Samples <= len(captured); n += audio.Samples {
			for ; played+audio.Samples <= len(far); played += audio.Samples {
				gaps := float64(played/stutters) * m.Gap.Seconds() * audio.Rate
				heard := span((float64(played) + gaps) / (1 + m.PPM*1e-6))
				if heard > span(float64(n))+written {
					break
				}
				f = audio.Frame{At: from.Add(heard + wrong())}
				if m.Gap > 0 && played > 0 && played%stutters == 0 {
					f.Lost = 1
				}
				copy(f.PCM[:], far[played:])
				if !yield(sound.Take{Far: true, Frame: &f}) {
					return
				}
			}
			f = audio.Frame{At: from.Add(span(float64(n)) + wrong()/8)}
			copy(f.PCM[:], captured[n:])
			if !yield(sound.Take{Frame: &f}) {
				return
			}
		}
	}
}

// span returns how long so many samples of the microphone take.
func span(samples float64) time.Duration {
	return time.Duration(samples / audio.Rate * float64(time.Second))
}
