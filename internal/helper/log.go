package helper

import (
	"bufio"
	"io"
	"log/slog"
	"strings"
	"time"
)

// The longest line of a helper's log that is kept, in bytes, and how many are a
// second: a library that shouts must not fill a disk.
const (
	maxLine  = 4 << 10
	maxLines = 20
)

// keep puts the lines of r, a helper's standard error, into the log, as far as
// they may go. They are written by libraries, and never hold what was said.
func keep(log *slog.Logger, r io.Reader) {
	lines := bufio.NewReaderSize(r, maxLine)
	l := shouting{log: log}
	defer l.left()
	for {
		line, err := nextLine(lines)
		if err != nil {
			return
		}
		l.line(time.Now(), line)
	}
}

// nextLine returns the beginning of the next line, and skips the rest of it.
func nextLine(r *bufio.Reader) (string, error) {
	b, long, err := r.ReadLine()
	line := strings.ToValidUTF8(string(b), "\uFFFD")
	for long && err == nil {
		_, long, err = r.ReadLine()
	}
	if line != "" {
		return line, nil // of a pipe that ended within it, too
	}
	return line, err
}

// A shouting is a log that has a limit.
type shouting struct {
	log         *slog.Logger
	second      time.Time
	kept, later int // in this second; left out since the last that was kept
}

// line keeps a line, or counts it.
func (s *shouting) line(now time.Time, line string) {
	if now.Sub(s.second) >= time.Second {
		s.left()
		s.second, s.kept = now, 0
	}
	if s.kept == maxLines {
		s.later++
		return
	}
	s.kept++
	s.log.Info("helper", "line", line)
}

// left says how much was left out.
func (s *shouting) left() {
	if s.later > 0 {
		s.log.Info("the helper's log is too much; some of it was left out", "lines", s.later)
		s.later = 0
	}
}
