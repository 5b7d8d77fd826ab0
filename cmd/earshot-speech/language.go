//go:build cgo

package main

/*
#include <stdlib.h>
#include <pocketsphinx.h>

static ngram_model_t *read_language(ps_decoder_t *ps, const char *path) {
	return ngram_model_read(ps_get_config(ps), path, NGRAM_AUTO, ps_get_logmath(ps));
}
*/
import "C"

import (
	"fmt"
	"path/filepath"
	"strings"
	"unsafe"

	"earshot/models"
)

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

// hear makes d recognise general speech, with names more likely.
func (d *decoder) hear(names []string, in []string) error {
	dir, err := models.Find(models.Language, in...)
	if err != nil {
		return err
	}
	defer reading(models.Language)()
	path, search := C.CString(filepath.Join(dir, "en-us.lm.bin")), C.CString("hear")
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(search))
	language := C.read_language(d.ps, path)
	if language == nil {
		return &brokenError{models.Language}
	}
	defer C.ngram_model_free(language) // the decoder holds its own reference
	known := make(map[string]bool)     // the library refuses duplicates
	for _, name := range names {
		if word := token(name); !known[word] {
			known[word] = true
			if err := d.expect(language, name); err != nil {
				return err
			}
		}
	}
	if C.ps_set_lm(d.ps, search, language) != 0 || C.ps_set_search(d.ps, search) != 0 {
		return &brokenError{models.Language}
	}
	return d.try()
}

// boost is how much likelier than the average word a name is. At 1, 29 of 32 names that synthetic
// voices called were recognised, at 30 31, and no sentence without the name was recognised
// differently than before.
const boost = 30

// expect makes name, in each of its pronunciations, likelier than the average word. In the
// language model most names are all but impossible: 14 of 32 were recognised.
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

// ways returns the pronunciations of a name of one or more words: that of the dictionary, and that
// of the voices.
func (d *decoder) ways(name string) (ways []string) {
	var known, said []string
	complete := len(letters(name)) > 0
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
