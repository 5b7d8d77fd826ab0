package main

import (
	"context"
	"io"
	"sync"

	"earshot"
)

// A printer is the outlet of whatever can be written to. What is written was heard.
type printer struct{ w io.Writer }

// Name implements [earshot.Outlet].
func (printer) Name() string { return "printer" }

// Open implements [earshot.Outlet].
func (p printer) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	s := &speech{w: p.w, heard: heard}
	s.unhook = context.AfterFunc(ctx, s.Finish)
	return s, s.write(o.Name + ": ")
}

// A speech is one reply.
type speech struct {
	w      io.Writer
	heard  func(earshot.Heard)
	unhook func() bool

	mu   sync.Mutex
	last earshot.Heard // how far it was written
	over bool
}

func (s *speech) write(text string) error {
	_, err := io.WriteString(s.w, text)
	return err
}

// Say implements [earshot.Speaking].
func (s *speech) Say(c earshot.Clause) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil
	}
	if err := s.write(string(c.Text)); err != nil {
		return err
	}
	s.last = earshot.Heard{Clause: c.N, Byte: len(c.Text)}
	s.heard(s.last)
	return nil
}

// Do implements [earshot.Speaking]. It has no voice to lower, and does not wait.
func (s *speech) Do(c earshot.Control) {
	if c == earshot.Cut {
		s.Finish()
	}
}

// Finish implements [earshot.Speaking].
func (s *speech) Finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	s.over = true
	s.unhook()
	_ = s.write("\n") // if it cannot be written, Say has said so
	s.last.End = true
	s.heard(s.last)
}
