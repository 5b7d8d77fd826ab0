package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/field"
)

const canary = "MTk4NjIyNDgzNDcxOTI1MjQ4.canary.token"

// A wire answers requests without a network, so that time can be simulated.
type wire struct {
	mu    sync.Mutex
	times []time.Time
	paths []string

	// answer makes the answer to request n, from 0.
	answer func(n int, r *http.Request) (status int, header map[string]string, body string, err error)
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	n := len(w.times)
	w.times, w.paths = append(w.times, time.Now()), append(w.paths, r.Method+" "+r.URL.RequestURI())
	w.mu.Unlock()
	status, header, body, err := w.answer(n, r)
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	for k, v := range header {
		h.Set(k, v)
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (w *wire) session() *gateway.Session {
	return gateway.New(gateway.Config{Token: field.Secret(canary), HTTP: &http.Client{Transport: w}})
}

// TestDo: which requests are sent, and when, after which answers.
func TestDo(t *testing.T) {
	type answer struct {
		status int
		header map[string]string
		body   string
	}
	limit := func(seconds string) answer {
		return answer{429, nil, `{"message": "You are being rate limited.", "retry_after": ` + seconds + `, "global": false}`}
	}
	ok := answer{200, nil, `{"id": "7"}`}
	for name, tt := range map[string]struct {
		method  string
		again   bool
		answers []answer // status 0 means that the answer is lost
		sent    int
		least   time.Duration
		most    time.Duration
		err     string
	}{
		"at once":               {"GET", false, []answer{ok}, 1, 0, 0, ""},
		"a limit":               {"POST", false, []answer{limit("2.5"), ok}, 2, 2500 * time.Millisecond, 2600 * time.Millisecond, ""},
		"a limit of a proxy":    {"POST", false, []answer{{429, map[string]string{"Retry-After": "3"}, "<html>"}, ok}, 2, 3 * time.Second, 3100 * time.Millisecond, ""},
		"limits without end":    {"GET", false, []answer{limit("1"), limit("1"), limit("1"), limit("1"), limit("1"), ok}, 5, 4 * time.Second, 4100 * time.Millisecond, "answered 429"},
		"a limit beyond reason": {"GET", false, []answer{limit("1e300"), ok}, 1, 0, 0, "no more such requests for 24h"},
		"slow mode":             {"POST", true, []answer{{429, nil, `{"code": 20016, "retry_after": 60}`}, ok}, 1, 0, 0, "slow mode"},
		"a bad minute":          {"GET", false, []answer{{502, nil, ""}, {503, nil, ""}, ok}, 3, 1500 * time.Millisecond, 2300 * time.Millisecond, ""},
		"a bad day":             {"GET", false, []answer{{500, nil, ""}, {500, nil, ""}, {500, nil, ""}, {500, nil, ""}, {500, nil, ""}, ok}, 5, 7500 * time.Millisecond, 12 * time.Second, "answered 500"},
		"a lost answer":         {"POST", true, []answer{{}, ok}, 2, 500 * time.Millisecond, 750 * time.Millisecond, ""},
		"not to be done twice":  {"POST", false, []answer{{}, ok}, 1, 0, 0, "asking Discord"},
		"not after 500 either":  {"POST", false, []answer{{500, nil, ""}, ok}, 1, 0, 0, "answered 500"},
		"no permission":         {"POST", true, []answer{{403, nil, `{"code": 50013, "message": "canary said this"}`}, ok}, 1, 0, 0, "lacks a permission"},
		"a bad token":           {"GET", false, []answer{{401, nil, `{"code": 0}`}, ok}, 1, 0, 0, "401"},
		"no answer of its own":  {"GET", false, []answer{{200, nil, "canary"}, ok}, 1, 0, 0, "bytes that are not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{answer: func(n int, r *http.Request) (int, map[string]string, string, error) {
					a := tt.answers[n]
					if a.status == 0 {
						return 0, nil, "", errors.New("cut, and it was " + r.Header.Get("Authorization"))
					}
					return a.status, a.header, a.body, nil
				}}
				var got struct{ ID string }
				began := time.Now()
				err := w.session().Do(t.Context(), gateway.Request{
					Method: tt.method, Path: "channels/1/messages?limit=5", Body: map[string]string{"content": "canary"}, Into: &got, Again: tt.again,
				})
				took := time.Since(began)
				switch {
				case tt.err == "" && (err != nil || got.ID != "7"):
					t.Errorf("failed with %v, read %q", err, got.ID)
				case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
					t.Errorf("failed with %v, want %q", err, tt.err)
				case err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "channels")):
					t.Errorf("says too much: %v", err)
				}
				if len(w.times) != tt.sent || took < tt.least || took > tt.most {
					t.Errorf("sent %d times within %v, want %d within %v to %v", len(w.times), took, tt.sent, tt.least, tt.most)
				}
				for _, p := range w.paths {
					if p != tt.method+" /api/v9/channels/1/messages?limit=5" {
						t.Errorf("asked %s", p)
					}
				}
			})
		})
	}
}

// TestDoKeepsLimits: a limit that Discord announces is kept, for its channel alone; a global one is
// kept for all.
func TestDoKeepsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{answer: func(n int, _ *http.Request) (int, map[string]string, string, error) {
			switch n {
			case 0:
				return 200, map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "4"}, "{}", nil
			case 3:
				return 429, nil, `{"retry_after": 2, "global": true}`, nil
			}
			return 200, map[string]string{"X-RateLimit-Remaining": "3", "X-RateLimit-Reset-After": "4"}, "{}", nil
		}}
		s, began := w.session(), time.Now()
		for _, path := range []string{"channels/1/messages", "channels/2/messages", "channels/1/messages", "channels/2/messages", "channels/3/messages"} {
			if err := s.Ask(t.Context(), "POST", path, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		var at []time.Duration
		for _, sent := range w.times {
			at = append(at, sent.Sub(began).Round(time.Millisecond))
		}
		got, _ := json.Marshal(at)
		want, _ := json.Marshal([]time.Duration{0, 0, 4 * time.Second, 4 * time.Second, 6 * time.Second, 6 * time.Second})
		if string(got) != string(want) {
			t.Errorf("sent at %v", at)
		}
	})
}

// TestDoStops: when the context ends, Do waits only for an answer for which it is told to wait.
func TestDoStops(t *testing.T) {
	for name, tt := range map[string]struct {
		takes, grace, want time.Duration
		done               bool
	}{
		"at once":                {5 * time.Second, 0, time.Second, false},
		"with the answer":        {5 * time.Second, 10 * time.Second, 5 * time.Second, true},
		"when it takes too long": {30 * time.Second, 3 * time.Second, 4 * time.Second, false},
		"without an answer ever": {time.Hour, time.Hour, 15 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{answer: func(_ int, r *http.Request) (int, map[string]string, string, error) {
					select {
					case <-time.After(tt.takes):
						return 200, nil, "{}", nil
					case <-r.Context().Done():
						return 0, nil, "", r.Context().Err()
					}
				}}
				ctx, stop := context.WithTimeout(t.Context(), time.Second)
				defer stop()
				began := time.Now()
				err := w.session().Do(ctx, gateway.Request{Method: "POST", Path: "channels/1/messages", Grace: tt.grace})
				if took := time.Since(began); took != tt.want || (err == nil) != tt.done {
					t.Errorf("returned %v after %v, want %v", err, took, tt.want)
				}
			})
		})
	}
}

// TestLoopbackPosts: what Discord does with a message that comes twice, and with messages that it
// does not accept.
func TestLoopbackPosts(t *testing.T) {
	server := discordtest.New(t, discordtest.Config{})
	bot, general := server.Bot("bob"), server.Channel("general")
	s := gateway.New(gateway.Config{Token: field.Secret(bot.Token), Base: server.Base(), HTTP: server.HTTP()})
	post := func(body string) error {
		return s.Do(t.Context(), gateway.Request{
			Method: "POST", Path: "channels/" + strconv.FormatUint(general.ID, 10) + "/messages", Body: json.RawMessage(body), Again: true,
		})
	}
	server.LoseAnswers(2)
	if err := post(`{"content": "once", "nonce": "1", "enforce_nonce": true}`); err != nil {
		t.Error(err)
	}
	server.Break(1)
	if err := post(`{"content": "after a failure"}`); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		`{"content": " \n"}`,
		`{"content": "x", "nonce": "` + strings.Repeat("1", 26) + `"}`,
		`{"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}`,
		`{"content": "x", "allowed_mentions": {"users": ["1", "1"]}}`,
		`{"content": "x", "message_reference": {"message_id": "1"}}`,
		`{"content": "` + strings.Repeat("x", 2001) + `"}`,
	} {
		var r *gateway.Refusal
		if err := post(bad); !errors.As(err, &r) || r.Status != 400 {
			t.Errorf("%.60s was answered with %v", bad, err)
		}
	}
	if err := post(`{"content": "x", "message_reference": {"message_id": "1", "fail_if_not_exists": false}}`); err != nil {
		t.Error(err)
	}
	if all := server.Messages(general.ID); len(all) != 3 || all[0].Content != "once" {
		t.Errorf("posted %+v", all)
	}
}
