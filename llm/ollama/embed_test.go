package ollama_test

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"earshot/llm"
	"earshot/llm/ollama"
	"earshot/llm/ollama/ollamatest"
)

// TestRealEmbed: a real server makes vectors, the same ones for the same text. That they mean something
// cannot be told here: the model is made by the test.
func TestRealEmbed(t *testing.T) {
	_, e := serve(t, ollamatest.Options{})
	all, err := e.Embed(t.Context(), "", []string{"what is your name?", "tell me a story", "what is your name?"})
	if err != nil || len(all) != 3 {
		t.Fatalf("%d vectors, %v", len(all), err)
	}
	dot := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	same, other := dot(all[0], all[2])/math.Sqrt(dot(all[0], all[0])*dot(all[2], all[2])), dot(all[0], all[1])/math.Sqrt(dot(all[0], all[0])*dot(all[1], all[1]))
	t.Logf("%d numbers; %.4f to the same text, %.4f to another", len(all[0]), same, other)
	if !(same > 0.999) || !(other < same) {
		t.Errorf("the cosine to the same text is %v, to another %v", same, other)
	}
	if _, err := e.Embed(t.Context(), "nobody", []string{"hello"}); fault(err) != llm.NoModel || !strings.Contains(cure(err), "ollama pull nobody") {
		t.Errorf("without the model: %v, cure %q", err, cure(err))
	}
}

// FuzzEmbed: whatever a server sends, an error has a type, and does not repeat a text.
func FuzzEmbed(f *testing.F) {
	for _, body := range []string{"", page, `{"embeddings":[[1,0],[0,1]]}`, `{"embeddings":[[1e99]]}`, `{"embeddings":"x"}`, `{"error":"the ferry leaves at midnight"}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		e := open(t, ollama.Config{Model: "m", Client: &http.Client{Transport: canned{strings.NewReader(body)}}})
		_, err := e.Embed(t.Context(), "", []string{"the ferry leaves at midnight"})
		if err != nil && (fault(err) == "" || strings.Contains(err.Error(), "ferry leaves")) {
			t.Errorf("%T %v", err, err)
		}
	})
}
