package diagnosis

import (
	"io"
	"os"
	"strings"

	"earshot/internal/logfile"
)

const (
	// mostLog is how many bytes of the log are examined, and mostLines how many of its lines are
	// shown: the cause of a fault is seldom further back.
	mostLog   = 256 << 10
	mostLines = 300
)

// telling are the log attributes that reveal nothing about anybody; wordy are those that may name
// a person or a file, and are scrubbed. No others are shown.
var (
	telling = map[string]bool{
		"time": true, "level": true, "msg": true, "outcome": true, "offered": true, "delivered": true, "took": true, "outlets": true, "model": true,
		"engine": true, "step": true, "fault": true, "part": true, "provider": true, "version": true, "engines": true, "count": true, "kind": true,
		"waiting": true, "method": true, "status": true, "over": true, "pictures": true, "why": true, "signal": true, "frames": true, "exit": true,
	}
	wordy = map[string]bool{"err": true, "text": true, "helper": true}
)

// tailOf returns the last lines of the log that cfg names, in a form that anybody may read.
// Without a redactor, attributes that may name somebody are only said to be present.
func tailOf(cfg logfile.Config, s Redactor) ([]string, error) {
	if cfg.File == "-" {
		return nil, nil // a foreground run logs to its own terminal
	}
	f, err := logfile.OpenFile(cfg.File, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, about.Size()-mostLog)
	data, err := io.ReadAll(io.LimitReader(io.NewSectionReader(f, from, mostLog), mostLog))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	if from > 0 {
		lines = lines[1:] // which is incomplete
	}
	lines = lines[max(0, len(lines)-mostLines):]
	for i, l := range lines {
		lines[i] = s.line(l)
	}
	return lines, nil
}

// line returns a log line in a form that anybody may read.
func (s Redactor) line(l string) string {
	var shown []string
	for l != "" {
		var pair string
		pair, l = attribute(l)
		key, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok || key == "":
		case telling[key]:
			shown = append(shown, key+"="+s.Text(value))
		case wordy[key] && len(s.names) > 0:
			shown = append(shown, key+"="+s.File(value))
		default:
			shown = append(shown, key+"=…")
		}
	}
	return strings.Join(shown, " ")
}

// attribute returns the first attribute of a line, and the rest.
func attribute(l string) (pair, rest string) {
	quoted := false
	for i := 0; i < len(l); i++ {
		switch {
		case quoted && l[i] == '\\':
			i++
		case l[i] == '"':
			quoted = !quoted
		case l[i] == ' ' && !quoted:
			return l[:i], strings.TrimLeft(l[i:], " ")
		}
	}
	return l, ""
}
