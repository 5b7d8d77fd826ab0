package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"earshot/llm"
	"earshot/llm/ollama/ollamatest"
	"earshot/llm/openai"
	"earshot/llm/openai/llamatest"
)

// TestEmbed: vectors come back in the order of the texts, whatever the order of the answer; a wrong
// answer is a fault that does not repeat a text.
func TestEmbed(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{`{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}`, "[[1 0] [0 1]]"},
		{`{"data":[{"index":1,"embedding":[0,1]}]}`, "[[] [0 1]]"}, // the ladder refuses it
		{`{"data":[{"index":2,"embedding":[0,1]}]}`, "[[] []]"},
		{`{"data":[{"index":-1,"embedding":[0,1]}]}`, "[[] []]"},
		{`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[2]}]}`, "[[2] []]"},
		{`{"data":[{"index":0,"embedding":[1e99]}]}`, "[[0] []]"},
		{`{"data":"` + canary + `"}`, "[[] []]"},
		{"", "broken"},
	} {
		var asked struct {
			Model, EncodingFormat string
			Input                 []string
		}
		e := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if json.NewDecoder(r.Body).Decode(&asked) != nil || r.URL.Path != "/v1/embeddings" {
				t.Errorf("asked at %s", r.URL.Path)
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, tt.body)
		})
		all, err := e.Embed(t.Context(), "", []string{canary, "tides"})
		got := fmt.Sprint(all)
		if err != nil {
			f, _ := errors.AsType[*llm.Error](err)
			got = string(f.Fault)
		}
		if got != tt.want || asked.Model != "parrot" || len(asked.Input) != 2 || err != nil && strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %s, %v, asked %+v; want %s", tt.body, got, err, asked, tt.want)
		}
	}
	refuse := serve(t, answer(400, "application/json", `{"error":{"message":"you wrote `+canary+`"}}`))
	if _, err := refuse.Embed(t.Context(), "", []string{canary}); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("a refusal: %v", err)
	}
}

// TestEmbedByLlama: llama.cpp's own server makes vectors, the same ones for the same text. That they mean
// something cannot be told here: the model is made by the test.
func TestEmbedByLlama(t *testing.T) {
	s := llamatest.Start(t, llamatest.Options{Model: ollamatest.Model{Says: "Yes.", Layers: 1}, Embeds: true})
	all, err := engine(t, openai.Config{Host: s.Host(), Model: "parrot"}).Embed(t.Context(), "", []string{"what is your name?", "tell me a story", "what is your name?"})
	if err != nil || len(all) != 3 || len(all[0]) < 8 || len(all[0]) != len(all[1]) {
		t.Fatalf("%d vectors, %v", len(all), err)
	}
	off := func(a, b []float32) (sum float32) {
		for i := range a {
			sum += (a[i] - b[i]) * (a[i] - b[i])
		}
		return sum
	}
	if off(all[0], all[2]) > 1e-4 || off(all[0], all[1]) < 1e-4 {
		t.Errorf("the same text is %v away, another %v", off(all[0], all[2]), off(all[0], all[1]))
	}
}

// FuzzEmbed: whatever a server sends, there is a vector or nothing for each text, and an error has a type
// and does not repeat a text.
func FuzzEmbed(f *testing.F) {
	for _, body := range []string{"", "<html>", `{"data":[{"index":0,"embedding":[1,0]}]}`, `{"data":[{"index":9,"embedding":[1e99]}]}`, `{"error":{"message":"` + canary + `"}}`} {
		f.Add([]byte(body), 7)
	}
	f.Fuzz(func(t *testing.T, raw []byte, n int) {
		if n < 1 {
			t.Skip()
		}
		e, err := openai.New(openai.Config{Host: "localhost", Model: "parrot", Transport: dripping{raw, n}})
		if err != nil {
			t.Fatal(err)
		}
		all, err := e.Embed(t.Context(), "", []string{canary, "tides"})
		_, typed := errors.AsType[*llm.Error](err)
		if err == nil && len(all) != 2 || err != nil && (!typed || strings.Contains(err.Error(), canary)) {
			t.Errorf("%d vectors, %v", len(all), err)
		}
	})
}
