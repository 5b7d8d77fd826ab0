//go:build cgo

package main

/*
#include <stdlib.h>
#include <pocketsphinx.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// openPhrases returns a decoder that listens for phrases only, or nil if none of them has a
// pronunciation. It knows only their words: the whole dictionary would cost some fifty megabytes
// once more.
func openPhrases(words *decoder, phrases, in []string) (*decoder, error) {
	var list, dictionary strings.Builder
	known, listed := make(map[string]bool), make(map[string]bool) // words, phrases
	for _, phrase := range phrases {
		all := letters(phrase)
		sounds := words.sounds(all)
		if sounds == nil || listed[strings.Join(all, " ")] {
			continue
		}
		listed[strings.Join(all, " ")] = true
		n := 0
		for i, word := range all {
			n += len(strings.Fields(sounds[i]))
			if !known[word] {
				known[word] = true
				fmt.Fprintf(&dictionary, "%s %s\n", word, sounds[i])
			}
		}
		fmt.Fprintf(&list, "%s /%g/\n", strings.Join(all, " "), threshold(n))
	}
	if list.Len() == 0 {
		return nil, nil
	}
	var d *decoder
	err := inFile(dictionary.String(), func(path string) (err error) {
		d, err = openDecoder(path, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := inFile(list.String(), d.seek); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// sounds returns the pronunciations of some words, or nil if one has none.
func (d *decoder) sounds(words []string) (sounds []string) {
	for _, word := range words {
		s := d.pronunciation(word)
		if s == "" {
			s = pronounce(word)
		}
		if s == "" {
			return nil
		}
		sounds = append(sounds, s)
	}
	return sounds
}

// inFile has use read content from a file, as the library requires.
func inFile(content string, use func(path string) error) error {
	file, path, done, err := scratch()
	if err != nil {
		return fmt.Errorf("writing the phrases: %w", err)
	}
	defer done()
	if _, err := file.WriteString(content); err != nil {
		return fmt.Errorf("writing the phrases: %w", err)
	}
	return use(path)
}

// seek makes d listen for the phrases of a file.
func (d *decoder) seek(list string) error {
	path, search := C.CString(list), C.CString("seek")
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(search))
	if C.ps_set_kws(d.ps, search, path) != 0 || C.ps_set_search(d.ps, search) != 0 {
		return errors.New("the phrases cannot be searched for")
	}
	return d.try()
}

// threshold is how sure the recogniser must be of a phrase with a number of sounds. A smaller
// value finds more, and more wrongly; a longer phrase stands out more and may have a smaller one.
// With these, each of 48 sentences of four synthetic voices that contained a phrase was noticed,
// and none of 80 that contained none.
func threshold(sounds int) float64 {
	switch {
	case sounds <= 4: // "stop"
		return 1
	case sounds <= 6: // "earshot"
		return 1e-6
	case sounds <= 8: // "be quiet"
		return 1e-10
	}
	return 1e-20 // "stop talking"
}
