package picture

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Frame is what stands on a screen from a moment on, until the next.
type Frame struct {
	At     time.Duration // since the beginning
	Screen string        // as SVG takes it
	Row    int           // of the cursor, from 0
	Column int           // likewise; negative if it is hidden
}

// A piece is a part of the picture that can be seen from a frame to another: a row, or
// the cursor.
type piece struct {
	from, to int // to is the first frame without it
	svg      string
}

// Animation draws frames, of which there is at least one, on a screen of so many columns
// and rows. They are played in their own time, the last is shown for rest, and then it
// begins again. Who wants no motion, or has a viewer that cannot move pictures, sees the
// last. Title says to who cannot see it what it is.
func Animation(frames []Frame, columns, rows int, rest time.Duration, title string) string {
	var b strings.Builder
	whole := frames[len(frames)-1].At + rest
	width, height := float64(columns)*cellWidth+2*margin, float64(rows)*cellHeight+2*margin
	all := pieces(frames, rows)
	open(&b, width, height, title)
	b.WriteString("<style>\n")
	fmt.Fprintf(&b, "g g{animation:%vs step-end infinite}.o{visibility:hidden}\n", whole.Seconds())
	for i, p := range all {
		if k := keyframes(p, frames, whole); k != "" {
			fmt.Fprintf(&b, "@keyframes k%d{%s}#k%d{animation-name:k%d}\n", i, k, i, i)
		}
	}
	b.WriteString("@media (prefers-reduced-motion:reduce){g g{animation:none!important}}\n</style>\n")
	b.WriteString(letters)
	for i, p := range all {
		class := ""
		if p.to < len(frames) {
			class = ` class="o"`
		}
		fmt.Fprintf(&b, "<g id=\"k%d\"%s>\n%s</g>\n", i, class, p.svg)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// pieces returns what can be seen, in the order in which it comes. What stays in its
// place over several frames is one piece.
func pieces(frames []Frame, rows int) (all []piece) {
	shown := make([]int, rows+1) // the piece that is seen in each row, then the cursor; negative is none
	for i := range shown {
		shown[i] = -1
	}
	for n, f := range frames {
		now := make([]string, rows+1)
		copy(now[:rows], drawn(f.Screen))
		now[rows] = cursor(f)
		for i, svg := range now {
			if k := shown[i]; k >= 0 && all[k].svg == svg {
				all[k].to = n + 1
				continue
			}
			shown[i] = -1
			if svg != "" {
				shown[i] = len(all)
				all = append(all, piece{n, n + 1, svg})
			}
		}
	}
	return all
}

// cursor draws a cursor, through which what it stands on can be seen.
func cursor(f Frame) string {
	if f.Column < 0 {
		return ""
	}
	return fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity=".6"/>`+"\n",
		margin+float64(f.Column)*cellWidth, margin+float64(f.Row)*cellHeight, cellWidth, cellHeight, text)
}

// keyframes says when a piece is seen. What is seen all the time has none; what is seen at
// the end is seen without them, too.
func keyframes(p piece, frames []Frame, whole time.Duration) string {
	at := func(n int) string {
		return strconv.FormatFloat(100*float64(frames[n].At)/float64(whole), 'f', 3, 64) + "%"
	}
	switch last := p.to == len(frames); {
	case last && p.from == 0:
		return ""
	case last:
		return "0%{visibility:hidden}" + at(p.from) + "{visibility:visible}"
	}
	return at(p.from) + "{visibility:visible}" + at(p.to) + "{visibility:hidden}"
}
