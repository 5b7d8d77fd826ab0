package openai_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/openai"
)

// TestSilentServers: a server that sends anything but words is given up when the first word, or the
// next one, is overdue. What it said until then is kept, and the error has a cure.
func TestSilentServers(t *testing.T) {
	const word = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one \"}}]}\n\n"
	for _, tt := range []struct {
		name   string
		header bool
		says   string
		again  string // what it sends every few milliseconds after that
		want   string // the text that is kept
	}{
		{"nothing", false, "", "", ""},
		{"headers", true, "", "", ""},
		{"a comment", true, ": processing\n\n", "", ""},
		{"comments for ever", true, ": processing\n\n", ": processing\n\n", ""},
		{"empty lines for ever", true, "\n", "\n", ""},
		{"who speaks", true, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n", "", ""},
		{"events without a word", true, "", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n", ""},
		{"half an event", true, "data: {\"choices\":[{\"ind", "", ""},
		{"a word, and nothing more", true, word, "", "one "},
		{"a word, and comments for ever", true, word, ": processing\n\n", "one "},
		{"a word, and events without one", true, word, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n", "one "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
				io.Copy(io.Discard, in.Body) // or else the server would not notice that the connection ends
				if tt.header {
					w.Header().Set("Content-Type", "text/event-stream")
					w.WriteHeader(http.StatusOK)
					io.WriteString(w, tt.says)
					w.(http.Flusher).Flush()
				}
				for in.Context().Err() == nil {
					if tt.again == "" {
						<-in.Context().Done()
						return
					}
					io.WriteString(w, tt.again)
					w.(http.Flusher).Flush()
					select {
					case <-in.Context().Done():
					case <-time.After(5 * time.Millisecond):
					}
				}
			}))
			defer testkit.Finish(t, testkit.Patience, "the end of the server", server.Close)
			e, err := openai.New(openai.Config{Host: server.URL, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			l := &llm.Ladder{Engines: []*llm.Scheduler{{Engine: e}}, FirstToken: 200 * time.Millisecond, Idle: 200 * time.Millisecond}
			if tt.want != "" { // the first word comes, but may be late on a busy machine
				l.FirstToken = time.Minute / 2
			}
			ended := make(chan string, 1)
			go func() {
				said, end := "", error(nil)
				for d, err := range l.Stream(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hello"}}}) {
					said, end = said+d.Text, err
				}
				is, _ := errors.AsType[*llm.Error](end)
				ended <- fmt.Sprintf("%q, %s, a cure %v", said, is.Fault, is.Cure != "")
			}()
			select {
			case got := <-ended:
				if want := fmt.Sprintf("%q, stalled, a cure true", tt.want); got != want {
					t.Errorf("it ended with %s, want %s", got, want)
				}
			case <-time.After(time.Minute):
				t.Fatal("waited a minute for an end of a request to a server that says nothing")
			}
		})
	}
}
