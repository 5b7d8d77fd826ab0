package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot/api"
	"earshot/config"
	"earshot/internal/usage"
)

// TestToday: the usage of the day can be read while earshot runs and afterwards. The first start
// says that earshot thinks unasked and which key turns that off, and that key does.
func TestToday(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.scripted("reply: Hello there.\n")
	const warns = "It also thinks unasked"
	if got := h.earshot(nil, "today"); got.code != 0 || !strings.HasSuffix(got.out, "  no model was used\n") {
		t.Errorf("before the first start it prints %q, complaints %q", got.out, got.err)
	}
	got := h.earshot(nil, "forget", "Ann")
	if _, err := os.Stat(filepath.Join(h.dir, "state/earshot/journal/earshot.db")); got.code == success || err != nil {
		t.Errorf("of an empty journal %+v was forgotten, or there is none: %v", got, err)
	}
	w := h.open("run")
	w.await(warns, 1)
	w.says("hello")
	w.await("Earshot: Hello there.", 1)
	w.says("/today")
	w.await("Today: 1 reply, 0 thoughts, ", 1)
	for _, args := range [][]string{{"status"}, {"today"}, {"today", "--days", "7"}} {
		if got := h.earshot(nil, args...); got.code != 0 || !strings.Contains(got.out, " 1 reply, 0 thoughts, ") {
			t.Errorf("%q prints %q, complaints %q", args, got.out, got.err)
		}
	}
	w.says("/exit")
	w.ended()
	var day api.UsageDay
	if got := h.earshot(nil, "today", "--json"); json.Unmarshal([]byte(got.out), &day) != nil || usage.Sum(day, nil).Made != 1 || day.Lines[0].Engine != "script" {
		t.Errorf("afterwards it prints %q, complaints %q", got.out, got.err)
	}
	if got := h.earshot(nil, "today", "--days", "0"); got.code != misused || got.err == "" {
		t.Errorf("of no days it prints %q, complaints %q, and exits with %d", got.out, got.err, got.code)
	}
	told, _, _ := strings.Cut(w.text()[strings.Index(w.text(), "set executive."):], " to false in ~/config/earshot/config.yaml")
	if strings.Join(strings.Fields(told), " ") != "set executive.parallel.reasoning_continuous" {
		t.Errorf("it is turned off by %q", told)
	}
	h.write("config/earshot/config.yaml", "executive:\n  parallel:\n    reasoning_continuous: false\n")
	cfg, err := config.Load(filepath.Join(h.dir, "config/earshot/config.yaml"))
	if err != nil || cfg.Executive.ThinksUnasked() {
		t.Errorf("that does not turn it off: %v", err)
	}
	w = h.open("run")
	w.says("hello")
	w.await("Earshot: Hello there.", 1)
	if strings.Contains(w.text(), warns) {
		t.Error("it says so again")
	}
	w.says("/exit")
	w.ended()
}
