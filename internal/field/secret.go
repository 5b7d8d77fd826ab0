package field

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// hidden stands wherever a secret would.
const hidden = "[secret]"

// mostSecret is the longest secret that is read from a file, in bytes. Keys
// are some dozens; a private key in text form is a few thousand.
const mostSecret = 16 << 10

// A Secret is a key or a password. Printed, logged or encoded it is only
// "[secret]"; an empty one, which tells nobody anything, is empty.
//
// In a file it stands as itself, or as a reference, so that the file may be
// shown to others: "env:NAME" is the environment variable of that name, and
// "file:/a/path" the first line of that file. Both are read once, when the
// configuration is.
type Secret string

// Reveal returns the secret itself, for the one place that sends it.
func (s Secret) Reveal() string { return string(s) }

// String returns a placeholder for s.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format prints the placeholder for s, for every verb.
func (s Secret) Format(f fmt.State, verb rune) { io.WriteString(f, s.String()) }

// LogValue logs the placeholder for s.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText encodes the placeholder for s, in JSON, YAML and every other text encoding.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a secret or follows a reference to one. Its errors name
// the reference, never what it led to.
func (s *Secret) UnmarshalText(text []byte) error {
	found, err := resolve(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	if strings.ContainsFunc(found, unprintable) || !utf8.ValidString(found) {
		return errors.New("has a character in it that a key cannot have")
	}
	*s = Secret(found)
	return nil
}

// resolve returns what a value in the file stands for.
func resolve(value string) (string, error) {
	if name, ok := strings.CutPrefix(value, "env:"); ok {
		return fromEnvironment(name)
	}
	if path, ok := strings.CutPrefix(value, "file:"); ok {
		return fromFile(path)
	}
	if value == hidden {
		return "", errors.New("is \"[secret]\", which stands for a key that was left out; write the key, env:NAME or file:/PATH")
	}
	return value, nil
}

func fromEnvironment(name string) (string, error) {
	value := strings.TrimSpace(os.Getenv(name))
	if value == "" {
		return "", fmt.Errorf("refers to the environment variable %q, which is not set", name)
	}
	return value, nil
}

func fromFile(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("refers to the file %q; the path must be absolute", path)
	}
	if about, err := os.Stat(path); err == nil && !about.Mode().IsRegular() {
		return "", fmt.Errorf("refers to %q, which is not a file", path) // a pipe would be waited for
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("refers to a file that cannot be read: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostSecret+1))
	if err != nil {
		return "", fmt.Errorf("refers to a file that cannot be read: %w", err)
	}
	line, _, _ := bytes.Cut(data, []byte("\n"))
	line = bytes.TrimSpace(line)
	switch {
	case len(line) > mostSecret:
		return "", fmt.Errorf("refers to the file %q, whose first line is longer than %d bytes", path, mostSecret)
	case len(line) == 0:
		return "", fmt.Errorf("refers to the file %q, whose first line is empty", path)
	}
	return string(line), nil
}

// unprintable reports whether r cannot stand in a key: it would end a header
// line or vanish from sight.
func unprintable(r rune) bool { return r < ' ' || r == 0x7f }
