package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"earshot/internal/testkit"
	"earshot/server"
)

// TestScrub: what says who somebody is goes, wherever it stands; all else stays.
func TestScrub(t *testing.T) {
	s := scrubOf("ann", "Bo", "Ann Lindqvist", "Jörg", "80351110224678912", "uid1000", "earshot", "")
	for _, tt := range []struct{ text, want string }{
		{"ann was here", "[somebody] was here"},
		{"ANN was here", "[somebody] was here"},
		{"an annual report", "an annual report"},
		{"Ann Lindqvist's headset", "[somebody]'s headset"},
		{"jörgs Kamera", "[somebody]s Kamera"},
		{"bo.", "[somebody]."},
		{"a bottle", "a bottle"},
		{"console:uid1000", "console:[somebody]"},
		{"user 80351110224678912 and 90351110224678912", "user [somebody] and [number]"},
		{"rtsp://ann:secret@10.0.0.1/x?token=1", "rtsp://…@10.0.0.1/x?…"},
		{"earshot listens", "earshot listens"},
		{"mail to nobody@example.org please", "mail to [somebody] please"},
		{"took=3ms sequence=1763858400123", "took=3ms sequence=1763858400123"},
	} {
		if got := s.text(tt.text); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.text, got, tt.want)
		}
	}
	if got := s.file(`opening /srv/x/diary.txt: no such file, but /dev/video0 is`); got != `opening [path]: no such file, but /dev/video0 is` {
		t.Errorf("a file is shown: %q", got)
	}
}

// TestScrubAnything: no name of at least four letters survives, whatever stands around it.
func TestScrubAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.StringMatching(`[A-Za-zäöüß]{4,10}( [A-Z][a-z]{4,8})?`).Draw(rt, "name")
		text := rapid.String().Draw(rt, "before") + name + rapid.String().Draw(rt, "after")
		if strings.EqualFold(name, "earshot") {
			return
		}
		for _, text := range []string{text, strings.ToUpper(name), strings.ToLower(text)} {
			if got := scrubOf(name).text(text); strings.Contains(strings.ToLower(strings.ReplaceAll(got, somebody, "")), strings.ToLower(name)) {
				rt.Fatalf("%q is still in %q", name, got)
			}
		}
	})
}

// TestLogLines: of a line of the log only what says nothing of anybody is shown.
func TestLogLines(t *testing.T) {
	for _, tt := range []struct {
		s          scrub
		line, want string
	}{
		{scrubOf("Ann"), `time=2026-11-23T01:00:00Z level=WARN msg="a part was lost" part=microphone err="Ann's headset: gone \"now\"" participant=01J room=kitchen`,
			`time=2026-11-23T01:00:00Z level=WARN msg="a part was lost" part=microphone err="[somebody]'s headset: gone \"now\"" participant=… room=…`},
		{scrub{}, `level=INFO msg="turn ended" err="whatever it is" took=3ms`, `level=INFO msg="turn ended" err=… took=3ms`},
		{scrub{}, `panic: something`, ``},
		{scrub{}, ``, ``},
	} {
		if got := tt.s.line(tt.line); got != tt.want {
			t.Errorf("%s\nbecomes %s\nwant    %s", tt.line, got, tt.want)
		}
	}
}

// The names and texts that may be in no diagnosis.
const (
	canaryPerson = "Wilhelmina"
	canaryAgent  = "Archimedes"
	canaryRoom   = "boudoir"
	canaryWords  = "the heron walks at midnight"
	canaryReply  = "a lighthouse eats no bread"
	canaryPrompt = "grandfather clocks"
	canarySecret = "hunter2hunter2"
)

// TestDiagnosticsCanary: in a diagnosis there is no text, no name and no handle of
// anybody, and no secret, whether the daemon runs or not; and what a report needs is.
func TestDiagnosticsCanary(t *testing.T) {
	t.Parallel()
	h := newHome(t, "EARSHOT_LOG_LEVEL=debug")
	h.write("config/earshot/config.yaml", `
executive:
  conversational:
    system_prompt: You love `+canaryPrompt+`.
  llm:
    provider: script
    script: `+h.write("model.yaml", "reply: "+canaryReply+"\n")+`
external_actors:
  actors:
    - actor_id: wilma
      type: human
      display_name: `+canaryPerson+`
      handles: ["discord:80351110224678912"]
rooms:
  - id: `+canaryRoom+`
    name: The `+canaryRoom+`
providers:
  webcam:
    cameras:
      - name: eye
        device: rtsp://`+canaryPerson+`:`+canarySecret+`@127.0.0.1:1/x
`)
	d := h.daemon()
	h.earshot(nil, "agents", "create", canaryAgent)
	if r := h.earshot(nil, "say", "--identity", canaryPerson, canaryWords); r.code != 0 {
		t.Fatalf("the session did not work: %s", r.err)
	}
	h.earshot(nil, "say", "--room", canaryRoom, canaryWords)
	h.earshot(nil, "think", canaryWords)
	testkit.Await(t, soon, "an answer", func() bool {
		for _, r := range h.replies() {
			if strings.Contains(string(r.Offered), "lighthouse") {
				return true
			}
		}
		return false
	})
	running := h.earshot(nil, "diagnostics", "--goroutines")
	file := filepath.Join(h.dir, "report.json")
	if r := h.earshot(nil, "diagnostics", "--output", file); r.code != 0 {
		t.Errorf("it cannot be written: %s", r.err)
	}
	if about, err := os.Stat(file); err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v (%v)", about, err)
	}
	if r := h.earshot(nil, "diagnostics", "--output", file); r.code == 0 {
		t.Error("a file that was there was overwritten")
	}
	status, metrics := ask(t, h.socket, "/metrics")
	if status != 200 {
		t.Errorf("metrics: %d %s", status, metrics)
	}
	_, ready := ask(t, h.socket, "/readyz")
	d.end(syscall.SIGKILL)
	h.env = append(h.env, "PATH=/nowhere") // without helpers, so that senses are at fault
	still := h.earshot(nil, "diagnostics")

	if running.code != 0 || still.code != 0 {
		t.Fatalf("it failed: %s %s", running.err, still.err)
	}
	for where, text := range map[string]string{"of a running one": running.out, "in the file": h.read("report.json"), "of one that does not run": still.out, "metrics": metrics, "readiness": ready} {
		for _, canary := range []string{canaryPerson, canaryAgent, canaryRoom, "heron", "lighthouse", "grandfather", canarySecret, "80351110224678912", "wilma", h.dir} {
			if i := strings.Index(strings.ToLower(text), strings.ToLower(canary)); i >= 0 {
				t.Errorf("%q is in the diagnosis %s: …%s…", canary, where, text[max(0, i-200):min(len(text), i+200)])
			}
		}
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(running.out), &v); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"version", "platform", "configuration", "parts", "rooms", "turns", "counts", "sizes", "log", "goroutines", "ready"} {
		if v[key] == nil {
			t.Errorf("there is no %s in it", key)
		}
	}
	for _, want := range []string{"executive.conversational.system_prompt", "turn ended", "turns_total", "first_token"} {
		if !strings.Contains(running.out, want) {
			t.Errorf("%s is not in it", want)
		}
	}
	if journal := h.everything("state/earshot/journal"); !strings.Contains(journal, canaryPerson) && !strings.Contains(journal, "wilma") || !strings.Contains(journal, "lighthouse") {
		t.Error("the canaries are not in the journal either; this test proves nothing")
	}
}

// ask asks at a socket for a path.
func ask(t *testing.T, socket, path string) (int, string) {
	t.Helper()
	resp, err := (&server.Client{Socket: socket}).Get(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, fmt.Sprint(string(text))
}
