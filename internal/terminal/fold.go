package terminal

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

const (
	// gap is within how many bytes a line may have a gap, behind which its text stands.
	gap = 24

	// leastText is how many columns the text behind a gap has at least.
	leastText = 20
)

// Fold breaks the lines of a safe text between words into rows of at most width columns,
// for what is printed without a console. The further rows begin where the text of the line
// does: at its indentation, or behind the last gap of two spaces near its beginning. Only
// what is longer than a row is broken elsewhere, after a slash if it has one.
func Fold(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if Columns(line) > width {
			lines[i] = fold(line, width)
		}
	}
	return strings.Join(lines, "\n")
}

// fold breaks one line.
func fold(line string, width int) string {
	margin := line[:min(len(line), gap)]
	margin = line[:strings.LastIndex(margin, "  ")+1]
	margin += line[len(margin) : len(line)-len(strings.TrimLeft(line[len(margin):], " "))]
	hang, longest := Columns(margin), leastText
	for word := range strings.SplitSeq(line[len(margin):], " ") {
		longest = max(longest, Columns(word))
	}
	hang = max(0, min(hang, width-longest))

	var b strings.Builder
	col, begun := Columns(margin), false // begun is that the row has a word
	b.WriteString(margin)
	for _, word := range strings.SplitAfter(line[len(margin):], " ") {
		for _, part := range parts(word, width-hang) {
			if n := Columns(strings.TrimRight(part, " ")); col+n > width && (begun || col > hang) {
				rows := strings.TrimRight(b.String(), " ")
				b.Reset()
				b.WriteString(rows + "\n" + strings.Repeat(" ", hang))
				col = hang
			}
			b.WriteString(part)
			col, begun = col+Columns(part), true
		}
	}
	return b.String()
}

// parts returns a word, or what it is broken into if it is longer than a row.
func parts(word string, width int) (all []string) {
	for Columns(strings.TrimRight(word, " ")) > width {
		end, slash, used := 0, 0, 0
		for end < len(word) {
			cluster, n := Cluster(word[end:])
			if used+n > width && end > 0 {
				break
			}
			if end, used = end+len(cluster), used+n; cluster == "/" {
				slash = end
			}
		}
		if slash > 0 {
			end = slash
		}
		all, word = append(all, word[:end]), word[end:]
	}
	return append(all, word)
}

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
