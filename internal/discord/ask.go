package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Refusal is an answer of the REST interface that is no success. It says nothing of
// what was asked for, which may hold the token of an interaction.
type Refusal struct {
	Status int // of HTTP
	Code   int // Discord's own; 0 if it said none
}

func (r *Refusal) Error() string {
	what := http.StatusText(r.Status)
	if s, known := refusals[r.Code]; known {
		what = s
	}
	if r.Code == 0 {
		return fmt.Sprintf("Discord answered %d: %s", r.Status, what)
	}
	return fmt.Sprintf("Discord answered %d: %s (%d)", r.Status, what, r.Code)
}

// refusals are codes that somebody may read about, in our words.
var refusals = map[int]string{
	10003: "there is no such channel any more",
	10008: "there is no such message any more",
	10062: "the command has waited for too long",
	50001: "the bot may not see this channel; give its role View Channel there",
	50007: "this person takes no direct messages from it",
	50013: "the bot lacks a permission in this channel",
}

const (
	mostTries = 5                      // of one request
	firstWait = 500 * time.Millisecond // before it is tried again; doubled and jittered
	mostWait  = 60 * time.Second       // that Discord may ask for
)

// Ask asks the REST interface for what is at a path below its version, such as
// "channels/1/messages?limit=100", and reads the answer into into. Body and into may be
// nil. What Discord says to ask later is asked later, as is a request that can be made
// twice if there was no answer, at most five times and until ctx ends. An answer that is
// no success is a [*Refusal]. Errors hold neither the path nor anybody's words. It may
// be called from many goroutines.
//
// It stands beside discordgo's client since that sleeps without a context, and its
// errors tell the address.
func (s *Session) Ask(ctx context.Context, method, path string, body, into any) error {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return err
		}
	}
	wait := firstWait
	for try := 1; ; try++ {
		after, err := s.askOnce(ctx, method, path, sent, into)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if try == mostTries || !again(method, err) {
			return err
		}
		if after == 0 {
			after = wait/2 + rand.N(wait/2)
			wait *= 2
		}
		select {
		case <-time.After(min(after, mostWait)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// again reports whether a request may be made once more.
func again(method string, err error) bool {
	var r *Refusal
	if errors.As(err, &r) && (r.Status == http.StatusTooManyRequests || r.Status < 500) {
		return r.Status == http.StatusTooManyRequests
	}
	return method != http.MethodPost // which may have been done
}

// askOnce asks once. After is how long Discord wants us to wait.
func (s *Session) askOnce(ctx context.Context, method, path string, body []byte, into any) (after time.Duration, err error) {
	path, query, _ := strings.Cut(path, "?")
	to := s.base.JoinPath("api/v"+version, path)
	to.RawQuery = query
	r, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("asking Discord: the request is malformed")
	}
	r.Header.Set("User-Agent", s.dg.UserAgent)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := s.rest.Do(r)
	if err != nil {
		return 0, errors.New("asking Discord: " + s.clean(bare(err)))
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(io.LimitReader(answer.Body, mostPage))
	if err != nil {
		return 0, errors.New("asking Discord: the answer broke off")
	}
	if answer.StatusCode/100 != 2 {
		return refused(answer, got)
	}
	if into != nil && json.Unmarshal(got, into) != nil {
		return 0, fmt.Errorf("asking Discord: it answered %d bytes that are not its own", len(got))
	}
	return 0, nil
}

// bare returns err without the address, which may hold a token.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// mostPage bounds what is read of an answer, in bytes: a hundred messages of four
// thousand characters with all that hangs at them.
const mostPage = 8 << 20

// refused reads a refusal, and how long to wait.
func refused(answer *http.Response, body []byte) (after time.Duration, err error) {
	var d struct {
		Code  int     `json:"code"`
		After float64 `json:"retry_after"`
	}
	_ = json.Unmarshal(body, &d) // a proxy answers otherwise
	seconds := d.After
	if seconds <= 0 {
		seconds, _ = strconv.ParseFloat(answer.Header.Get("Retry-After"), 64)
	}
	if seconds > 0 { // not a NaN either
		after = time.Duration(min(seconds, mostWait.Seconds()) * float64(time.Second))
	}
	return after, &Refusal{Status: answer.StatusCode, Code: d.Code}
}
