package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/testkit"
	"earshot/providers"
	"earshot/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A screen is what was printed. It may be used from many goroutines.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// add adds a text to a file.
func add(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestEmbed: a program that embeds the daemon answers by its own sense and its own outlet.
func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "talk.txt")
	script := filepath.Join(dir, "model.yaml")
	add(t, script, "reply: At noon.\n")
	add(t, filepath.Join(dir, "earshot.yaml"), fmt.Sprintf("store:\n  directory: %s/journal\nexecutive:\n  llm: {provider: script, script: %s}\n", dir, script))
	t.Setenv("EARSHOT_CONFIG", filepath.Join(dir, "earshot.yaml"))
	add(t, path, "this is old\n")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out screen
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, path, &out) }()
	var asked time.Time
	testkit.Await(t, testkit.Patience, "an answer", func() bool {
		if time.Since(asked) > time.Second { // what is added before it follows the file is old
			add(t, path, "when is high tide?\n")
			asked = time.Now()
		}
		return strings.Contains(out.String(), "Earshot: At noon.\n")
	})
	if strings.Contains(out.String(), "old") {
		t.Errorf("it printed %q", out.String())
	}
	stop()
	if err := testkit.Receive(t, testkit.Patience, "the end of the program", ended); err != nil {
		t.Error(err)
	}
}

// TestGrowingFile: it is a provider as all are.
func TestGrowingFile(t *testing.T) {
	providertest.Run(t, func(t *testing.T) providers.Provider {
		path := filepath.Join(t.TempDir(), "talk.txt")
		f := newGrowingFile(path, earshot.Handle{Provider: "file", ID: "1"})
		add(t, path, "one\ntwo\n")
		return f
	})
}

// TestLines: a line comes whole, in however many pieces; empty ones and those that are too long
// do not.
func TestLines(t *testing.T) {
	for _, tt := range []struct {
		pieces []string
		want   []string
	}{
		{[]string{"one\ntwo\n"}, []string{"one", "two"}},
		{[]string{"o", "ne", "\n", "two"}, []string{"one"}},
		{[]string{"\n \n", "one\r\n"}, []string{"one"}},
		{[]string{strings.Repeat("a", earshot.MaxText), "a\none\n"}, []string{"one"}},
		{[]string{"\xff\n"}, []string{"?"}},
	} {
		var f growingFile
		var got []string
		for _, piece := range tt.pieces {
			for part := range strings.SplitAfterSeq(piece, "\n") {
				if text := f.add([]byte(part)); text != "" {
					got = append(got, text)
				}
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%.20q: %q, want %q", tt.pieces, got, tt.want)
		}
	}
}
