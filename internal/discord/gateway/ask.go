package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// attempts is how often a request is sent at most.
	attempts = 5
	// answers is how long Discord may take to answer a request.
	answers = 15 * time.Second
	// tolerable is the longest wait that Discord may demand: less than the half minute after which
	// a reply without progress is given up.
	tolerable = 25 * time.Second
	// retry is the wait before a failed request is sent again; it doubles.
	retry = 500 * time.Millisecond
)

// A Request is a request to the REST interface.
type Request struct {
	Method string
	Path   string // below the version, such as "channels/1/messages?limit=100"
	Body   any    // sent as JSON; nil means none
	Into   any    // receives the answer's JSON; nil means none

	// Again says that a POST may be sent again when its answer was lost, because Discord carries it
	// out once, such as a message with an enforced nonce. All other methods may always be sent
	// again.
	Again bool

	// Grace is how long to wait for an answer after the context has ended, so that the outcome of
	// the request is known.
	Grace time.Duration
}

// A Limited is the error of a request that was abandoned because Discord's rate limit would delay
// it for too long.
type Limited struct {
	After time.Duration
	Slow  bool // the channel is in slow mode
}

func (l *Limited) Error() string {
	if l.Slow {
		return fmt.Sprintf("the channel is in slow mode: the next message is possible in %v", l.After)
	}
	return fmt.Sprintf("Discord takes no more such requests for %v", l.After)
}

// Cure says what helps.
func (l *Limited) Cure() string {
	if l.Slow {
		return "give the bot's role the permission to bypass slow mode in the channel"
	}
	return "wait; if it happens again, the bot is in more channels than Discord lets it serve"
}

// Ask is [Session.Do] with only the method, path, body and answer.
func (s *Session) Ask(ctx context.Context, method, path string, body, into any) error {
	return s.Do(ctx, Request{Method: method, Path: path, Body: body, Into: into})
}

// Do sends a request to the REST interface and waits for the answer. It first waits as long as
// Discord's limits demand, and retries at most four times, after 429, 5xx and lost answers. An
// unsuccessful answer is a [*Refusal]; if Discord demands a longer wait than is worth it, a
// [*Limited]. Errors contain neither the path nor anybody's words. It may be called from any
// goroutine.
//
// It replaces discordgo's client, which sleeps without a context, and whose errors contain the
// address.
func (s *Session) Do(ctx context.Context, r Request) error {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = json.Marshal(r.Body); err != nil {
			return fmt.Errorf("encoding a request: %w", err)
		}
	}
	path, query, _ := strings.Cut(r.Path, "?")
	to := s.base.JoinPath("api/v"+version, path)
	to.RawQuery = query
	route := r.Method + " " + path
	var last error
	for n := range attempts {
		wait := s.limits.wait(time.Now(), route)
		if wait > tolerable {
			return &Limited{After: wait}
		}
		if n > 0 && wait == 0 {
			wait = time.Duration(float64(retry<<(n-1)) * (1 + s.jitter()/2))
			if r := (*Refusal)(nil); errors.As(last, &r) && r.Status == http.StatusTooManyRequests {
				wait = 0 // it was demanded, and has passed
			}
		}
		if !Pause(ctx, wait) {
			return context.Cause(ctx)
		}
		again, err := s.send(ctx, r, to.String(), route, body)
		if err == nil || !again {
			return err
		}
		last = err
	}
	return last
}

// send sends a request once, and reports whether it is worth sending again.
func (s *Session) send(ctx context.Context, r Request, to, route string, body []byte) (again bool, err error) {
	flight, land := context.WithTimeout(context.WithoutCancel(ctx), answers)
	defer land()
	defer context.AfterFunc(ctx, func() {
		if !Pause(flight, r.Grace) {
			return
		}
		land()
	})()
	out, err := http.NewRequestWithContext(flight, r.Method, to, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("asking Discord: the request is malformed")
	}
	if body != nil {
		out.Header.Set("Content-Type", "application/json")
	}
	repeatable := r.Method != http.MethodPost || r.Again
	answer, err := s.rest.Do(out)
	if err != nil {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return repeatable, errors.New("asking Discord: " + s.clean(bare(err)))
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, mostPage))
	switch code := answer.StatusCode; {
	case code == http.StatusTooManyRequests:
		after, slow := s.limits.refused(time.Now(), route, answer.Header, said)
		if after > tolerable {
			return false, &Limited{after, slow}
		}
		return true, &Refusal{Status: code}
	case code/100 != 2:
		var why struct{ Code int }
		_ = json.Unmarshal(said, &why) // a proxy gives other answers
		return code >= 500 && repeatable, &Refusal{Status: code, Code: why.Code}
	case err != nil:
		return repeatable, errors.New("asking Discord: the answer broke off")
	}
	s.limits.answered(time.Now(), route, answer.Header)
	if r.Into != nil && json.Unmarshal(said, r.Into) != nil {
		return false, fmt.Errorf("asking Discord: it answered %d bytes that are not valid", len(said))
	}
	return false, nil
}

// bare returns err without the address, which may hold a token.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// mostPage bounds how much of an answer is read, in bytes: a hundred messages of four thousand
// characters with everything attached to them.
const mostPage = 8 << 20

// A Refusal is an unsuccessful answer of the REST interface. It contains nothing of the request,
// which may hold somebody's words or the token of an interaction.
type Refusal struct {
	Status int // the HTTP status
	Code   int // Discord's own; 0 if there is none
}

func (r *Refusal) Error() string {
	what := http.StatusText(r.Status)
	if known, ok := refusals[r.Code]; ok {
		what = known.what
	}
	if r.Code == 0 {
		return fmt.Sprintf("Discord answered %d: %s", r.Status, what)
	}
	return fmt.Sprintf("Discord answered %d: %s (%d)", r.Status, what, r.Code)
}

// Cure returns what to do about it; empty if unknown.
func (r *Refusal) Cure() string {
	if r.Status == http.StatusUnauthorized {
		return refusal(r.Status, 0).Fix
	}
	return refusals[r.Code].cure
}

// refusals are Discord's error codes that people may read about, in our words.
var refusals = map[int]struct{ what, cure string }{
	10003: {"the channel no longer exists", "take it out of providers.discord.channels"},
	10008: {"the message no longer exists", ""},
	10062: {"the command waited too long", "give it again"},
	50001: {"the bot may not see this channel", "give its role View Channel there"},
	50007: {"this person does not accept direct messages from the bot", "ask them to allow direct messages from members of the server, and to unblock the bot"},
	50013: {"the bot lacks a permission in this channel", "give its role View Channel, Send Messages and, for threads, Send Messages in Threads there"},
	50083: {"the thread is archived", "ask somebody to reopen it"},
}

// bound converts Discord's number of seconds to a duration within bounds.
func bound(seconds float64) time.Duration {
	if math.IsNaN(seconds) || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, longest.Seconds()) * float64(time.Second))
}
