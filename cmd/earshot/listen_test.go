package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/executive/reason"
	"earshot/internal/testkit"
)

// mode asks the daemon in h for the mode of the desk.
func (h *home) mode() earshot.Mode {
	h.t.Helper()
	s, err := h.client().State(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return s.Mode
}

// TestListen: a muted room is live while earshot listen runs, and muted again once it has ended,
// however it ends.
func TestListen(t *testing.T) {
	h := newHome(t, "EARSHOT_PROVIDERS_MICROPHONE_ENABLED=true")
	h.daemon("--no-voice") // no voice, because there is no microphone here to look for
	if r := h.earshot(nil, "mute"); r.code != success {
		t.Fatalf("%+v", r)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, tt := range []struct {
		name string
		args []string
		end  func(p *os.Process, in *os.File)
		code int
	}{
		{"terminated", nil, func(p *os.Process, _ *os.File) { p.Signal(syscall.SIGTERM) }, success},
		{"interrupted", nil, func(p *os.Process, _ *os.File) { p.Signal(os.Interrupt) }, success},
		{"killed", nil, func(p *os.Process, _ *os.File) { p.Kill() }, -1},
		{"standard input ends", nil, func(_ *os.Process, in *os.File) { in.Close() }, success},
		{"after a time", []string{"--seconds", "1"}, func(*os.Process, *os.File) {}, success},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			c := h.command(append([]string{"listen"}, tt.args...)...)
			if c.Stdin = r; tt.code == success && tt.name != "standard input ends" {
				c.Stdin = null // which stays open
			}
			var errs strings.Builder
			c.Stderr = &errs
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			testkit.Await(t, soon, "a room that is live", func() bool { return h.mode() == earshot.Live })
			tt.end(c.Process, w)
			defer c.Process.Kill() // if it hangs
			testkit.Finish(t, testkit.Patience, "the end of listen", func() { c.Wait() })
			if got := c.ProcessState.ExitCode(); got != tt.code {
				t.Errorf("it ended with %d: %s", got, errs.String())
			}
			testkit.Await(t, soon, "a room that is muted", func() bool { return h.mode() == earshot.Muted })
		})
	}
	h.earshot(nil, "pause")
	if r := h.earshot(nil, "listen", "--seconds", "1"); r.code != failed || !strings.Contains(r.err, "the room is paused; /resume ends that") {
		t.Errorf("paused: %+v", r)
	}
	h.earshot(nil, "resume")
	began := time.Now()
	if r := h.earshot(nil, "listen", "--seconds", "0.2"); r.code != success || h.mode() != earshot.Live {
		t.Errorf("live: %+v after %v", r, time.Since(began))
	}
	for _, seconds := range []string{"-1", "99999", "NaN", "soon"} {
		if r := h.earshot(nil, "listen", "--seconds="+seconds); r.code != misused {
			t.Errorf("--seconds=%s: %+v", seconds, r)
		}
	}
}

// TestListenWithoutAMicrophone: listen says what is missing: a daemon, permission for the
// microphone, or the microphone.
func TestListenWithoutAMicrophone(t *testing.T) {
	h := newHome(t)
	if r := h.earshot(nil, "listen"); r.code != notRunning {
		t.Errorf("%+v", r)
	}
	h.daemon()
	if r := h.earshot(nil, "listen"); r.code != failed || !strings.Contains(r.err, "providers.microphone.enabled") {
		t.Errorf("%+v", r)
	}
	h = newHome(t, "EARSHOT_PROVIDERS_MICROPHONE_ENABLED=true") // but there is none here
	h.daemon()
	if r := h.earshot(nil, "listen", "--seconds", "9"); r.code != failed || !strings.HasPrefix(r.err, "earshot: microphone: ") || !strings.Contains(r.err, "\n  → ") || strings.Contains(r.err, "I listen.") {
		t.Errorf("%+v", r)
	}
}

// TestAloudListen: what is said while the key is held is heard and answered, although it does not
// name the agent and the room is muted. Nothing is captured before and after.
func TestAloudListen(t *testing.T) {
	talks(t)
	p := newParlour(t)
	p.scripted("reply: It is warm and dry today.\n")
	p.wakes()
	captures := func(n int) func() bool {
		return func() bool {
			in, _, err := p.card.Streams()
			return err == nil && in == n
		}
	}
	if r := p.earshot(nil, "mute"); r.code != success {
		t.Fatalf("%+v", r)
	}
	testkit.Await(t, soon, "no capture", captures(0))
	replies := func() []earshot.Reply { return testkit.Bodies[earshot.Reply](p.journal()) }
	for round, end := range []func(c *exec.Cmd, in *os.File){
		func(_ *exec.Cmd, in *os.File) { in.Close() }, // released with the last word
		func(c *exec.Cmd, _ *os.File) { p.sounds(hush(1500)); c.Process.Kill() },
	} {
		before := len(replies())
		for range 3 { // a recogniser on a busy machine misses words, as people do
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			c := p.command("listen")
			c.Stdin = r
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			r.Close()
			testkit.Await(t, soon, "a capture", captures(1))
			p.sounds(hush(1000)) // until the microphone has settled
			p.sounds(bob.sound(t, "what is the weather like today"))
			end(c, w)
			defer c.Process.Kill() // if it hangs
			testkit.Finish(t, testkit.Patience, "the end of listen", func() { c.Wait() })
			w.Close()
			testkit.Await(t, soon, "no capture", captures(0))
			if p.mode() != earshot.Muted {
				t.Errorf("round %d: the room is %s", round, p.mode())
			}
			for n := 0; n < 240 && len(replies()) == before && (n < 20 || p.works()); n++ {
				p.sounds(hush(500))
			}
			if len(replies()) > before {
				break
			}
		}
		if all := replies(); len(all) <= before || all[before].Delivered() != "It is warm and dry today." {
			t.Fatalf("round %d: the replies are %+v", round, all)
		}
	}
	understood := len(testkit.Bodies[earshot.Utterance](p.journal()))
	p.says(bob, "nobody may hear that")
	if n := len(testkit.Bodies[earshot.Utterance](p.journal())); n != understood {
		t.Errorf("%d utterances, and %d before", n, understood)
	}
	if d := testkit.Bodies[earshot.Decision](p.journal()); !slices.ContainsFunc(d, func(d earshot.Decision) bool { return slices.Contains(d.Reasons, reason.Pressed) }) {
		t.Errorf("it was decided: %+v", d)
	}
}
