//go:build cgo

package main

/*
#cgo pkg-config: alsa
#include <alsa/asoundlib.h>

static void say_nothing(const char *file, int line, const char *function, int err, const char *format, ...) {}
static void hush_alsa(void) { snd_lib_error_set_handler(say_nothing); }
*/
import "C"

// hushALSA keeps ALSA from printing what its callers are told anyway, a line each time that the
// loudspeaker runs empty on a busy machine.
func hushALSA() { C.hush_alsa() }
