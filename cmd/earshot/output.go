package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"

	"earshot/internal/terminal"
)

// An output is standard output, which remembers the first thing that could not be written to
// it. So no command needs to look at each line that it prints, and none ends as if all had
// been said; see [output.over]. It may be used from several goroutines.
type output struct {
	file *os.File // for what is more than written to, such as a terminal
	tty  bool

	mu   sync.Mutex
	lost error // nil as long as all was written
}

// outputTo returns what writes to f.
func outputTo(f *os.File) *output {
	about, err := f.Stat()
	return &output{file: f, tty: err == nil && about.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull}
}

// Write implements [io.Writer]. After the first fault nothing more is written.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost != nil {
		return 0, o.lost
	}
	n, err := o.file.Write(p)
	o.loses(err)
	return n, o.lost
}

// loses notes why something could not be written. The mutex is held.
func (o *output) loses(err error) {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = errno // without the path, which is nothing that anybody has named
	}
	if err != nil && o.lost == nil {
		o.lost = fmt.Errorf("writing to standard output: %w", err)
	}
}

// over returns how a command has ended that ended with err: not well, if something that it
// had to say was lost. That nobody reads any more is no fault of anybody's.
func (o *output) over(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.lost == nil:
		return err
	case errors.Is(o.lost, syscall.EPIPE), o.tty && errors.Is(o.lost, syscall.EIO): // the terminal was closed
		if errors.Is(err, o.lost) {
			return nil
		}
		return err
	case err == nil, err.Error() == "", errors.Is(err, o.lost):
		return &verdict{failed, o.lost}
	}
	return errors.Join(err, o.lost)
}

// terminal opens a terminal at which a command is read from in, and writes to out. What a
// terminal of lines could not write is lost to out when done is called.
func (a *app) terminal(in *os.File, out *output) (t *terminal.Terminal, done func() error, err error) {
	if t, err = terminal.Open(in, out.file, a.err); err != nil {
		return nil, nil, err
	}
	return t, func() error {
		err := t.Close()
		if !t.ByKeys() {
			out.mu.Lock()
			defer out.mu.Unlock()
			out.loses(t.Lost())
		}
		return err
	}, nil
}

// told is where people are told something beside what a command prints.
func (a *app) told() io.Writer { return terminal.FoldTo(a.err, a.err) }

// printed is where a command prints what is for people.
func (a *app) printed() io.Writer { return terminal.FoldTo(a.out, a.out.file) }

// table returns what lays out rows in columns, and what prints them, without the spaces of an
// empty last cell.
func (a *app) table() (t *tabwriter.Writer, print func() error) {
	var b strings.Builder
	t = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	return t, func() error {
		_ = t.Flush() // a builder takes everything
		rows := strings.SplitAfter(b.String(), "\n")
		for i, row := range rows {
			if is := strings.TrimRight(row, " \n"); is != "" {
				rows[i] = is + "\n"
			}
		}
		_, err := io.WriteString(a.printed(), strings.Join(rows, ""))
		return err
	}
}
