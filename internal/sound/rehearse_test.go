package sound_test

import (
	"context"
	"errors"
	"log/slog"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
)

// rehearsed starts the real helper for a rehearsal.
func rehearsed(t testing.TB) helper.Dialer {
	path := realHelper(t)
	return func() (helper.Link, error) {
		return helper.Start(helper.Command{Name: sound.Helper, Path: path, Args: []string{sound.RehearseArg}, Log: slog.New(slog.DiscardHandler)})
	}
}

// then is when a rehearsal begins.
var then = time.Unix(1e6, 0)

// perform rehearses a room and returns the frames.
func perform(t testing.TB, room soundtest.Room, far, captured []int16) (all []audio.Frame) {
	t.Helper()
	for f, err := range sound.Rehearse(t.Context(), rehearsed(t), room.Takes(then, far, captured)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *f)
	}
	if want := len(captured) / audio.Samples; len(all) != want {
		t.Fatalf("%d frames of %d came back", len(all), want)
	}
	return all
}

// sounds returns the samples of frames.
func sounds(frames []audio.Frame) (pcm []int16) {
	for i := range frames {
		pcm = append(pcm, frames[i].PCM[:]...)
	}
	return pcm
}

// monologue is twenty seconds of the agent's speech as far, and as near what somebody says over it
// from the twelfth second on.
func monologue(t testing.TB) (far, near []int16) {
	const whole = 20 * audio.Rate
	near = make([]int16, whole)
	for len(far) < whole {
		far = append(far, said(t, "the tide comes in twice a day, because the moon pulls at the sea and the earth turns below it. every harbour has its own hour, and the fishermen know it by heart.")...)
	}
	for i, s := range said(t, "stop talking, and tell me about the moon") {
		near[12*audio.Rate+i] = s / 3
	}
	return far[:whole], near
}

// voices returns the frames at which a voice begins, judged as an ear does: five of eight frames
// are loud, voiced and no echo.
func voices(frames []audio.Frame) (at []int) {
	window, quiet := 0, 100
	for i := range frames {
		f := &frames[i]
		window = window << 1 & 0xff
		if f.Voiced && f.EchoRatio < 0.874 && audio.Level(f.PCM[:]) > -55 {
			window |= 1
		}
		if quiet++; bits.OnesCount(uint(window)) >= 5 {
			if quiet > 15 {
				at = append(at, i)
			}
			quiet = 0
		}
	}
	return at
}

// wantLowered checks by how many dB the echo was lowered between two seconds: left is what remains
// of captured.
func wantLowered(t *testing.T, captured, left []int16, from, to int, least float64) {
	t.Helper()
	from, to = from*audio.Rate, to*audio.Rate
	erle := audio.Level(captured[from:to]) - audio.Level(left[from:to])
	if erle < least {
		t.Errorf("what comes back is lowered by %.1f dB, want %.0f", erle, least)
		return
	}
	t.Logf("what comes back is lowered by %.1f dB", erle)
}

// TestRehearseRooms: in every kind of room an ear hears nothing of the agent's own voice, but does
// hear somebody who speaks over it.
func TestRehearseRooms(t *testing.T) {
	far, near := monologue(t)
	for _, tt := range []struct {
		name string
		room soundtest.Room
		erle float64 // least dB, after eight seconds
	}{
		{"close", soundtest.Room{Echo: -6, Delay: 20 * time.Millisecond}, 12},
		{"late", soundtest.Room{Echo: -10, Delay: 200 * time.Millisecond}, 8},
		{"clipping", soundtest.Room{Echo: -6, Delay: 40 * time.Millisecond, Clips: true}, 8},
		{"drifting", soundtest.Room{Echo: -6, Delay: 40 * time.Millisecond, PPM: 100}, 6},
		{"soft", soundtest.Room{Echo: -20, Delay: 100 * time.Millisecond, PPM: -30}, 3},
		{"headphones", soundtest.Room{Echo: -200}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.room.Jitter, tt.room.Seed = 5*time.Millisecond, 1
			captured := tt.room.Captured(far, near)
			frames := perform(t, tt.room, far, captured)
			pcm := sounds(frames)
			wantLowered(t, captured, pcm, 8, 12, tt.erle)
			if at := voices(frames); len(at) == 0 || at[0] < 600 || at[0] > 650 {
				t.Errorf("utterances begin at the frames %v, want one soon after 600", at)
			}
			if tt.name == "headphones" && !slices.Equal(pcm, captured) {
				t.Error("samples were changed although nothing comes back")
			}
		})
	}
}

// TestRehearseStutter: on a busy machine the loudspeaker runs empty every seven seconds, which
// shifts its echo. The agent still does not hear itself, and still hears others.
func TestRehearseStutter(t *testing.T) {
	far, near := monologue(t)
	for _, tt := range []struct {
		name string
		room soundtest.Room
	}{
		{"a loudspeaker", soundtest.Room{Echo: -8, Delay: 40 * time.Millisecond}},
		{"a virtual card", soundtest.Room{Echo: -20, Ring: 10 * time.Millisecond, Noise: audio.Silence}},
	} {
		for _, gap := range []time.Duration{2 * time.Millisecond, 5 * time.Millisecond, 15 * time.Millisecond, 19 * time.Millisecond, 60 * time.Millisecond} {
			t.Run(tt.name+" "+gap.String(), func(t *testing.T) {
				tt.room.Jitter, tt.room.Seed, tt.room.Gap = 3*time.Millisecond, 1, gap
				if at := voices(perform(t, tt.room, far, tt.room.Captured(far, make([]int16, len(far))))); len(at) > 0 {
					t.Errorf("its own voice is heard at the frames %v", at)
				}
				if at := voices(perform(t, tt.room, far, tt.room.Captured(far, near))); len(at) == 0 || at[0] < 600 || at[0] > 725 {
					t.Errorf("utterances begin at the frames %v, want one while somebody speaks, from 600 on", at)
				}
			})
		}
	}
}

// TestRehearseFirstReply: by the second second of the first sound ever played in a room, most of
// the echo is removed, and somebody who speaks over the third second is heard.
func TestRehearseFirstReply(t *testing.T) {
	whole, said := monologue(t)
	far := append(make([]int16, audio.Rate), whole[:5*audio.Rate]...)
	for _, tt := range []struct {
		name string
		room soundtest.Room
		erle float64 // least dB, in the second second
	}{
		{"close", soundtest.Room{Echo: -6, Delay: 20 * time.Millisecond}, 12},
		{"late", soundtest.Room{Echo: -10, Delay: 200 * time.Millisecond}, 10},
		{"soft", soundtest.Room{Echo: -20, Delay: 100 * time.Millisecond, PPM: -30}, 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.room.Jitter, tt.room.Seed = 5*time.Millisecond, 1
			near := make([]int16, len(far))
			captured := tt.room.Captured(far, near)
			frames := perform(t, tt.room, far, captured)
			wantLowered(t, captured, sounds(frames), 2, 3, tt.erle)
			if at := voices(frames); len(at) > 0 {
				t.Errorf("its own voice is heard at the frames %v", at)
			}
			copy(near[audio.Rate*3:], said[12*audio.Rate:])
			if at := voices(perform(t, tt.room, far, tt.room.Captured(far, near))); len(at) == 0 || at[0] < 150 || at[0] > 225 {
				t.Errorf("utterances begin at the frames %v, want one while somebody speaks, from 150 on", at)
			}
		})
	}
}

// TestRehearseHeadphones: where no echo comes back, somebody who speaks over the first reply is
// heard, even half a second into it.
func TestRehearseHeadphones(t *testing.T) {
	whole, said := monologue(t)
	far := append(make([]int16, audio.Rate), whole[:4*audio.Rate]...)
	near := make([]int16, len(far))
	copy(near[audio.Rate*3/2:], said[12*audio.Rate:])
	room := soundtest.Room{Echo: -200, Jitter: 5 * time.Millisecond, Seed: 1}
	if at := voices(perform(t, room, far, room.Captured(far, near))); len(at) == 0 || at[0] < 75 || at[0] > 95 {
		t.Errorf("utterances begin at the frames %v, want one soon after 75", at)
	}
}

// TestRehearsePlugged: in the middle of a reply somebody puts headphones on, and later takes them
// off. Whoever speaks meanwhile is heard. The agent hears its own voice at most once, when the echo
// comes back: levels alone do not tell it from somebody's voice.
func TestRehearsePlugged(t *testing.T) {
	const on, off = 8 * audio.Rate, 16 * audio.Rate
	far, near := monologue(t)
	open := soundtest.Room{Echo: -8, Delay: 60 * time.Millisecond, Jitter: 5 * time.Millisecond, Seed: 1}
	worn := soundtest.Room{Echo: -200, Seed: 1}
	captured := open.Captured(far, near)
	copy(captured[on:off], worn.Captured(far, near)[on:off])
	frames := perform(t, open, far, captured)
	at := voices(frames)
	if len(at) == 0 || at[0] < 600 || at[0] > 630 {
		t.Fatalf("utterances begin at the frames %v, want one soon after 600", at)
	}
	again := slices.DeleteFunc(at[1:], func(n int) bool { return n < off/audio.Samples })
	if len(again) > 1 || len(again) == 1 && again[0] > off/audio.Samples+50 {
		t.Errorf("its own voice is heard at the frames %v, when the headphones are off again", again)
	}
	if pcm := sounds(frames[500:600]); !slices.Equal(pcm, captured[500*audio.Samples:600*audio.Samples]) {
		t.Error("samples were changed although nothing comes back any more")
	}
}

// TestRehearseSilence: while nothing is played, the captured samples are not changed.
func TestRehearseSilence(t *testing.T) {
	_, near := monologue(t)
	room := soundtest.Room{Echo: -6}
	captured := room.Captured(nil, near)
	for i, f := range perform(t, room, nil, captured) {
		if f.Own || f.EchoRatio != 0 || !slices.Equal(f.PCM[:], captured[i*audio.Samples:(i+1)*audio.Samples]) {
			t.Fatalf("frame %d: own %v, echo %v, or its samples were changed", i, f.Own, f.EchoRatio)
		}
		if want := then.Add(time.Duration(i) * audio.Time); f.At.Sub(want).Abs() > time.Microsecond {
			t.Fatalf("frame %d has the time %v, want %v", i, f.At, want)
		}
	}
}

// TestRehearseEnds: a rehearsal ends when its loop is left, and returns an error if its helper
// cannot be started or sends nonsense.
func TestRehearseEnds(t *testing.T) {
	room := soundtest.Room{}
	takes := room.Takes(then, nil, make([]int16, 10*audio.Samples))
	parrot := func(data []byte) helper.Dialer {
		return helpertest.Dialer(sound.Helper, func(_ context.Context, s *helper.Server) error {
			go s.Controls(func(helper.Control) error { return nil })
			return s.Sounds(func(m helper.Sound) error {
				if data == nil {
					data = m.Data
				}
				return s.SendSound(m.Stream, data)
			})
		})
	}
	n := 0
	for _, err := range sound.Rehearse(t.Context(), parrot(nil), takes) {
		if n++; err != nil || n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("left after %d frames", n)
	}
	gone := errors.New("gone")
	for name, dial := range map[string]helper.Dialer{
		"cannot be started": func() (helper.Link, error) { return nil, gone },
		"lies":              parrot([]byte("no frame")),
	} {
		var last error
		for _, err := range sound.Rehearse(t.Context(), dial, takes) {
			last = err
		}
		if last == nil || !strings.HasPrefix(last.Error(), "rehearsing: ") {
			t.Errorf("one that %s: %v", name, last)
		}
	}
}
