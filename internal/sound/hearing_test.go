package sound_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
)

// said returns words as flite's voice speaks them.
func said(t testing.TB, words string) []int16 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "said.wav")
	if out, err := testkit.Command(t, "flite", "-voice", "slt", "-t", words, "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("flite: %v: %s", err, out)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := bytes.Cut(b, []byte("data"))
	pcm := make([]int16, (len(data)-4)/2)
	audio.DecodePCM(pcm, data[4:])
	return pcm
}

// TestRealInput: what is played into the microphone is captured sample by sample, and the voices in
// it are marked. Leaving the loop closes the capture.
func TestRealInput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	words := said(t, "the tide comes in twice a day, and nobody has to ask for it")
	in := r.input(ctx, "")
	var player sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "who plays", player.Wait)
	player.Go(func() {
		if err := r.server.Play(ctx, words); err != nil {
			t.Error(err)
		}
	})
	var heard []int16
	var voiced, loud, before int
	var last time.Time
	for f, err := range in.Frames(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if f.At.Before(last) {
			t.Errorf("a frame of %v after one of %v", f.At, last)
		}
		last = f.At
		if f.Own || f.EchoRatio != 0 {
			t.Errorf("own %v, echo %v, though nothing is played", f.Own, f.EchoRatio)
		}
		if audio.Level(f.PCM[:]) > -50 {
			loud++
			if f.Voiced {
				voiced++
			}
		} else if loud == 0 && f.Voiced {
			before++
		}
		if heard = append(heard, f.PCM[:]...); loud > 0 && len(heard) > len(words)+audio.Rate {
			break
		}
	}
	if ins, _, err := r.server.Streams(); ins != 0 || err != nil {
		t.Errorf("after the loop %d captures are open, %v", ins, err)
	}
	t.Logf("%d of %d loud frames voiced, %d of the silent ones before", voiced, loud, before)
	if voiced < loud*3/4 || before > 0 {
		t.Errorf("%d of %d loud frames are voiced, and %d of the silent ones before", voiced, loud, before)
	}
	if found := inOrder(heard, words); found < loud*9/10 {
		t.Errorf("of %d loud frames %d are what was said, in order", loud, found)
	}
}

// inOrder returns how many loud frames of heard occur in words, in the same order. On a loaded
// machine some frames are torn.
func inOrder(heard, words []int16) (found int) {
	for frame := range slices.Chunk(heard, audio.Samples) {
		if audio.Level(frame) <= -50 {
			continue
		}
		for i := range len(words) - len(frame) {
			if slices.Equal(words[i:i+len(frame)], frame) {
				words = words[i+len(frame):]
				found++
				break
			}
		}
	}
	return found
}

// tail returns the last n samples, or fewer if there are fewer.
func tail(all []int16, n int) []int16 { return all[max(0, len(all)-n):] }

// TestRealOwn: frames are marked as our own sound while we play, and only then. If no echo came
// back of a first speech, nothing is taken for an echo.
func TestRealOwn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	in := r.input(ctx, "")
	out := r.output(ctx, "")
	var player sync.WaitGroup
	defer testkit.Finish(t, testkit.Patience, "who plays", player.Wait)
	words := said(t, "somebody speaks all the time, while the loudspeaker says something else, and nobody is taken for an echo")
	var first, second <-chan struct{} // closed when the speech is over
	speak := func() <-chan struct{} {
		over := make(chan struct{})
		player.Go(func() {
			p, d := r.play(ctx, out, tone(audio.Rate))
			p.Finish()
			select {
			case <-d.over:
			case <-ctx.Done():
				t.Error("waited in vain: the end of a speech")
			}
			close(over)
		})
		return over
	}
	var loud, echo int
	pictures := make([]string, 3) // before the first speech; from the first on; from the second on
frames:
	for f, err := range in.Frames(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if audio.Level(f.PCM[:]) > -40 {
			loud++
			if f.EchoRatio > 0.5 {
				echo++
			}
		}
		now := &pictures[0]
		switch {
		case second != nil:
			now = &pictures[2]
		case first != nil:
			now = &pictures[1]
		}
		*now += map[bool]string{true: "#", false: "."}[f.Own]
		// More frames may be marked after one that is not. So the next speech waits for a second of
		// unmarked ones.
		if silent := len(*now) - 1 - strings.LastIndex(*now, "#"); silent < 50 {
			continue
		}
		switch {
		case first == nil:
			first = speak()
		case second == nil && closed(first):
			player.Go(func() {
				if err := r.server.Play(ctx, words); err != nil {
					t.Error(err)
				}
			})
			second = speak()
		case second != nil && closed(second):
			break frames
		}
	}
	t.Logf("own sound %q", pictures)
	if echo > loud/10 {
		t.Errorf("%d of %d loud frames are taken for echo where there is none", echo, loud)
	}
	if strings.Contains(pictures[0], "#") {
		t.Errorf("own sound before we said anything: %s", pictures[0])
	}
	for _, picture := range pictures[1:] {
		own := strings.Trim(picture, ".")
		// The loudspeaker's clock measures the second. A busy machine loses microphone frames,
		// those that nobody reads in time.
		if n := strings.Count(own, "#"); n < 25 {
			t.Errorf("%d frames of own sound, want about 50: %s", n, picture)
		}
		if stuttered := r.stuttered.Load(); !stuttered && (len(own) > 75 || strings.Contains(own, ".")) {
			t.Errorf("own sound %s, want a second of it", picture)
		}
	}
}

// closed reports whether c is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// tone returns n samples of a tone.
func tone(n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(8000 * (1 - i/20%2*2))
	}
	return pcm
}

// TestRealDevices: devices are listed under the server's names, by which they can be opened. A
// device by which the assistant would hear itself cannot be opened.
func TestRealDevices(t *testing.T) {
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	d, err := sound.List(ctx, r.dial)
	if err != nil {
		t.Fatal(err)
	}
	want := sound.Devices{Server: "PulseAudio",
		Inputs: []sound.Device{
			{Name: soundtest.Source, Description: "Monitor of virtmic", Default: true, Monitors: soundtest.Microphone},
			{Name: soundtest.Echo, Description: "Monitor of virtspk", Monitors: soundtest.Speaker},
		},
		Outputs: []sound.Device{
			{Name: soundtest.Microphone, Description: "virtmic"},
			{Name: soundtest.Speaker, Description: "virtspk", Default: true},
		},
	}
	if !slices.Equal(d.Inputs, want.Inputs) || !slices.Equal(d.Outputs, want.Outputs) || d.Server != want.Server {
		t.Errorf("listed %+v\nwant %+v", d, want)
	}
	r.input(ctx, soundtest.Source).Close()
	r.output(ctx, soundtest.Speaker).Close()
	for _, device := range []string{"nobody", soundtest.Echo, "x\x00y"} {
		if _, err := r.card.Input(ctx, device); !hasCure("")(err) {
			t.Errorf("opening the microphone %q: %v", device, err)
		}
	}
	if _, err := r.card.Output(ctx, "nobody", 1); !hasCure("")(err) {
		t.Errorf("opening the loudspeaker nobody: %v", err)
	}
	in := r.input(ctx, "")
	defer in.Close()
	if _, err := r.card.Output(ctx, soundtest.Microphone, 1); !hasCure("")(err) {
		t.Errorf("opening the loudspeaker that the microphone listens to: %v", err)
	}
}
