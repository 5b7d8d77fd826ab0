package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"earshot"
	"earshot/providers"
)

// interval is how often the file is looked at.
const interval = 200 * time.Millisecond

// A growingFile is the sense of what is added to a file: each line is a message of one person, so
// nobody else may be able to write to it. That another file as long as this one has taken its
// place is not noticed.
type growingFile struct {
	path string
	from earshot.Handle // the person

	size int64  // of what has been read
	line []byte // its last line, as long as that has no end
	skip bool   // the line is longer than a message may be: the rest of it is thrown away
}

// newGrowingFile returns the sense of what is added to a file from now on.
func newGrowingFile(path string, from earshot.Handle) *growingFile {
	f := &growingFile{path: path, from: from}
	if about, err := os.Stat(path); err == nil && about.Size() > 0 {
		f.size, f.skip = about.Size()-1, true // the line that its last byte belongs to is old
	}
	return f
}

// Name implements [providers.Provider].
func (*growingFile) Name() string { return "file" }

// Run implements [providers.Provider]. A file that is not there yet, or no longer, may still come.
func (f *growingFile) Run(ctx context.Context, emit providers.Emit) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := f.read(ctx, emit); err != nil {
			return err
		}
	}
}

// read emits the lines that were added since it read last.
func (f *growingFile) read(ctx context.Context, emit providers.Emit) error {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		f.size, f.line, f.skip = 0, nil, false
		return nil
	}
	if err != nil {
		return fmt.Errorf("following the file: %w", err)
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return fmt.Errorf("following the file: %w", err)
	}
	if about.Size() < f.size { // it is another file
		f.size, f.line, f.skip = 0, nil, false
	}
	piece := make([]byte, 4096)
	for ctx.Err() == nil {
		n, err := file.ReadAt(piece, f.size)
		for rest := piece[:n]; len(rest) > 0; {
			part := rest
			if end := bytes.IndexByte(rest, '\n'); end >= 0 {
				part = rest[:end+1]
			}
			rest, f.size = rest[len(part):], f.size+int64(len(part))
			text := f.add(part)
			if text == "" {
				continue
			}
			if err := emit(ctx, earshot.Event{At: time.Now(), From: f.from, Body: earshot.Message{Text: earshot.Text(text)}}); err != nil {
				return fmt.Errorf("passing on a line of the file: %w", err)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("following the file: %w", err)
		}
	}
	return nil
}

// add adds a part to the last line, and returns that line if the part ends it: empty if it is, or
// if no message can hold it.
func (f *growingFile) add(part []byte) string {
	part, ended := bytes.CutSuffix(part, []byte("\n"))
	if f.skip = f.skip || len(f.line)+len(part) > earshot.MaxText; !f.skip {
		f.line = append(f.line, part...)
	}
	if !ended {
		return ""
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(f.line), "?"))
	if f.skip {
		text = ""
	}
	f.line, f.skip = nil, false
	return text
}
