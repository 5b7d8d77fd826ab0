package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot/internal/helper"
	"earshot/internal/testkit"
)

// hanging returns an environment in which every helper hangs from the start, next to a process that
// it has started and that ignores requests to end. All of these processes have trace in their
// environment.
func hanging(t *testing.T, trace string) []string {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\nLC_TRACE=" + trace + "; export LC_TRACE\ntrap '' TERM INT HUP PIPE\nsetsid sleep 600 &\nsleep 600\n"
	for _, name := range []string{helper.SoundProgram, helper.SpeechProgram, helper.CameraProgram} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return []string{
		"PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"EARSHOT_PROVIDERS_MICROPHONE_ENABLED=true", "EARSHOT_OUTLETS_LOUDSPEAKER_ENABLED=true",
		"EARSHOT_PROVIDERS_WEBCAM_ENABLED=true",
	}
}

// traced returns how many processes have trace in their environment.
func traced(t *testing.T, trace string) (n int) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, environ := range environs {
		if b, err := os.ReadFile(environ); err == nil && strings.Contains(string(b), "LC_TRACE="+trace+"\x00") {
			n++
		}
	}
	return n
}

// TestHelpersHang: if every helper hangs, the daemon answers while the start still waits for them,
// ends as usual, and takes the processes that the helpers have started with it.
func TestHelpersHang(t *testing.T) {
	t.Parallel()
	trace := filepath.Base(t.TempDir()) + filepath.Base(filepath.Dir(t.TempDir()))
	g := &gallery{home: newHome(t, hanging(t, trace)...)}
	g.watches(g.write("before", ""))
	g.scripted(teller)
	h := g.home
	began := time.Now()
	d := h.daemon() // returns once the socket answers
	answered := time.Since(began)
	runs := func() bool { return strings.Contains(h.read("state/earshot/earshot.log"), "earshot runs") }
	if runs() {
		t.Errorf("nobody was answered before the start had waited for every helper, after %v", answered)
	}
	if _, err := h.client().Post(t.Context(), "", "tell me a story"); err != nil {
		t.Error(err)
	}
	testkit.Await(t, soon, "what the start has found out", runs)
	settled := time.Since(began)
	testkit.Await(t, soon, "the helpers to be started again", func() bool { return traced(t, trace) > 0 })
	began = time.Now()
	d.ends(syscall.SIGTERM)
	t.Logf("it answered after %v, had looked at everything after %v, and ended within %v", answered, settled, time.Since(began))
	if code := d.ProcessState.ExitCode(); code != success {
		t.Errorf("it ended with %d:\n%s", code, d.out.String())
	}
	if said := d.out.String(); strings.Count(said, "has not answered yet") != 3 {
		t.Errorf("of three senses that hang it says\n%s", said)
	}
	testkit.Await(t, soon, "what the helpers have started to be gone", func() bool { return traced(t, trace) == 0 })
}

// TestEndsWhileHelpersHang: a daemon that still waits for hanging helpers at its start can be ended
// without waiting for them.
func TestEndsWhileHelpersHang(t *testing.T) {
	t.Parallel()
	trace := filepath.Base(t.TempDir()) + filepath.Base(filepath.Dir(t.TempDir()))
	g := &gallery{home: newHome(t, hanging(t, trace)...)}
	g.watches(g.write("before", ""))
	g.scripted(teller)
	d := g.daemon()
	d.ends(syscall.SIGTERM)
	if code := d.ProcessState.ExitCode(); code != success {
		t.Errorf("it ended with %d:\n%s", code, d.out.String())
	}
	testkit.Await(t, soon, "what the helpers have started to be gone", func() bool { return traced(t, trace) == 0 })
}
