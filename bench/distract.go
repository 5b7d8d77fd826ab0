package main

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"earshot/internal/audio"
	"earshot/models/voiceprint/cast"
)

// A distraction is something that is heard while the agent speaks and is no
// interruption.
type distraction struct {
	kind string
	pcm  []int16
}

// tongues say that they listen, in voices of which one is that of whom the agent is
// in talk with.
var tongues = []string{"mm-hm", "yeah", "right", "uh-huh", "okay"}

// chatter is what people say to each other, and a television to nobody.
var chatter = [][2]string{
	{"did you remember to buy the milk", "no i thought that you would buy it"},
	{"the train was late again this morning", "it always is when the weather is bad"},
	{"we should paint the kitchen in the spring", "only if we find somebody to help us"},
	{"my sister is coming over for dinner", "then we need another chair for the table"},
	{"the minister said that prices would rise", "and now we turn to the weather for tomorrow"},
	{"the home team won the match last night", "it was their third victory in a row"},
}

// distractions returns sixty of them, the same each time. Those at even places are
// for tuning; figures are those of the others.
func (b bench) distractions(ctx context.Context) (all []distraction, err error) {
	for _, n := range []struct {
		kind string
		many int
		make func(*rand.Rand) []float64
	}{{"cough", 8, cough}, {"throat", 4, throat}, {"sneeze", 4, sneeze}, {"keyboard", 6, keyboard}, {"door", 4, slam}, {"music", 6, music}} {
		for i := range n.many {
			dice := rand.New(rand.NewPCG(uint64(len(n.kind)), uint64(i)))
			all = append(all, distraction{n.kind, loudAs(n.make(dice), -22-float64(i%3)*3)})
		}
	}
	for i := range 18 {
		d, err := b.murmur(ctx, tongues[i%len(tongues)], i)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	for i := range 10 {
		d, err := b.talk(ctx, i)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// murmur returns how one of eight voices says that it listens.
func (b bench) murmur(ctx context.Context, text string, i int) (distraction, error) {
	if i%6 < 4 {
		pcm, err := b.recite(ctx, voices[i%6], text)
		return distraction{text, pcm}, err
	}
	pcm, err := says(ctx, cast.Person{Engine: cast.Espeak, Voice: []string{"en-us+f2", "en-gb+m3"}[i%2], Tract: 1, Pitch: 1, Pace: 1.13}, text)
	return distraction{text, pcm}, err
}

// talk returns two people who talk to each other, or a television: further away, and
// by small loudspeakers.
func (b bench) talk(ctx context.Context, i int) (distraction, error) {
	pair, kind := chatter[i%len(chatter)], "two people"
	var pcm []int16
	for n, text := range pair {
		said, err := b.recite(ctx, voices[1+(i+n)%3], text)
		if err != nil {
			return distraction{}, err
		}
		pcm = append(append(pcm, said...), make([]int16, inSamples(250*time.Millisecond))...)
	}
	if i%2 == 1 {
		kind, pcm = "television", loudAs(tinny(pcm), -32)
	}
	return distraction{kind, pcm}, nil
}

// loudAs returns sound of a level in dB over all.
func loudAs(sound []float64, level float64) []int16 {
	sum := 0.0
	for _, s := range sound {
		sum += s * s
	}
	gain := math.Pow(10, level/20) * math.Sqrt(float64(len(sound))/max(sum, 1e-9)) * 32768
	pcm := make([]int16, len(sound))
	for i, s := range sound {
		pcm[i] = int16(max(-32000, min(s*gain, 32000)))
	}
	return pcm
}

// noise returns so much of it, between about two frequencies, in Hz.
func noise(d *rand.Rand, lasts time.Duration, low, high float64) []float64 {
	out := make([]float64, inSamples(lasts))
	a, b := 1-math.Exp(-2*math.Pi*high/audio.Rate), 1-math.Exp(-2*math.Pi*low/audio.Rate)
	var soft, softer float64
	for i := range out {
		soft += a * (d.NormFloat64() - soft)
		softer += b * (soft - softer)
		out[i] = soft - softer
	}
	return out
}

// dies lets a sound die away, to a third in each span.
func dies(sound []float64, span time.Duration) []float64 {
	for i := range sound {
		sound[i] *= math.Exp(-float64(i) / float64(inSamples(span)))
	}
	return sound
}

func rest(lasts time.Duration) []float64 { return make([]float64, inSamples(lasts)) }

func milli(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// cough is one to three bursts of breath.
func cough(d *rand.Rand) (out []float64) {
	for range 1 + d.IntN(3) {
		out = append(out, dies(noise(d, milli(180+d.IntN(120)), 300, 1200+float64(d.IntN(1500))), milli(60))...)
		out = append(out, rest(milli(60+d.IntN(120)))...)
	}
	return out
}

// throat is breath that rattles.
func throat(d *rand.Rand) []float64 {
	out := noise(d, milli(500+d.IntN(300)), 150, 900)
	rattle := 25 + 15*d.Float64()
	for i := range out {
		out[i] *= 0.6 + 0.4*math.Sin(2*math.Pi*rattle*float64(i)/audio.Rate)
	}
	return out
}

// sneeze is breath that is drawn, and one burst.
func sneeze(d *rand.Rand) []float64 {
	drawn := noise(d, milli(350), 500, 3000)
	for i := range drawn {
		drawn[i] *= 0.2 * float64(i) / float64(len(drawn))
	}
	return append(drawn, dies(noise(d, milli(400), 800, 5000), milli(100))...)
}

// keyboard is a line that is typed.
func keyboard(d *rand.Rand) (out []float64) {
	for range 8 + d.IntN(8) {
		out = append(out, dies(noise(d, milli(30), 1500, 6000), milli(5))...)
		out = append(out, rest(milli(60+d.IntN(150)))...)
	}
	return out
}

// slam is a door that falls shut.
func slam(d *rand.Rand) []float64 {
	out := dies(noise(d, milli(600), 40, 200), milli(80))
	for i, click := range dies(noise(d, milli(60), 800, 4000), milli(10)) {
		out[i] += 0.5 * click
	}
	return out
}

// music is three seconds of chords.
func music(d *rand.Rand) (out []float64) {
	for range 6 {
		root, chord := 110*math.Pow(2, float64(d.IntN(12))/12), rest(milli(500))
		for _, tone := range []float64{1, 1.26, 1.5, 2} {
			for h := 1.0; h <= 4; h++ {
				for i := range chord {
					chord[i] += math.Sin(2*math.Pi*root*tone*h*float64(i)/audio.Rate) / h
				}
			}
		}
		out = append(out, dies(chord, milli(400))...)
	}
	return out
}

// tinny returns how small loudspeakers at the other end of a room sound.
func tinny(pcm []int16) []float64 {
	out := make([]float64, len(pcm))
	echo := inSamples(37 * time.Millisecond)
	a, b := 1-math.Exp(-2*math.Pi*3000/audio.Rate), 1-math.Exp(-2*math.Pi*300/audio.Rate)
	var soft, softer float64
	for i, s := range pcm {
		soft += a * (float64(s)/32768 - soft)
		softer += b * (soft - softer)
		if out[i] = soft - softer; i >= echo {
			out[i] += 0.4 * out[i-echo]
		}
	}
	return out
}
