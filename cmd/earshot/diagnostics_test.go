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

	"earshot/internal/testkit"
	"earshot/server/client"
)

// Names and texts that must not be in any diagnosis.
const (
	canaryPerson = "Wilhelmina"
	canaryAgent  = "Archimedes"
	canaryRoom   = "boudoir"
	canaryWords  = "the heron walks at midnight"
	canaryReply  = "a lighthouse eats no bread"
	canaryPrompt = "grandfather clocks"
	canarySecret = "hunter2hunter2"
)

// TestDiagnosticsCanary: a diagnosis contains no text, name, handle or secret of anybody, whether
// the daemon runs or not; and it contains what a bug report needs.
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
	h.env = append(h.env, "PATH=/nowhere") // without helpers, so that the senses are at fault
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

// ask sends a GET request for path to a socket.
func ask(t testing.TB, socket, path string) (int, string) {
	t.Helper()
	resp, err := (&client.Client{Socket: socket}).Get(t.Context(), path)
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
