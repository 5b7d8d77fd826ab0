package ollama_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"earshot/llm"
	"earshot/llm/ollama"
)

// canned is a transport that answers chats with body. It opens no connection.
type canned struct {
	body io.Reader
}

// RoundTrip implements [http.RoundTripper].
func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	body := c.body
	if r.URL.Path == "/api/show" {
		body = strings.NewReader(`{"capabilities":["completion"]}`)
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body), Request: r}, nil
}

// drops is a reader that gives at most n bytes at a time.
type drops struct {
	io.Reader
	n int
}

// Read implements [io.Reader].
func (d drops) Read(p []byte) (int, error) { return d.Reader.Read(p[:min(len(p), d.n)]) }

// answered returns what an engine makes of a reply with that body.
func answered(t testing.TB, body io.Reader) result {
	t.Helper()
	e := open(t, ollama.Config{Model: "m", Client: &http.Client{Transport: canned{body}}})
	return collect(t, e, t.Context(), say("hi"))
}

// FuzzStream: whatever comes, a stream ends once, with an end or a typed error; all pieces are
// whole runes; and the result does not depend on how the bytes arrive.
func FuzzStream(f *testing.F) {
	for _, body := range []string{
		"", "\n", hello, hello + end, hello + end[:30], page, "null\n" + end,
		"{\"message\":{\"content\":\"a\xffb\xc3\"}}\n" + end,
		`{"message":{"content":"<think>Hm</think>Yes"}}` + "\n" + end,
		`{"message":{"content":"<thi"}}` + "\n" + `{"message":{"content":"nk>","thinking":"x"}}` + "\n" + end,
		noted + "\n" + hello + noted + "\n" + end, `{"message":{"tool_calls":[{"id":"a","function":{"name":"b","arguments":"c"}}]},"done":true}`,
		`{"error":"boom"}`, `{"done":true}`, `{"done":true,"done_reason":"length","eval_count":1e3}`,
	} {
		f.Add([]byte(body), 1)
		f.Add([]byte(body), 7)
	}
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		at := max(1, n%(len(body)+1))
		whole := answered(t, strings.NewReader(string(body)))
		apart := answered(t, drops{strings.NewReader(string(body)), at})
		if whole.text != apart.text || fmt.Sprint(whole.calls) != fmt.Sprint(apart.calls) || whole.thinking != apart.thinking || fault(whole.err) != fault(apart.err) || (whole.done == nil) != (apart.done == nil) {
			t.Errorf("in one: %+v, %d bytes at a time: %+v", whole, at, apart)
		}
		if !utf8.ValidString(whole.text) || !utf8.ValidString(whole.thinking) {
			t.Errorf("not UTF-8: %q, %q", whole.text, whole.thinking)
		}
		if whole.err != nil && len(whole.err.Error()) > 400 {
			t.Errorf("an error of %d bytes", len(whole.err.Error()))
		}
	})
}

// TestCutAnywhere: a reply that is cut off anywhere, in any way, has no end, and what was said
// until then is a beginning of it.
func TestCutAnywhere(t *testing.T) {
	dead := errors.New("connection reset")
	const words = "The tides — 潮 — are the sea's answer to the moon."
	var whole strings.Builder
	for _, w := range strings.SplitAfter(words, " ") {
		whole.WriteString(strings.Replace(hello, "Hello", w, 1))
	}
	whole.WriteString(end)
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.IntRange(0, whole.Len()-2).Draw(rt, "at") // the last byte is a line break, which may be missing
		var rest io.Reader = strings.NewReader("")
		if rapid.Bool().Draw(rt, "reset") {
			rest = failing{dead}
		}
		n := rapid.IntRange(1, 200).Draw(rt, "bytes at a time")
		r := answered(t, drops{io.MultiReader(strings.NewReader(whole.String()[:at]), rest), n})
		if fault(r.err) != llm.Broken || r.done != nil || !strings.HasPrefix(words, r.text) {
			rt.Errorf("cut at %d: said %q, done %v, error %v", at, r.text, r.done, r.err)
		}
	})
}

// failing is a reader that fails.
type failing struct{ err error }

// Read implements [io.Reader].
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// BenchmarkPiece measures what one piece of a reply costs without a network.
func BenchmarkPiece(b *testing.B) {
	body := &endless{line: `{"model":"llama3.2:3b","created_at":"2026-01-02T03:04:05.678901234Z","message":{"role":"assistant","content":" tides"},"done":false}` + "\n"}
	e := open(b, ollama.Config{Model: "m", Client: &http.Client{Transport: canned{body}}})
	b.ReportAllocs()
	n := 0
	for n < b.N {
		for _, err := range e.Stream(context.Background(), say("hi")) {
			if n++; n >= b.N || err != nil {
				break // the endless reply is now and then too long
			}
		}
	}
}

// endless is a reader that repeats one line for ever.
type endless struct {
	line string
	at   int
}

// Read implements [io.Reader].
func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.line[e.at:])
	e.at = (e.at + n) % len(e.line)
	return n, nil
}
