// Command phones makes what package language/phones knows: it finds out which letters of the words of
// the CMU Pronouncing Dictionary make which of their phones, and packs that into a tree in which every
// word that it has learnt from sounds as the dictionary says. go generate runs it.
//
// The same dictionary makes the same file, byte for byte.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"earshot/language/phones"
	"earshot/models"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "phones: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("phones", flag.ContinueOnError)
	to := flags.String("o", "english.gz", "the `file` to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	words, err := dictionary()
	if err != nil {
		return err
	}
	tree, err := grow(words)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if _, err := z.Write(tree); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(*to, b.Bytes(), 0o644)
}

// dictionary returns the words of the dictionary on this machine.
func dictionary() ([]word, error) {
	dir, err := models.Find(models.Dictionary)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, models.Dictionary.Files[0]))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}

// A word is how something is spelt and what it sounds like.
type word struct{ letters, phones string }

// arpabet has the one letter of each phone that the dictionary writes with two. The vowel of "her" is
// two phones, so that it is one away from those of "bar" and "for".
var arpabet = map[string]string{
	"AA": "a", "AE": "@", "AH": "A", "AO": "c", "AW": "W", "AY": "Y", "B": "b", "CH": "C", "D": "d", "DH": "D", "EH": "E", "ER": "Ar", "EY": "e",
	"F": "f", "G": "g", "HH": "h", "IH": "I", "IY": "i", "JH": "J", "K": "k", "L": "l", "M": "m", "N": "n", "NG": "G", "OW": "o", "OY": "O",
	"P": "p", "R": "r", "S": "s", "SH": "S", "T": "t", "TH": "T", "UH": "U", "UW": "u", "V": "v", "W": "w", "Y": "y", "Z": "z", "ZH": "Z",
}

// read returns the words of a dictionary that consist of letters, each with its first pronunciation.
func read(r io.Reader) (words []word, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		letters, sounds, _ := strings.Cut(lines.Text(), " ")
		if strings.Trim(letters, phones.Letters) != "" || strings.HasPrefix(letters, "'") || strings.HasSuffix(letters, "'") {
			continue // another pronunciation, or with a hyphen or dot
		}
		w := word{letters: letters}
		for p := range strings.FieldsSeq(sounds) {
			one, known := arpabet[p]
			if !known {
				return nil, fmt.Errorf("%q has the unknown phone %q", letters, p)
			}
			w.phones += one
		}
		if len(w.phones) <= phones.Most {
			words = append(words, w)
		}
	}
	return words, lines.Err()
}
