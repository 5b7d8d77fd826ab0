package ollama_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/llm"
	"earshot/llm/ollama"
)

// TestMain runs everything here with a proxy in the environment that does not exist, since a server
// on this machine must be reached without it.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy"} {
		os.Setenv(name, "http://192.0.2.1:9")
	}
	goleak.VerifyTestMain(m)
}

// open returns an engine that is closed when the test ends.
func open(t testing.TB, c ollama.Config) *ollama.Engine {
	t.Helper()
	e, err := ollama.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// A result is what a stream came to.
type result struct {
	text, thinking string
	calls          []llm.Call
	done           *llm.Done
	err            error
	deltas         int
}

// whole is how long a reply may take to its end. A real server that a cut has wedged never begins;
// a busy machine is not slow enough to reach this.
const whole = 3 * time.Minute

// errNoEnd is the cause of a context that ended after that time.
var errNoEnd = fmt.Errorf("waited %v in vain: the end of a reply", whole)

// collect reads a stream to its end, and checks what every stream promises.
func collect(t testing.TB, s llm.Service, ctx context.Context, req *llm.Request) (r result) {
	t.Helper()
	ctx, stop := context.WithTimeoutCause(ctx, whole, errNoEnd)
	defer stop()
	var text, thinking strings.Builder
	for d, err := range s.Stream(ctx, req) {
		r.deltas++
		switch {
		case r.done != nil || r.err != nil:
			t.Error("something came after the end")
		case err != nil && d != llm.Delta{}:
			t.Error("an error came with a delta")
		case d.Text != "" && d.Thinking != "":
			t.Error("a delta is both said and thought")
		}
		text.WriteString(d.Text)
		thinking.WriteString(d.Thinking)
		switch {
		case d.Call != nil:
			r.calls = append(r.calls, *d.Call)
		case len(r.calls) > 0 && (d.Text != "" || d.Thinking != ""):
			t.Error("something was said after a call")
		}
		r.done, r.err = d.Done, err
	}
	if r.done == nil && r.err == nil {
		t.Error("the stream came to no end")
	}
	if _, typed := errors.AsType[*llm.Error](r.err); r.err != nil && !typed && ctx.Err() == nil {
		t.Errorf("the error has no type: %v", r.err)
	}
	r.text, r.thinking = text.String(), thinking.String()
	return r
}

// fault returns the fault of an error.
func fault(err error) llm.Fault {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e.Fault
	}
	return ""
}

// cure returns the cure of an error.
func cure(err error) string {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return e.Cure
	}
	return ""
}

// say returns a request with one message.
func say(text string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}
