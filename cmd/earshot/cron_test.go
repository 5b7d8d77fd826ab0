package main

import (
	"strings"
	"testing"
)

// TestCron: from a shell one lists what is done by the clock, and hears what is wrong.
func TestCron(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("reply: Fine.\n")
	h.daemon()
	if r := h.earshot(nil, "cron"); r.code != success || !strings.HasPrefix(r.out, "There are no schedules") {
		t.Errorf("it lists %q, complaints %q", r.out, r.err)
	}
	if r := h.earshot(nil, "cron", "add", "now", "and", "then", "go"); r.code == success || !strings.Contains(r.err, "that does not say how often") {
		t.Errorf("what is no time gives %d, %q", r.code, r.err)
	}
	if r := h.earshot(nil, "cron", "remove", "7"); r.code == success || !strings.Contains(r.err, "there is no such schedule") {
		t.Errorf("what is not there gives %d, %q", r.code, r.err)
	}
}
