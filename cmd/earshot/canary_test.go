package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"earshot/internal/testkit"
)

// Sentences that may be in the journal and nowhere else.
const (
	said    = "the heron walks at midnight" // by a person
	replied = "a lighthouse eats no bread"  // by the model

	// Said by a server of its own accord. It is shown to people but not logged, since a server may
	// repeat anything.
	grumbled = "an anchovy sank the ark"
)

// TestCanary: what people and models say never appears in the log or in an error message, in a
// session in which everything goes wrong that can cheaply be made to go wrong.
func TestCanary(t *testing.T) {
	t.Parallel()
	h := newHome(t, "EARSHOT_LOG_LEVEL=debug")
	h.scripted("reply: " + replied + "\n")
	var complaints strings.Builder

	r := h.ask(said, said+" again", strings.Repeat(said, 10_000))
	if !strings.Contains(r.out, replied) {
		t.Fatalf("the session did not work: %q", r.err)
	}
	complaints.WriteString(r.err)

	d := h.daemon()
	r = h.earshot(nil, "say", said)
	complaints.WriteString(r.err)
	r = h.earshot(strings.NewReader(said+"\n"), "run")
	complaints.WriteString(r.err)
	w := h.open("chat")
	w.says(said)
	w.await("Earshot: "+replied, 1)
	w.says("/" + said)
	w.await("there is no /the", 1)
	d.end(syscall.SIGKILL)
	w.leaves()
	complaints.WriteString(d.out.String())

	for _, broken := range breakages(t) {
		r := h.with(broken...).ask(said)
		complaints.WriteString(r.err)
	}
	r = h.earshot(nil, "search", `"`+said+`" AND (`)
	complaints.WriteString(r.err)

	log := h.read("state/earshot/earshot.log")
	if !strings.Contains(log, "turn begins") {
		t.Fatalf("nothing was logged at level debug:\n%s", log)
	}
	for where, text := range map[string]string{"log": log, "complaints": complaints.String()} {
		for _, canary := range []string{said, replied, "heron", "lighthouse"} {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%q is in the %s: …%s…", canary, where, text[max(0, i-200):min(len(text), i+200)])
			}
		}
	}
	if strings.Contains(log, grumbled) || !strings.Contains(complaints.String(), grumbled) {
		t.Error("what a server said is in the log, or was not shown")
	}
	if journal := h.everything("state/earshot/journal"); !strings.Contains(journal, said) || !strings.Contains(journal, replied) {
		t.Error("the canaries are not in the journal either; this test proves nothing")
	}
}

// breakages returns environments in which the model's server answers badly.
func breakages(t *testing.T) [][]string {
	var environs [][]string
	for _, answer := range []string{
		"<html>" + replied + "</html>", // no JSON
		`{"error":"` + grumbled + `"}`, // an error
		`{"model":"m","message":{"role":"assistant","content":"` + replied + `"},"done":false}` + "\n", // half a stream
		`{"model":"m","message":{"role":"assistant","content":"` + replied,                             // half a line
	} {
		for _, status := range []int{http.StatusOK, http.StatusInternalServerError} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
				switch in.URL.Path {
				case "/api/chat":
					w.WriteHeader(status)
					fmt.Fprint(w, answer)
				case "/api/show":
					fmt.Fprint(w, `{"capabilities":["completion"]}`)
				default:
					fmt.Fprint(w, `{"version":"1","models":[{"name":"m"}]}`)
				}
			}))
			t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", s.Close) })
			environs = append(environs, []string{"EARSHOT_EXECUTIVE_LLM_PROVIDER=ollama", "EARSHOT_EXECUTIVE_LLM_SCRIPT=", "EARSHOT_EXECUTIVE_LLM_MODEL=m", "EARSHOT_EXECUTIVE_LLM_HOST=" + s.URL})
		}
	}
	return environs
}

// with returns a copy of h with environ added.
func (h *home) with(environ ...string) *home {
	other := *h
	other.env = append(h.env[:len(h.env):len(h.env)], environ...)
	return &other
}

// everything returns the content of all files below a folder.
func (h *home) everything(folder string) string {
	h.t.Helper()
	var all strings.Builder
	testkit.Files(h.t, filepath.Join(h.dir, folder), func(_ string, data []byte) { all.Write(data) })
	return all.String()
}
