package main

import (
	"strings"
	"testing"
)

// TestTabAndSearch: at the daemon's terminal and at an attached one, Tab completes what this person
// may know, and ^R finds what they have sent in public, also before a restart. It never finds what
// was private or off the record.
func TestTabAndSearch(t *testing.T) {
	t.Parallel()
	h := newCompany(t)
	at := func(w *window, keys, want string) {
		t.Helper()
		w.types(keys)
		w.await(strings.TrimSpace(want), 1)
		w.types("\x03") // clears the line
	}
	before := h.begin("run", "--identity", "Ann")
	before.await(">", 1)
	for _, line := range []string{"Bob, the harbour is frozen", "/msg Bob the harbour at night", "/offrecord", "the harbour off the record", "/resume", "the last of yesterday"} {
		before.says(line)
		before.await("> "+line, 1)
		if strings.HasPrefix(line, "/") {
			before.await(map[string]string{"/msg Bob the harbour at night": "(private)", "/offrecord": "off the record from now on", "/resume": "live from now on"}[line], 1)
		}
	}
	before.await("My name is Earshot.", 0)
	before.types("\x04")
	if code := before.ended(); code != success {
		t.Fatalf("it ends with %d", code)
	}

	own := h.begin("run")
	own.await("Who are you?", 1)
	own.types("1\r") // the operator
	own.await(">", 1)
	ann := h.begin("chat", "--identity", "Ann")
	ann.await(">", 1)
	own.await("Ann has joined", 1)
	at(own, "/ren\t", "> /rename ")
	at(own, "@an\t", "> @Ann ")
	at(ann, "/offr\t", "> /offrecord ")
	at(ann, "@ear\t", "> @Earshot ")
	at(ann, "\x12harb", "(search: harb) Bob, the harbour is frozen")
	at(ann, "\x12night", "(search: night) ")
	at(ann, "\x12off the", "(search: off the) ")
	at(own, "\x12frozen", "(search: frozen) ") // sent by Ann, so not found here
	for _, w := range []*window{own, ann} {
		shown := w.still()
		for _, never := range []string{"(search: night) the", "(search: off the) the", "(search: frozen) Bob", "(search: harb) the"} {
			if strings.Contains(shown, never) {
				t.Errorf("%q is shown:\n%s", never, shown)
			}
		}
	}
	ann.types("/ren\t") // a command for operators only
	ann.await("> /ren", 1)
	ann.types("x\x7f")
	if shown := ann.still(); strings.Contains(shown, "/rename") {
		t.Errorf("Ann is offered what she may not do:\n%s", shown)
	}
	ann.types("\x03\x12frozen")
	ann.await("(search: frozen) Bob, the harbour is frozen", 1)
	ann.types("\r")
	own.await("Ann: Bob, the harbour is frozen", 1)
}
