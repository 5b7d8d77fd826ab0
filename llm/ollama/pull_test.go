package ollama_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/ollama"
)

// pulled returns the steps and the result of a download.
func pulled(ctx context.Context, e *ollama.Engine) (steps []llm.Progress, err error) {
	err = e.Pull(ctx, "parrot", func(p llm.Progress) { steps = append(steps, p) })
	return steps, err
}

func TestPull(t *testing.T) {
	const begins = `{"status":"pulling manifest"}` + "\n"
	part := func(digest string, total, completed int) string {
		return fmt.Sprintf(`{"status":"pulling %s","digest":"sha256:%s","total":%d,"completed":%d}`+"\n", digest, digest, total, completed)
	}
	const success = `{"status":"success"}` + "\n"
	for _, tt := range []struct {
		name  string
		serve http.HandlerFunc
		last  llm.Progress
		fault llm.Fault
		cure  string
	}{
		{"a model", writes(200, begins+part("a", 100, 0)+part("a", 100, 100)+part("b", 50, 0)+part("b", 50, 50)+`{"status":"verifying sha256 digest"}`+"\n"+success),
			llm.Progress{Status: "verifying sha256 digest", Completed: 150, Total: 150}, "", ""},
		{"the rest of one", writes(200, begins+part("a", 100, 60)+part("a", 100, 100)+success), llm.Progress{Status: "pulling a", Completed: 100, Total: 100}, "", ""},
		{"one that is there", writes(200, begins+strings.TrimSpace(success)), llm.Progress{Status: "pulling manifest"}, "", ""},
		{"no such model", writes(200, begins+`{"error":"pull model manifest: file does not exist"}`), llm.Progress{Status: "pulling manifest"}, llm.NoModel, "ollama.com/library"},
		{"no name", writes(400, `{"error":"invalid model name"}`), llm.Progress{}, llm.NoModel, "ollama.com/library"},
		{"a full disk", writes(200, begins+part("a", 100, 60)+`{"error":"write /m/blobs/sha256-a-partial: no space left on device"}`), llm.Progress{Status: "pulling a", Completed: 60, Total: 100}, llm.NoDisk, "make room"},
		{"no network", writes(200, `{"error":"pull model manifest: Get \"https://registry.ollama.ai/v2/\": dial tcp: lookup registry.ollama.ai: no such host"}`), llm.Progress{}, llm.Broken, "network"},
		{"an old server", writes(200, `{"error":"pull model manifest: 412: \n\nThe model you are attempting to pull requires a newer version of Ollama.\n"}`), llm.Progress{}, llm.Unsupported, "newest Ollama"},
		{"not for everybody", writes(200, `{"error":"unauthorized"}`), llm.Progress{}, llm.Refused, "ollama signin"},
		{"cut off", writes(200, begins+part("a", 100, 60)), llm.Progress{Status: "pulling a", Completed: 60, Total: 100}, llm.Broken, ""},
		{"dead", dies(begins), llm.Progress{Status: "pulling manifest"}, llm.Broken, ""},
		{"nothing", writes(200, ""), llm.Progress{}, llm.Broken, ""},
		{"a page", writes(200, page), llm.Progress{}, llm.BadAnswer, "executive.llm.host"},
		{"another server", writes(404, page), llm.Progress{}, llm.BadAnswer, "executive.llm.host"},
		{"numbers that cannot be", writes(200, part("a", -5, 7)+part("b", 10, 70)+`{"status":"a\u001b[2J\nb"}`+"\n"+success), llm.Progress{Status: "a [2J b", Completed: 10, Total: 10}, "", ""},
		{"a line without end", floods("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), llm.Progress{}, llm.BadAnswer, "executive.llm.host"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(tt.serve)
			defer testkit.Finish(t, testkit.Patience, "the end of the server", s.Close)
			steps, err := pulled(t.Context(), open(t, ollama.Config{Host: s.URL}))
			if got := fault(err); got != tt.fault || (err == nil) != (tt.fault == "") || !strings.Contains(cure(err), tt.cure) {
				t.Errorf("%v (%s), cure %q; want %s, cure with %q", err, got, cure(err), tt.fault, tt.cure)
			}
			var last llm.Progress
			if len(steps) > 0 {
				last = steps[len(steps)-1]
			}
			if last != tt.last {
				t.Errorf("came to %+v, want %+v", last, tt.last)
			}
		})
	}
}

// TestPullIsLong: a download may report more than the longest reply has.
func TestPullIsLong(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		line := []byte(`{"status":"pulling a","digest":"a","total":100,"completed":1,"more":"` + strings.Repeat("a", 900<<10) + `"}` + "\n")
		for range 40 {
			w.Write(line)
		}
		io.WriteString(w, `{"status":"success"}`)
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", s.Close)
	if steps, err := pulled(t.Context(), open(t, ollama.Config{Host: s.URL})); err != nil || len(steps) != 40 {
		t.Errorf("%d steps, %v", len(steps), err)
	}
}

// TestPullStops: stopping a download makes the server stop it, too.
func TestPullStops(t *testing.T) {
	gone := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"status":"pulling manifest"}`+"\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", s.Close)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := open(t, ollama.Config{Host: s.URL}).Pull(ctx, "parrot", func(llm.Progress) { cancel(enough) })
	if err != enough {
		t.Errorf("ended with %v", err)
	}
	testkit.Receive(t, testkit.Patience, "the end of the connection", gone)
}

// FuzzPull: whatever a server sends, a download ends, with success only if the server says so, and
// its progress makes sense.
func FuzzPull(f *testing.F) {
	f.Add([]byte(`{"status":"pulling a","digest":"a","total":3,"completed":9}` + "\n" + `{"status":"success"}`))
	f.Add([]byte(`{"error":"a"}`))
	f.Add([]byte("\n\n{\"total\":-1}\n[]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := ollama.New(ollama.Config{Client: &http.Client{Transport: said(raw)}})
		if err != nil {
			t.Fatal(err)
		}
		steps, err := pulled(t.Context(), e)
		if err == nil && !bytes.Contains(raw, []byte("success")) && !bytes.Contains(raw, []byte(`\u`)) {
			t.Errorf("%q is a success", raw)
		}
		for _, p := range steps {
			if p.Total < 0 || p.Completed < 0 || p.Completed > p.Total || strings.ContainsAny(p.Status, "\x1b\n") {
				t.Errorf("%q comes to %+v", raw, p)
			}
		}
	})
}

// said is a transport that answers with these bytes.
type said []byte

func (s said) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(s)), Request: r}, nil
}
