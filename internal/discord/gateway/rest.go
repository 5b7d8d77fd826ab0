package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

// mostAnswer bounds how much is read of an answer, in bytes.
const mostAnswer = 1 << 20

// userAgent is the form that Discord requires, with the library whose structs we use.
const userAgent = "DiscordBot (https://github.com/bwmarrin/discordgo, v" + discordgo.VERSION + ")"

// A restTransport is the transport to the REST interface. It adds the token to requests to the base,
// so that nothing above it knows the token: no request that an error holds on to, no struct that
// somebody prints.
type restTransport struct {
	next  http.RoundTripper
	base  *url.URL
	token func() string
}

// RoundTrip implements [http.RoundTripper].
func (d *restTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set("User-Agent", userAgent)
	if out.URL.Host == d.base.Host && out.URL.Scheme == d.base.Scheme {
		out.Header.Set("Authorization", "Bot "+d.token())
	}
	return d.next.RoundTrip(out)
}

// client returns a client of the REST interface, over another transport.
func client(like *http.Client, base *url.URL, token func() string) *http.Client {
	next := like.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	return &http.Client{
		Transport: &restTransport{next, base, token},
		Timeout:   30 * time.Second, // a file of some megabytes over a poor line
		// The interface does not redirect.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// fetch requests a path of the interface. After is how long the server wants us to wait.
func (s *Session) fetch(ctx context.Context, path string, into any) (code int, after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base.JoinPath("api/v"+version, path).String(), nil)
	if err != nil {
		return 0, 0, err
	}
	answer, err := s.rest.Do(r)
	if err != nil {
		return 0, 0, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return answer.StatusCode, 0, err
	}
	if answer.StatusCode != http.StatusOK {
		seconds, _ := strconv.ParseFloat(answer.Header.Get("Retry-After"), 64)
		return answer.StatusCode, bound(seconds), fmt.Errorf("answered %d", answer.StatusCode)
	}
	if json.Unmarshal(body, into) != nil {
		return answer.StatusCode, 0, fmt.Errorf("answered %d bytes that are not valid", len(body))
	}
	return answer.StatusCode, 0, nil
}

// ask returns the gateway's address, or why there is none. At no cost, it also shows whether the
// token is valid and how many session starts are left today.
func (s *Session) ask(ctx context.Context, resume bool) (string, *disconnection) {
	var found discordgo.GatewayBotResponse
	code, after, err := s.fetch(ctx, "gateway/bot", &found)
	if err != nil {
		e := &disconnection{cause: unreachable, after: after, err: fmt.Errorf("asking for the gateway: %w", err)}
		if code == http.StatusUnauthorized {
			e.code = code
		}
		return "", e
	}
	if limit := found.SessionStartLimit; !resume && limit.Total > 0 && limit.Remaining <= 0 {
		return "", &disconnection{cause: exhausted, after: time.Duration(min(max(limit.ResetAfter, 1000), int(longest.Milliseconds()))) * time.Millisecond}
	}
	return strings.TrimSuffix(found.URL, "/"), nil
}

// Shards returns into how many shards Discord wants the bot to be split, and how many of them may identify
// at a time.
func (s *Session) Shards(ctx context.Context) (n, atOnce int, err error) {
	var found discordgo.GatewayBotResponse
	if code, _, err := s.fetch(ctx, "gateway/bot", &found); code == http.StatusUnauthorized {
		return 0, 0, refusal(code, s.intents)
	} else if err != nil {
		return 0, 0, s.unasked("its shards", err)
	}
	return min(max(found.Shards, 1), mostShards), max(found.SessionStartLimit.MaxConcurrency, 1), nil
}

// mostShards bounds the number of shards: those of a bot in a million guilds.
const mostShards = 1000

// explain adds detail to a fault, if Discord can be asked.
func (s *Session) explain(ctx context.Context, f *Fault) *Fault {
	s.note(f.Error())
	if f.Code != 4014 {
		return f
	}
	ctx, done := context.WithTimeout(ctx, s.within)
	defer done()
	var app application
	if _, _, err := s.fetch(ctx, "applications/@me", &app); err == nil {
		if not := off(s.intents, app.Flags); not != 0 {
			return missing(f.Code, not)
		}
	}
	return f
}

// An application is the application of a bot.
type application struct {
	ID    string `json:"id"`
	Flags int    `json:"flags"`
}
