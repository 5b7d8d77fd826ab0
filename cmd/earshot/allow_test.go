package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"earshot/config"
)

// newStranger returns the home of a user who has neither allowed nor refused anything yet.
func newStranger(t *testing.T, environ ...string) *home {
	h := newHome(t, environ...)
	keys := []string{config.OverheardKey}
	for _, p := range config.Permissions {
		keys = append(keys, p.Key)
	}
	for _, key := range keys {
		h.env = slices.DeleteFunc(h.env, func(entry string) bool {
			return strings.HasPrefix(entry, config.Variable(key)+"=") && !slices.Contains(environ, entry)
		})
	}
	h.scripted("reply: Good day.\n")
	return h
}

// TestPermits: the first start at a terminal asks once what may be used, on a screen of 40 columns,
// and saves the answers; Enter allows nothing.
func TestPermits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, had string
		answers   []string
		want      string // of the configuration file
		screen    string
	}{
		{"Enter takes what stands there", "", []string{"", "", "", "", ""}, "false false false false 24", "not allowed: microphone, camera, unasked thinking, memory; speech not meant for me is kept for 24 hours"},
		{"yes to all, and for ever", "", []string{"y", "YES", "y", "y", "0"}, "true true true true 0", "allowed: microphone, camera, unasked thinking, memory; speech not meant for me is kept until it is deleted"},
		{"what makes no sense is asked again, and then refused", "", []string{"perhaps", "y", "what", "-", "?", "n", "n", "a day", "-3", "48"}, "true false false false 48", "allowed: microphone; not allowed: camera, unasked thinking, memory; speech not meant for me is kept for 48 hours"},
		{"only what nobody has said", "# mine\nproviders:\n  microphone:\n    enabled: true # yes\nstore:\n  retention:\n    overheard_hours: 1\n", []string{"n", "y", "n"}, "true false true false 1",
			"allowed: microphone, unasked thinking; not allowed: camera, memory; speech not meant for me is kept for 1 hour"},
		{"what was allowed before, and never how long what is overheard is kept", "providers: {microphone: {enabled: true}, webcam: {enabled: true}}\nexecutive:\n  parallel: {reasoning_continuous: false}\n  memory: {enabled: true}\n", []string{"72"}, "true true false true 72",
			"allowed: microphone, camera, memory; not allowed: unasked thinking; speech not meant for me is kept for 72 hours"},
		{"a section that says nothing of it", "providers:\n  microphone:\n    device: USB\n", []string{"y", "n", "n", "n", "24"}, "true false false false 24", "allowed: microphone; not allowed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newStranger(t)
			if tt.had != "" {
				h.write("config/earshot/config.yaml", tt.had)
			}
			w := h.begin("run")
			w.await("Before it starts: what may it use?", 1)
			for _, answer := range tt.answers {
				w.says(answer)
			}
			w.await("Saved. To change it, edit ~/config/earshot/config.yaml", 1)
			w.await("✓ privacy "+tt.screen, 1)
			w.types("\r")
			w.await(">", 1)
			if log := h.read("state/earshot/earshot.log"); strings.Contains(log, "nobody has decided") || strings.Contains(w.text(), "to allow it, set to true") {
				t.Errorf("what was answered counts as said by nobody: the window shows\n%s\nand the log has\n%s", w.text(), log)
			}
			w.says("/exit")
			if code := w.ended(); code != success {
				t.Errorf("it ends with %d", code)
			}
			file := filepath.Join(h.dir, "config/earshot/config.yaml")
			c, err := config.Parse(file, []byte(h.read("config/earshot/config.yaml")), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(c.Providers.Microphone.Enabled, c.Providers.Webcam.Enabled, c.Executive.Parallel.ReasoningContinuous, c.Executive.Memory.Enabled, c.Store.Retention.Overheard); got != tt.want {
				t.Errorf("the file says %s, want %s:\n%s", got, tt.want, h.read("config/earshot/config.yaml"))
			}
			if !strings.Contains(h.read("config/earshot/config.yaml"), strings.TrimSuffix(strings.SplitAfter(tt.had, "\n")[0], "\n")) {
				t.Error("what stood in the file is gone")
			}
			again := h.open("run")
			again.await("Earshot is running", 1)
			again.await(">", 1)
			again.says("/exit")
			if code := again.ended(); code != success || strings.Contains(again.text(), "what may it use") {
				t.Errorf("a second start ends with %d and shows\n%s", code, again.text())
			}
		})
	}
}

// TestPermitsExplains: an answer that makes no sense is met with the possible answers.
func TestPermitsExplains(t *testing.T) {
	t.Parallel()
	h := newStranger(t)
	w := h.begin("run")
	w.await("what may it use?", 1)
	w.says("what time is it?")
	w.await("Answer y or n; you can talk to it once it runs.", 1)
	w.types("n\rn\rn\rn\r")
	w.await("[24]", 1)
	w.says("a day")
	w.await("Answer with a number of hours, such as 24.", 1)
	w.says("/quit")
	w.ended()
	w.await("Nothing was allowed", 1)
}

// TestPermitsLeaving: leaving in the middle of the questions allows nothing and starts nothing.
func TestPermitsLeaving(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"q": "y\rq\r", "a command": "y\r/exit\r", "the end": "y\r\x04", "^C": "y\r\x03", "q at the hours": "y\r\r\r\rQ\r"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newStranger(t)
			w := h.begin("run")
			w.await("what may it use?", 1)
			w.types(keys)
			w.ended()
			if text := w.text(); !strings.Contains(text, "Nothing was allowed") || strings.Contains(text, "Earshot is running") {
				t.Errorf("it shows\n%s", text)
			}
			for _, path := range []string{"config/earshot/config.yaml", "state/earshot/journal"} {
				if _, err := os.Stat(filepath.Join(h.dir, path)); err == nil {
					t.Errorf("there is %s", path)
				}
			}
		})
	}
}

// TestCareful: where nobody can be asked, only what somebody has already allowed is allowed. The
// screen, the log and status name the keys that would allow the rest.
func TestCareful(t *testing.T) {
	t.Parallel()
	key := func(p config.Permission, is string) string { return config.Variable(p.Key) + "=" + is }
	for _, tt := range []struct {
		name    string
		environ []string
		args    []string
		file    string
		shown   []string // on the screen
		log     string
		status  []string
	}{
		{"in a pipe", nil, nil, "", []string{"not allowed: microphone, camera, unasked thinking, memory; speech not meant for me is kept for 24 hours", "→ to allow it, set to true: providers.microphone.enabled, providers.webcam.enabled, executive.parallel.reasoning_continuous, executive.memory.enabled"},
			`keys="providers.microphone.enabled providers.webcam.enabled executive.parallel.reasoning_continuous executive.memory.enabled"`,
			[]string{"○ memory: not allowed (executive.memory.enabled)", "○ microphone: not allowed (providers.microphone.enabled)", "○ camera: not allowed (providers.webcam.enabled)", "○ unasked thinking: not allowed (executive.parallel.reasoning_continuous)", "speech not meant for an agent for 24 hours"}},
		{"as the environment says", []string{key(config.Permissions[0], "true"), key(config.Permissions[1], "false"), key(config.Permissions[2], "true"), key(config.Permissions[3], "true")}, nil, "",
			[]string{"allowed: microphone, unasked thinking, memory; not allowed: camera; speech"}, "", []string{"● microphone: allowed (providers.microphone.enabled)", "○ camera: not allowed"}},
		{"as an old configuration says", nil, nil, "providers: {microphone: {enabled: true}}\n",
			[]string{"allowed: microphone; not allowed: camera, unasked thinking, memory"}, `keys="providers.webcam.enabled executive.parallel.reasoning_continuous executive.memory.enabled"`, []string{"● microphone: allowed"}},
		{"without a voice", nil, []string{"--no-voice"}, "", []string{"not allowed: microphone, camera"}, "keys=", []string{"○ microphone: not allowed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newStranger(t, tt.environ...)
			if tt.file != "" {
				h.write("config/earshot/config.yaml", tt.file)
			}
			d := h.daemon(tt.args...)
			r := h.earshot(nil, "status")
			d.end(syscall.SIGTERM)
			log := h.read("state/earshot/earshot.log")
			for _, want := range tt.shown {
				if !strings.Contains(d.out.String(), want) {
					t.Errorf("it does not show %q:\n%s", want, d.out.String())
				}
			}
			if n := strings.Count(log, "nobody has decided about it"); n > 1 || (n == 1) != (tt.log != "") || !strings.Contains(log, tt.log) {
				t.Errorf("the log does not say %s once:\n%s", tt.log, log)
			}
			if strings.Count(log, "after_hours=24 key=store.retention.overheard_hours") != 1 {
				t.Errorf("the log does not say once for how long what is overheard is kept:\n%s", log)
			}
			for _, want := range tt.status {
				if !strings.Contains(r.out, want) {
					t.Errorf("status does not say %q:\n%s", want, r.out)
				}
			}
		})
	}
}

// TestPermitsNamed: a configuration file that is named on the command line counts as the user's
// decision, so no questions are asked, even at a terminal.
func TestPermitsNamed(t *testing.T) {
	t.Parallel()
	h := newStranger(t)
	file := h.write("mine.yaml", "log: {level: info}\n")
	w := h.open("run", "--config", file)
	w.await("not allowed: microphone, camera, unasked thinking, memory", 1)
	w.await(">", 1)
	w.says("/exit")
	if code := w.ended(); code != success || strings.Contains(w.text(), "may it use") || h.read("mine.yaml") != "log: {level: info}\n" {
		t.Errorf("it ends with %d and shows\n%s", code, w.text())
	}
}

// TestPermitsUnkept: if the file cannot be changed, the answers apply for now, and the screen says
// what to write into the file.
func TestPermitsUnkept(t *testing.T) {
	t.Parallel()
	h := newStranger(t)
	h.write("config/earshot/config.yaml", "{store: {retention: {message: 9}}}\n")
	w := h.begin("run")
	w.await("what may it use?", 1)
	w.types("y\rn\rn\rn\r5\r")
	w.await("This applies now, but could not be saved: the next start asks again.", 1)
	w.await("providers.microphone.enabled: true", 1)
	w.await("allowed: microphone; not allowed: camera, unasked thinking, memory; speech not meant for me is kept for 5 hours", 1)
	w.types("\r")
	w.await(">", 1)
	w.says("/exit")
	w.ended()
	if got := h.read("config/earshot/config.yaml"); got != "{store: {retention: {message: 9}}}\n" {
		t.Errorf("the file says %s", got)
	}
}

// TestPermitsFits: every line of the screen fits in 40 columns.
func TestPermitsFits(t *testing.T) {
	for _, p := range config.Permissions {
		if line := p.Question + "?"; len(line) > 40 {
			t.Errorf("%q has %d columns", line, len(line))
		}
	}
}
