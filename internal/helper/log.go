package helper

import (
	"bufio"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// The longest line of a helper's log that is kept, in bytes, and how many lines are kept per
// minute: enough for the last words of a library that crashes, while a chatty library must not
// push everything else out of the log.
const (
	maxLine  = 1 << 10
	maxLines = 60
)

// keep copies the lines of r, a helper's standard error, to the log, within the limits. Libraries
// write them, and they never contain what was said.
func keep(log *slog.Logger, r io.Reader, a *LogLimit) {
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, cut, err := nextLine(lines)
		if err != nil {
			a.left(log)
			return
		}
		a.line(log, time.Now(), line, cut)
	}
}

// nextLine returns the beginning of the next line, and how many bytes of it were skipped.
func nextLine(r *bufio.Reader) (line string, cut int, err error) {
	b, long, err := r.ReadLine()
	line = strings.ToValidUTF8(string(b), "\uFFFD")
	for long && err == nil {
		b, long, err = r.ReadLine()
		cut += len(b)
	}
	if line != "" {
		return line, cut, nil // even if the pipe ended within it
	}
	return line, cut, err
}

// A LogLimit bounds how much of a helper's output gets into the log. All processes of one role
// share it, one after another, so a helper that dies repeatedly gets no more. The zero value is
// ready.
type LogLimit struct {
	mu           sync.Mutex
	minute       time.Time // when it began
	kept         int       // lines in this minute
	lines, bytes int       // left out since the last report
}

// line logs a line, of which some bytes were skipped, or counts it.
func (a *LogLimit) line(log *slog.Logger, now time.Time, line string, cut int) {
	a.mu.Lock()
	fresh := now.Sub(a.minute) >= time.Minute
	if fresh {
		a.minute, a.kept = now, 0
	}
	keeps := a.kept < maxLines
	a.bytes += cut
	if keeps {
		a.kept++
	} else {
		a.lines, a.bytes = a.lines+1, a.bytes+len(line)
	}
	a.mu.Unlock()
	if fresh {
		a.left(log)
	}
	if keeps {
		log.Info("helper", "line", line)
	}
}

// left reports how much was left out.
func (a *LogLimit) left(log *slog.Logger) {
	a.mu.Lock()
	lines, bytes := a.lines, a.bytes
	a.lines, a.bytes = 0, 0
	a.mu.Unlock()
	if bytes > 0 {
		log.Info("the helper's log is too much; some of it was left out", "lines", lines, "bytes", bytes)
	}
}
