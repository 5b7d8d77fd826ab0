package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"earshot/internal/field"
)

// TestCheck: Check reports everything that is wrong, each with its cure, and costs no session
// start.
func TestCheck(t *testing.T) {
	const all = "274914675712" // what an invitation asks for
	for _, tt := range []struct {
		name    string
		me      string
		flags   int
		guilds  string
		token   string
		want    []string // parts of the fault; nil for none
		unasked bool
	}{
		{name: "all is well", me: `{"bot":true}`, flags: 1 << 19, guilds: `[{"id":"7","permissions":"` + all + `"}]`},
		{name: "an administrator", me: `{"bot":true}`, flags: 1 << 18, guilds: `[{"id":"7","permissions":"8"}]`},
		{name: "no token", token: " ", want: []string{"there is no token"}},
		{name: "a person's", me: `{"bot":false}`, want: []string{"belongs to a person"}},
		{name: "refused", me: "401", want: []string{"(401)"}},
		{name: "no intent", me: `{"bot":true}`, guilds: `[{"id":"7","permissions":"8"}]`, want: []string{"Message Content Intent"}},
		{name: "no guild", me: `{"bot":true}`, flags: 1 << 19, guilds: `[]`, want: []string{"permissions=" + all}},
		{name: "no voice", me: `{"bot":true}`, flags: 1 << 19, guilds: `[{"id":"7","permissions":"274877975552"}]`, want: []string{"guild 7: Connect, Speak, Use Voice Activity"}},
		{name: "two things", me: `{"bot":true}`, guilds: `[]`, want: []string{"Message Content Intent", "no guild"}},
		{name: "broken", me: "502", unasked: true},
		{name: "nonsense", me: "<html>" + token, unasked: true},
		{name: "nonsense later", me: `{"bot":true}`, flags: 1 << 19, guilds: "{", unasked: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answers := map[string]string{
				"/api/v9/users/@me":        tt.me,
				"/api/v9/applications/@me": fmt.Sprintf(`{"id":"1","flags":%d}`, tt.flags),
				"/api/v9/users/@me/guilds": tt.guilds,
			}
			secret := cmp.Or(tt.token, token)
			s := New(Config{Token: field.Secret(secret), Intents: 1 | 1<<15, HTTP: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
				text, ok := answers[r.URL.Path]
				if !ok {
					t.Errorf("asks for %s", r.URL.Path)
				}
				return answer(text), nil
			})}})
			err := s.Check(t.Context())
			if err != nil && strings.Contains(err.Error(), token) {
				t.Fatalf("the token is in %v", err)
			}
			_, fault := errors.AsType[*Fault](err)
			if tt.unasked != (err != nil && !fault) {
				t.Fatalf("%v", err)
			}
			if !tt.unasked && (err != nil) != (tt.want != nil) {
				t.Fatalf("says %v, want %q", err, tt.want)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// answer returns an HTTP answer; a text of three digits is a status.
func answer(text string) *http.Response {
	code := 200
	if len(text) == 3 {
		fmt.Sscan(text, &code)
	}
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: http.Header{}, Body: body(text)}
}

func body(text string) io.ReadCloser { return io.NopCloser(strings.NewReader(text)) }
