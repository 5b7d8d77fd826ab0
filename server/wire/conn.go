package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// A Conn reads and writes frames. One goroutine may read while another writes.
type Conn struct {
	conn  net.Conn
	lines *bufio.Scanner
}

// NewConn returns a Conn that reads frames from r, which is conn or a buffer over it, and writes
// to conn. A line longer than limit is an error.
func NewConn(conn net.Conn, r io.Reader, limit int) *Conn {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, limit)
	lines.Split(wholeLines)
	return &Conn{conn, lines}
}

// wholeLines is bufio.ScanLines, except that a line without its end is an
// error: the rest of it was lost.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	n, line, err := bufio.ScanLines(data, atEOF)
	if atEOF && n == len(data) && n > 0 && data[n-1] != '\n' {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return n, line, err
}

// Read returns the next frame. The error is io.EOF if the other side closed between two frames,
// and another if it was silent for Idle or sent something invalid; the connection is then of no
// more use.
func (c *Conn) Read() (Frame, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(Idle)) // a closed connection reports that when it is read, after what came before
	if !c.lines.Scan() {
		if err := c.lines.Err(); err != nil {
			return nil, fmt.Errorf("reading a frame: %w", err)
		}
		return nil, io.EOF
	}
	return Decode(c.lines.Bytes())
}

// write sends one line. A reader that does not take it within Idle is dead.
func (c *Conn) write(line []byte) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(Idle)); err != nil {
		return fmt.Errorf("writing a frame: %w", err)
	}
	if _, err := c.conn.Write(line); err != nil {
		return fmt.Errorf("writing a frame: %w", err)
	}
	return nil
}

// Close ends reading and writing, from any goroutine.
func (c *Conn) Close() error { return c.conn.Close() }

// Pump writes the frames in o, and beats, until ctx ends, a write fails, or o is closed and empty,
// which is not an error.
func (c *Conn) Pump(ctx context.Context, o *Outbox) error {
	beat := time.NewTicker(Every)
	defer beat.Stop()
	for {
		line, err := o.take()
		switch {
		case err == nil:
			if err := c.write(line); err != nil {
				return err
			}
			continue
		case errors.Is(err, io.EOF):
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-o.more:
		case <-beat.C:
			o.Urgent(Beat{})
		}
	}
}
