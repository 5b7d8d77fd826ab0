package deck_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound/deck"
)

// block is how much the device takes at a time: 10 ms.
const block = audio.Rate / 100

// loud is the value of every sample of the speeches here.
const loud = 20000

// flat returns n loud samples.
func flat(n int) []int16 { return slices.Repeat([]int16{loud}, n) }

// draw returns a sign for a block, by how it begins and how it ends.
func draw(pcm []int16) byte {
	first, last := pcm[0], pcm[len(pcm)-1]
	switch {
	case slices.Max(pcm) == 0:
		return '.'
	case last == 0:
		return '\\'
	case first < loud/10 && last == loud:
		return '/'
	case first == loud && last == loud:
		return '#'
	case first < loud/3 && last < loud/3:
		return '='
	}
	return '~' // between loud and ducked
}

// TestDo: each control has the right effect, when it is given before a block. One letter a block: d
// is duck, p pause, r resume, c cut, f finish. The device buffers nothing.
func TestDo(t *testing.T) {
	controls := map[rune]earshot.Control{'d': earshot.Duck, 'p': earshot.Pause, 'r': earshot.Resume, 'c': earshot.Cut}
	for _, tt := range []struct {
		name, do, want string
		samples        int64 // played by the end, or so far
		end            bool
	}{
		{"plain", "     f    ", "#####.....", 5 * block, true},
		{"too little is sent", "      ", "#####.", 5 * block, false},
		{"ducked", " d   ", "#~~==", 5 * block, false},
		{"ducked and back", " d  r  f", "#~~=~~#.", 7 * block, true},
		{"paused", "  p   ", "##\\...", 2 * block, false},
		{"paused and on", "  p r f   ", "##\\./##...", 5 * block, true},
		{"paused and on at once", "  pr  f", "##\\/##.", 5 * block, true},
		{"paused, on, paused", " p r p r  f", "#\\./#\\./##.", 6 * block, true},
		{"paused, and on ducked", " p d    f", "#\\.====..", 5 * block, true},
		{"paused, and on ducked at once", " pd   f", "#\\===..", 4 * block, true},
		{"ducked, paused, and on ducked", " d  p d  f", "#~~=\\.===.", 7 * block, true},
		{"cut", "  c   ", "##\\...", 2 * block, true},
		{"cut while paused", " p c  ", "#\\....", block, true},
		{"cut while ducked", " d  c ", "#~~=\\.", 4 * block, true},
		{"cut at once", "c   ", "\\...", 0, true},
		{"what comes after a cut", " cprd", "#\\...", block, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := deck.New(1)
			d.Play(7, audio.Rate)
			total := strings.Count(tt.want, "#") + strings.Count(tt.want, "~") + strings.Count(tt.want, "=") + strings.Count(tt.want, "/")
			if strings.ContainsAny(tt.do, "pc") && !strings.Contains(tt.do, "f") {
				total++ // one more block, which fades
			}
			if err := d.Add(7, flat(total*block)); err != nil {
				t.Fatal(err)
			}
			picture, last := "", deck.Report{}
			for _, do := range tt.do {
				if c, ok := controls[do]; ok {
					d.Do(7, c)
				}
				if do == 'f' {
					d.Finish(7, int64(total*block))
				}
				pcm := make([]int16, block)
				d.Next(pcm)
				picture += string(draw(pcm))
				if r, ok := d.Played(0); ok {
					last = r
				}
			}
			if picture != tt.want {
				t.Errorf("played %q, want %q", picture, tt.want)
			}
			if last.Samples != tt.samples || last.End != tt.end {
				t.Errorf("said %+v, want %d samples, end %v", last, tt.samples, tt.end)
			}
		})
	}
}

// TestPlayedIsHeard: sound that the device still buffers does not count as played.
func TestPlayedIsHeard(t *testing.T) {
	const held = 6 * block
	d := deck.New(1)
	d.Play(1, audio.Rate)
	d.Add(1, flat(10*block))
	d.Finish(1, 10*block)
	pcm := make([]int16, block)
	for n := 1; ; n++ {
		d.Next(pcm)
		r, ok := d.Played(min(held, int64(n*block)))
		if want := int64(max(0, min(10, n-6)) * block); ok && r.Samples != want {
			t.Errorf("after %d blocks %d samples were played, want %d", n, r.Samples, want)
		}
		if ok && r.End {
			if n != 16 {
				t.Errorf("over after %d blocks, want 16: ten, and six that were held", n)
			}
			return
		}
		if n > 20 {
			t.Fatal("never over")
		}
	}
}

// TestResumeGoesOnAtTheSample: after a pause the samples that faded out are played again. No other
// sample is missing or repeated.
func TestResumeGoesOnAtTheSample(t *testing.T) {
	d := deck.New(1)
	d.Play(1, audio.Rate)
	speech := make([]int16, 10*block)
	for i := range speech {
		speech[i] = int16(i + 1000)
	}
	d.Add(1, speech)
	var got []int16
	for n := range 12 {
		switch n {
		case 3:
			d.Do(1, earshot.Pause)
		case 5:
			d.Do(1, earshot.Resume)
		}
		pcm := make([]int16, block)
		d.Next(pcm)
		got = append(got, pcm...)
	}
	if !slices.Equal(got[:3*block], speech[:3*block]) {
		t.Error("what comes before the pause is not what was sent")
	}
	if slices.Max(got[3*block+block/2:5*block]) != 0 {
		t.Error("it is not silent 5ms after the pause")
	}
	const faded = block / 2
	if !slices.Equal(got[5*block+faded:], speech[3*block+faded:]) {
		t.Error("what comes after the resumption is not what follows")
	}
}

// TestRates: at any rate a deck holds 200 ms and fades within 5 ms.
func TestRates(t *testing.T) {
	for _, rate := range []int{8000, audio.Rate, 22050, 24000, deck.MaxRate} {
		d := deck.New(1)
		d.Play(1, rate)
		if err := d.Add(1, flat(rate/5)); err != nil {
			t.Errorf("%d: %v", rate, err)
		}
		if err := d.Add(1, flat(1)); !errors.Is(err, deck.ErrFull) {
			t.Errorf("%d: one more: %v, want ErrFull", rate, err)
		}
		pcm := make([]int16, rate/100)
		d.Next(pcm)
		d.Do(1, earshot.Cut)
		d.Next(pcm)
		if n := slices.Index(pcm, 0); n < rate/200-1 || n > rate/200 || slices.Max(pcm[n:]) != 0 {
			t.Errorf("%d: silent after %d samples", rate, n)
		}
	}
}

func TestAddBeyondCredit(t *testing.T) {
	d := deck.New(1)
	d.Play(1, audio.Rate)
	if err := d.Add(1, flat(deck.Most(audio.Rate))); err != nil {
		t.Error(err)
	}
	if err := d.Add(1, flat(1)); !errors.Is(err, deck.ErrFull) {
		t.Errorf("one more: %v, want ErrFull", err)
	}
	if err := d.Add(2, flat(1)); err != nil {
		t.Errorf("sound of another speech: %v, want none", err)
	}
	d.Do(1, earshot.Cut)
	if err := d.Add(1, flat(1)); err != nil {
		t.Errorf("sound behind a cut: %v, want none", err)
	}
}

// TestDeck drives a deck in any order in which a sender and a device may. The positions are true,
// the credit equals what was handed on, and the end comes once, followed by silence.
func TestDeck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := deck.New(1)
		d.Play(1, audio.Rate)
		credit, sent, told, out := deck.Most(audio.Rate), 0, int64(0), int64(0)
		ends, finished, cut := 0, false, false
		next := func(t *rapid.T) {
			pcm := make([]int16, rapid.IntRange(1, 400).Draw(t, "block"))
			playing := d.Next(pcm)
			if ends > 0 && (playing || slices.Max(pcm) != 0) {
				t.Fatal("sound after the end")
			}
			out += int64(len(pcm))
			r, ok := d.Played(rapid.Int64Range(0, 2000).Draw(t, "held"))
			if !ok {
				return
			}
			credit += r.Credit
			switch {
			case ends > 0:
				t.Fatal("a report after the end")
			case r.Samples < told || r.Samples > int64(sent):
				t.Fatalf("played %d, of %d that were sent, after %d", r.Samples, sent, told)
			case credit > deck.Most(audio.Rate):
				t.Fatal("credit from nowhere")
			case r.End && !cut && (!finished || r.Samples != int64(sent)):
				t.Fatal("over before the end")
			}
			told = r.Samples
			if r.End {
				ends++
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"next": next,
			"add": func(t *rapid.T) {
				n := rapid.IntRange(0, credit).Draw(t, "samples")
				if finished || cut {
					return
				}
				if err := d.Add(1, flat(n)); err != nil {
					t.Fatal(err)
				}
				credit, sent = credit-n, sent+n
			},
			"do": func(t *rapid.T) {
				c := rapid.SampledFrom([]earshot.Control{earshot.Duck, earshot.Pause, earshot.Resume, earshot.Resume, earshot.Cut}).Draw(t, "control")
				cut = cut || c == earshot.Cut && ends == 0
				d.Do(1, c)
			},
			"finish": func(t *rapid.T) {
				finished = true
				d.Finish(1, int64(sent))
			},
		})
		d.Do(1, earshot.Resume)
		d.Finish(1, int64(sent))
		finished = true
		for range 100 + sent/100 {
			pcm := make([]int16, block)
			d.Next(pcm)
			if r, ok := d.Played(0); ok && r.End {
				ends++
			}
		}
		if ends != 1 {
			t.Fatalf("it ended %d times", ends)
		}
	})
}

func TestNextAllocatesNothing(t *testing.T) {
	d := deck.New(0.5)
	d.Play(1, audio.Rate)
	d.Add(1, flat(deck.Most(audio.Rate)))
	pcm := make([]int16, block)
	if n := testing.AllocsPerRun(100, func() {
		d.Next(pcm)
		d.Played(block)
	}); n != 0 {
		t.Errorf("%v allocations a block", n)
	}
}

func BenchmarkNext(b *testing.B) {
	d := deck.New(0.5)
	pcm, speech := make([]int16, block), flat(block)
	d.Play(1, audio.Rate)
	b.ReportAllocs()
	for b.Loop() {
		d.Add(1, speech)
		d.Next(pcm)
		d.Played(0)
	}
}

// TestWokenOnce: a speech wakes the device. Once the device has asked for all of its blocks, it is
// not woken again.
func TestWokenOnce(t *testing.T) {
	d := deck.New(1)
	woken := func() bool {
		select {
		case <-d.Woken():
			return true
		default:
			return false
		}
	}
	d.Play(1, audio.Rate)
	if !woken() {
		t.Error("a speech does not wake the device")
	}
	d.Play(2, audio.Rate)
	d.Finish(2, 0)
	block := make([]int16, 160)
	for d.Next(block) {
		d.Played(0)
	}
	if woken() {
		t.Error("woken, and there is nothing to play")
	}
}
