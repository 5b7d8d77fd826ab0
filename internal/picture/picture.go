// Package picture draws what stands on a terminal as an SVG, for the documentation: one
// screen, or what happens on it as an animation. It knows what tmux writes of a screen (capture-pane -e): text, and the sequences of colours
// and of styles. Everything else is left out.
package picture

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
)

// The size of a cell, and what is around the screen, in pixels.
const (
	cellWidth  = 8.4 // of a font of 14 pixels, as most are
	cellHeight = 18.0
	margin     = 14.0
	baseline   = 13.5 // below the top of a cell
)

// The colours: text, the ground, and the first sixteen of a terminal.
const (
	text   = "#d7dae0"
	faint  = "#8b919d"
	ground = "#15171c"
)

var palette = [16]string{
	"#22252b", "#ef6b73", "#8cc265", "#d9a343", "#5aa7e8", "#c77dda", "#42b3c2", "#d7dae0",
	"#5b616e", "#ff8b92", "#a5e075", "#f0c674", "#7cc0ff", "#de9bef", "#5fd3e0", "#ffffff",
}

// letters begins what is written on the ground.
const letters = `<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">` + "\n"

// A look is how a cell looks.
type look struct {
	front, back          string // of palette; empty is the usual
	bold, italic, dim    bool
	underlined, inverted bool
}

// A run is a piece of a row in one look.
type run struct {
	look
	column, width int
	text          string
}

// SVG draws a screen of so many columns, of which screen has a row a line. Title says to
// who cannot see it what it is.
func SVG(screen string, columns int, title string) string {
	rows := drawn(screen)
	width, height := float64(columns)*cellWidth+2*margin, float64(len(rows))*cellHeight+2*margin
	var b strings.Builder
	open(&b, width, height, title)
	b.WriteString(letters + strings.Join(rows, "") + "</g>\n</svg>\n")
	return b.String()
}

// drawn draws each row of a screen, an empty one as "".
func drawn(screen string) (rows []string) {
	var now look
	for k, line := range strings.Split(strings.TrimRight(screen, "\n"), "\n") {
		var b strings.Builder
		for _, r := range runs(line, &now) {
			draw(&b, r, margin+float64(k)*cellHeight)
		}
		rows = append(rows, b.String())
	}
	return rows
}

// open begins a picture: its size, its title, its ground.
func open(b *strings.Builder, width, height float64, title string) {
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`+"\n", width, height, width, height, html.EscapeString(title))
	fmt.Fprintf(b, "<title>%s</title>\n", html.EscapeString(title))
	b.WriteString("<style>text{white-space:pre}</style>\n") // some browsers collapse spaces whatever xml:space says
	fmt.Fprintf(b, `<rect width="%.0f" height="%.0f" rx="8" fill="%s"/>`+"\n", width, height, ground)
}

// runs parses a row. The look goes on in the next.
func runs(line string, now *look) (all []run) {
	column := 0
	for line != "" {
		if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= 0x40 && r <= 0x7e })
			if end < 0 {
				break
			}
			if rest[end] == 'm' {
				now.change(rest[:end])
			}
			line = rest[end+1:]
			continue
		}
		cluster, rest, width, _ := uniseg.FirstGraphemeClusterInString(line, -1)
		line = rest
		if cluster[0] < ' ' {
			continue
		}
		if n := len(all); n > 0 && all[n-1].look == *now {
			all[n-1].text += cluster
			all[n-1].width += width
		} else {
			all = append(all, run{look: *now, column: column, width: width, text: cluster})
		}
		column += width
	}
	return all
}

// change does what the parameters of a sequence say.
func (l *look) change(params string) {
	for p := range strings.SplitSeq(params, ";") {
		n, _ := strconv.Atoi(p) // an empty one is 0
		switch n {
		case 0:
			*l = look{}
		case 1:
			l.bold = true
		case 2:
			l.dim = true
		case 3, 23:
			l.italic = n == 3
		case 4, 24:
			l.underlined = n == 4
		case 7, 27:
			l.inverted = n == 7
		case 22:
			l.bold, l.dim = false, false
		case 39:
			l.front = ""
		case 49:
			l.back = ""
		}
		switch color := n % 10; {
		case color > 7:
		case n/10 == 3:
			l.front = palette[color]
		case n/10 == 4:
			l.back = palette[color]
		case n/10 == 9:
			l.front = palette[8+color]
		case n/10 == 10:
			l.back = palette[8+color]
		}
	}
}

// draw writes one run, whose row begins at top. Its length is fixed, so that everything
// stands below its like whatever font there is.
func draw(b *strings.Builder, r run, top float64) {
	front, back := r.front, r.back
	if front == "" {
		front = text
	}
	if r.dim {
		front = faint
	}
	if r.inverted {
		front, back = ground, front
	}
	x, width := margin+float64(r.column)*cellWidth, float64(r.width)*cellWidth
	if back != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, top, width, cellHeight, back)
	}
	if strings.TrimSpace(r.text) == "" {
		return
	}
	style := ""
	if r.bold {
		style += ` font-weight="bold"`
	}
	if r.italic {
		style += ` font-style="italic"`
	}
	if r.underlined {
		style += ` text-decoration="underline"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="%s" textLength="%.1f"%s>%s</text>`+"\n", x, top+baseline, front, width, style, html.EscapeString(r.text))
}
