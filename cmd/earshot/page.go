package main

import (
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"earshot/internal/terminal"
)

// A page is a terminal on which is printed what stands before a console, or behind it. Its
// lines are broken between words.
type page struct {
	io.Writer
	width int
}

// pageOn returns w, which is f, as a page if it is a terminal that knows its width.
func pageOn(w io.Writer, f *os.File) io.Writer {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return w
	}
	return page{w, width}
}

// Write implements [io.Writer].
func (p page) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.Writer, terminal.Fold(string(text), p.width)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// told is where people are told something beside what a command prints.
func (a *app) told() io.Writer { return pageOn(a.err, a.err) }

// printed is where a command prints what is for people.
func (a *app) printed() io.Writer { return pageOn(a.out, a.out.file) }

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
