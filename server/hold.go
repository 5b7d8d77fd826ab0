package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"earshot/server/remote"
	"earshot/server/wire"
)

// hold holds the key for as long as the connection lasts, so that who has died lets go. It
// writes an empty line when the key is held, and then now and then.
func (s *Server) hold(w http.ResponseWriter, r *http.Request, who guest) error {
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(unwatched(w), r.Body, headerBytes)); err != nil { // that they go is only noticed behind it
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

// Hold holds the key to talk until ctx ends, which is no error, or the connection is lost.
// It calls held when it is.
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
