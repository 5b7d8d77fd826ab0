package llm_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"earshot/llm"
	"earshot/llm/llmtest"
)

// loading is an engine that may be loading its model, and says nothing meanwhile.
type loading struct {
	llm.Engine
	loads bool
	asked *int
}

func (l loading) Loads(context.Context, string) bool { *l.asked++; return l.loads }

// TestSilence: a server that says nothing is given up after half a minute, unless it is loading the
// model. What it had said before is kept.
func TestSilence(t *testing.T) {
	hang := func(after int) llmtest.Trouble { return llmtest.Trouble{Hang: true, After: after} }
	script := func(every time.Duration, troubles ...llmtest.Trouble) *llmtest.Script {
		return &llmtest.Script{Label: "a", Reply: "one two", Every: every, Troubles: troubles}
	}
	var asked int
	for _, tt := range []struct {
		name   string
		engine llm.Engine
		want   string
	}{
		{"nothing", plainEngine{script(time.Second, hang(0))}, `a gave up: "", a: stalled: no first word came within 30s, 30s`},
		{"nothing, nor an end of what is unloaded", stuck{script(time.Second, hang(0)), time.Hour, nil}, `a gave up: "", a: stalled: no first word came within 30s; a: bad answer: context deadline exceeded, 33s`},
		{"the beginning of a reply", plainEngine{script(time.Second, hang(1))}, `a answered, a gave up in the middle of a reply: "one", a: stalled: nothing more came for 30s, 31s`},
		{"while it loads the model", loading{script(50 * time.Second), true, &asked}, `a answered: "one two", done, 1m40s`},
		{"what is loaded takes as long", loading{script(50 * time.Second), false, &asked}, `a gave up: "", a: stalled: no first word came within 30s, 30s`},
		{"a model that is never loaded", loading{script(time.Second, hang(0)), true, &asked}, `a gave up: "", a: stalled: the model was being loaded, and no first word came within 2m0s, 2m0s`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := ladder(tt.engine)
				l.FirstToken, l.Idle, l.Total = 0, 0, 0
				if tt.name == "while it loads the model" {
					l.Idle = time.Minute
				}
				if got := climb(t.Context(), l, &llm.Request{}); got != tt.want {
					t.Errorf("\n%s\nwant\n%s", got, tt.want)
				}
			})
		})
	}
}
