package probe

import (
	"fmt"
	"io"

	"earshot/internal/terminal"
)

// PrintFindings prints findings, one a line, the cure of each below it.
func PrintFindings(w io.Writer, findings []Finding) {
	for _, f := range findings {
		sign := "✓"
		switch {
		case f.Absent:
			sign = "–"
		case !f.Works:
			sign = "✗"
		}
		fmt.Fprintf(w, "  %s %-14s %s\n", sign, f.Thing, terminal.Safe(f.Text))
		if f.Cure != "" {
			fmt.Fprintf(w, "  %16s → %s\n", "", terminal.Safe(f.Cure))
		}
	}
}
