package terminal

import (
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// A block is what is below the reply, in rows. It is not changed once made,
// since a long line takes some milliseconds to lay out.
type block struct {
	rows   []string
	widths []int  // at least: who goes up too far erases what others said
	at     int    // the row in which the cursor is
	lead   string // of that row, before it
}

// unfinished is how many rows of what somebody is saying are shown.
const unfinished = 3

// block writes the block from where the cursor is, at the beginning of a row,
// and leaves the cursor where the person types.
func (s *screen) block(f *frame) {
	if s.laid == nil {
		s.laid = s.layout()
	}
	b := s.laid
	f.put(eraseBelow + strings.Join(b.rows, "\r\n"))
	s.rise(f, len(b.rows)-1-b.at)
	f.put(b.lead + show) // the terminal knows best how wide that is
	s.up, s.painted = b.at, b
}

// layout returns the block: what was typed since, shortened, and the prompt. It
// has no more rows than the screen has room for, those around the cursor; the
// sign that a reply is waited for takes the place of none.
func (s *screen) layout() *block {
	var b block
	for _, text := range s.below {
		b.rows = append(b.rows, rows(caret+Safe(text), s.row.width, 0)...)
	}
	b.rows = b.rows[max(0, len(b.rows)-unanswered):]
	from := len(b.rows)
	for _, l := range s.words {
		head := label(l.Head, s.row.width/2)
		said := rows(head+Safe(l.Text), s.row.width, 0)
		if n := len(said) - unfinished; n > 0 { // the end is what is new
			said = said[n:]
			said[0] = head + "…"
		}
		b.rows = append(b.rows, said...)
	}
	dimmed := b.rows[from:]
	if s.prompting {
		typed, row, lead := prompt(s.line, s.at, s.row.width)
		b.at, b.lead = len(b.rows)+row, lead
		b.rows = append(b.rows, typed...)
	} else {
		b.at = len(b.rows)
		b.rows = append(b.rows, "")
	}
	for _, row := range b.rows {
		b.widths = append(b.widths, uniseg.StringWidth(row))
	}
	for i, row := range dimmed {
		b.rows[from+i] = s.styled(dim, row)
	}
	room := max(1, s.height-2)
	if len(b.rows) > room {
		from := min(max(0, b.at-room/2), len(b.rows)-room)
		b.rows, b.widths, b.at = b.rows[from:from+room], b.widths[from:from+room], b.at-from
	}
	if (s.waiting || s.busy != "") && len(b.rows) < room {
		s.sign(&b)
	}
	return &b
}

// sign puts that sign before the rows of b. They have their widths already,
// which the style must not add to.
func (s *screen) sign(b *block) {
	row := s.heading() + thinking
	if s.busy != "" {
		row = label(s.busy, s.row.width-3) + " " + thinking // which has a mark of its own where it is cut
	}
	b.rows = slices.Insert(b.rows, 0, s.styled(dim, row))
	b.widths = slices.Insert(b.widths, 0, uniseg.StringWidth(row))
	b.at++
}

// prompt returns the rows of what is being typed, and in which the cursor is and behind
// what. It breaks where the row is full, so that nothing moves while one types.
func prompt(line string, at, width int) (typed []string, row int, lead string) {
	w := flow{width: width}
	w.row, w.col = caret, len(caret)
	turn := func() {
		typed = append(typed, w.row)
		w.row, w.col = hang, len(hang)
	}
	for done, found := 0, false; ; {
		if done < len(line) && line[done] != '\n' {
			if _, _, n := w.next(line[done:]); w.col+n > width {
				turn()
			}
		} else if done >= at && !found && w.col == width {
			turn() // the cursor needs a place after a full row
		}
		if done >= at && !found {
			row, lead, found = len(typed), w.row, true
		}
		if done == len(line) {
			return append(typed, w.row), row, lead
		}
		if line[done] == '\n' {
			turn()
			done++
			continue
		}
		cluster, shown, n := w.next(line[done:])
		w.row, w.col = w.row+shown, w.col+n
		done += len(cluster)
	}
}
