//go:build cgo

package main

/*
#cgo pkg-config: alsa
#include <alsa/asoundlib.h>

static void say_nothing(const char *file, int line, const char *function, int err, const char *format, ...) {}
static void hush_alsa(void) { snd_lib_error_set_handler(say_nothing); }
*/
import "C"

// hushALSA keeps ALSA from writing what its callers are told anyway, a line for
// each time that a busy machine lets the loudspeaker run empty.
func hushALSA() { C.hush_alsa() }
