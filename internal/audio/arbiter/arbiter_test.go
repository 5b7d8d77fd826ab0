package arbiter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/audio"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A talk is what somebody says, dry.
type talk []float64

// speak returns a person saying syllables, with a pitch and a mouth of their own, from a time to
// another, with a breath now and then.
func speak(person uint64, length time.Duration, spans ...[2]time.Duration) talk {
	r := rand.New(rand.NewPCG(person, 7))
	out := make(talk, int(length.Seconds()*audio.Rate))
	pitch, mouth := 90+140*r.Float64(), 0.8+0.5*r.Float64()
	for _, span := range spans {
		at, end := int(span[0].Seconds()*audio.Rate), int(span[1].Seconds()*audio.Rate)
		phase := 0.0
		for at < end {
			n := min(end-at, int((0.09+0.14*r.Float64())*audio.Rate))
			f0, vowel, loud := pitch*(0.85+0.3*r.Float64()), mouth*(300+600*r.Float64()), 0.4+0.6*r.Float64()
			hiss := r.Float64() < 0.3
			for i := range n {
				swell := math.Sin(math.Pi * (float64(i) + 1) / float64(n+1))
				phase += f0 * (1 + 0.05*math.Sin(float64(i)/700)) / audio.Rate
				x := 0.0
				for h := 1.0; h*f0 < 3500; h++ {
					x += math.Sin(2*math.Pi*h*phase) / (1 + math.Pow((h*f0-vowel)/200, 2)) / (1 + h*f0/1500)
				}
				if hiss && i < n/3 {
					x += 0.3 * r.NormFloat64()
				}
				out[at+i] += loud * swell * x
			}
			at += n + int((0.01+0.05*r.Float64())*audio.Rate)
			if r.Float64() < 0.08 {
				at += audio.Rate / 5
			}
		}
	}
	return out
}

// A way is how somebody is heard by a microphone.
type way struct {
	talk  talk
	gain  float64
	delay time.Duration
	echo  float64 // energy of what the room returns, beside that of the direct sound
}

// frames is what a microphone with some noise makes of it, dB below full scale.
func frames(mic uint64, noise float64, ways ...way) []*audio.Frame {
	r := rand.New(rand.NewPCG(mic, 3))
	var sound []float64
	for _, w := range ways {
		sound = append(sound, make([]float64, max(0, len(w.talk)-len(sound)))...)
	}
	for _, w := range ways {
		d := int(w.delay.Seconds() * audio.Rate)
		for n := range 30 {
			tap, g := 0, 1.0
			if n > 0 {
				tap, g = int(r.ExpFloat64()*0.06*audio.Rate), r.NormFloat64()*math.Sqrt(w.echo/30)
			}
			if g == 0 {
				break
			}
			for i := d + tap; i < min(len(sound), d+tap+len(w.talk)); i++ {
				sound[i] += g * w.gain * w.talk[i-d-tap]
			}
		}
	}
	hiss := 32768 * math.Pow(10, noise/20)
	offset := time.Duration(r.IntN(20)) * time.Millisecond // no two microphones cut frames at the same moment
	var all []*audio.Frame
	tail, floor := 0, 32768*math.Pow(10, noise/20)
	for i := 0; i+audio.Samples <= len(sound); i += audio.Samples {
		f := &audio.Frame{At: began.Add(offset + time.Duration(i)*time.Second/audio.Rate)}
		power := 0.0
		shift := int(offset.Seconds() * audio.Rate)
		for j := range f.PCM {
			x := hiss * r.NormFloat64()
			if k := i + shift + j; k < len(sound) {
				x += 5000 * sound[k]
			}
			f.PCM[j] = int16(max(-32768, min(32767, x)))
			power += x * x / audio.Samples
		}
		if tail--; math.Sqrt(power) > 2*floor {
			tail = 3
		}
		f.Voiced = tail > 0
		all = append(all, f)
	}
	return all
}

// A listener is what comes out of one microphone.
type listener struct {
	source *Source
	in     []*audio.Frame
	late   time.Duration // of its network
	next   int

	out   []audio.Frame
	at    []time.Time // when each came out
	delay time.Duration
}

// run performs microphones, each frame of which comes when its last sample was heard, and its network
// has brought it.
func run(t failer, a *Arbiter, all ...*listener) {
	for i, l := range all {
		l.source = a.Join(fmt.Sprintf("mic %d", i))
	}
	for now := began; ; now = now.Add(time.Millisecond) {
		more := false
		for _, l := range all {
			if l.next == len(l.in) {
				continue
			}
			more = true
			f := l.in[l.next]
			if due := f.At.Add(audio.Time + l.late); due.After(now) {
				continue
			}
			l.next++
			was := *f
			a.Step(l.source, f, now)
			for g := l.source.Next(); g != nil; g = l.source.Next() {
				l.take(g, now)
			}
			if *f != was {
				t.Fatal("the frame of a microphone was changed")
			}
		}
		if !more {
			break
		}
	}
	for _, l := range all {
		a.End(l.source)
		for g := l.source.Next(); g != nil; g = l.source.Next() {
			l.take(g, l.at[len(l.at)-1])
		}
		if len(l.out) != len(l.in) {
			t.Errorf("%d frames came out of %d", len(l.out), len(l.in))
		}
		for i := range min(len(l.out), len(l.in)) {
			if !l.out[i].At.Equal(l.in[i].At) {
				t.Fatalf("frame %d of %s came out as one of %v", i, l.source.id, l.out[i].At.Sub(began))
			}
			if l.out[i].Voiced && l.out[i] != *l.in[i] {
				t.Fatalf("frame %d of %s was changed", i, l.source.id)
			}
		}
	}
}

func (l *listener) take(f *audio.Frame, now time.Time) {
	l.out = append(l.out, *f)
	l.at = append(l.at, now)
	if f.Voiced {
		l.delay = max(l.delay, now.Sub(f.At)-audio.Time-l.late)
	}
}

// heard returns how many frames with a voice came out from one time to another, and went in.
func (l *listener) heard(from, to time.Duration) (out, in int) {
	within := func(f *audio.Frame) bool {
		at := f.At.Sub(began)
		return f.Voiced && at >= from && at < to
	}
	for i := range l.out {
		if within(&l.out[i]) {
			out++
		}
	}
	for _, f := range l.in {
		if within(f) {
			in++
		}
	}
	return out, in
}

const second = time.Second

// TestNearest: of microphones that hear the same person, the one in which the voice stands highest
// above the background is heard, whole and at most [Window] late, and no other.
func TestNearest(t *testing.T) {
	ann := speak(1, 6*second, [2]time.Duration{second, 3 * second}, [2]time.Duration{4 * second, 5500 * time.Millisecond})
	for _, tt := range []struct {
		name string
		mics []*listener
		want int
	}{
		{"alone", []*listener{{in: frames(1, -60, way{ann, 1, 0, 0})}}, 0},
		{"louder", []*listener{{in: frames(1, -60, way{ann, 0.3, 0, 0.5})}, {in: frames(2, -60, way{ann, 1, 0, 0.2})}}, 1},
		{"later", []*listener{{in: frames(1, -60, way{ann, 1, 5 * time.Millisecond, 0.2})}, {in: frames(2, -60, way{ann, 0.3, 30 * time.Millisecond, 0.5})}}, 0},
		{"the better begins later", []*listener{{in: frames(1, -60, way{ann, 0.2, 0, 0.5})}, {in: frames(2, -60, way{ann, 1, 30 * time.Millisecond, 0.2})}}, 1},
		{"noise", []*listener{{in: frames(1, -45, way{ann, 1, 0, 0.2})}, {in: frames(2, -65, way{ann, 0.5, 0, 0.5})}}, 1},
		{"a network", []*listener{{in: frames(1, -60, way{ann, 0.3, 0, 0.5})}, {in: frames(2, -60, way{ann, 1, 0, 0.2}), late: 40 * time.Millisecond}}, 1},
		{"a slow network", []*listener{{in: frames(1, -60, way{ann, 1, 0, 0.2})}, {in: frames(2, -60, way{ann, 0.5, 0, 0.5}), late: 150 * time.Millisecond}}, 0},
		{"three", []*listener{{in: frames(1, -60, way{ann, 0.2, 0, 1})}, {in: frames(2, -60, way{ann, 0.4, 10 * time.Millisecond, 0.5})}, {in: frames(3, -60, way{ann, 1, 20 * time.Millisecond, 0.2})}}, 2},
		{"far", []*listener{{in: frames(1, -60, way{ann, 1, 0, 0.2})}, {in: frames(2, -60, way{ann, 0.15, 25 * time.Millisecond, 2})}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, new(Arbiter), tt.mics...)
			for i, l := range tt.mics {
				out, in := l.heard(0, time.Hour)
				switch {
				case i == tt.want && (out != in || l.delay > Window):
					t.Errorf("of the nearest %d of %d came out, %v late", out, in, l.delay)
				case i != tt.want && out > 0:
					t.Errorf("%d of %d frames of microphone %d came out", out, in, i)
				}
			}
		})
	}
}

// TestOneAtWork: the frames of the only microphone are passed themselves, at once.
func TestOneAtWork(t *testing.T) {
	in := frames(1, -60, way{speak(1, 2*second, [2]time.Duration{0, 2 * second}), 1, 0, 0})
	a := new(Arbiter)
	s, gone := a.Join("one"), a.Join("gone")
	a.Step(gone, in[0], began)
	a.Leave(gone)
	for _, f := range in {
		a.Step(s, f, f.At)
		if g := s.Next(); g != f || s.Next() != nil {
			t.Fatal("a frame did not come out as it is")
		}
	}
}

// TestTwoSpeakers: two people who speak at the same time to two microphones are both heard, whole, also
// if each microphone hears the other one a little.
func TestTwoSpeakers(t *testing.T) {
	for _, tt := range []struct {
		name     string
		ann, bob [2]time.Duration
		cross    float64
	}{
		{"at once", [2]time.Duration{second, 4 * second}, [2]time.Duration{second, 4 * second}, 0},
		{"one after the other has begun", [2]time.Duration{second, 4 * second}, [2]time.Duration{2 * second, 4 * second}, 0},
		{"one word between", [2]time.Duration{second, 4 * second}, [2]time.Duration{2 * second, 2300 * time.Millisecond}, 0},
		{"each hears the other", [2]time.Duration{second, 4 * second}, [2]time.Duration{2 * second, 5 * second}, 0.1},
		{"one word, while the other is heard", [2]time.Duration{second, 4 * second}, [2]time.Duration{2 * second, 2500 * time.Millisecond}, 0.1},
	} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprint(tt.name, " ", seed), func(t *testing.T) {
				ann, bob := speak(10+seed, 6*second, tt.ann), speak(20+seed, 6*second, tt.bob)
				x := &listener{in: frames(1, -60, way{ann, 1, 0, 0.2}, way{bob, tt.cross, 10 * time.Millisecond, 0.5})}
				y := &listener{in: frames(2, -60, way{bob, 1, 0, 0.2}, way{ann, tt.cross, 10 * time.Millisecond, 0.5})}
				run(t, new(Arbiter), x, y)
				if out, in := x.heard(tt.ann[0], tt.ann[1]); out != in {
					t.Errorf("%d of %d frames of the first came out", out, in)
				}
				if out, in := y.heard(tt.bob[0], tt.bob[1]); out != in {
					t.Errorf("%d of %d frames of the second came out", out, in)
				}
			})
		}
	}
}

// TestWalk: when somebody walks from one microphone to another, each sentence is heard from one of
// them.
func TestWalk(t *testing.T) {
	spans := [][2]time.Duration{{second, 3 * second}, {3500 * time.Millisecond, 5 * second}, {5500 * time.Millisecond, 7 * second}, {7500 * time.Millisecond, 9 * second}}
	ann := speak(4, 10*second, spans...)
	walk := func(from, to float64) talk {
		w := slices.Clone(ann)
		for i := range w {
			part := min(1, max(0, (float64(i)/audio.Rate-2)/5))
			w[i] *= from + part*(to-from)
		}
		return w
	}
	x := &listener{in: frames(1, -60, way{walk(1, 0.1), 1, 0, 0.3})}
	y := &listener{in: frames(2, -60, way{walk(0.1, 1), 1, 10 * time.Millisecond, 0.3})}
	run(t, new(Arbiter), x, y)
	picture := ""
	for _, s := range spans {
		xs, _ := x.heard(s[0]-100*time.Millisecond, s[1]+200*time.Millisecond)
		ys, _ := y.heard(s[0]-100*time.Millisecond, s[1]+200*time.Millisecond)
		switch {
		case xs > 0 && ys > 0:
			picture += "?"
		case xs > 0:
			picture += "x"
		case ys > 0:
			picture += "y"
		default:
			picture += "_"
		}
	}
	if picture != "xxyy" && picture != "xxxy" {
		t.Errorf("the sentences came from %s", picture)
	}
}

// TestEnds: when the microphone that leads is lost in mid-sentence, another takes over, and nothing is
// held back for ever.
func TestEnds(t *testing.T) {
	ann := speak(1, 4*second, [2]time.Duration{second, 4 * second})
	x := &listener{in: frames(1, -60, way{ann, 1, 0, 0.2})[:125]}
	y := &listener{in: frames(2, -60, way{ann, 0.5, 10 * time.Millisecond, 0.4})}
	run(t, new(Arbiter), x, y)
	out, in := y.heard(2500*time.Millisecond, 4*second)
	if out != in {
		t.Errorf("after it was lost, %d of %d frames came out of the other one", out, in)
	}
}

// TestOnce: whoever speaks, and however some microphones hear that, one of them is heard; of that one
// each frame with a voice comes out, at most Window late, and of the others none.
func TestOnce(t *testing.T) {
	var voices []talk
	for i := range uint64(8) {
		voices = append(voices, speak(i, 3*second, [2]time.Duration{500 * time.Millisecond, 2 * second}))
	}
	rapid.Check(t, func(t *rapid.T) {
		ann := voices[rapid.IntRange(0, len(voices)-1).Draw(t, "voice")]
		var all []*listener
		for i := range rapid.IntRange(2, 4).Draw(t, "microphones") {
			gain := rapid.Float64Range(0.1, 1).Draw(t, "gain")
			all = append(all, &listener{
				in:   frames(uint64(i), rapid.Float64Range(-75, -60).Draw(t, "noise"), way{ann, gain, time.Duration(rapid.IntRange(0, 60).Draw(t, "ms")) * time.Millisecond, rapid.Float64Range(0, 0.5).Draw(t, "echo")}),
				late: time.Duration(rapid.IntRange(0, 40).Draw(t, "network")) * time.Millisecond,
			})
		}
		if rapid.Bool().Draw(t, "order") {
			slices.Reverse(all)
		}
		run(t, new(Arbiter), all...)
		led := 0
		for _, l := range all {
			out, in := l.heard(0, time.Hour)
			if out > 0 {
				led++
			}
			if out > 0 && (out != in || l.delay > Window) {
				t.Errorf("%d of %d frames of a microphone came out, %v late", out, in, l.delay)
			}
		}
		if led != 1 {
			t.Errorf("%d microphones were heard", led)
		}
	})
}

func BenchmarkStep(b *testing.B) {
	ann := speak(1, 6*second, [2]time.Duration{0, 6 * second})
	for _, n := range []int{1, 2, 3} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := new(Arbiter)
			var in [][]*audio.Frame
			var sources []*Source
			for i := range n {
				in = append(in, frames(uint64(i), -60, way{ann, 1 / float64(i+1), time.Duration(i) * 10 * time.Millisecond, 0.3}))
				sources = append(sources, a.Join(fmt.Sprint(i)))
			}
			b.ReportAllocs()
			for k := 0; b.Loop(); k++ {
				i := k % n
				f := in[i][k/n%len(in[i])]
				f.At = began.Add(time.Duration(k/n) * audio.Time)
				a.Step(sources[i], f, f.At)
				for sources[i].Next() != nil {
				}
			}
		})
	}
}

// A failer is a test, or one of rapid.
type failer interface {
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}
