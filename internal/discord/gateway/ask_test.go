package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/internal/field"
)

// TestAsk: a request is sent again where that helps and does nothing twice. Errors repeat nothing
// of what was asked.
func TestAsk(t *testing.T) {
	const secret = "canary-of-an-interaction"
	for _, tt := range []struct {
		name   string
		method string
		say    []string // each as a status, and what follows it
		want   string   // the error; "" for none
		tries  int
		least  time.Duration
	}{
		{name: "at once", method: "GET", say: []string{"200 {}"}, tries: 1},
		{name: "nothing said", method: "PUT", say: []string{"204 "}, tries: 1},
		{name: "later, as it says", method: "POST", say: []string{`429 {"retry_after":3.5}`, "200 {}"}, tries: 2, least: 3500 * time.Millisecond},
		{name: "later, for a year", method: "POST", say: []string{`429 {"retry_after":31536000}`, "200 {}"}, tries: 1, want: "Discord takes no more such requests for 24h0m0s"},
		{name: "later, always", method: "GET", say: []string{`429 {"retry_after":1}`}, tries: 5, least: 4 * time.Second, want: "Discord answered 429: Too Many Requests"},
		{name: "broken for a moment", method: "GET", say: []string{"502 <html>", "200 {}"}, tries: 2},
		{name: "broken, and it may have been done", method: "POST", say: []string{"502 <html>"}, tries: 1, want: "Discord answered 502: Bad Gateway"},
		{name: "lost", method: "GET", say: []string{"", "200 {}"}, tries: 2},
		{name: "lost, and it may have been done", method: "POST", say: []string{""}, tries: 1, want: "asking Discord: the line is down"},
		{name: "refused", method: "GET", say: []string{`403 {"code":50013,"message":"` + secret + `"}`}, tries: 1, want: "Discord answered 403: the bot lacks a permission in this channel (50013)"},
		{name: "nonsense", method: "POST", say: []string{"200 <html>"}, tries: 1, want: "asking Discord: it answered 6 bytes that are not valid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				s := New(Config{Token: field.Secret(token), HTTP: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
					if got := r.URL.String(); got != "https://discord.com/api/v9/webhooks/1/"+secret+"?wait=true" {
						t.Errorf("asks for %s", got)
					}
					if b, _ := io.ReadAll(r.Body); string(b) != `{"content":"hello"}` {
						t.Errorf("says %s", b)
					}
					say := tt.say[min(tries, len(tt.say)-1)]
					tries++
					code, text, ok := strings.Cut(say, " ")
					if !ok {
						return nil, errors.New("the line is down")
					}
					a := answer(text)
					a.StatusCode = map[string]int{"200": 200, "204": 204, "403": 403, "429": 429, "502": 502}[code]
					return a, nil
				})}})
				began := time.Now()
				var got struct{}
				into := any(&got)
				if tt.method == "PUT" {
					into = nil
				}
				err := s.Ask(t.Context(), tt.method, "webhooks/1/"+secret+"?wait=true", map[string]string{"content": "hello"}, into)
				if text := said(err); text != tt.want || tries != tt.tries {
					t.Errorf("%q after %d tries, want %q after %d", text, tries, tt.want, tt.tries)
				}
				if took := time.Since(began); took < tt.least || took > tt.least+10*time.Second {
					t.Errorf("took %v, want at least %v", took, tt.least)
				}
			})
		})
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestAskGivesUp: waiting for Discord ends with the context.
func TestAskGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Token: field.Secret(token), HTTP: &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
			a := answer(`{"retry_after":20}`)
			a.StatusCode = http.StatusTooManyRequests
			return a, nil
		})}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := s.Ask(ctx, http.MethodGet, "gateway", nil, nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
