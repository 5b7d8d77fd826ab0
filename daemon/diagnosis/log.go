package diagnosis

import (
	"io"
	"os"
	"strings"

	"earshot/config"
	"earshot/internal/logfile"
)

const (
	// mostLog is how much of the log is looked at, in bytes, and mostLines how many lines
	// of it are shown: what led to a fault is seldom further back.
	mostLog   = 256 << 10
	mostLines = 300
)

// telling are the attributes of a line of the log that say nothing of anybody; wordy are
// those that may name somebody or a file, and are scrubbed. No other is shown.
var (
	telling = map[string]bool{
		"time": true, "level": true, "msg": true, "outcome": true, "offered": true, "delivered": true, "took": true, "outlets": true, "model": true,
		"engine": true, "step": true, "fault": true, "part": true, "provider": true, "version": true, "engines": true, "count": true, "kind": true,
		"waiting": true, "method": true, "status": true, "over": true, "pictures": true, "why": true, "signal": true, "frames": true, "exit": true,
	}
	wordy = map[string]bool{"err": true, "text": true, "helper": true}
)

// tailOf returns the last lines of the log that cfg names, as anybody may read them. Where
// nobody is known, of what may name somebody it is only said that it is there.
func tailOf(cfg config.Log, s Redactor) ([]string, error) {
	if cfg.File == "-" {
		return nil, nil // whoever began it has it
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
		lines = lines[1:] // which is half a one
	}
	lines = lines[max(0, len(lines)-mostLines):]
	for i, l := range lines {
		lines[i] = s.line(l)
	}
	return lines, nil
}

// line returns a line of the log as anybody may read it.
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
