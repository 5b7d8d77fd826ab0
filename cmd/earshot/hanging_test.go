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

// hanging returns the environment of an earshot all of whose helpers hang from the start,
// beside a process that each has started and that takes no notice of being asked to end. Trace
// is in the environment of all of them.
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

// traced returns how many processes have a trace in their environment.
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

// TestHelpersHang: where every helper hangs, whoever asks is answered while the start still waits
// for them, the end is as any other, and what they have started is gone with them.
func TestHelpersHang(t *testing.T) {
	t.Parallel()
	trace := filepath.Base(t.TempDir()) + filepath.Base(filepath.Dir(t.TempDir()))
	g := &gallery{home: newHome(t, hanging(t, trace)...)}
	g.watches(g.write("before", ""))
	g.scripted(teller)
	h := g.home
	began := time.Now()
	d := h.daemon() // returns when the socket answers
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

// TestEndsWhileHelpersHang: whoever ends the start that still waits for helpers does not wait
// with it.
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
