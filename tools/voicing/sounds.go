package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"earshot/internal/audio"
)

// A kind is a sound of a room that is no voice, made anew for each seed. How it is made here is
// known to the fit; make bench makes others, in other ways, which are not.
type kind struct {
	name string
	make func(*rand.Rand) []float64
}

// kinds are all of them.
var kinds = []kind{
	{"keys", keys}, {"mouse", clicks}, {"door", door}, {"knock", knock}, {"steps", steps}, {"cough", cough},
	{"throat", throat}, {"sneeze", sneeze}, {"paper", paper}, {"dishes", dishes}, {"beeps", beeps},
	{"whistle", whistle}, {"guitar", guitar}, {"organ", organ}, {"piano", piano}, {"drums", drums},
	{"synth", synth}, {"buzz", buzz}, {"mm", mm},
	{"fan", fan}, {"engine", engine}, {"squeak", squeak}, {"water", water},
}

// samplesOf returns how many samples so many seconds are.
func samplesOf(seconds float64) int { return int(seconds * audio.Rate) }

// between draws a number from a range.
func between(d *rand.Rand, low, high float64) float64 { return low + (high-low)*d.Float64() }

// add adds a sound to another, from a sample on.
func add(to []float64, at int, sound []float64, gain float64) {
	for i := range min(len(sound), len(to)-at) {
		to[at+i] += gain * sound[i]
	}
}

// A mode is how a body resounds that is struck.
type mode struct{ hertz, seconds, gain float64 }

// struck is a body that is struck once, with the noise of the blow.
func struck(d *rand.Rand, blow, lasts float64, modes ...mode) []float64 {
	out := make([]float64, samplesOf(lasts))
	for i := range out {
		t := float64(i) / audio.Rate
		for _, m := range modes {
			out[i] += m.gain * math.Exp(-t/m.seconds) * math.Sin(2*math.Pi*m.hertz*t)
		}
		out[i] += 0.5 * math.Exp(-t/blow) * d.NormFloat64()
	}
	return out
}

// hiss is noise around a frequency, in Hz, of a width as a share of that: a resonator.
func hiss(d *rand.Rand, lasts, hertz, width float64) []float64 {
	out := make([]float64, samplesOf(lasts))
	r := math.Exp(-math.Pi * hertz * width / audio.Rate)
	c := 2 * r * math.Cos(2*math.Pi*hertz/audio.Rate)
	var a, b float64
	for i := range out {
		a, b = (1-r)*d.NormFloat64()+c*a-r*r*b, a
		out[i] = a
	}
	return out
}

// swell shapes a sound: it rises in so many seconds, and dies away to a third in others.
func swell(sound []float64, rise, fall float64) []float64 {
	for i := range sound {
		t := float64(i) / audio.Rate
		sound[i] *= min(1, t/rise) * math.Exp(-max(0, t-rise)/fall)
	}
	return sound
}

// scattered places sounds one after the other, as far apart as wait says, in seconds.
func scattered(d *rand.Rand, lasts float64, wait func() float64, one func() []float64) []float64 {
	out := make([]float64, samplesOf(lasts))
	for at := samplesOf(0.02); at < len(out); at += samplesOf(wait()) {
		add(out, at, one(), between(d, 0.5, 1))
	}
	return out
}

func stroke(d *rand.Rand) []float64 {
	out := make([]float64, samplesOf(0.14))
	modes := []mode{{between(d, 180, 420), 0.012, 0.7}, {between(d, 1500, 2600), 0.004, 0.6}, {between(d, 3000, 6500), 0.002, 0.5}}
	add(out, 0, struck(d, 0.002, 0.05, modes...), 1)
	add(out, samplesOf(between(d, 0.05, 0.09)), struck(d, 0.001, 0.03, modes[1:]...), 0.5)
	return out
}

func keys(d *rand.Rand) []float64 {
	return scattered(d, between(d, 1.2, 2.4), func() float64 { return between(d, 0.07, 0.26) }, func() []float64 { return stroke(d) })
}

func clicks(d *rand.Rand) []float64 {
	return scattered(d, 1.2, func() float64 { return between(d, 0.12, 0.6) }, func() []float64 {
		return struck(d, 0.001, 0.03, mode{between(d, 2200, 4200), 0.003, 1})
	})
}

func door(d *rand.Rand) []float64 {
	out := make([]float64, samplesOf(1.1))
	add(out, samplesOf(0.03), struck(d, 0.002, 0.05, mode{between(d, 900, 2400), 0.006, 1}), 0.6)
	at := samplesOf(between(d, 0.06, 0.2))
	add(out, at, struck(d, 0.012, 0.6, mode{between(d, 45, 80), 0.12, 1}, mode{between(d, 90, 160), 0.08, 0.8},
		mode{between(d, 180, 320), 0.05, 0.5}, mode{between(d, 400, 700), 0.03, 0.25}), 1)
	for range d.IntN(4) {
		add(out, at+samplesOf(between(d, 0.05, 0.4)), struck(d, 0.003, 0.06, mode{between(d, 600, 1800), 0.01, 1}), 0.2)
	}
	return out
}

func knock(d *rand.Rand) []float64 {
	body := []mode{{between(d, 140, 260), 0.03, 1}, {between(d, 350, 600), 0.02, 0.7}, {between(d, 800, 1300), 0.01, 0.4}}
	gap := between(d, 0.14, 0.28)
	return scattered(d, gap*float64(2+d.IntN(4)), func() float64 { return gap * between(d, 0.9, 1.1) }, func() []float64 { return struck(d, 0.003, 0.15, body...) })
}

func steps(d *rand.Rand) []float64 {
	gap := between(d, 0.4, 0.6)
	return scattered(d, 2, func() float64 { return gap * between(d, 0.95, 1.05) }, func() []float64 {
		out := struck(d, 0.02, 0.2, mode{between(d, 60, 120), 0.04, 1}, mode{between(d, 200, 350), 0.02, 0.3})
		add(out, samplesOf(0.05), swell(hiss(d, 0.08, between(d, 1500, 4000), 0.8), 0.01, 0.03), 6)
		return out
	})
}

// breath is noise as a mouth shapes it.
func breath(d *rand.Rand, lasts float64) []float64 {
	out := hiss(d, lasts, between(d, 500, 900), 0.4)
	add(out, 0, hiss(d, lasts, between(d, 1300, 2000), 0.3), between(d, 0.5, 1.5))
	add(out, 0, hiss(d, lasts, between(d, 2500, 3800), 0.3), between(d, 0.3, 1.5))
	return out
}

func cough(d *rand.Rand) (out []float64) {
	for range 1 + d.IntN(3) {
		out = append(out, swell(breath(d, between(d, 0.2, 0.35)), 0.008, between(d, 0.05, 0.1))...)
		out = append(out, make([]float64, samplesOf(between(d, 0.05, 0.25)))...)
	}
	return out
}

func throat(d *rand.Rand) []float64 {
	out := breath(d, between(d, 0.4, 0.9))
	rattle, phase := between(d, 22, 55), 0.0
	for i := range out {
		phase += rattle * (1 + 0.1*d.NormFloat64()) / audio.Rate
		_, part := math.Modf(phase)
		out[i] *= math.Exp(-4*part) + 0.05
	}
	return swell(out, 0.05, 1)
}

func sneeze(d *rand.Rand) []float64 {
	drawn := swell(hiss(d, between(d, 0.3, 0.6), between(d, 900, 1800), 0.8), 0.6, 1)
	for i := range drawn {
		drawn[i] *= 0.3
	}
	return append(drawn, swell(breath(d, 0.5), 0.005, between(d, 0.08, 0.15))...)
}

func paper(d *rand.Rand) []float64 {
	return scattered(d, between(d, 0.6, 1.8), func() float64 { return between(d, 0.002, 0.05) }, func() []float64 {
		return swell(hiss(d, 0.03, between(d, 2000, 6000), 0.7), 0.001, between(d, 0.002, 0.01))
	})
}

func dishes(d *rand.Rand) []float64 {
	return scattered(d, 1.8, func() float64 { return between(d, 0.06, 0.5) }, func() []float64 {
		low, rings := between(d, 700, 2600), between(d, 0.02, 0.25)
		return struck(d, 0.002, 0.6, mode{low, rings, 1}, mode{low * 2.76, rings / 2, 0.6}, mode{low * 1.41, rings / 1.5, 0.4}, mode{low * 5.4, rings / 4, 0.3})
	})
}

func beeps(d *rand.Rand) []float64 {
	low, square := between(d, 400, 2400), d.IntN(2) == 0
	length := between(d, 0.08, 0.4)
	return scattered(d, 2, func() float64 { return length * 2 }, func() []float64 {
		out := make([]float64, samplesOf(length))
		for i := range out {
			if out[i] = math.Sin(2 * math.Pi * low * float64(i) / audio.Rate); square {
				out[i] = math.Copysign(0.5, out[i])
			}
		}
		return out
	})
}

func whistle(d *rand.Rand) []float64 {
	out, phase, at := make([]float64, samplesOf(1.8)), 0.0, between(d, 700, 1400)
	to := at
	for i := range out {
		if i%samplesOf(0.3) == 0 {
			to = between(d, 600, 1800)
		}
		at += (to - at) * 0.0004
		phase += at * (1 + 0.004*math.Sin(2*math.Pi*5.5*float64(i)/audio.Rate)) / audio.Rate
		out[i] = math.Sin(2*math.Pi*phase) + 0.1*math.Sin(4*math.Pi*phase) + 0.03*d.NormFloat64()
	}
	return swell(out, 0.05, 3)
}

// scale is a note of a scale above another, in Hz.
func scale(d *rand.Rand, low float64) float64 {
	return low * math.Pow(2, float64([]int{0, 2, 4, 5, 7, 9, 11, 12}[d.IntN(8)])/12)
}

// pluck is a string that is plucked, as Karplus and Strong make it.
func pluck(d *rand.Rand, hertz, lasts float64) []float64 {
	line := make([]float64, int(audio.Rate/hertz))
	for i := range line {
		line[i] = d.NormFloat64()
	}
	out := make([]float64, samplesOf(lasts))
	for i := range out {
		at, next := i%len(line), (i+1)%len(line)
		out[i] = line[at]
		line[at] = 0.996 * (line[at] + line[next]) / 2
	}
	return out
}

func guitar(d *rand.Rand) []float64 {
	low, beat := between(d, 80, 160), between(d, 0.16, 0.4)
	return scattered(d, 3, func() float64 { return beat }, func() []float64 {
		out := pluck(d, scale(d, low), 0.9)
		for range d.IntN(4) {
			add(out, samplesOf(between(d, 0, 0.02)), pluck(d, scale(d, 2*low), 0.8), 1)
		}
		return out
	})
}

func organ(d *rand.Rand) []float64 {
	out, low := make([]float64, samplesOf(3)), between(d, 110, 240)
	for at := 0; at < len(out); at += samplesOf(0.75) {
		chord, root := make([]float64, samplesOf(0.75)), scale(d, low)
		for _, tone := range [][]float64{{1, 1.26, 1.498}, {1, 1.189, 1.498}, {1, 1.335, 1.682}}[d.IntN(3)] {
			for h, stops := 1.0, between(d, 0.5, 1.5); h < 9; h++ {
				off := 2 * math.Pi * d.Float64()
				for i := range chord {
					t := float64(i) / audio.Rate
					chord[i] += math.Sin(2*math.Pi*root*tone*h*t+off+0.3*math.Sin(2*math.Pi*6*t)) / math.Pow(h, stops)
				}
			}
		}
		add(out, at, swell(chord, between(d, 0.01, 0.08), 4), 1)
	}
	return out
}

func piano(d *rand.Rand) []float64 {
	low, beat := between(d, 130, 300), between(d, 0.18, 0.5)
	return scattered(d, 3, func() float64 { return beat }, func() []float64 {
		f, modes := scale(d, low), []mode(nil)
		for h := 1.0; h < 10 && h*f < 7000; h++ {
			modes = append(modes, mode{f * h * math.Sqrt(1+0.0004*h*h), 0.9 / h, 1 / math.Pow(h, 1.2)})
		}
		return struck(d, 0.004, 1, modes...)
	})
}

func drums(d *rand.Rand) []float64 {
	beat, n := between(d, 0.14, 0.3), 0
	return scattered(d, 3, func() float64 { return beat }, func() []float64 {
		switch n++; n % 4 {
		case 1:
			return struck(d, 0.005, 0.3, mode{between(d, 50, 80), 0.1, 2})
		case 3:
			return struck(d, 0.06, 0.25, mode{between(d, 170, 230), 0.05, 1})
		}
		return swell(hiss(d, 0.08, 6500, 0.8), 0.001, 0.02)
	})
}

func fan(d *rand.Rand) []float64 {
	out := hiss(d, 2.5, between(d, 300, 900), 2)
	add(out, 0, hiss(d, 2.5, between(d, 1500, 3500), 1), between(d, 0.3, 1))
	return swell(out, between(d, 0.1, 0.7), 9)
}

func engine(d *rand.Rand) []float64 {
	out, turns, phase := hiss(d, 2.5, 700, 2), between(d, 25, 90), 0.0
	for i := range out {
		phase += turns * (1 + 0.2*float64(i)/float64(len(out)) + 0.02*d.NormFloat64()) / audio.Rate
		_, part := math.Modf(phase)
		out[i] = out[i]*(0.3+math.Exp(-5*part)) + 0.05*math.Sin(2*math.Pi*phase)
	}
	return swell(out, between(d, 0.05, 0.5), 9)
}

func squeak(d *rand.Rand) []float64 {
	out, from, to, phase := make([]float64, samplesOf(between(d, 0.3, 0.9))), between(d, 300, 1500), between(d, 300, 1500), 0.0
	for i := range out {
		share := float64(i) / float64(len(out))
		phase += (from + (to-from)*share) * (1 + 0.05*d.NormFloat64()) / audio.Rate
		_, part := math.Modf(phase)
		out[i] = (part - 0.5) * math.Sin(math.Pi*share)
	}
	return out
}

func water(d *rand.Rand) []float64 {
	out := hiss(d, 2, between(d, 2500, 5000), 1)
	bubbles := scattered(d, 2, func() float64 { return between(d, 0.005, 0.05) }, func() []float64 {
		return struck(d, 0.0001, 0.03, mode{between(d, 500, 2500), 0.006, 1})
	})
	add(out, 0, bubbles, between(d, 0, 0.1))
	return swell(out, 0.2, 9)
}

// loud returns a sound whose loudest frame has a level, in dB.
func loud(sound []float64, level float64) []float64 {
	top := 1e-9
	for f := range slices.Chunk(sound, audio.Samples) {
		sum := 0.0
		for _, s := range f {
			sum += s * s
		}
		top = max(top, sum/audio.Samples)
	}
	gain := 32768 * math.Pow(10, level/20) / math.Sqrt(top)
	for i := range sound {
		sound[i] *= gain
	}
	return sound
}

// synth is an instrument that nobody has built: chords or single notes, with few or many overtones.
func synth(d *rand.Rand) []float64 {
	out, low, beat := make([]float64, samplesOf(3)), between(d, 70, 400), between(d, 0.2, 1)
	overtones, falls, notes := 1+d.IntN(12), between(d, 0, 2.2), 1+d.IntN(4)
	rises, dies, bends := between(d, 0.002, 0.12), math.Exp(between(d, -2.3, 1)), between(d, 0, 0.4)*float64(d.IntN(2))
	for at := samplesOf(0.02); at < len(out); at += samplesOf(beat) {
		chord := make([]float64, samplesOf(beat+0.1))
		for range notes {
			root := scale(d, low)
			for h := 1.0; h <= float64(overtones) && h*root < 7500; h++ {
				off := 2 * math.Pi * d.Float64()
				for i := range chord {
					t := float64(i) / audio.Rate
					chord[i] += math.Sin(2*math.Pi*root*h*t+off+bends*h*math.Sin(2*math.Pi*5.5*t)) / math.Pow(h, falls)
				}
			}
		}
		add(out, at, swell(chord, rises, dies), 1)
	}
	return out
}

// buzz is the hum of a machine: pulses that never change, behind a wall.
func buzz(d *rand.Rand) []float64 {
	out, pitch, falls := make([]float64, samplesOf(2)), between(d, 50, 400), between(d, 0, 2)
	for h := 1.0; h*pitch < 6000; h++ {
		gain, off := math.Exp(between(d, -1, 1))/math.Pow(h, falls), 2*math.Pi*d.Float64()
		for i := range out {
			out[i] += gain * math.Sin(2*math.Pi*h*pitch*float64(i)/audio.Rate+off)
		}
	}
	return swell(out, between(d, 0.01, 0.3), 9)
}

// mm is a hum with the mouth closed, as of somebody who listens: a voice, and no claim to the floor.
func mm(d *rand.Rand) (out []float64) {
	pitch := between(d, 85, 260)
	for range 1 + d.IntN(2) {
		part, phase, to := make([]float64, samplesOf(between(d, 0.15, 0.4))), 0.0, pitch*between(d, 0.85, 1.25)
		for i := range part {
			share := float64(i) / float64(len(part))
			phase += (pitch + (to-pitch)*share) * (1 + 0.01*d.NormFloat64()) / audio.Rate
			for h := 1.0; h*pitch < 3000; h++ {
				f := h * pitch
				part[i] += math.Sin(2*math.Pi*h*phase) * (1/(1+math.Pow((f-250)/120, 2)) + 0.01/h)
			}
			part[i] *= math.Sqrt(math.Sin(math.Pi * share))
		}
		out = append(append(out, part...), make([]float64, samplesOf(between(d, 0.02, 0.12)))...)
	}
	return out
}
