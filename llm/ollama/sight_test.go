package ollama_test

import (
	"errors"
	"strings"
	"testing"

	"earshot/llm"
	"earshot/llm/ollama"
)

// What must be seen is not asked of a model that cannot see.
func TestSightless(t *testing.T) {
	r := &recorder{shows: shows("completion", ""), chat: writes(200, hello+end)}
	e := recorded(t, r, ollama.Config{})
	if e.Sees(t.Context(), "") {
		t.Error("a model sees of which the server does not say so")
	}
	req := &llm.Request{MustSee: true, Messages: []llm.Message{{Role: llm.User, Text: "hi", Images: []llm.Image{{0xff, 0xd8, 0xff}}}}}
	var last error
	for _, err := range e.Stream(t.Context(), req) {
		last = err
	}
	var fault *llm.Error
	if !errors.As(last, &fault) || fault.Fault != llm.Unsupported || fault.Cure == "" {
		t.Errorf("it ends with %v, want that it is not supported, with a cure", last)
	}
	if asked := strings.Join(r.take(), " "); strings.Contains(asked, "chat") {
		t.Errorf("the server was asked %s", asked)
	}
}

// A server that is gone says of no model that it can see, and one that is back does.
func TestSeesLater(t *testing.T) {
	up := false
	r := &recorder{chat: writes(200, hello+end), shows: func() (int, string) {
		if !up {
			return 500, `{"error":"not now"}`
		}
		return shows("completion vision", "")()
	}}
	e := recorded(t, r, ollama.Config{})
	if e.Sees(t.Context(), "m") {
		t.Error("a model sees although nothing could be asked")
	}
	up = true
	if !e.Sees(t.Context(), "") {
		t.Error("what was not known once is not asked again")
	}
}
