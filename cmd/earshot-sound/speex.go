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

	// tail is for how long a sound may come back: 200 ms late by what no device
	// tells, and then ring in the room.
	tail = 400 * time.Millisecond

	// What is left of an echo is lowered by so many dB, and where somebody speaks
	// as well by so many: more would lower him too.
	suppress      = -45
	suppressAside = -15

	// For its first seconds in a room, in frames, it is played the last second again
	// and again: it then knows the room twice as soon. What is played again ends with
	// what came last, so that the next follows on it.
	novice = int(2500 * time.Millisecond / audio.Time)
	again  = int(240 * time.Millisecond / audio.Time)
	lesson = int(time.Second / audio.Time)
)

// A canceller removes the echo of what a loudspeaker plays from what a microphone
// captures, by the library Speex. It is for one goroutine; close frees it.
type canceller struct {
	echo  *C.SpeexEchoState
	clean *C.SpeexPreprocessState

	past  [lesson]trainingFrame // the last ones, as a ring
	known int                   // frames that it was taught of this room
}

// A trainingFrame is a frame of sound that it learns from.
type trainingFrame struct{ mic, far [audio.Samples]int16 }

func newCanceller() *canceller {
	k := &canceller{
		echo:  C.speex_echo_state_init(step, C.int(tail*audio.Rate/time.Second)),
		clean: C.speex_preprocess_state_init(step, audio.Rate),
	}
	C.echo_set(k.echo, C.SPEEX_ECHO_SET_SAMPLING_RATE, audio.Rate)
	C.clean_after(k.clean, k.echo)
	// What lowers noise must be on for echo to be lowered. It lowers none:
	// recognisers know noise, and not what removing it leaves.
	C.clean_set(k.clean, C.SPEEX_PREPROCESS_SET_DENOISE, 1)
	C.clean_set(k.clean, C.SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, 0)
	C.clean_set(k.clean, C.SPEEX_PREPROCESS_SET_ECHO_SUPPRESS, suppress)
	C.clean_set(k.clean, C.SPEEX_PREPROCESS_SET_ECHO_SUPPRESS_ACTIVE, suppressAside)
	return k
}

// cancel fills left with mic without what came back of far, as well as it is
// known, and out with the same, where what is still left of that is lowered.
func (k *canceller) cancel(mic, far, left, out *[audio.Samples]int16) {
	for at := 0; at < audio.Samples; at += step {
		C.speex_echo_cancellation(k.echo, (*C.spx_int16_t)(&mic[at]), (*C.spx_int16_t)(&far[at]), (*C.spx_int16_t)(&left[at]))
		copy(out[at:at+step], left[at:at+step])
		C.speex_preprocess_run(k.clean, (*C.spx_int16_t)(&out[at]))
	}
	k.learn(mic, far)
}

// learn has it learn once more from what it heard, if it is new in the room.
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

// forget has it learn the room again, which takes it seconds, and longer from
// what it knew of another.
func (k *canceller) forget() {
	C.speex_echo_state_reset(k.echo)
	k.known = 0
}

func (k *canceller) close() {
	C.speex_preprocess_state_destroy(k.clean)
	C.speex_echo_state_destroy(k.echo)
}
