package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"earshot/internal/atomicfile"
)

// A KeyValue is a key of the configuration and its new value: a string, a number or a bool.
type KeyValue struct {
	Key   string
	Value any
}

// Edit writes keys into a file, the first one last, if the result is accepted. If the file cannot
// be changed, the error says what to write into it.
func Edit(file string, sets []KeyValue, accepts func(*Config) error) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, set := range sets {
		if err == nil {
			text, err = Set(text, set.Key, set.Value)
		}
	}
	var c *Config
	if err == nil {
		c, err = Parse(file, text, os.Environ())
	}
	if err == nil {
		if no := accepts(c); no != nil {
			return no
		}
		err = rewrite(file, text)
	}
	if err == nil {
		return nil
	}
	var lines []string
	for _, set := range sets {
		lines = append(lines, fmt.Sprintf("%s: %v", set.Key, set.Value))
	}
	return fmt.Errorf("%s was not changed: %w\n  → write this into it: %s", ShortPath(file), err, strings.Join(lines, ", and "))
}

// rewrite puts text into a file, whole or not at all. A link stays one, and whose the file
// is, and who may read it, stays too.
func rewrite(file string, text []byte) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	about, _ := os.Stat(file) // nil if there is none
	if err := atomicfile.Write(file, text); err != nil || about == nil {
		return err
	}
	if of, ok := about.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		if err := os.Chown(file, int(of.Uid), int(of.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(file, about.Mode().Perm())
}
