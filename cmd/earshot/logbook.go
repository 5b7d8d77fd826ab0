package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"earshot/config"
	"earshot/internal/redact"
)

// A logbook is where the daemon writes down what befalls it. It can be moved, and made
// more or less talkative, while it is written in.
type logbook struct {
	standard *os.File
	level    slog.LevelVar

	mu   sync.Mutex
	file *os.File
}

// openLog opens the log that cfg names. What people say cannot get into it.
func openLog(cfg config.Log, standard *os.File) (*slog.Logger, *logbook, error) {
	b := &logbook{standard: standard}
	move, err := b.to(cfg)
	if err != nil {
		return nil, nil, err
	}
	move()
	h := redact.Handler{Next: slog.NewTextHandler(b, &slog.HandlerOptions{Level: &b.level})}
	return slog.New(h), b, nil
}

// to opens what cfg names, and returns what makes it the log. Until then nothing has
// changed.
func (b *logbook) to(cfg config.Log) (move func(), err error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Level)); err != nil {
		return nil, fmt.Errorf("log.level: %w", err)
	}
	file := b.standard
	if cfg.File != "-" {
		if err := os.MkdirAll(filepath.Dir(cfg.File), 0o700); err != nil {
			return nil, fmt.Errorf("making the place of the log: %w", err)
		}
		if file, err = os.OpenFile(cfg.File, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return nil, fmt.Errorf("opening the log: %w", err)
		}
	}
	return func() {
		b.level.Set(level)
		b.mu.Lock()
		defer b.mu.Unlock()
		_ = b.leave()
		b.file = file
	}, nil
}

// Write implements [io.Writer].
func (b *logbook) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.file.Write(line)
}

// leave closes the file. The mutex is held.
func (b *logbook) leave() error {
	if b.file == nil || b.file == b.standard {
		return nil
	}
	return b.file.Close()
}

// Close closes it. Nothing is written afterwards.
func (b *logbook) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.leave()
}
