package main

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"earshot/internal/audio"
	"earshot/models/voiceprint/cast"
)

// A crop is distractions of which nobody who wrote a rule has heard one, if he did
// not ask for that crop: other seeds, voices and words, and sounds that come
// together. Rules are made with crop 1; figures are those of crop 2. Who is in talk
// with the agent is in each somebody else.
type crop int

const (
	tuning crop = 1
	unseen crop = 2
)

// asker is whose voice is that of whom the agent is in talk with.
func (n crop) asker() string { return voices[int(n)%len(voices)] }

// hints are more of what tongues are, and dialogues of what chatter is, half of which
// each crop has.
var (
	hints = []string{
		"i see", "go on", "oh really", "of course", "all right", "sure", "yes", "exactly",
		"got it", "good", "wow", "interesting", "okay okay", "that's right", "yes yes", "oh okay",
	}
	dialogues = [][2]string{
		{"have you seen my glasses anywhere", "they are on the shelf beside the door"},
		{"what did the doctor say about your knee", "she said that i should walk more"},
		{"when does your mother arrive tomorrow", "at ten past four if the train is on time"},
		{"i think the cat is hungry again", "you fed her an hour ago"},
		{"do we still have any coffee", "there is a new packet in the cupboard"},
		{"the neighbours are building a new fence", "i hope that it will not be too high"},
		{"shall we go to the market on saturday", "yes but let us go early"},
		{"he forgot his keys in the office", "that is the second time this week"},
		{"how was the film last night", "it was far too long for me"},
		{"we have to call the plumber today", "i already did he comes at noon"},
	}
	bulletins = []string{
		"the government has announced new measures against the rising cost of energy",
		"and here is the forecast it will be cloudy in the north with some rain",
		"scientists have found a new kind of fish in the deep sea near the islands",
		"the match was stopped after twenty minutes because of heavy snow",
		"our next guest has written a book about the history of bread",
		"traffic is slow this morning on all roads into the city",
	}
)

// others are voices of which the asker has none.
var others = []cast.Person{
	{Engine: cast.Flite, Voice: "rms", Tract: 1.1, Pitch: 1.2, Pace: 1}, {Engine: cast.Espeak, Voice: "en-us+f3", Tract: 1, Pitch: 1, Pace: 1},
	{Engine: cast.Flite, Voice: "slt", Tract: 1.05, Pitch: 1.1, Pace: 1.1}, {Engine: cast.Espeak, Voice: "en-gb+m2", Tract: 1, Pitch: 1, Pace: 1},
	{Engine: cast.Flite, Voice: "kal16", Tract: 0.95, Pitch: 0.9, Pace: 0.95}, {Engine: cast.Espeak, Voice: "en-gb-scotland+f2", Tract: 0.95, Pitch: 1, Pace: 1.1},
	{Engine: cast.Flite, Voice: "awb", Tract: 0.92, Pitch: 1, Pace: 1}, {Engine: cast.Espeak, Voice: "en-us+m5", Tract: 1, Pitch: 1, Pace: 0.9},
}

// says returns how somebody says text.
func says(ctx context.Context, p cast.Person, text string) ([]int16, error) {
	sound, err := p.Say(ctx, cast.Calm, text)
	pcm := make([]int16, len(sound))
	for i, s := range sound {
		pcm[i] = int16(max(-32000, min(s, 32000)))
	}
	return pcm, err
}

// distractions returns sixty.
func (n crop) distractions(ctx context.Context, b bench) (all []distraction, err error) {
	for _, k := range []struct {
		kind string
		many int
		make func(*rand.Rand) []float64
	}{
		{"cough over a keyboard", 5, coughAndKeys}, {"laugh", 5, laugh}, {"dishes", 4, dishes}, {"telephone", 3, telephone},
		{"vacuum cleaner", 2, vacuum}, {"band", 4, band}, {"sneeze", 3, sneeze}, {"hum", 8, hum},
	} {
		for i := range k.many {
			dice := rand.New(rand.NewPCG(uint64(1000*int(n)+len(k.kind)), uint64(i)))
			all = append(all, distraction{k.kind, loudAs(k.make(dice), -22-float64(i%4)*3)})
		}
	}
	add := func(kind string, pcm []int16, e error) {
		all, err = append(all, distraction{kind, pcm}), cmp.Or(err, e)
	}
	for i := range 10 {
		text := hints[(2*i+int(n))%len(hints)]
		if i%3 == 0 {
			pcm, e := b.recite(ctx, n.asker(), text)
			add(text, pcm, e)
			continue
		}
		pcm, e := says(ctx, n.other(i), text)
		add(text, pcm, e)
	}
	for i := range 6 {
		pcm, e := n.bulletin(ctx, i)
		add("television under music", pcm, e)
	}
	for i := range 6 {
		pcm, e := n.dialogue(ctx, i)
		add("two people further away", loudAs(tinny(pcm), -38), e)
	}
	for i := range 4 {
		pcm, e := n.dialogue(ctx, 6+i)
		add("two people", pcm, e)
	}
	return all, err
}

// other returns somebody who is not the asker.
func (n crop) other(i int) cast.Person {
	rest := slices.DeleteFunc(slices.Clone(others), func(p cast.Person) bool { return p.Voice == n.asker() })
	return rest[(i+3*int(n))%len(rest)]
}

// bulletin is a news reader with music beside it, from a small loudspeaker.
func (n crop) bulletin(ctx context.Context, i int) ([]int16, error) {
	pcm, err := says(ctx, n.other(i), bulletins[(i+3*int(n))%len(bulletins)])
	if err != nil {
		return nil, err
	}
	tune := loudAs(band(rand.New(rand.NewPCG(uint64(n), uint64(i)))), -34)
	for at := range pcm {
		pcm[at] += tune[at%len(tune)]
	}
	return loudAs(tinny(pcm), -30-float64(i%2)*4), nil
}

// dialogue is what two people say to each other.
func (n crop) dialogue(ctx context.Context, i int) (pcm []int16, err error) {
	for k, text := range dialogues[(2*i+int(n))%len(dialogues)] {
		said, err := says(ctx, n.other(i+3*k), text)
		if err != nil {
			return nil, err
		}
		pcm = append(append(pcm, said...), make([]int16, inSamples(milli(150+i*97%400)))...)
	}
	return pcm, nil
}

// over lays one sound over another.
func over(a, b []float64) []float64 {
	out := make([]float64, max(len(a), len(b)))
	copy(out, a)
	for i, s := range b {
		out[i] += s
	}
	return out
}

// louder returns a sound so many times as strong.
func louder(sound []float64, times float64) []float64 {
	for i := range sound {
		sound[i] *= times
	}
	return sound
}

// throatily is a vowel: what a throat gives at a pitch that runs from one to another,
// in Hz, in a mouth with these resonances.
func throatily(d *rand.Rand, lasts, from, to float64, mouth ...float64) []float64 {
	out := make([]float64, int(lasts*audio.Rate))
	phase := 0.0
	for i := range out {
		share := float64(i) / float64(len(out))
		pitch := from + (to-from)*share + 2*d.NormFloat64()
		phase += 2 * math.Pi * pitch / audio.Rate
		for h := 1.0; h*pitch < 3500; h++ {
			gain := 1 / h
			for _, f := range mouth {
				off := (h*pitch - f) / 120
				gain += 1.5 / (1 + off*off) / math.Sqrt(h)
			}
			out[i] += gain * math.Sin(h*phase)
		}
		out[i] *= math.Sqrt(math.Sin(math.Pi * share)) // it swells, and dies away
	}
	return out
}

// voicedCough is a burst of breath, and what is left of it in the throat.
func voicedCough(d *rand.Rand) (out []float64) {
	pitch := 110 + 120*d.Float64()
	for range 1 + d.IntN(3) {
		out = append(out, louder(dies(noise(d, milli(90+d.IntN(80)), 400, 2500), milli(70)), 12)...)
		out = append(out, throatily(d, 0.08+0.08*d.Float64(), pitch, pitch*0.8, 650, 1100)...)
		out = append(out, rest(milli(80+d.IntN(200)))...)
	}
	return out
}

// coughAndKeys is somebody who types, and coughs.
func coughAndKeys(d *rand.Rand) []float64 {
	keys := keyboard(d)
	return over(louder(keys, 4), append(rest(milli(d.IntN(400))), voicedCough(d)...))
}

// laugh is four to seven times "ha".
func laugh(d *rand.Rand) (out []float64) {
	pitch := 130 + 160*d.Float64()
	for i := range 4 + d.IntN(4) {
		out = append(out, louder(noise(d, milli(60+d.IntN(40)), 500, 3000), 2)...)
		out = append(out, throatily(d, 0.07+0.05*d.Float64(), pitch*(1.2-0.05*float64(i)), pitch*(1.1-0.05*float64(i)), 750, 1250)...)
	}
	return out
}

// hum is "mm", or "mm-hm", as people say it: through the nose.
func hum(d *rand.Rand) []float64 {
	pitch := 100 + 120*d.Float64()
	out := throatily(d, 0.15+0.15*d.Float64(), pitch, pitch*0.95, 280)
	if d.IntN(3) == 0 {
		return out
	}
	out = append(out, louder(noise(d, milli(50), 300, 1500), 0.7)...)
	return append(out, throatily(d, 0.2+0.15*d.Float64(), pitch*1.05, pitch*1.3, 280)...)
}

// dishes are what is put into a cupboard.
func dishes(d *rand.Rand) []float64 {
	out := rest(milli(1800))
	for range 4 + d.IntN(5) {
		at, low := d.IntN(len(out)-4000), 900+2500*d.Float64()
		for _, tone := range []float64{1, 1.58, 2.24, 2.9} {
			for i := range min(4000, len(out)-at) {
				out[at+i] += math.Exp(-float64(i)/900) * math.Sin(2*math.Pi*low*tone*float64(i)/audio.Rate) / tone
			}
		}
	}
	return out
}

// telephone rings three times.
func telephone(d *rand.Rand) (out []float64) {
	low := 800 + 500*d.Float64()
	for range 3 {
		ring := rest(milli(450))
		for i := range ring {
			tone := low
			if i/(audio.Rate/25)%2 == 1 {
				tone *= 1.25
			}
			ring[i] = math.Sin(2*math.Pi*tone*float64(i)/audio.Rate) + 0.3*math.Sin(6*math.Pi*tone*float64(i)/audio.Rate)
		}
		out = append(append(out, ring...), rest(milli(300))...)
	}
	return out
}

// vacuum is a vacuum cleaner that is switched on, and off.
func vacuum(d *rand.Rand) []float64 {
	out := noise(d, milli(2500), 200, 4000)
	hums := 90 + 60*d.Float64()
	for i := range out {
		t := float64(i) / audio.Rate
		rises := min(1, t/0.4, (2.5-t)/0.3)
		out[i] = rises * (out[i] + 0.05*math.Sin(2*math.Pi*hums*rises*t))
	}
	return out
}

// band is three seconds of a drum, a bass and a tune.
func band(d *rand.Rand) []float64 {
	out := rest(milli(3000))
	beat := inSamples(milli(280 + d.IntN(160)))
	for n := 0; n*beat < len(out); n++ {
		at := out[n*beat:]
		bass, tune := 55*math.Pow(2, float64(d.IntN(12))/12), 220*math.Pow(2, float64(d.IntN(18))/12)
		for i := range min(beat, len(at)) {
			t := float64(i) / audio.Rate
			at[i] += 0.8 * math.Exp(-t/0.2) * math.Sin(2*math.Pi*bass*t)
			for h := 1.0; h <= 5; h++ {
				at[i] += 0.5 * math.Exp(-t/0.3) * math.Sin(2*math.Pi*tune*h*t) / h
			}
			if n%2 == 1 {
				at[i] += 0.4 * math.Exp(-t/0.04) * d.NormFloat64()
			}
		}
	}
	return out
}
