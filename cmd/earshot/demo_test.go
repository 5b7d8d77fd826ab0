package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"earshot/internal/picture"
)

// TestDemoOnATerminal records the demonstration as somebody sees it who types the command into a
// shell: a reply that grows, is cut off, and what was not heard of it. With EARSHOT_PICTURES it
// makes the animation for the documentation, in real time; see make pictures.
func TestDemoOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	m := h.tmux()
	line := "earshot demo"
	if h.pictures() == "" {
		line += " --speed 4"
	}
	const columns, rows = 92, 26
	frames := m.record(columns, rows, line, "To talk to it yourself")

	var all strings.Builder
	for _, f := range frames {
		all.WriteString(f.Screen)
	}
	seen := strings.Join(strings.Fields(ansi.Strip(all.String())), " ") // line breaks depend on how much was heard
	for _, want := range []string{"$ earshot demo", "> tell me about the tides", "(cut off after", "not heard:"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q was never seen", want)
		}
	}
	svg := picture.Animation(frames, columns, rows, 6*time.Second,
		"earshot demo: a reply is streamed, somebody begins to type and cuts it off, and the journal says what was not heard")
	if len(svg) > 300_000 {
		t.Errorf("the picture has %d bytes", len(svg))
	}
	if dir := h.pictures(); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "demo.svg"), []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// record types line into a shell on a screen of the given size, and returns the frames until the
// shell prompts again below the text until.
func (m *multiplexer) record(columns, rows int, line, until string) (frames []picture.Frame) {
	m.t.Helper()
	m.do("new-session", "-d", "-s", "it", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), "env", "PS1=$ ", "sh")
	m.do("set-option", "-g", "status", "off")
	m.resize(columns, rows)
	m.shows("$")
	tick := time.NewTicker(60 * time.Millisecond) // the pace of somebody who knows the command
	defer tick.Stop()
	begin := time.Now()
	for keys := []rune(line + "\r"); ; <-tick.C {
		f := m.frame()
		f.At = time.Since(begin).Round(10 * time.Millisecond)
		if n := len(frames); n == 0 || frames[n-1].Screen != f.Screen || frames[n-1].Row != f.Row || frames[n-1].Column != f.Column {
			frames = append(frames, f)
		}
		if _, after, ok := strings.Cut(ansi.Strip(f.Screen), until); ok && strings.Contains(after, "\n$") {
			return frames
		}
		if time.Since(begin) > soon {
			m.t.Fatalf("the screen never says %q:\n%s", until, m.screen())
		}
		if len(keys) > 0 {
			m.types(string(keys[:1]))
			keys = keys[1:]
		}
	}
}

// frame returns the current screen with the cursor.
func (m *multiplexer) frame() (f picture.Frame) {
	m.t.Helper()
	where, screen, _ := strings.Cut(m.do("display-message", "-p", "-t", "it", "#{cursor_y} #{cursor_x} #{cursor_flag}", ";", "capture-pane", "-e", "-p", "-t", "it"), "\n")
	var seen int
	if _, err := fmt.Sscan(where, &f.Row, &f.Column, &seen); err != nil {
		m.t.Fatalf("the cursor is at %q: %v", where, err)
	}
	if seen == 0 {
		f.Column = -1
	}
	f.Screen = screen
	return f
}
