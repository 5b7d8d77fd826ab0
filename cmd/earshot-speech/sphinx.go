//go:build cgo

package main

/*
#cgo pkg-config: pocketsphinx
#cgo LDFLAGS: -Wl,--as-needed
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <pocketsphinx.h>
#include <sphinxbase/err.h>
#include <sphinxbase/cmn.h>

extern void libraryDies(uintptr_t);

// The library's log contains what was said, so only its errors are let through, and only while
// nothing has been said yet. After a fatal one it ends the process; before that, libraryDies is
// called.
static int opening;
static void log_some(void *handle, err_lvl_t level, const char *format, ...) {
	if (opening && level >= ERR_ERROR) {
		va_list args;
		va_start(args, format);
		vfprintf(stderr, format, args);
		va_end(args);
	}
	if (level == ERR_FATAL) libraryDies((uintptr_t)handle);
}
static void watch_library(uintptr_t handle) {
	err_set_logfp(NULL);
	err_set_callback(log_some, (void *)handle);
}
static void log_errors(int yes) { opening = yes; }

// cmd_ln_init takes any number of arguments, which cgo cannot call.
static cmd_ln_t *configure(const char *hmm, const char *dict) {
	return cmd_ln_init(NULL, ps_args(), TRUE, "-hmm", hmm, "-dict", dict,
		"-fwdflat", "no", "-bestpath", "yes", NULL);
}

static double posterior(ps_decoder_t *ps, ps_seg_t *seg) {
	return logmath_exp(ps_get_logmath(ps), ps_seg_prob(seg, NULL, NULL, NULL));
}

// The means are fixed-point or floating, as the library was built.
static int get_means(ps_decoder_t *ps, float *out, int most) {
	cmn_t *cmn = ps_get_feat(ps)->cmn_struct;
	if (!cmn || cmn->veclen > most) return 0;
	for (int i = 0; i < cmn->veclen; i++) out[i] = MFCC2FLOAT(cmn->cmn_mean[i]);
	return cmn->veclen;
}
static int set_means(ps_decoder_t *ps, const float *in, int n) {
	cmn_t *cmn = ps_get_feat(ps)->cmn_struct;
	mfcc_t means[64];
	if (!cmn || cmn->veclen != n || n > 64) return -1;
	for (int i = 0; i < n; i++) means[i] = FLOAT2MFCC(in[i]);
	cmn_live_set(cmn, means);
	return 0;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime/cgo"
	"strings"
	"sync/atomic"
	"unsafe"

	"earshot/models"
	"earshot/models/wire"
)

// watchLibrary has dies called, with the reason, before the library ends the process, as it does
// when a model is damaged. It must be called before anything else here.
func watchLibrary(dies func(error)) { C.watch_library(C.uintptr_t(cgo.NewHandle(dies))) }

//export libraryDies
func libraryDies(handle C.uintptr_t) { cgo.Handle(handle).Value().(func(error))(cause(read.Load())) }

// read is the model that the library reads at this moment, or nil.
var read atomic.Pointer[models.Model]

// errDied says that the library ends the process.
var errDied = errors.New("the recogniser died")

// cause returns why the library dies while it reads a model, or nil.
func cause(m *models.Model) error {
	if m == nil {
		return errDied
	}
	return &brokenError{*m}
}

// reading records that the library reads m, and lets its errors through, until the function that
// it returns is called.
func reading(m models.Model) (done func()) {
	read.Store(&m)
	C.log_errors(1)
	return func() {
		C.log_errors(0)
		read.Store(nil)
	}
}

// A decoder is one of pocketsphinx. It is used from one goroutine at a time.
//
// The library can make three passes over an utterance. This uses the first, while the utterance is
// spoken, and the last, which picks the best path through what the first found. On clean speech
// that recognises as much as all three, and the end of an utterance is known ten times sooner.
type decoder struct {
	ps    *C.ps_decoder_t
	prior []float32 // what the model takes a microphone for
}

// hop is how many samples one step of the decoder is.
const hop = 160

// openWords returns a decoder with the whole dictionary. It recognises nothing until it is told
// what to listen for.
func openWords(in []string) (*decoder, error) {
	dir, err := models.Find(models.Dictionary, in...)
	if err != nil {
		return nil, err
	}
	d, err := openDecoder(filepath.Join(dir, "cmudict-en-us.dict"), in)
	if err != nil {
		return nil, err
	}
	if d.pronunciation("the") == "" { // the library accepts any file as a dictionary
		d.close()
		return nil, &brokenError{models.Dictionary}
	}
	return d, nil
}

// openDecoder returns a decoder that knows the words of a file.
func openDecoder(dictionary string, in []string) (*decoder, error) {
	dir, err := models.Find(models.Acoustic, in...)
	if err != nil {
		return nil, err
	}
	defer reading(models.Acoustic)()
	hmm, dict := C.CString(filepath.Join(dir, "en-us")), C.CString(dictionary)
	defer C.free(unsafe.Pointer(hmm))
	defer C.free(unsafe.Pointer(dict))
	d := &decoder{ps: C.ps_init(C.configure(hmm, dict))}
	if d.ps == nil {
		return nil, &brokenError{models.Acoustic}
	}
	d.prior = d.means()
	return d, nil
}

func (d *decoder) close() { C.ps_free(d.ps) }

// A brokenError is the error of a model that is installed and cannot be used.
type brokenError struct{ model models.Model }

func (e *brokenError) Error() string { return fmt.Sprintf("the %s is damaged", e.model.Name) }
func (e *brokenError) Cure() string {
	return "sudo apt-get install --reinstall " + e.model.Origin
}

// pronunciation returns the sounds of a word of the dictionary, or "".
func (d *decoder) pronunciation(word string) string {
	w := C.CString(word)
	defer C.free(unsafe.Pointer(w))
	p := C.ps_lookup_word(d.ps, w)
	if p == nil {
		return ""
	}
	defer C.free(unsafe.Pointer(p))
	return C.GoString(p)
}

// try has d process a moment of silence: some faults show only then.
func (d *decoder) try() error {
	if err := d.start(nil); err != nil {
		return err
	}
	if err := d.feed(make([]int16, 10*hop)); err != nil {
		return err
	}
	return d.end()
}

var errDecoder = errors.New("the recogniser does not start")

// start begins an utterance. Means are what was learned about the microphone, or nil. Everything
// else that d has learned is forgotten, so that the same sound is always recognised in the same
// way, by this process or the next.
func (d *decoder) start(means []float32) error {
	if C.ps_start_stream(d.ps) != 0 {
		return errDecoder
	}
	if len(means) != len(d.prior) {
		means = d.prior
	}
	if len(means) == 0 || C.set_means(d.ps, (*C.float)(&means[0]), C.int(len(means))) != 0 {
		return errDecoder
	}
	if C.ps_start_utt(d.ps) != 0 {
		return errDecoder
	}
	return nil
}

func (d *decoder) feed(pcm []int16) error {
	if len(pcm) > 0 && C.ps_process_raw(d.ps, (*C.int16)(&pcm[0]), C.size_t(len(pcm)), 0, 0) < 0 {
		return errDecoder
	}
	return nil
}

func (d *decoder) end() error {
	if C.ps_end_utt(d.ps) != 0 {
		return errDecoder
	}
	return nil
}

// text returns what d has understood so far.
func (d *decoder) text() string {
	h := C.ps_get_hyp(d.ps, nil)
	if h == nil {
		return ""
	}
	return clean(C.GoString(h))
}

// found returns the phrases that were found since the start.
func (d *decoder) found() (phrases []string) {
	h := C.ps_get_hyp(d.ps, nil)
	if h == nil {
		return nil
	}
	for phrase := range strings.SplitSeq(C.GoString(h), "  ") { // a space follows each, and a space divides them
		if phrase = strings.TrimSpace(phrase); phrase != "" {
			phrases = append(phrases, phrase)
		}
	}
	return phrases
}

// words returns the words of an utterance that has ended, and how sure the decoder is of them, in
// the mean.
func (d *decoder) words() (words []string, confidence float64) {
	for seg := C.ps_seg_iter(d.ps); seg != nil; seg = C.ps_seg_next(seg) {
		text := clean(C.GoString(C.ps_seg_word(seg)))
		if text == "" {
			continue
		}
		words = append(words, text)
		confidence += min(1, float64(C.posterior(d.ps, seg)))
	}
	return words, min(1, confidence/float64(max(1, len(words))))
}

// means returns what d has learnt about the microphone.
func (d *decoder) means() []float32 {
	means := make([]float32, wire.MaxMeans)
	return means[:C.get_means(d.ps, (*C.float)(&means[0]), wire.MaxMeans)]
}
