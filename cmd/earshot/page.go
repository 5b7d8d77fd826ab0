package main

import (
	"io"
	"strings"
	"text/tabwriter"

	"earshot/internal/terminal"
)

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
