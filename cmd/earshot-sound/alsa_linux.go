//go:build cgo

package main

/*
#cgo pkg-config: alsa portaudio-2.0
#include <alsa/asoundlib.h>
#include <pa_linux_alsa.h>

static void say_nothing(const char *file, int line, const char *function, int err, const char *format, ...) {}
static void hush_alsa(void) { snd_lib_error_set_handler(say_nothing); }
*/
import "C"

// hushALSA keeps ALSA from printing what its callers are told anyway, a line each time that the
// loudspeaker runs empty on a busy machine.
func hushALSA() { C.hush_alsa() }

// setPeriods says of how many parts the buffers are of the streams that are opened next.
func setPeriods(n int) { C.PaAlsa_SetNumPeriods(C.int(n)) }
