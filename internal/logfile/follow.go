package logfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"earshot/internal/terminal"
)

// poll is how often a log that is followed is looked at: as often as somebody who reads
// it would notice.
const poll = 250 * time.Millisecond

// Follow prints what f holds on w, and if on is set what is added to it until ctx ends. Where
// another file has taken its place, that is gone on with.
func Follow(ctx context.Context, w io.Writer, f *os.File, path string, on bool) error {
	lines := bufio.NewReader(f)
	rest := ""
	var next *os.File // which has taken the place of f
	for {
		line, err := lines.ReadString('\n')
		rest += line
		if err == nil || !on && rest != "" {
			if _, err := fmt.Fprintln(w, terminal.Safe(strings.TrimSuffix(rest, "\n"))); err != nil {
				return err
			}
			rest = ""
		}
		switch {
		case err == nil:
			continue
		case !errors.Is(err, io.EOF):
			return fmt.Errorf("reading the log: %w", err)
		case !on:
			return nil
		case next != nil: // and f is read to its end
			f.Close()
			defer next.Close()
			f, next, rest = next, nil, ""
			lines.Reset(f)
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(poll):
		}
		next = replaced(f, path)
	}
}

// replaced opens the file that has taken the place of f; it is nil if none has. One that was
// made shorter is read from its beginning.
func replaced(f *os.File, path string) *os.File {
	is, err := f.Stat()
	if err != nil {
		return nil
	}
	now, err := os.Stat(path)
	at, seek := f.Seek(0, io.SeekCurrent)
	if err != nil || seek != nil || os.SameFile(is, now) && now.Size() >= at {
		return nil
	}
	next, err := OpenFile(path, os.O_RDONLY)
	if err != nil {
		return nil
	}
	return next
}

// LastLines returns where the last n lines of f begin. It reads backwards, since a log
// may be long.
func LastLines(f *os.File, n int) (int64, error) {
	about, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := about.Size()
	if n == 0 {
		return end, nil
	}
	block := make([]byte, 64<<10)
	for at := end; at > 0; {
		size := min(at, int64(len(block)))
		at -= size
		if _, err := f.ReadAt(block[:size], at); err != nil {
			return 0, err
		}
		for i := size - 1; i >= 0; i-- {
			if block[i] != '\n' || at+i == end-1 { // which ends the last line
				continue
			}
			if n--; n == 0 {
				return at + i + 1, nil
			}
		}
	}
	return 0, nil
}
