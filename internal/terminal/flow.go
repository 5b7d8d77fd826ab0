package terminal

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"
)

// tabWidth is what every terminal starts with.
const tabWidth = 8

// A flow breaks text into rows, at a space where there is one. Every row but
// the first is indented: what begins at the left edge is the house's own, such
// as the name of who speaks, and nobody can write a line there that looks like
// another's.
type flow struct {
	width int
	row   string // of the row that is being filled, with its indentation
	lead  int    // bytes of the indentation
	col   int    // columns taken, also by a label before it
	wrap  bool   // the row began because the one before was full
}

// begin begins the first row, behind head columns.
func (w *flow) begin(head int) { w.row, w.lead, w.col, w.wrap = "", 0, head, false }

// add puts one cluster on the row, or on a new one if it does not fit. Then
// turned is set, and moved is the beginning of the new row: the last word of
// the old one, which must be taken away there.
func (w *flow) add(cluster string, width int) (moved string, turned bool) {
	if cluster == " " && w.wrap && len(w.row) == w.lead {
		return "", false // the space at which the row was broken
	}
	if w.col+width <= w.width || w.col == w.lead {
		w.row, w.col = w.row+cluster, w.col+width
		return "", false
	}
	if cluster == " " {
		w.turn("")
		return "", true
	}
	if i := strings.LastIndexByte(w.row, ' ') + 1; i > w.lead {
		if tail := w.row[i:]; len(hang)+Columns(tail)+width <= w.width {
			moved = tail
		}
	}
	w.turn(moved)
	w.row, w.col = w.row+cluster, w.col+width
	return moved, true
}

// turn begins a row because the one before was full.
func (w *flow) turn(with string) {
	w.fresh()
	w.row, w.col, w.wrap = hang+with, len(hang)+Columns(with), true
}

// fresh begins a row because the text says so.
func (w *flow) fresh() { w.row, w.lead, w.col, w.wrap = hang, len(hang), len(hang), false }

// next returns the first cluster of text, and how it is shown on the row and how wide.
func (w *flow) next(text string) (cluster, shown string, width int) {
	if text[0] == '\t' {
		n := min(tabWidth-w.col%tabWidth, max(1, w.width-w.col))
		return text[:1], strings.Repeat(" ", n), n
	}
	cluster, width = first(text, min(widest, w.width-len(hang)))
	return cluster, cluster, width
}

// rows returns all of a safe text in rows, the first of which begins after
// head columns.
func rows(text string, width, head int) []string {
	w := flow{width: width}
	w.begin(head)
	done := []string{}
	for text != "" {
		if text[0] == '\n' {
			done = append(done, w.row)
			w.fresh()
			text = text[1:]
			continue
		}
		cluster, shown, n := w.next(text)
		before := w.row
		if moved, turned := w.add(shown, n); turned {
			done = append(done, strings.TrimSuffix(before, moved))
		}
		text = text[len(cluster):]
	}
	return append(done, w.row)
}

// widest is how many columns a cluster may take: an emoji of two people with all that
// is possible, on a terminal that shows its parts one beside the other.
const widest = 12

// Cluster returns the first cluster of a safe text, and how wide it is. Terminals
// differ in that: one shows 👩‍💻 as one emoji, and another its two parts. Of what they
// may do this is the most, so that a row is never longer than was thought; what is
// wider than any cluster should be is taken in parts.
func Cluster(text string) (cluster string, width int) { return first(text, widest) }

// first is Cluster for clusters of at most so many columns.
func first(text string, most int) (cluster string, width int) {
	if text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return text[:1], 1
	}
	cluster, _, width, _ = uniseg.FirstGraphemeClusterInString(text, -1)
	width = max(width, ansi.StringWidth(cluster), ansi.StringWidthWc(cluster))
	if strings.HasPrefix(cluster, "\ufe0f") {
		return cluster, 1 // it makes the symbol before it, which came earlier, wide
	}
	if width <= most {
		return cluster, width
	}
	width = 0
	for i, r := range cluster {
		n := ansi.StringWidthWc(string(r))
		if width+n > most && i > 0 {
			return cluster[:i], width
		}
		width += n
	}
	return cluster, width
}

// Columns returns how wide a safe text without line ends is at most.
func Columns(text string) (width int) {
	for text != "" {
		cluster, n := Cluster(text)
		width, text = width+n, text[len(cluster):]
	}
	return width
}

// label returns a name as it stands before what its bearer says: on one row,
// and no wider than width.
func label(name string, width int) string {
	name = strings.NewReplacer("\n", " ", "\t", " ").Replace(Safe(name))
	short := ""
	for used := 0; name != ""; {
		c, n := Cluster(name)
		if used+n > width || len(short)+len(c) > 4*width {
			return short + "…"
		}
		short, used, name = short+c, used+n, name[len(c):]
	}
	return short
}
