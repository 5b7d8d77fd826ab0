package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// A page is a terminal on which is printed what stands before a console, or behind it. Its
// lines are broken between words.
type page struct {
	io.Writer
	width int
}

// FoldTo returns w, which is f, as a page if it is a terminal that knows its width.
func FoldTo(w io.Writer, f *os.File) io.Writer {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return w
	}
	return page{w, width}
}

// Write implements [io.Writer].
func (p page) Write(text []byte) (int, error) {
	if _, err := io.WriteString(p.Writer, Fold(string(text), p.width)); err != nil {
		return 0, err
	}
	return len(text), nil
}
