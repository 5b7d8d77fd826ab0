//go:build cgo

package main

/*
#cgo LDFLAGS: -lflite_cmu_us_slt -lflite_cmu_us_rms -lflite_cmu_us_awb -lflite_cmu_us_kal16 -lflite_usenglish -lflite_cmulex -lflite -lm
#include <stdint.h>
#include <stdlib.h>
#include <flite/flite.h>
#include <flite/flite_version.h>

cst_voice *register_cmu_us_slt(const char *);
cst_voice *register_cmu_us_rms(const char *);
cst_voice *register_cmu_us_awb(const char *);
cst_voice *register_cmu_us_kal16(const char *);
cst_lexicon *cmu_lex_init(void);

extern int spokenChunk(uintptr_t, cst_utterance *, short *, int);

static int chunk(const cst_wave *w, int start, int size, int last, cst_audio_streaming_info *info) {
	(void)last;
	return spokenChunk((uintptr_t)info->userdata, (cst_utterance *)info->utt, w->samples + start, size);
}

// Not every kind of voice tells the stream which utterance it is, so we do,
// before the voice's own last step.
static cst_uttfunc last_step;
static cst_utterance *told_last_step(cst_utterance *u) {
	const cst_val *v = feat_val(u->features, "streaming_info");
	if (v) val_audio_streaming_info(v)->utt = u;
	return last_step(u);
}

static void prepare(cst_voice *v, float stretch) {
	cst_uttfunc f = val_uttfunc(feat_val(v->features, "wave_synth_func"));
	if (f != told_last_step) last_step = f; // a voice that is opened again is the same one
	feat_set(v->features, "wave_synth_func", uttfunc_val(told_last_step));
	feat_set_float(v->features, "duration_stretch", stretch);
}

// speak says text; the voice's own return is of no use to us.
static void speak(cst_voice *v, const char *text, uintptr_t handle, int piece) {
	cst_audio_streaming_info *info = new_audio_streaming_info();
	info->min_buffsize = piece;
	info->asc = chunk;
	info->userdata = (void *)handle;
	feat_set(v->features, "streaming_info", audio_streaming_info_val(info));
	cst_utterance *u = flite_synth_text(text, v);
	feat_remove(v->features, "streaming_info"); // which frees info
	if (u) delete_utterance(u);
}

static cst_item *first_word(cst_utterance *u) {
	return u && utt_relation_present(u, "Word") ? relation_head(utt_relation(u, "Word")) : NULL;
}
// A word stands in a token, which is a piece of the text as it was written.
static cst_item *token_of(cst_item *word) { return path_to_item(word, "R:Token.parent"); }
static const char *name_of(cst_item *i) { return item_feat_string(i, "name"); }
// A word begins where the sound before its first one ends.
static double begins(cst_item *word) {
	return ffeature_float(word, "R:SylStructure.daughter1.daughter1.R:Segment.p.end");
}


static const char *phone(const cst_val *v) { return val_string(val_car(v)); }
*/
import "C"

import (
	"fmt"
	"maps"
	"runtime/cgo"
	"slices"
	"strings"
	"unsafe"

	"earshot/internal/audio"
	"earshot/models/wire"
)

// flite names the library.
const flite = C.FLITE_PROJECT_PREFIX + " " + C.FLITE_PROJECT_VERSION

// voices are those that are linked in. Registering one twice makes one.
var voices = map[string]func() *C.cst_voice{
	"slt":   func() *C.cst_voice { return C.register_cmu_us_slt(nil) },
	"rms":   func() *C.cst_voice { return C.register_cmu_us_rms(nil) },
	"awb":   func() *C.cst_voice { return C.register_cmu_us_awb(nil) },
	"kal16": func() *C.cst_voice { return C.register_cmu_us_kal16(nil) },
}

// A voice is one of flite. A process has one, and uses it from one goroutine at
// a time.
type voice struct{ v *C.cst_voice }

// piece is how many samples a voice makes before it hands them on: 20 ms.
const piece = audio.Samples

// openVoice returns the voice of that name, that fast.
func openVoice(name string, speed float64) (*voice, error) {
	register := voices[name]
	if register == nil {
		return nil, fmt.Errorf("there is no voice %q; choose one of %s", name, strings.Join(slices.Sorted(maps.Keys(voices)), ", "))
	}
	if !(speed >= slowest && speed <= fastest) {
		return nil, fmt.Errorf("the speed %g is not between %g and %g", speed, slowest, fastest)
	}
	C.flite_init()
	v := register()
	if v == nil {
		return nil, fmt.Errorf("the voice %q cannot be used", name)
	}
	C.prepare(v, C.float(1/speed))
	return &voice{v}, nil
}

// Beyond these nobody understands a word.
const slowest, fastest = 0.25, 4.0

// A speaker takes what a voice makes of a text: first where its words begin,
// then samples. The samples are the voice's. It returns false to stop.
type speaker struct {
	text  string
	words func([]wire.Mark) bool
	pcm   func([]int16) bool
	begun bool
}

// say speaks a text that holds no NUL. It returns when all was said or taken
// for enough.
func (v *voice) say(s *speaker) {
	text := C.CString(s.text)
	defer C.free(unsafe.Pointer(text))
	handle := cgo.NewHandle(s)
	defer handle.Delete()
	C.speak(v.v, text, C.uintptr_t(handle), piece)
}

//export spokenChunk
func spokenChunk(handle C.uintptr_t, u *C.cst_utterance, pcm *C.short, n C.int) C.int {
	s := cgo.Handle(handle).Value().(*speaker)
	if !s.begun {
		s.begun = true
		if !s.words(marks(s.text, u)) {
			return C.CST_AUDIO_STREAM_STOP
		}
	}
	if n > 0 && !s.pcm(unsafe.Slice((*int16)(unsafe.Pointer(pcm)), int(n))) {
		return C.CST_AUDIO_STREAM_STOP
	}
	return C.CST_AUDIO_STREAM_CONT
}

// marks finds where the words of u stand in its text, which the voice does not
// tell: its tokens are pieces of the text, in order. A token of several words,
// such as a number, is marked at its first.
func marks(text string, u *C.cst_utterance) (marks []wire.Mark) {
	var last *C.cst_item
	at := 0
	for w := C.first_word(u); w != nil; w = C.item_next(w) {
		t := C.token_of(w)
		if t == nil || t == last {
			continue
		}
		last = t
		name := C.GoString(C.name_of(t))
		i := strings.Index(text[at:], name)
		if i < 0 || name == "" {
			continue
		}
		m := wire.Mark{Byte: uint32(at + i), Sample: uint32(max(0, float64(C.begins(w))*audio.Rate))}
		if n := len(marks); n > 0 {
			m.Sample = max(m.Sample, marks[n-1].Sample)
		}
		marks = append(marks, m)
		at += i + len(name)
	}
	return marks
}

// pronounce returns how the voices would say a word, in the sounds that the
// recogniser knows, or "".
func pronounce(word string) string {
	w := C.CString(strings.ToLower(word))
	defer C.free(unsafe.Pointer(w))
	C.flite_init()
	phones := C.lex_lookup(C.cmu_lex_init(), w, nil, nil)
	defer C.delete_val(phones)
	var sounds []string
	for v := phones; v != nil; v = (*C.cst_val)(unsafe.Pointer(C.val_cdr(v))) {
		sound := strings.ToUpper(strings.TrimRight(C.GoString(C.phone(v)), "012"))
		if sound == "AX" { // the one vowel that the dictionary writes otherwise
			sound = "AH"
		}
		sounds = append(sounds, sound)
	}
	return strings.Join(sounds, " ")
}
