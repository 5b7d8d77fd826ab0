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
	return stream[earshot.Event](ctx, c, "/v1/events?after="+strconv.FormatInt(after, 10), "reading the events: an invalid line")
}

// Live yields the state of the room, at once and then whenever it changes, until ctx ends or the
// connection is lost. A slow reader skips past states and gets the current one. What is yielded
// belongs to the caller. An error is yielded at most once, last.
func (c *Client) Live(ctx context.Context) iter.Seq2[api.LiveView, error] {
	return stream[api.LiveView](ctx, c, "/v1/live", "reading the state of the room")
}

// stream yields what the lines at a path hold, until ctx ends or the connection is lost. Invalid is
// what to say about a line that holds none of it.
func stream[T any](ctx context.Context, c *Client, path, invalid string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		idle := time.AfterFunc(wire.Idle, func() { cancel(errSilent) })
		defer idle.Stop()
		resp, err := c.send(ctx, "GET", path, nil)
		if err != nil {
			yield(none, err)
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
			var one T
			if err := json.Unmarshal(line, &one); err != nil {
				yield(none, fmt.Errorf("%s: %w", invalid, err))
				return
			}
			if !yield(one, nil) {
				return
			}
		}
		yield(none, lostBecause(ctx, lines.Err()))
	}
}

var errSilent = errors.New("earshot has not answered for too long")

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
