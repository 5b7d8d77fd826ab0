package llmtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot/llm"
	"earshot/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask returns what s answers, with bars between pieces and thinking in brackets, and how it ended.
func ask(ctx context.Context, s llm.Service, req *llm.Request) (said string, done *llm.Done, err error) {
	var pieces []string
	for d, failed := range s.Stream(ctx, req) {
		switch {
		case failed != nil:
			err = failed
		case d.Done != nil:
			done = d.Done
		case d.Thinking != "":
			pieces = append(pieces, "["+d.Thinking+"]")
		default:
			pieces = append(pieces, d.Text)
		}
	}
	return strings.Join(pieces, "|"), done, err
}

func question(text string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{
		{Role: llm.System, Text: "You know the moon."},
		{Role: llm.User, Text: text},
		{Role: llm.Assistant, Text: "Stars,"},
	}}
}

func TestScriptAnswers(t *testing.T) {
	s := &llmtest.Script{
		Reply: "No  line for that.", Thinking: "Let me see.",
		Rules: []llmtest.Rule{
			{When: "TIDES", Reply: "\nThe tides.\n", Thinking: "Sea"},
			{When: "moon", Reply: "Far."},
		},
	}
	for _, tt := range []struct {
		name string
		req  *llm.Request
		want string
		done llm.Done
	}{
		{"a rule fits", question("the tides"), "\nThe| tides.|\n", llm.Done{PromptTokens: 7, ReplyTokens: 3}},
		{"the first of two", question("moon and tides"), "\nThe| tides.|\n", llm.Done{PromptTokens: 8, ReplyTokens: 3}},
		{"only the user counts", question("stars"), "No|  line| for| that.", llm.Done{PromptTokens: 6, ReplyTokens: 4}},
		{"thinking", with(question("tides"), func(r *llm.Request) { r.Think = true }), "[Sea]|\nThe| tides.|\n", llm.Done{PromptTokens: 6, ReplyTokens: 4}},
		{"whole", with(question("stars"), func(r *llm.Request) { r.Whole = true }), "No  line for that.", llm.Done{PromptTokens: 6, ReplyTokens: 1}},
		{"truncated", with(question("stars"), func(r *llm.Request) { r.MaxTokens = 2 }), "No|  line", llm.Done{Truncated: true, PromptTokens: 6, ReplyTokens: 2}},
		{"just fits", with(question("stars"), func(r *llm.Request) { r.MaxTokens = 4 }), "No|  line| for| that.", llm.Done{PromptTokens: 6, ReplyTokens: 4}},
		{"no messages", &llm.Request{}, "No|  line| for| that.", llm.Done{ReplyTokens: 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, done, err := ask(t.Context(), s, tt.req)
			if err != nil || got != tt.want {
				t.Errorf("says %q, %v; want %q", got, err, tt.want)
			}
			if done == nil || *done != tt.done {
				t.Errorf("done is %+v, want %+v", done, tt.done)
			}
		})
	}
}

// TestScriptSees: a script that can see is shown pictures and can tell their number; another is
// shown none.
func TestScriptSees(t *testing.T) {
	for _, sees := range []bool{true, false} {
		s := &llmtest.Script{Vision: sees, Reply: "Words.", Rules: []llmtest.Rule{
			{When: "what", Pictures: new(1), Reply: "A picture."}, {When: "what", Pictures: new(0), Reply: "No picture."},
		}}
		req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "what is it?", AltText: "what do they see?", Images: []llm.Image{{0xff, 0xd8, 0xff}}}}}
		want := map[bool]string{true: "A| picture.", false: "No| picture."}[sees]
		if got, _, err := ask(t.Context(), s, req); err != nil || got != want {
			t.Errorf("one that sees (%v) says %q, %v; want %q", sees, got, err, want)
		}
		req.MustSee = true
		_, _, err := ask(t.Context(), s, req)
		if fault, _ := errors.AsType[*llm.Error](err); (fault == nil) != sees {
			t.Errorf("what must be seen ends with %v", err)
		}
	}
}

func with(req *llm.Request, change func(*llm.Request)) *llm.Request {
	change(req)
	return req
}

func TestScriptKeepsItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Script{Reply: "one two three", Every: 5 * time.Millisecond, Rules: []llmtest.Rule{{When: "slow", Reply: "one two", Every: time.Second}}}
		began := time.Now()
		ask(t.Context(), s, question("quick"))
		if took := time.Since(began); took != 15*time.Millisecond {
			t.Errorf("three words took %v, want 15ms", took)
		}
		ask(t.Context(), s, question("slow"))
		if took := time.Since(began); took != 2015*time.Millisecond {
			t.Errorf("two slow words ended at %v, want 2.015s", took)
		}
	})
}

func TestScriptStopsWhenToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("somebody cut in")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(12*time.Millisecond, func() { cancel(cause) })
		began := time.Now()
		got, done, err := ask(ctx, &llmtest.Script{Reply: "one two three", Every: 5 * time.Millisecond}, question("count"))
		if got != "one| two" || done != nil || err != cause || time.Since(began) != 12*time.Millisecond {
			t.Errorf("says %q, %v, %v after %v", got, done, err, time.Since(began))
		}
		if _, _, err := ask(ctx, &llmtest.Script{Reply: "one"}, question("again")); err != cause {
			t.Errorf("asked when it is over: %v, want the cause", err)
		}
	})
}

func TestScriptTroubles(t *testing.T) {
	broken := &llm.Error{Fault: llm.Broken, Engine: "script"}
	for _, tt := range []struct {
		name    string
		trouble llmtest.Trouble
		want    string
		err     error
	}{
		{"an error at once", llmtest.Trouble{Err: broken}, "", broken},
		{"an error later", llmtest.Trouble{Err: broken, After: 2}, "one| two", broken},
		{"an error at the very end", llmtest.Trouble{Err: broken, After: 9}, "one| two| three", broken},
		{"nothing ever", llmtest.Trouble{Hang: true}, "", context.DeadlineExceeded},
		{"nothing more", llmtest.Trouble{Hang: true, After: 1}, "one", context.DeadlineExceeded},
		{"ends without a done", llmtest.Trouble{Lie: true, After: 1}, "one", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &llmtest.Script{Reply: "one two three", Troubles: []llmtest.Trouble{tt.trouble}}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				got, done, err := ask(ctx, s, question("count"))
				if got != tt.want || err != tt.err || done != nil {
					t.Errorf("says %q, %v, %v; want %q, %v", got, done, err, tt.want, tt.err)
				}
				if got, done, err := ask(t.Context(), s, question("count")); got != "one| two| three" || done == nil || err != nil {
					t.Errorf("the next one says %q, %v, %v", got, done, err)
				}
			})
		})
	}
}

func TestScriptIsWedgedUntilUnloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Script{Reply: "one", Troubles: []llmtest.Trouble{{Wedge: true}}}
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if got, _, err := ask(ctx, s, question("count")); got != "" || err != context.DeadlineExceeded {
				t.Errorf("a wedged one says %q, %v", got, err)
			}
			cancel()
		}
		if err := s.Unload(t.Context(), ""); err != nil || s.Unloaded() != 1 {
			t.Errorf("unloading: %v, %d times", err, s.Unloaded())
		}
		if got, done, err := ask(t.Context(), s, question("count")); got != "one" || done == nil || err != nil {
			t.Errorf("unloaded, it says %q, %v, %v", got, done, err)
		}
	})
}

func TestScriptRemembersRequests(t *testing.T) {
	s := &llmtest.Script{Reply: "one"}
	req := question("first")
	ask(t.Context(), s, req)
	req.Messages[1].Text = "changed"
	if seen := s.Seen(); len(seen) != 1 || seen[0].Messages[1].Text != "first" {
		t.Errorf("seen %+v", seen)
	}
	for range 1000 {
		ask(t.Context(), s, question("last"))
	}
	if seen := s.Seen(); len(seen) != 64 || seen[0].Messages[1].Text != "last" {
		t.Errorf("seen %d requests, want the last 64", len(seen))
	}
}

// TestScriptLosesNothing: the pieces together are the reply, and each but the last contains one
// word.
func TestScriptLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ab \n\t]{0,30}`)).Draw(t, "text")
		var pieces []string
		for d := range (&llmtest.Script{Reply: text}).Stream(context.Background(), &llm.Request{}) {
			if d.Done == nil {
				pieces = append(pieces, d.Text)
			}
		}
		if got := strings.Join(pieces, ""); got != text {
			t.Errorf("says %q, want %q", got, text)
		}
		for i, p := range pieces {
			if i < len(pieces)-1 && len(strings.Fields(p)) != 1 {
				t.Errorf("piece %d of %q is %q", i, text, p)
			}
		}
	})
}
