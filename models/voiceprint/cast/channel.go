package cast

import (
	"fmt"
	"math"
	"math/rand/v2"

	"earshot/internal/audio"
)

// A Channel is what is between a mouth and an ear.
type Channel struct {
	Name string
	Gain float64 // dB
	SNR  float64 // dB of the voice over white noise

	changes []change
}

// A change is a linear one.
type change func([]float64) []float64

// Through returns what comes out of c. The noise is drawn from luck.
func (c Channel) Through(pcm []float64, luck *rand.Rand) []float64 {
	for _, change := range c.changes {
		pcm = change(pcm)
	}
	out, gain := make([]float64, len(pcm)), math.Pow(10, c.Gain/20)
	power := 0.0
	for _, v := range pcm {
		power += v * v / float64(len(pcm))
	}
	noise := gain * math.Sqrt(power*math.Pow(10, -c.SNR/10))
	for i, v := range pcm {
		out[i] = gain*v + noise*luck.NormFloat64()
	}
	return out
}

// The channels that are measured with: a good microphone; one that is far too
// soft, dull and noisy; one of a tinny kind in a room; and the good one where something
// roars.
var (
	Clean = Channel{Name: "clean", SNR: 45}
	Dull  = Channel{Name: "dull", Gain: -12, SNR: 20, changes: []change{lowPass(0.62)}}
	Noisy = Channel{Name: "noisy", SNR: 15}
	Room  = Channel{Name: "room", SNR: 28, changes: []change{room(101, 0.3, 0.25), peak(1800, 600, 1.5), highPass(0.05)}}
)

// Some returns some channel, for each number another one. None is one of those
// above.
func Some(number uint64) Channel {
	luck := rand.New(rand.NewPCG(number, 99))
	c := Channel{Name: fmt.Sprint("some ", number)}
	if luck.Float64() < 0.6 {
		c.changes = append(c.changes, lowPass(0.35+0.6*luck.Float64()))
	}
	if luck.Float64() < 0.5 {
		c.changes = append(c.changes, highPass(0.01+0.1*luck.Float64()))
	}
	if luck.Float64() < 0.6 {
		c.changes = append(c.changes, peak(300+4000*luck.Float64(), 300+900*luck.Float64(), 3*luck.Float64()-0.8))
	}
	if luck.Float64() < 0.5 {
		c.changes = append(c.changes, room(number, 0.15+0.35*luck.Float64(), 0.1+0.25*luck.Float64()))
	}
	c.SNR, c.Gain = 16+26*luck.Float64(), -24*luck.Float64()
	return c
}

// lowPass lets a sample follow by a share of the difference: 0.62 at 16 kHz is
// about 2.5 kHz.
func lowPass(share float64) change {
	return func(pcm []float64) []float64 {
		out, last := make([]float64, len(pcm)), 0.0
		for i, v := range pcm {
			last += share * (v - last)
			out[i] = last
		}
		return out
	}
}

// highPass is what lowPass takes away.
func highPass(share float64) change {
	low := lowPass(share)
	return func(pcm []float64) []float64 {
		out := low(pcm)
		for i, v := range pcm {
			out[i] = v - out[i]
		}
		return out
	}
}

// peak adds a resonance at so many Hz, so wide and so strong; a negative one
// takes away.
func peak(at, width, gain float64) change {
	r := math.Exp(-math.Pi * width / audio.Rate)
	c := 2 * r * math.Cos(2*math.Pi*at/audio.Rate)
	return func(pcm []float64) []float64 {
		out := make([]float64, len(pcm))
		last, before := 0.0, 0.0
		for i, v := range pcm {
			last, before = (1-r)*v+c*last-r*r*before, last
			out[i] = v + gain*last
		}
		return out
	}
}

// room adds reflections that fall by 60 dB in so many seconds, some wet beside
// the voice itself.
func room(number uint64, falls, wet float64) change {
	luck := rand.New(rand.NewPCG(number, 7))
	const reflections = 220
	long := int(falls * audio.Rate * 0.7)
	at, strong := make([]int, reflections), make([]float64, reflections)
	for i := range at {
		at[i] = 20 + int(float64(long)*math.Pow(luck.Float64(), 1.3))
		strong[i] = wet * luck.NormFloat64() * math.Exp(-6.9*float64(at[i])/(falls*audio.Rate))
	}
	return func(pcm []float64) []float64 {
		out := make([]float64, len(pcm)+long+32)
		copy(out, pcm)
		for i, later := range at {
			tail := out[later:]
			for j, v := range pcm {
				tail[j] += strong[i] * v
			}
		}
		return out
	}
}
