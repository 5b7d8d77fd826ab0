package audio_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"earshot/internal/audio"
)

// TestGate imitates a room: own sound ('o'), whose echo the canceller lowers by a given amount,
// somebody who speaks ('#'), both ('@'), and nothing ('.'). It checks for each ten frames whether
// they count as somebody, for an ear that takes a ratio of 0.874 for echo.
func TestGate(t *testing.T) {
	const echo, somebody = 0.874, -26
	for _, tt := range []struct {
		name        string
		back, lower float64 // level of the echo, and by how much it is lowered, in dB
		played      string
		want        string // one character for ten frames
		better      bool   // the canceller helps at the end
	}{
		{"a loudspeaker", -6, 20, "....ooooooo@@@oo..##", "...........###....##", true},
		{"a soft one", -25, 15, "....ooooooo@@@oo..##", "...........###....##", true},
		{"one that distorts", -6, 6, "....oooooooooooo..##", "..................##", true},
		{"somebody much softer than a loud one", +4, 25, "....ooooooooooooooo@@@oo..##", "...................###....##", true},
		{"headphones", -200, 0, "....ooooooo@@@oo..##", "...........###....##", false},
		{"an echo that is not learned yet", -6, 0, "....oooooooooooo..##", "..................##", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var g audio.Gate
			var f audio.Frame
			got, better := "", false
			for i, c := range tt.played {
				voiced := 0
				for range 10 {
					far, own, talk := audio.Silence, audio.Silence, audio.Silence
					if c == 'o' || c == '@' {
						far, own = -18, -18+tt.back
					}
					if c == '#' || c == '@' {
						talk = somebody
					}
					others, back := sound(r, -66, talk), sound(r, own)
					out := make([]int16, audio.Samples)
					for i := range out {
						f.PCM[i] = others[i] + back[i]
						out[i] = others[i] + int16(math.Round(float64(back[i])*math.Pow(10, -tt.lower/20)))
					}
					use := g.Judge(&f, sound(r, far), out)
					if use {
						copy(f.PCM[:], out)
					}
					better = use || better && (c == '.' || c == '#')
					if f.EchoRatio < echo && audio.Level(f.PCM[:]) > -45 {
						voiced++
					}
					if f.Beside && c == 'o' && tt.played[i-1] == 'o' {
						t.Errorf("somebody is plainly heard in the ten frames %d", i)
					}
				}
				got += map[bool]string{true: "#", false: "."}[voiced >= 7]
				if c == '#' && f.Own {
					t.Errorf("ten frames %d are our own", i)
				}
			}
			if got != tt.want || better != tt.better {
				t.Errorf("played %s\nheard  %s\nwant   %s; of use: %v", tt.played, got, tt.want, better)
			}
		})
	}
}

// TestGateWithoutCanceller: frames that something else cleans stay as they are.
func TestGateWithoutCanceller(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var g audio.Gate
	var f audio.Frame
	for range 100 {
		copy(f.PCM[:], sound(r, -66))
		if g.Judge(&f, sound(r, -20), nil) || f.EchoRatio > 0 || !f.Own {
			t.Fatalf("own %v, echo %v", f.Own, f.EchoRatio)
		}
	}
}

// TestGateWithoutPause: the gate learns the noise of the room even if we speak from the first frame
// on, loudly and then softly, so that somebody soft is heard beside that.
func TestGateWithoutPause(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var g audio.Gate
	var f audio.Frame
	beside := 0
	for i := range 320 {
		own, talk := -18.0, audio.Silence
		if i >= 150 {
			own = -40
		}
		if i >= 300 {
			talk = -46
		}
		others, back := sound(r, -70, talk), sound(r, own-6)
		out := make([]int16, audio.Samples)
		for i := range out {
			f.PCM[i] = others[i] + back[i]
			out[i] = others[i] + back[i]/10
		}
		g.Judge(&f, sound(r, own), out)
		switch {
		case f.Beside && i < 300:
			t.Fatalf("somebody is heard in frame %d", i)
		case f.Beside:
			beside++
		}
	}
	if beside < 18 {
		t.Errorf("somebody is heard in %d of 20 frames", beside)
	}
}

// TestBands: a tone has its level in its own band, and hardly any in others.
func TestBands(t *testing.T) {
	pcm := make([]int16, 600)
	for i := range pcm {
		pcm[i] = int16(math.Round(32767 * math.Pow(10, -20.0/20) * math.Sqrt2 * math.Sin(2*math.Pi*1000*float64(i)/audio.Rate)))
	}
	bands := audio.Bands(pcm)
	loud := 0
	for i, level := range bands {
		if level > bands[loud] {
			loud = i
		}
	}
	for i, level := range bands {
		switch far := max(i-loud, loud-i); {
		case far == 0 && math.Abs(level+20) > 1.5, far > 2 && level > -70:
			t.Errorf("band %d of %d has %.1f dB", i, len(bands), level)
		}
	}
}
