//go:build cgo

package main

/*
#cgo pkg-config: speexdsp
#include <speex/speex_echo.h>
#include <speex/speex_preprocess.h>

static void echo_set(SpeexEchoState *s, int what, int v) { speex_echo_ctl(s, what, &v); }
static void clean_set(SpeexPreprocessState *s, int what, int v) { speex_preprocess_ctl(s, what, &v); }
static void clean_after(SpeexPreprocessState *s, SpeexEchoState *e) { speex_preprocess_ctl(s, SPEEX_PREPROCESS_SET_ECHO_STATE, e); }
*/
import "C"

import (
	"time"

	"earshot/internal/audio"
)

const (
	// step is how many samples the canceller takes at a time: 10 ms, by which
	// what it cleans is late.
	step = audio.Samples / 2

	// tail is the longest delay of an echo: 200 ms that no device reports, and the reverberation of
	// the room.
	tail = 400 * time.Millisecond

	// How much the rest of an echo is lowered, in dB, and how much while somebody speaks: more
	// would lower their voice too.
	suppress      = -45
	suppressAside = -15

	// In its first seconds in a room, in frames, it is trained again and again with the last
	// second: so it knows the room twice as soon. The training ends with the latest sound, so that
	// the next frame continues it.
	novice = int(2500 * time.Millisecond / audio.Time)
	again  = int(240 * time.Millisecond / audio.Time)
	lesson = int(time.Second / audio.Time)
)

// A canceller removes the echo of a loudspeaker from the sound of a microphone, with the library
// Speex. It is for one goroutine; close frees it.
type canceller struct {
	echo  *C.SpeexEchoState
	clean *C.SpeexPreprocessState

	past  [lesson]trainingFrame // the last ones, as a ring
	known int                   // frames of this room that it has learned from
}

// A trainingFrame is a frame of sound for training.
type trainingFrame struct{ mic, far [audio.Samples]int16 }

func newCanceller() *canceller {
	k := &canceller{
		echo:  C.speex_echo_state_init(step, C.int(tail*audio.Rate/time.Second)),
		clean: C.speex_preprocess_state_init(step, audio.Rate),
	}
	C.echo_set(k.echo, C.SPEEX_ECHO_SET_SAMPLING_RATE, audio.Rate)
	C.clean_after(k.clean, k.echo)
	// Noise suppression must be on for echo suppression to work. It lowers no noise: recognisers
	// are trained on noise, and not on what removing it leaves.
	C.clean_set(k.clean, C.SPEEX_PREPROCESS_SET_DENOISE, 1)
	C.clean_set(k.clean, C.SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, 0)
	C.clean_set(k.clean, C.SPEEX_PREPROCESS_SET_ECHO_SUPPRESS, suppress)
	C.clean_set(k.clean, C.SPEEX_PREPROCESS_SET_ECHO_SUPPRESS_ACTIVE, suppressAside)
	return k
}

// cancel fills left with mic minus the known echo of far, and out with the same, with the
// remaining echo lowered.
func (k *canceller) cancel(mic, far, left, out *[audio.Samples]int16) {
	for at := 0; at < audio.Samples; at += step {
		C.speex_echo_cancellation(k.echo, (*C.spx_int16_t)(&mic[at]), (*C.spx_int16_t)(&far[at]), (*C.spx_int16_t)(&left[at]))
		copy(out[at:at+step], left[at:at+step])
		C.speex_preprocess_run(k.clean, (*C.spx_int16_t)(&out[at]))
	}
	k.learn(mic, far)
}

// learn trains it once more with the recent sound, if the room is new.
func (k *canceller) learn(mic, far *[audio.Samples]int16) {
	if k.known == novice {
		return
	}
	k.past[k.known%lesson] = trainingFrame{*mic, *far}
	if k.known++; k.known%again != 0 {
		return
	}
	var left [step]int16
	for i := max(0, k.known-lesson); i < k.known; i++ {
		e := &k.past[i%lesson]
		for at := 0; at < audio.Samples; at += step {
			C.speex_echo_cancellation(k.echo, (*C.spx_int16_t)(&e.mic[at]), (*C.spx_int16_t)(&e.far[at]), (*C.spx_int16_t)(&left[0]))
		}
	}
}

// forget makes it learn the room again, which takes seconds, and would take longer from its
// knowledge of another room.
func (k *canceller) forget() {
	C.speex_echo_state_reset(k.echo)
	k.known = 0
}

func (k *canceller) close() {
	C.speex_preprocess_state_destroy(k.clean)
	C.speex_echo_state_destroy(k.echo)
}
