package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"earshot"
	"earshot/internal/testkit"
	"earshot/server/client"
)

// TestBetweenOthers: what two people write to each other does not change a single byte of what a
// third is answered, at any route: no words, no counts, no sizes. Only the sequence numbers of
// later events show that something happened in between; see docs/keeping.md.
func TestBetweenOthers(t *testing.T) {
	t.Parallel()
	h := newCompany(t)
	h.env = append(h.env, "EARSHOT_EXECUTIVE_PARALLEL_REASONING_CONTINUOUS=false")               // a slow machine has time to think of the kettle
	h.write("config/earshot/config.yaml", company+"executive: {context_window_seconds: 3600}\n") // nothing ages out of the scene meanwhile
	h.daemon()
	as := func(who string) *client.Client { return &client.Client{Socket: h.socket, Identity: who, New: true} }
	for _, who := range []string{"Ann", "Bob", "Jo Wren"} {
		if _, err := as(who).Post(t.Context(), "", "the kettle is on"); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Await(t, soon, "everything to be quiet", func() bool {
		before := answersTo(t, as("Ann"))
		answered := strings.Count(before["/v1/history"], `"kind":"reply"`) == 3 // one reply to each, whether or not it was cut off
		return answered && strings.Contains(before["/v1/state"], `"speaking":false`) && fmt.Sprint(before) == fmt.Sprint(answersTo(t, as("Ann")))
	})
	before := answersTo(t, as("Ann"))
	for i := range 20 {
		if _, err := as("Bob").Do(t.Context(), "msg", earshot.Text(fmt.Sprintf("Jo Wren the ring is in teapot number %d, and not in the kettle", i))); err != nil {
			t.Fatal(err)
		}
	}
	if got := answersTo(t, as("Bob")); !strings.Contains(got["/v1/history"], "teapot number 19") {
		t.Fatalf("Bob reads %s", got["/v1/history"])
	}
	for path, want := range before {
		if got := answersTo(t, as("Ann"))[path]; got != want {
			t.Errorf("%s answers Ann\n%s\nand before\n%s", path, got, want)
		}
	}
}

// clocks matches the parts of an answer that depend on the time.
var clocks = regexp.MustCompile(`\{[^{}]*"id":"clock"[^{}]*\}|"when":"[^"]*"|"age_seconds":[0-9.e+-]+`)

// answersTo returns the answers that one person gets at each route that anybody may use.
func answersTo(t *testing.T, c *client.Client) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, path := range []string{
		"/v1/history", "/v1/history?limit=200", "/v1/history?before=100000", "/v1/search?q=kettle", "/v1/search?q=teapot", "/v1/search?q=tea*", "/v1/search?q=from:Bob",
		"/v1/decisions", "/v1/state", "/v1/context", "/readyz",
	} {
		resp, err := c.Get(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK && path != "/readyz" {
			t.Fatalf("%s: %d, %v\n%s", path, resp.StatusCode, err, text)
		}
		all[path] = clocks.ReplaceAllString(string(text), "")
	}
	return all
}
