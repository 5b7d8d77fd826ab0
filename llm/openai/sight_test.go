package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"earshot/internal/testkit"
	"earshot/llm"
	"earshot/llm/openai"
)

// looking has a picture with a question, and one that a call returned.
var looking = &llm.Request{Messages: []llm.Message{
	{Role: llm.User, Text: "What is this?", Images: []llm.Image{{0xff, 0xd8, 0xff, 0xe0}}},
	{Role: llm.Assistant, Calls: []llm.Call{{ID: "1", Tool: "look"}, {ID: "2", Tool: "look"}}},
	{Role: llm.Result, Call: "1", Text: "one person", Images: []llm.Image{{0xff, 0xd8, 0xff, 0xe1}}},
	{Role: llm.Result, Call: "2", Text: "nobody", AltText: "nobody, unseen"},
	{Role: llm.System, Text: "You see.", AltText: "You cannot see."},
}}

// A watcher is a server with a list of models that records what its model is asked.
type watcher struct {
	list    string
	refuses string // how it refuses a picture

	mu    sync.Mutex
	asked []string
}

func (w *watcher) ServeHTTP(to http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if strings.HasSuffix(r.URL.Path, "/models") {
		w.asked = append(w.asked, "list")
		to.Header().Set("Content-Type", "application/json")
		io.WriteString(to, w.list)
		return
	}
	var chat struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	json.Unmarshal(body, &chat)
	line := ""
	for _, m := range chat.Messages {
		line += m.Role + " " + string(m.Content) + "\n"
	}
	w.asked = append(w.asked, line)
	if w.refuses != "" && strings.Contains(line, "image_url") {
		to.Header().Set("Content-Type", "application/json")
		to.WriteHeader(500)
		fmt.Fprintf(to, `{"error":{"message":%q}}`, w.refuses)
		return
	}
	events(to, piece("I see."), stop("stop"), done)
}

func (w *watcher) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

const (
	shown = `user [{"text":"What is this?","type":"text"},{"image_url":{"url":"data:image/jpeg;base64,/9j/4A=="},"type":"image_url"}]
assistant 
tool "one person"
tool "nobody"
user [{"image_url":{"url":"data:image/jpeg;base64,/9j/4Q=="},"type":"image_url"}]
system "You see."
`
	unshown = `user "What is this?"
assistant 
tool "one person"
tool "nobody, unseen"
system "You cannot see."
`
)

// TestPictures: pictures are sent to a model if the configuration or the server's list says that it
// can see, and to no other.
func TestPictures(t *testing.T) {
	for _, tt := range []struct {
		name   string
		vision bool
		list   string
		want   []string
	}{
		{"configured", true, "", []string{shown}},
		{"nothing is known", false, `{"data":[{"id":"parrot"}]}`, []string{"list", unshown}},
		{"no list", false, `<html>`, []string{"list", unshown}},
		{"a gateway says so", false, `{"data":[{"id":"parrot","architecture":{"input_modalities":["text","image"]}}]}`, []string{"list", shown}},
		{"Mistral says so", false, `{"data":[{"id":"parrot","capabilities":{"vision":true}}]}`, []string{"list", shown}},
		{"of another", false, `{"data":[{"id":"parrot","capabilities":{"vision":false}},{"id":"owl","capabilities":{"vision":true}}]}`, []string{"list", unshown}},
		{"llama.cpp says so", false, `{"models":[{"name":"parrot","model":"parrot","capabilities":["completion","multimodal"]}],"data":[{"id":"parrot"}]}`, []string{"list", shown}},
		{"llama.cpp says that it does not", false, `{"models":[{"model":"parrot","capabilities":["completion"]}],"data":[{"id":"parrot","capabilities":["vision?"]}]}`, []string{"list", unshown}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &watcher{list: tt.list}
			server := httptest.NewServer(w)
			t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", server.Close) })
			e := engine(t, openai.Config{Host: server.URL, Model: "parrot", Vision: tt.vision})
			if said, _, err := ask(t.Context(), e, looking); err != nil || said != "I see." {
				t.Fatalf("it says %q, %v", said, err)
			}
			if got := w.take(); strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("it was asked\n%s\nwant\n%s", strings.Join(got, "|"), strings.Join(tt.want, "|"))
			}
		})
	}
}

// TestRefusedPictures: if a server refuses pictures, the ladder asks it again without, and it is
// shown none from then on. If its error repeats a picture, that is not passed on.
func TestRefusedPictures(t *testing.T) {
	big := append(llm.Image{0xff, 0xd8, 0xff}, strings.Repeat("somebody's face ", 40)...)
	req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Who?", Images: []llm.Image{big}}}}
	w := &watcher{refuses: "image input is not supported - hint: you may need to provide the mmproj"}
	server := httptest.NewServer(w)
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", server.Close) })
	e := engine(t, openai.Config{Host: server.URL, Model: "parrot", Vision: true})
	var steps []string
	l := &llm.Ladder{Engines: []*llm.Scheduler{{Engine: e}}, Report: func(s llm.Step) { steps = append(steps, string(s.Kind)) }}
	for range 2 {
		if said, _, err := ask(t.Context(), l, req); err != nil || said != "I see." {
			t.Fatalf("it says %q, %v", said, err)
		}
	}
	if got := strings.Join(steps, ", "); got != "asked again without pictures, answered, answered" {
		t.Errorf("the steps were %s", got)
	}
	if got := len(w.take()); got != 3 {
		t.Errorf("it was asked %d times, want 3: with the picture, without, without", got)
	}
	e = engine(t, openai.Config{Host: server.URL, Model: "parrot", Vision: true})
	w.refuses = "bad image c29tZWJvZHkncyBmYWNlIHNvbWVib2R5J3MgZmFjZ" // the beginning of the picture as it was sent
	_, _, err := ask(t.Context(), e, req)
	var fault *llm.Error
	if !errors.As(err, &fault) || fault.Fault != llm.Unsupported || strings.Contains(err.Error(), "c29tZW") {
		t.Errorf("it ends with %v", err)
	}
}

// TestMustSee: a request that must be seen is not sent to a model that cannot see.
func TestMustSee(t *testing.T) {
	w := &watcher{list: `{"data":[]}`}
	server := httptest.NewServer(w)
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", server.Close) })
	e := engine(t, openai.Config{Host: server.URL, Model: "parrot"})
	req := *looking
	req.MustSee = true
	_, _, err := ask(t.Context(), e, &req)
	var fault *llm.Error
	if !errors.As(err, &fault) || fault.Fault != llm.Unsupported || fault.Cure == "" || len(w.take()) != 1 {
		t.Errorf("it ends with %v", err)
	}
}
