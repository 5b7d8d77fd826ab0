package llm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"earshot/llm"
)

// TestShorten: however often a dialogue is shortened, it begins with a message of the user, loses
// at least half its bytes each time, and keeps what stands around it.
func TestShorten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := &llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "who"}}}
		roles := []llm.Role{llm.User, llm.Assistant, llm.Result, llm.System}
		size := func(r *llm.Request) (n int) {
			for _, m := range r.Messages[1 : len(r.Messages)-2] {
				n += len(m.Text)
			}
			return n
		}
		for range rapid.IntRange(0, 20).Draw(t, "dialogue") {
			text := strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 10, 50_000}).Draw(t, "long"))
			req.Messages = append(req.Messages, llm.Message{Role: rapid.SampledFrom(roles).Draw(t, "role"), Text: text})
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: "asked"}, llm.Message{Role: llm.System, Text: "now"})
		for range 40 {
			was := fmt.Sprint(req.Messages)
			short, shorter := req.Shorten(2)
			if fmt.Sprint(req.Messages) != was {
				t.Fatal("the request itself was changed")
			}
			n := len(short.Messages)
			if short.Messages[0].Text != "who" || short.Messages[n-2].Text != "asked" || short.Messages[n-1].Text != "now" {
				t.Fatalf("it has lost what stands around the dialogue: %v", short.Messages)
			}
			if !shorter {
				if n != 3 {
					t.Fatalf("%d messages cannot be shortened", n)
				}
				return
			}
			if n >= len(req.Messages) || size(short) > size(req)/2 || short.Messages[1].Role != llm.User {
				t.Fatalf("%v is the shorter of %v", short.Messages, req.Messages)
			}
			req = short
		}
		t.Fatal("it is never short enough")
	})
}

// TestUnquoted: what an engine says in its own words, which may quote the prompt, stands in no log.
func TestUnquoted(t *testing.T) {
	err := fmt.Errorf("asking: %w", &llm.Error{Fault: llm.Broken, Engine: "a", Model: "m", Err: errors.New("cannot answer: my surgery is on friday")})
	if got := llm.Unquoted(err).Error(); got != "a: broken (model m)" {
		t.Errorf("it says %q", got)
	}
	if other := errors.New("no room"); llm.Unquoted(other) != other || llm.Unquoted(nil) != nil {
		t.Error("another error is changed")
	}
}
