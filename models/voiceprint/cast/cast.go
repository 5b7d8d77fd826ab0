// Package cast makes fictitious people, for training and for measuring: the voices of flite and
// espeak-ng with other vocal tracts, in other moods, through channels of all kinds. So no
// recording of a real person is ever needed. The same person says the same words with the same
// samples each time, with the same versions of the two programs.
package cast

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"time"

	"earshot/internal/audio"
)

// Engines are the programs that speak.
const (
	Flite  = "flite"
	Espeak = "espeak-ng"

	Festival = "text2wave" // of which no voice has another pitch or pace
)

// A Person is somebody with a voice. The factors say how it differs from the engine's unchanged
// voice, which is 1.
type Person struct {
	Name   string
	Engine string
	Voice  string  // of the engine
	Tract  float64 // of the resonances: a shorter vocal tract has higher ones
	Pitch  float64
	Pace   float64
}

// A Mood is how somebody speaks on one occasion, in factors too.
type Mood struct{ Pitch, Pace float64 }

// Calm is how everybody speaks when nothing is the matter.
var Calm = Mood{1, 1}

// Say returns the sound of p saying text, as samples at [audio.Rate].
func (p Person) Say(ctx context.Context, m Mood, text string) ([]float64, error) {
	pitch, pace := p.Pitch*m.Pitch/p.Tract, p.Pace*m.Pace/p.Tract // playing it faster raises both
	arguments := p.flite(pitch, pace)
	if p.Engine == Espeak {
		arguments = p.espeak(pitch, pace)
	}
	c := exec.CommandContext(ctx, p.Engine, append(arguments, text)...)
	if p.Engine == Festival {
		c = exec.CommandContext(ctx, p.Engine, "-eval", "(voice_"+p.Voice+")", "-o", "/dev/stdout")
		c.Stdin = strings.NewReader(text)
	}
	data, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s speaking: %w", p.Engine, err)
	}
	pcm, rate, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s speaking as %s: %w", p.Engine, p.Voice, err)
	}
	return resample(pcm, rate*p.Tract), nil
}

// diphones are voices of flite that are told their pitch in Hz.
var diphones = map[string]float64{"kal": 95, "kal16": 95}

// flite returns the arguments before the text. The voice rms has one pitch.
func (p Person) flite(pitch, pace float64) []string {
	tune := fmt.Sprintf("f0_shift=%.3f", pitch)
	if usual, ok := diphones[p.Voice]; ok {
		tune = fmt.Sprintf("int_f0_target_mean=%.1f", usual*pitch)
	}
	return []string{"-voice", p.Voice, "--setf", fmt.Sprintf("duration_stretch=%.3f", 1/pace), "--setf", tune, "-o", "/dev/stdout", "-t"}
}

// espeak returns the arguments before the text. Its pitch goes from 0 to 99,
// about 0.9 octaves up and down.
func (p Person) espeak(pitch, pace float64) []string {
	tune := int(math.Round(50 + 50*math.Log2(pitch)/0.9))
	return []string{"-v", p.Voice, "-p", fmt.Sprint(min(max(tune, 0), 99)), "-s", fmt.Sprint(int(155 * pace)), "--stdout"}
}

// parse returns the samples of a WAV file of one channel and their rate. What
// comes through a pipe does not know its length.
func parse(b []byte) (pcm []float64, rate float64, err error) {
	if len(b) < 44 || string(b[:4]) != "RIFF" {
		return nil, 0, errors.New("not a WAV file")
	}
	rate = float64(binary.LittleEndian.Uint32(b[24:]))
	for at := 12; at+8 <= len(b); {
		size, body := int(binary.LittleEndian.Uint32(b[at+4:])), b[at+8:]
		if string(b[at:at+4]) == "data" {
			samples := make([]int16, len(body)/2)
			pcm = make([]float64, audio.DecodePCM(samples, body[:min(size, len(body))]))
			for i := range pcm {
				pcm[i] = float64(samples[i])
			}
			return pcm, rate, nil
		}
		at += 8 + size + size%2
	}
	return nil, 0, errors.New("a WAV file without sound")
}

// Frames returns pcm in the form for an ear. A frame is voiced if it is about as loud as the
// voice, and for 100 ms after that.
func Frames(pcm []float64) []audio.Frame {
	frames := make([]audio.Frame, len(pcm)/audio.Samples)
	levels, top := make([]float64, len(frames)), audio.Silence
	for i := range frames {
		for j := range frames[i].PCM {
			frames[i].PCM[j] = int16(min(max(pcm[i*audio.Samples+j], math.MinInt16), math.MaxInt16))
		}
		levels[i] = audio.Level(frames[i].PCM[:])
		top = max(top, levels[i])
	}
	const below, lasts = 30, 5
	left := 0
	for i := range frames {
		if left--; levels[i] > top-below {
			left = lasts
		}
		frames[i].Voiced = left >= 0
	}
	return frames
}

// Voiced returns how much of a voice is in frames.
func Voiced(frames []audio.Frame) (d time.Duration) {
	for i := range frames {
		if frames[i].Voiced {
			d += audio.Time
		}
	}
	return d
}
