//go:build cgo

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
	"unicode"
)

// An espeak finds out how words are pronounced, by the program espeak-ng. That is a program of its
// own also because of its licence.
type espeak struct {
	voice string // such as en-us
	tied  bool   // sounds of two letters have a ^ between them
}

// spells is how long the program may take; it needs some 20 ms.
const spells = 5 * time.Second

// A spellerError says that espeak-ng is not there. It is an [errors.ErrUnsupported].
type spellerError struct{}

// Error says so.
func (spellerError) Error() string {
	return "the voice needs the program espeak-ng, which is not installed"
}

// Cure says how to mend it.
func (spellerError) Cure() string { return "sudo apt-get install espeak-ng" }

// Is reports that the error is lasting.
func (spellerError) Is(target error) bool { return target == errors.ErrUnsupported }

// spell fills in how the clauses of s sound, and how many sounds each word has.
func (e espeak) spell(ctx context.Context, s *sentence) error {
	var lines []string
	for _, c := range s.clauses {
		lines = append(lines, c.text)
	}
	for _, w := range s.words { // by itself: in a clause, small words run together
		lines = append(lines, w.text)
	}
	spelt, err := e.run(ctx, lines)
	if err != nil {
		return err
	}
	for i := range s.clauses {
		s.clauses[i].phonemes = spelt[i]
	}
	for i := range s.words {
		s.words[i].sounds = 0
		for _, r := range spelt[len(s.clauses)+i] {
			if unicode.IsLetter(r) && !unicode.Is(unicode.Lm, r) { // no sign of stress or length
				s.words[i].sounds++
			}
		}
	}
	return nil
}

// run has each line spelt.
func (e espeak) run(ctx context.Context, lines []string) ([]string, error) {
	ctx, stop := context.WithTimeout(ctx, spells)
	defer stop()
	args := []string{"-q", "--ipa", "-v", e.voice, "-l", "10000", "--stdin"} // each line shorter than that is a clause
	if e.tied {
		args = append(args, "--tie=^")
	}
	cmd := exec.CommandContext(ctx, "espeak-ng", args...)
	var in, out, errs bytes.Buffer
	for _, l := range lines {
		in.WriteString(plain(l) + "\n")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &errs
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, spellerError{}
	case err != nil:
		return nil, fmt.Errorf("espeak-ng, which says how words sound: %w %.100s", err, strings.TrimSpace(errs.String()))
	}
	spelt := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(spelt) != len(lines) {
		return nil, fmt.Errorf("espeak-ng, which says how words sound, answers with %d lines to %d", len(spelt), len(lines))
	}
	for i, s := range spelt {
		spelt[i] = strings.TrimSpace(s)
	}
	return spelt, nil
}

// plain returns words without what the program takes for the end of a clause or for markup.
func plain(words string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("'-", r) {
			return r
		}
		return ' '
	}, words)
}
