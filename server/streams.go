package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"earshot"
	"earshot/server/remote"
	"earshot/server/wire"
)

// batch is how many events are read from the journal at a time.
const batch = 64

// heartbeat is how often a stream without events sends a sign of life: often enough for a client
// that gives up after [wire.Idle].
const heartbeat = 3 * remote.Look

const (
	// blink is the least time between two states: no screen is drawn more often.
	blink = time.Second / 20

	// relook is how often the state is checked at least, since some of it depends only on time.
	relook = 5 * time.Second
)

// events streams the events after a sequence, one per line, as long as the client reads, and the
// words being said as they change. Those are not stored: a slow client gets the newest of each
// voice. An empty line is a sign of life.
func (s *Server) events(w http.ResponseWriter, r *http.Request, who guest) error {
	after, err := sequence(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	out, limit := &stream{w: w, control: http.NewResponseController(w)}, batch
	var said interims
	var is turn
	defer func() { is.end() }()
	for {
		g, grown, err := s.read(r.Context(), who, after, limit)
		if err != nil && !out.begun {
			return err
		}
		if err != nil || out.write(g.text) != nil {
			return nil // the client asks again from where it stopped
		}
		if g.n > 0 {
			after = g.last
		}
		if g.more {
			is.end()
			limit = min(batch, 2*g.n) // of long events, no more are read than are likely to fit
			continue
		}
		words, changed := s.Journal.Interim(who.Audience)
		if err := out.write(said.lines(words)); err != nil {
			return nil
		}
		is.end()
		if is, err = out.rest(r.Context(), &s.turns, grown, changed, func() error { return s.stay(r.Context(), who) }); err != nil {
			return nil
		}
		limit = batch // everything that has come meanwhile
	}
}

// read returns some events after a sequence, if the reader may still see them; grown is closed
// when there is more. The right is checked after the events have been read, so that nothing is
// sent that happened after a token was revoked.
func (s *Server) read(ctx context.Context, who guest, after int64, limit int) (g *eventBatch, grown <-chan struct{}, err error) {
	if g, grown, err = s.tail.after(ctx, s.Journal, who.Audience, after, limit); err != nil {
		return nil, nil, err
	}
	if err := s.stay(ctx, who); err != nil {
		return nil, nil, shut(err)
	}
	return g, grown, nil
}

// sequence reads the parameter after.
func sequence(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, bad("the parameter after must be a sequence: a number from 0")
	}
	return n, nil
}

// A stream writes lines to a client as fast as the client reads them.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

// write sends lines, unless there are none and some were sent before. It blocks while the client
// does not read, but no longer than a live client may take.
func (s *stream) write(lines []byte) error {
	if len(lines) == 0 && s.begun {
		return nil
	}
	if err := s.begin(); err != nil {
		return err
	}
	if _, err := s.w.Write(lines); err != nil {
		return err
	}
	return s.control.Flush()
}

// begin prepares the response for a stream.
func (s *stream) begin() error {
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Type", "application/x-ndjson")
		s.w.Header().Set("Connection", "close") // nothing follows a stream
	}
	return s.control.SetWriteDeadline(time.Now().Add(wire.Idle))
}

// rest waits until the journal has grown, or something else has changed, and the stream's turn has
// come. It sends signs of life meanwhile. An error says that the stream has ended, or that the
// reader may not stay.
func (s *stream) rest(ctx context.Context, all *turns, grown, other <-chan struct{}, stay func() error) (turn, error) {
	ask := time.NewTicker(remote.Look)
	defer ask.Stop()
	for quiet := remote.Look; ; quiet += remote.Look {
		if is, ok := all.wait(ctx, grown, other, ask.C); ok {
			return is, nil
		}
		if err := errors.Join(ctx.Err(), stay()); err != nil {
			return turn{}, err
		}
		if quiet%heartbeat == 0 {
			if err := s.write([]byte("\n")); err != nil {
				return turn{}, err
			}
		}
	}
}

// refuses returns err if nothing was written yet; otherwise the stream just ends.
func (s *stream) refuses(err error) error {
	if s.begun {
		return nil
	}
	return err
}

// line sends one line. It blocks while the client does not read.
func (s *stream) line(text []byte) error { return s.write(append(text, '\n')) }

// interims are the last interim words sent for each voice. The zero value means that none were
// sent.
type interims map[earshot.Handle]earshot.Event

// lines returns the changes in the words being said, one event per line: new or changed words, and
// the end of those that are gone.
func (i *interims) lines(words []earshot.Event) (lines []byte) {
	now := make(interims, len(words))
	tell := func(e earshot.Event) {
		if line, err := json.Marshal(e); err == nil { // marshalling cannot fail
			lines = append(append(lines, line...), '\n')
		}
	}
	for _, e := range words {
		now[e.From] = e
		if was, told := (*i)[e.From]; !told || !same(was, e) {
			tell(e)
		}
	}
	for from, was := range *i {
		if _, still := now[from]; !still {
			was.Body = earshot.Speech{Stage: earshot.VoiceOver, Confidence: 1}
			tell(was)
		}
	}
	*i = now
	return lines
}

// same reports whether two events have the same words by the same person.
func same(a, b earshot.Event) bool {
	is, _ := a.Body.(earshot.Speech)
	was, _ := b.Body.(earshot.Speech)
	return a.At.Equal(b.At) && a.Author == b.Author && is.Words == was.Words
}

// live streams the state of the room, a whole line each time: at once, and then after each change
// as fast as the client reads, but not more often than every blink. Nothing is queued for a slow
// reader: its next line is the state at the time it has read the last. An empty line is a sign of
// life.
func (s *Server) live(w http.ResponseWriter, r *http.Request, who guest) error {
	out := &stream{w: w, control: http.NewResponseController(w)}
	var last []byte
	var told, asked time.Time
	for {
		if now := time.Now(); now.Sub(asked) >= remote.Look {
			asked = now
			if err := s.stay(r.Context(), who); err != nil {
				return out.refuses(shut(err))
			}
		}
		now, changed, err := s.Backend.Live(r.Context(), who.Principal)
		if err != nil {
			return out.refuses(&fault{http.StatusServiceUnavailable, err})
		}
		line, err := json.Marshal(now)
		if err != nil {
			return out.refuses(err)
		}
		switch at := time.Now(); {
		case !bytes.Equal(line, last):
			last, told, now.At = line, at, at
			if line, err = json.Marshal(now); err == nil {
				err = out.line(line)
			}
		case at.Sub(told) >= heartbeat:
			told = at
			err = out.line(nil)
		}
		if err != nil || !wait(r.Context(), blink, nil) || !wait(r.Context(), relook, changed) {
			return nil
		}
	}
}

// wait waits for d, or until a channel is closed; it returns false if ctx ends before.
func wait(ctx context.Context, d time.Duration, until <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-until:
		return true
	case <-ctx.Done():
		return false
	}
}

// hold holds the push-to-talk key as long as the connection lasts, so that a client that dies
// releases it. It writes an empty line when the key is held, and signs of life after that.
func (s *Server) hold(w http.ResponseWriter, r *http.Request, who guest) error {
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(unwatched(w), r.Body, headerBytes)); err != nil { // net/http notices that the client goes only after the body was read
		return bad("this takes no body")
	}
	release, err := s.Backend.Hold(r.Context(), who.Principal)
	if err != nil {
		return &fault{http.StatusUnprocessableEntity, err}
	}
	defer release()
	out := &stream{w: w, control: http.NewResponseController(w)}
	for told := 0; ; told++ {
		if told%(int(heartbeat/remote.Look)) == 0 && out.line(nil) != nil {
			return nil
		}
		if !wait(r.Context(), remote.Look, nil) || s.stay(r.Context(), who) != nil {
			return nil
		}
	}
}
