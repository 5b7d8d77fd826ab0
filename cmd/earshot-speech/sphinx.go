//go:build cgo

package main

/*
#cgo pkg-config: pocketsphinx
#cgo LDFLAGS: -Wl,--as-needed
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <pocketsphinx.h>
#include <sphinxbase/err.h>
#include <sphinxbase/cmn.h>

// What the library logs holds what was said, so only what it dies of is let
// through, and its errors while nothing has been said yet.
static int opening;
static void log_some(void *nothing, err_lvl_t level, const char *format, ...) {
	if (level != ERR_FATAL && !(opening && level == ERR_ERROR)) return;
	va_list args;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
}
static void log_errors(int yes) {
	opening = yes;
	err_set_logfp(NULL);
	err_set_callback(log_some, NULL);
}

// cmd_ln_init takes any number of arguments, which cgo cannot call.
static cmd_ln_t *configure(const char *hmm, const char *dict) {
	return cmd_ln_init(NULL, ps_args(), TRUE, "-hmm", hmm, "-dict", dict,
		"-fwdflat", "no", "-bestpath", "yes", NULL);
}

static ngram_model_t *read_language(ps_decoder_t *ps, const char *path) {
	return ngram_model_read(ps_get_config(ps), path, NGRAM_AUTO, ps_get_logmath(ps));
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
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"earshot"
	"earshot/models"
	"earshot/models/wire"
)

// A decoder is one of pocketsphinx. It is used from one goroutine at a time.
//
// Of the three passes that the library can make over an utterance it makes the
// first, while the utterance is spoken, and the last, which picks the best path
// through what the first found. On clean speech that understands as much as all
// three, and the end of an utterance is known ten times sooner.
type decoder struct{ ps *C.ps_decoder_t }

// hop is how many samples one step of the decoder is.
const hop = 160

// openDecoder loads the sounds and the dictionary. The decoder hears nothing
// until it is told what to listen for.
func openDecoder(in ...string) (*decoder, error) {
	sounds, err := models.Find(models.Acoustic, in...)
	if err != nil {
		return nil, err
	}
	words, err := models.Find(models.Dictionary, in...)
	if err != nil {
		return nil, err
	}
	C.log_errors(1)
	defer C.log_errors(0)
	hmm, dict := C.CString(filepath.Join(sounds, "en-us")), C.CString(filepath.Join(words, "cmudict-en-us.dict"))
	defer C.free(unsafe.Pointer(hmm))
	defer C.free(unsafe.Pointer(dict))
	d := &decoder{C.ps_init(C.configure(hmm, dict))}
	if d.ps == nil {
		return nil, &brokenError{models.Acoustic}
	}
	if len(d.pronunciation("the")) == 0 { // the library takes any file for a dictionary
		d.close()
		return nil, &brokenError{models.Dictionary}
	}
	return d, nil
}

func (d *decoder) close() { C.ps_free(d.ps) }

// A brokenError is a model that is here and cannot be used.
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

// learn adds a word to the dictionary.
func (d *decoder) learn(word, sounds string) error {
	w, s := C.CString(word), C.CString(sounds)
	defer C.free(unsafe.Pointer(w))
	defer C.free(unsafe.Pointer(s))
	if C.ps_add_word(d.ps, w, s, 0) < 0 {
		return fmt.Errorf("the name %q cannot be learnt", word)
	}
	return nil
}

// hear makes d listen for everything that people say, and the more for names.
func (d *decoder) hear(names []string, in ...string) error {
	dir, err := models.Find(models.Language, in...)
	if err != nil {
		return err
	}
	C.log_errors(1)
	defer C.log_errors(0)
	path, search := C.CString(filepath.Join(dir, "en-us.lm.bin")), C.CString("hear")
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(search))
	language := C.read_language(d.ps, path)
	if language == nil {
		return &brokenError{models.Language}
	}
	defer C.ngram_model_free(language) // the decoder has its own hold
	for _, name := range names {
		if err := d.expect(language, name); err != nil {
			return err
		}
	}
	if C.ps_set_lm(d.ps, search, language) != 0 || C.ps_set_search(d.ps, search) != 0 {
		return &brokenError{models.Language}
	}
	return d.try()
}

// boost is how much likelier than the average word a name is. At 1, 29 of 32
// names that synthetic voices called were understood, at 30 31, and no sentence
// without the name was understood otherwise than before.
const boost = 30

// expect makes name, in each way that it may be pronounced, likelier than the
// average word. The language model has most names for all but impossible: 14 of
// 32 were understood.
func (d *decoder) expect(language *C.ngram_model_t, name string) error {
	word, ways := token(name), d.ways(name)
	if len(ways) == 0 {
		return nil // nobody can say it
	}
	for i, sounds := range ways {
		variant := word
		if i > 0 {
			variant = fmt.Sprintf("%s(%d)", word, i+1)
		}
		if err := d.learn(variant, sounds); err != nil {
			return err
		}
	}
	w := C.CString(word)
	defer C.free(unsafe.Pointer(w))
	if C.ngram_model_add_word(language, w, boost) < 0 {
		return fmt.Errorf("the name %q cannot be learnt", name)
	}
	return nil
}

// ways returns how a name of one or more words may be pronounced: as the
// dictionary has it, and as the voices would say it.
func (d *decoder) ways(name string) (ways []string) {
	var known, said []string
	complete := true
	for _, word := range letters(name) {
		sounds := d.pronunciation(word)
		complete = complete && sounds != ""
		known, said = append(known, sounds), append(said, pronounce(word))
	}
	if complete {
		ways = append(ways, strings.Join(known, " "))
	}
	if way := strings.Join(said, " "); way != "" && (len(ways) == 0 || ways[0] != way) {
		ways = append(ways, way)
	}
	return ways
}

// seek makes d listen for phrases only. It reports false if none of them can be
// said.
func (d *decoder) seek(phrases []string) (bool, error) {
	C.log_errors(1)
	defer C.log_errors(0)
	var lines strings.Builder
	for _, phrase := range phrases {
		words := letters(phrase)
		known, err := d.know(words)
		if err != nil {
			return false, err
		}
		if known {
			fmt.Fprintf(&lines, "%s /%g/\n", strings.Join(words, " "), d.threshold(words))
		}
	}
	if lines.Len() == 0 {
		return false, nil
	}
	return true, d.seekLines(lines.String())
}

// know teaches d the words of a phrase that it does not know. It reports false
// if nobody can say them.
func (d *decoder) know(words []string) (bool, error) {
	for _, word := range words {
		if d.pronunciation(word) != "" {
			continue
		}
		sounds := pronounce(word)
		if sounds == "" {
			return false, nil
		}
		if err := d.learn(word, sounds); err != nil {
			return false, err
		}
	}
	return len(words) > 0, nil
}

// seekLines hands the phrases over as the library wants them: in a file.
func (d *decoder) seekLines(lines string) error {
	file, err := os.CreateTemp("", "earshot-phrases-*")
	if err != nil {
		return fmt.Errorf("writing the phrases: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(lines)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing the phrases: %w", err)
	}
	path, search := C.CString(file.Name()), C.CString("seek")
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(search))
	if C.ps_set_kws(d.ps, search, path) != 0 || C.ps_set_search(d.ps, search) != 0 {
		return errors.New("the phrases cannot be sought")
	}
	return d.try()
}

// try has d hear a moment of silence: some faults show only then.
func (d *decoder) try() error {
	if err := d.start(nil); err != nil {
		return err
	}
	if err := d.feed(make([]int16, 10*hop)); err != nil {
		return err
	}
	return d.end()
}

var errDecoder = errors.New("the recogniser refuses to work")

// start begins an utterance. Means are what was learnt about the microphone, or
// nil.
func (d *decoder) start(means []float32) error {
	if len(means) > 0 {
		C.set_means(d.ps, (*C.float)(&means[0]), C.int(len(means)))
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

// words returns the words of an utterance that has ended.
func (d *decoder) words() (words []wire.Word) {
	for seg := C.ps_seg_iter(d.ps); seg != nil; seg = C.ps_seg_next(seg) {
		text := clean(C.GoString(C.ps_seg_word(seg)))
		if text == "" {
			continue
		}
		var from, to C.int
		C.ps_seg_frames(seg, &from, &to)
		words = append(words, wire.Word{
			Text: earshot.Text(text), Confidence: min(1, float64(C.posterior(d.ps, seg))),
			From: int(from) * hop, To: int(to+1) * hop,
		})
	}
	return words
}

// means returns what d has learnt about the microphone.
func (d *decoder) means() []float32 {
	means := make([]float32, wire.MaxMeans)
	return means[:C.get_means(d.ps, (*C.float)(&means[0]), wire.MaxMeans)]
}
