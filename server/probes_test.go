package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/internal/testkit"
	"earshot/participants"
	"earshot/server"
	"earshot/server/client"
	"earshot/server/socket"
)

// probe sends a GET request for a path to a socket, and returns the status and the body.
func probe(t *testing.T, at, path string) (int, string) {
	t.Helper()
	c := &http.Client{Timeout: patience, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", at)
		},
		DisableKeepAlives: true,
	}}
	resp, err := c.Get("http://earshot" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestProbes: shows who may ask whether the process is alive, whether it is ready, for the metrics
// and for a diagnosis.
func TestProbes(t *testing.T) {
	person := participants.Participant{ID: "ann", Name: "Ann", Type: participants.Human}
	operator := person
	operator.Capabilities = []participants.Capability{participants.Operate}
	if open := server.Open(); fmt.Sprint(open) != "[/livez]" {
		t.Errorf("anybody may ask for %v", open)
	}
	for _, tt := range []struct {
		name string
		who  *participants.Participant // nil for nobody
		want string
	}{
		{"a stranger", nil, "/livez 200 /readyz 401 /metrics 401 /v1/diagnostics 401"},
		{"a person", &person, "/livez 200 /readyz 200 /metrics 403 /v1/diagnostics 403"},
		{"another system", &participants.Participant{ID: "scraper", Type: participants.Other}, "/livez 200 /readyz 200 /metrics 200 /v1/diagnostics 403"},
		{"who operates it", &operator, "/livez 200 /readyz 200 /metrics 200 /v1/diagnostics 200"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse()
			h.who = func(earshot.Handle, server.Claim) (server.Principal, error) {
				if tt.who == nil {
					return server.Principal{}, participants.ErrToken
				}
				return server.Principal{Participant: *tt.who}, nil
			}
			at, stop := serve(t, h)
			defer stop()
			var got []string
			for _, path := range []string{"/livez", "/readyz", "/metrics", "/v1/diagnostics"} {
				status, _ := probe(t, at, path)
				got = append(got, fmt.Sprint(path, " ", status))
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("got %s\nwant %s", text, tt.want)
			}
		})
	}
}

// TestReady: obstacles to the house's work are reported, and are not an error for the client.
func TestReady(t *testing.T) {
	h := newHouse()
	at, stop := serve(t, h)
	defer stop()
	c := &client.Client{Socket: at}
	if is, err := c.Ready(t.Context()); err != nil || !is.Ready {
		t.Errorf("it is %+v (%v), want ready", is, err)
	}
	h.mu.Lock()
	h.underway = []api.Activity{{Part: "journal", Text: "it is looked through"}}
	h.mu.Unlock()
	if status, text := probe(t, at, "/readyz"); status != 200 || !strings.Contains(text, "it is looked through") {
		t.Errorf("a prober is told %d %s, want that it is ready and what it does beside that", status, text)
	}
	h.mu.Lock()
	h.ill = []api.Obstacle{{Part: "microphone", Kind: "sense", Text: "there is none"}}
	h.mu.Unlock()
	if is, err := c.Ready(t.Context()); err != nil || is.Ready || len(is.Obstacles) != 1 || is.Obstacles[0].Part != "microphone" {
		t.Errorf("it is %+v (%v), want what is wrong", is, err)
	}
	if status, text := probe(t, at, "/readyz"); status != 503 || !strings.Contains(text, "there is none") {
		t.Errorf("a prober is told %d %s", status, text)
	}
	h.who = func(earshot.Handle, server.Claim) (server.Principal, error) {
		return server.Principal{}, errors.New("nobody of that name")
	}
	if _, err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "nobody of that name") {
		t.Errorf("who may not ask is told %v", err)
	}
}

// TestDiagnosticsParameters: the state of goroutines is included only on request.
func TestDiagnosticsParameters(t *testing.T) {
	h := newHouse()
	h.who = func(earshot.Handle, server.Claim) (server.Principal, error) {
		return server.Principal{Participant: participants.Participant{ID: "ann", Capabilities: []participants.Capability{participants.Operate}}}, nil
	}
	at, stop := serve(t, h)
	defer stop()
	c := &client.Client{Socket: at}
	for _, wanted := range []bool{false, true} {
		if v, err := c.Diagnostics(t.Context(), api.DiagnosisRequest{Goroutines: wanted}); err != nil || v.Goroutines != fmt.Sprint(wanted) {
			t.Errorf("got %+v (%v)", v, err)
		}
	}
	if status, _ := probe(t, at, "/v1/diagnostics?goroutines=yes"); status != 400 {
		t.Errorf("a wrong parameter is %d", status)
	}
}

// TestUnready: while there is no house yet, clients are told why. Later the house answers at the
// same socket, even on connections that were made before.
func TestUnready(t *testing.T) {
	at := socketPath(t)
	l, err := socket.Listen(at)
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse()
	fill(t, h, 1)
	ctx, over := context.WithCancel(t.Context())
	unready := make(chan error)
	go func() {
		unready <- server.ServeUnready(ctx, l, func() api.Obstacle {
			return api.Obstacle{Part: "journal", Kind: "house", Text: "the journal is made ready: 42 %", Cure: "wait"}
		})
	}()
	if code, text := probe(t, at, "/livez"); code != 200 || text != "alive\n" {
		t.Errorf("alive: %d %q", code, text)
	}
	if code, text := probe(t, at, "/metrics"); code != 503 || text != `{"error":"the journal is made ready: 42 %","cure":"wait"}`+"\n" {
		t.Errorf("the counters: %d %q", code, text)
	}
	c := &client.Client{Socket: at}
	is, err := c.Ready(t.Context())
	if err != nil || is.Ready || len(is.Obstacles) != 1 || is.Obstacles[0].Part != "journal" {
		t.Errorf("ready: %+v, %v", is, err)
	}
	if _, err := c.History(t.Context(), nil, 0, 1); !later(err) || !strings.Contains(err.Error(), "42 %") {
		t.Errorf("history: %v", err)
	}
	if _, err := socket.Listen(at); !errors.Is(err, socket.ErrRunning) {
		t.Errorf("another one began: %v", err)
	}
	over()
	if err := testkit.Receive(t, testkit.Patience, "the end of the one that is not ready", unready); err != nil {
		t.Fatal(err)
	}
	waits := make(chan error) // not answered until the house serves
	go func() {
		_, err := c.History(t.Context(), nil, 0, 1)
		waits <- err
	}()
	ctx, leave := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- serverOf(h).Serve(ctx, l) }()
	if err := testkit.Receive(t, testkit.Patience, "the answer of the one that is ready", waits); err != nil {
		t.Error(err)
	}
	leave()
	if err := testkit.Receive(t, testkit.Patience, "the end of the server", served); err != nil {
		t.Error(err)
	}
}
