//go:build cgo

package main

import (
	"os"
	"strings"

	"earshot"
	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/wire"
)

// A recogniser turns sound into words. It may be used from many goroutines, each with utterances of
// its own.
type recogniser interface {
	begin() utterance
	ready() wire.ReadyHear
}

// An utterance is one that is being recognised, by one goroutine.
type utterance interface {
	// feed adds samples, and may keep none of them.
	feed(pcm []float32)

	// text returns the words so far, and how many samples they are based on.
	text() (words string, heard int)

	// finish returns all words, and how sure they are, from 0 to 1.
	finish() (words string, confidence float64)

	close()
}

// openRecogniser loads a set of models that recognise. A file that is not what it should be can end
// the process.
func openRecogniser(dir, language string) (recogniser, error) {
	set, err := openSet(dir)
	if err != nil {
		return nil, err
	}
	switch set.Role {
	case catalog.Hear:
		return openStreaming(set)
	case catalog.Correct:
		return openWhole(set, language)
	}
	return nil, neural.Unfit(set.Name, "it is no recogniser")
}

// openSet reads the description of a set, whose files are all there.
func openSet(dir string) (catalog.Installed, error) {
	set, err := catalog.Open(dir)
	if err != nil {
		return set, err
	}
	for part := range set.Files {
		if about, err := os.Stat(set.File(part)); err != nil || about.IsDir() {
			return set, neural.Unfit(set.Name, "its file %s is missing", set.Files[part].Path)
		}
	}
	return set, nil
}

// hasParts returns an error if a set lacks a part that its loader needs.
func hasParts(set catalog.Installed, parts ...string) error {
	for _, part := range parts {
		if set.File(part) == "" {
			return neural.Unfit(set.Name, "a %s has a file %s, and its description names none", set.Kind, part)
		}
	}
	return nil
}

// tidy returns a text as it is shown. Some models know only capitals, which look like shouting.
func tidy(text string) earshot.Text {
	text = strings.TrimSpace(text)
	if text == strings.ToUpper(text) {
		text = strings.ToLower(text)
	}
	return earshot.Text(text[:min(len(text), earshot.MaxText)])
}
