package ollama_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama"
)

// TestProbe: the newest model comes first, and one whose name nobody could type is left out. If the
// server cannot tell what one model can do, the others do not suffer.
func TestProbe(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/version", writes(200, `{"version":"0.17.4\u001b[2J"}`))
	mux.HandleFunc("/api/tags", writes(200, `{"models":[
		{"name":"old:1b","size":-1,"modified_at":"2024-01-01T00:00:00Z"},
		{"name":"new:8b","size":5000000000,"modified_at":"2026-01-01T00:00:00Z"},
		{"name":"","size":1},{"name":"\u001b]0;evil\u0007"},
		{"name":"gone:2b","size":1,"modified_at":"2025-01-01T00:00:00Z"}]}`))
	mux.HandleFunc("/api/show", func(w http.ResponseWriter, in *http.Request) {
		var asked struct{ Model string }
		json.NewDecoder(in.Body).Decode(&asked)
		if asked.Model == "gone:2b" {
			writes(404, `{"error":"model 'gone:2b' not found"}`)(w, in)
			return
		}
		writes(200, `{"capabilities":["completion","tools","thinking","vision"]}`)(w, in)
	})
	server := httptest.NewServer(mux)
	defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
	got, err := open(t, ollama.Config{Host: server.URL}).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []llm.Model{
		{Name: "new:8b", Bytes: 5000000000, Tools: true, Thinking: true, Vision: true},
		{Name: "gone:2b", Bytes: 1},
		{Name: "old:1b", Tools: true, Thinking: true, Vision: true},
	}
	if len(got.Models) != len(want) {
		t.Fatalf("got %+v", got.Models)
	}
	for i, w := range want {
		if got.Models[i] != w {
			t.Errorf("got %+v, want %+v", got.Models[i], w)
		}
	}
	if strings.Contains(got.Version, "\x1b") || !strings.HasPrefix(got.Version, "0.17.4") {
		t.Errorf("version %q", got.Version)
	}
}
