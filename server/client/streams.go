package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"earshot"
	"earshot/api"
	"earshot/server/wire"
)

// Events yields the events after a sequence, first the past ones, until ctx ends or the connection
// is lost. An error is yielded at most once, last; after one, ask again from the last event's
// sequence.
func (c *Client) Events(ctx context.Context, after int64) iter.Seq2[earshot.Event, error] {
	return func(yield func(earshot.Event, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		idle := time.AfterFunc(wire.Idle, func() { cancel(errSilent) })
		defer idle.Stop()
		resp, err := c.send(ctx, "GET", "/v1/events?after="+strconv.FormatInt(after, 10), nil)
		if err != nil {
			yield(earshot.Event{}, err)
			return
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, lineBytes)
		for lines.Scan() {
			idle.Reset(wire.Idle)
			e, ok, err := parseEvent(lines.Bytes())
			if (ok || err != nil) && !yield(e, err) || err != nil {
				return
			}
		}
		yield(earshot.Event{}, lostBecause(ctx, lines.Err()))
	}
}

var errSilent = errors.New("earshot has not answered for too long")

// parseEvent returns the event in a line of the stream, if there is one.
func parseEvent(line []byte) (e earshot.Event, ok bool, err error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return e, false, nil
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return earshot.Event{}, false, fmt.Errorf("reading the events: an invalid line: %w", err)
	}
	return e, true, nil
}

// lostBecause returns why a stream ended.
func lostBecause(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		return fmt.Errorf("reading the events: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("reading the events: %w", err)
}

// Hold holds the push-to-talk key until ctx ends, which is not an error, or the connection is
// lost. It calls held once the key is held.
func (c *Client) Hold(ctx context.Context, held func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(wire.Idle, func() { cancel(errSilent) })
	defer idle.Stop()
	resp, err := c.send(ctx, "POST", "/v1/hold", nil)
	if err == nil {
		defer resp.Body.Close()
		for one := make([]byte, 1); err == nil; {
			if _, err = io.ReadFull(resp.Body, one); err == nil && held != nil {
				held()
				held = nil
			}
			idle.Reset(wire.Idle)
		}
	}
	switch {
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSilent):
		return nil
	case ctx.Err() != nil:
		return errSilent
	case errors.Is(err, io.EOF):
		return fmt.Errorf("holding the key: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// Live yields the state of the room, at once and then whenever it changes, until ctx ends or the
// connection is lost. A slow reader skips past states and gets the current one. What is yielded
// belongs to the caller. An error is yielded at most once, last.
func (c *Client) Live(ctx context.Context) iter.Seq2[api.LiveView, error] {
	return func(yield func(api.LiveView, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		idle := time.AfterFunc(wire.Idle, func() { cancel(errSilent) })
		defer idle.Stop()
		resp, err := c.send(ctx, "GET", "/v1/live", nil)
		if err != nil {
			yield(api.LiveView{}, err)
			return
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, lineBytes)
		for lines.Scan() {
			idle.Reset(wire.Idle)
			line := bytes.TrimSpace(lines.Bytes())
			if len(line) == 0 {
				continue
			}
			var now api.LiveView
			if err := json.Unmarshal(line, &now); err != nil {
				yield(now, fmt.Errorf("reading the state of the room: %w", err))
				return
			}
			if !yield(now, nil) {
				return
			}
		}
		yield(api.LiveView{}, lostBecause(ctx, lines.Err()))
	}
}
