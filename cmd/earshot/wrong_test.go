package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWrongConfiguration: a mistake in the configuration does not lock anybody out of a running
// earshot. Each command reports it once, and the daemon itself does not start with it.
func TestWrongConfiguration(t *testing.T) {
	h := newHome(t)
	h.scripted("reply: Good day.\n")
	d := h.daemon()
	if r := h.earshot(nil, "say", "the kettle boils"); r.code != success || r.err != "" {
		t.Fatalf("%+v", r)
	}
	journal := "store: {directory: " + filepath.Join(h.dir, "elsewhere") + "}\n"
	for _, tt := range []struct {
		name, text, says string
		socket           bool // the file leaves open which socket is meant
	}{
		{"a misspelt key", journal + "executive: {nmae: Bob}\n", `executive.nmae: is not a key; did you mean "name"?`, false},
		{"no YAML", "executive:\n\tname: Bob\n", "is not YAML", true},
		{"out of range", journal + "executive: {streaming: {buffer_size: 0}}\n", "must be from 1 to 4096", false},
		{"no socket", "server: {socket: here}\n", "must be an absolute path", true},
		{"a folder", "", "is a directory", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(h.dir, "config/earshot/config.yaml")
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
			if tt.text == "" {
				if err := os.MkdirAll(file, 0o700); err != nil {
					t.Fatal(err)
				}
			} else {
				h.write("config/earshot/config.yaml", tt.text)
			}
			for _, c := range []struct{ args, says string }{
				{"status", "The room is live"}, {"who", "The room is live"}, {"history", "the kettle boils"}, {"search kettle", "kettle"},
				{"why", "I answered"}, {"context", ""}, {"think", ""}, {"agents", "Earshot"}, {"say hello", "Good day."}, {"service status", "earshot"}, {"run", ""}, {"today", " of model time"},
			} {
				r := h.earshot(nil, strings.Fields(c.args)...)
				if r.code != success || !strings.Contains(r.out, c.says) {
					t.Errorf("%s ended with %d:\n%s%s", c.args, r.code, r.out, r.err)
				}
				if n := strings.Count(r.err, tt.says); n != 1 || strings.Contains(r.err, "EARSHOT_SERVER_SOCKET") != tt.socket {
					t.Errorf("%s tells %d times what is wrong:\n%s", c.args, n, r.err)
				}
			}
			for _, refused := range []string{"check", "export -"} {
				if r := h.earshot(nil, strings.Fields(refused)...); r.code != misused || !strings.Contains(r.err, tt.says) {
					t.Errorf("%s ended with %d:\n%s%s", refused, r.code, r.out, r.err)
				}
			}
			r := h.earshot(nil, "models", "list")
			unread := !strings.Contains(tt.text, "{") // nothing in the file can be read
			if unread && (r.code != misused || strings.Count(r.out+r.err, tt.says) != 1 || !strings.HasSuffix(r.err, "\n  → earshot check\n")) {
				t.Errorf("models list ended with %d:\n%s%s", r.code, r.out, r.err)
			}
			r = h.earshot(nil, "doctor")
			if strings.Contains(r.out, "– model          not checked") != unread || strings.Contains(r.out, "deepseek") {
				t.Errorf("doctor says of the model:\n%s", r.out)
			}
			if r.code != failed || !strings.Contains(r.out, tt.says) || !strings.Contains(r.out, "is running; its socket is") || r.err != "" {
				t.Errorf("doctor ended with %d:\n%s%s", r.code, r.out, r.err)
			}
		})
	}
	if r := h.earshot(nil, "today", "--days", "3"); r.code != misused || !strings.Contains(r.err, "for other days the configuration must be valid") {
		t.Errorf("today --days 3 ended with %d:\n%s%s", r.code, r.out, r.err)
	}
	d.end(syscall.SIGTERM)
	if r := h.earshot(nil, "run"); r.code != misused || !strings.Contains(r.err, "is a directory") {
		t.Errorf("where none runs run ended with %d:\n%s%s", r.code, r.out, r.err)
	}
	if r := h.earshot(nil, "today"); r.code != misused || !strings.Contains(r.err, "this command needs a valid configuration") {
		t.Errorf("where none runs today ended with %d:\n%s%s", r.code, r.out, r.err)
	}
	if r := h.earshot(nil, "history"); r.code != misused || !strings.Contains(r.err, "this command needs a valid configuration") {
		t.Errorf("where none runs history ended with %d:\n%s%s", r.code, r.out, r.err)
	}
}
