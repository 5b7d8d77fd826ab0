//go:build cgo

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"earshot/internal/helper"
)

// An espeak finds out how words are pronounced, by the program espeak-ng. That is a program of its
// own also because of its licence. It takes 10 ms to read its own files, so one always waits for words
// that has done so; it ends when its input does, which is at the latest when this process ends.
type espeak struct {
	voice string // such as en-us
	tied  bool   // sounds of two letters have a ^ between them
	next  *speller
}

// A speller is one run of the program.
type speller struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	out, errs bytes.Buffer
}

// spells is how long it may take for a sentence; it needs a few milliseconds.
const spells = 5 * time.Second

// spell fills in how the clauses of s sound, and how many sounds each word has.
func (e *espeak) spell(ctx context.Context, s *sentence) error {
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
func (e *espeak) run(ctx context.Context, lines []string) ([]string, error) {
	if e.next == nil {
		if err := e.start(); err != nil {
			return nil, err
		}
	}
	s := e.next
	ctx, stop := context.WithTimeout(ctx, spells)
	defer stop()
	defer context.AfterFunc(ctx, func() { s.cmd.Process.Kill() })()
	for _, l := range lines {
		io.WriteString(s.in, plain(l)+"\n") // if that fails, the program says why
	}
	s.in.Close()
	err := s.cmd.Wait()
	if e.next = nil; ctx.Err() == nil {
		e.start() // if that fails, the next words find out
	}
	if err != nil {
		return nil, fmt.Errorf("espeak-ng, which says how words sound: %w %.100s", err, strings.TrimSpace(s.errs.String()))
	}
	spelt := strings.Split(strings.TrimSuffix(s.out.String(), "\n"), "\n")
	if len(spelt) != len(lines) {
		return nil, fmt.Errorf("espeak-ng, which says how words sound, answers with %d lines to %d", len(spelt), len(lines))
	}
	for i, s := range spelt {
		spelt[i] = strings.TrimSpace(s)
	}
	return spelt, nil
}

// start starts the program for the next words.
func (e *espeak) start() (err error) {
	args := []string{"-q", "--ipa", "-v", e.voice, "-l", "10000", "--stdin"} // each line shorter than that is a clause
	if e.tied {
		args = append(args, "--tie=^")
	}
	s := &speller{cmd: exec.Command("espeak-ng", args...)}
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.errs
	if s.in, err = s.cmd.StdinPipe(); err == nil {
		err = s.cmd.Start()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return helper.Fault{Text: "the voice needs the program espeak-ng, which is not installed", Cure: "sudo apt-get install espeak-ng", Lasting: true}.Err()
	}
	if err == nil {
		e.next = s
	}
	return err
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
