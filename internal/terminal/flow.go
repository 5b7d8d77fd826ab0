package terminal

import (
	"strings"

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
		if tail := w.row[i:]; len(hang)+columns(tail)+width <= w.width {
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
	w.row, w.col, w.wrap = hang+with, len(hang)+columns(with), true
}

// fresh begins a row because the text says so.
func (w *flow) fresh() { w.row, w.lead, w.col, w.wrap = hang, len(hang), len(hang), false }

// next returns the first cluster of text, how it is shown on the row and how
// wide, and the rest of text.
func (w *flow) next(text string) (cluster, shown string, width int, rest string) {
	if text[0] == '\t' {
		n := min(tabWidth-w.col%tabWidth, max(1, w.width-w.col))
		return text[:1], strings.Repeat(" ", n), n, text[1:]
	}
	cluster, rest, width, _ = uniseg.FirstGraphemeClusterInString(text, -1)
	return cluster, cluster, width, rest
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
		_, shown, n, rest := w.next(text)
		before := w.row
		if moved, turned := w.add(shown, n); turned {
			done = append(done, strings.TrimSuffix(before, moved))
		}
		text = rest
	}
	return append(done, w.row)
}

// columns returns how wide a safe text without line ends is.
func columns(text string) int { return uniseg.StringWidth(text) }

// label returns a name as it stands before what its bearer says: on one row,
// and no wider than width.
func label(name string, width int) string {
	name = strings.NewReplacer("\n", " ", "\t", " ").Replace(Safe(name))
	short := ""
	for name != "" {
		c, rest, _, _ := uniseg.FirstGraphemeClusterInString(name, -1)
		if columns(short+c) > width || len(short)+len(c) > 4*width {
			return short + "…"
		}
		short, name = short+c, rest
	}
	return short
}
