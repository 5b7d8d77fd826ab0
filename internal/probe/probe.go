// Package probe finds out whether what earshot needs works: the servers of language models, the
// devices, the helpers, the configuration, the journal, the disk and Discord. Each function takes
// a configuration and returns findings; none of them starts or changes anything that stays.
// earshot doctor, the start and a reload of the daemon share them.
package probe

import (
	"fmt"
	"io"
	"slices"
	"time"

	"earshot/api"
	"earshot/internal/terminal"
)

// Brief returns findings with a line for each device that is not there: earshot doctor says
// more of them.
func Brief(findings []api.CheckResult) []api.CheckResult {
	brief := slices.Clone(findings)
	for i := range brief {
		if brief[i].Absent {
			brief[i].Cure = ""
		}
	}
	return brief
}

// AnswerTimeout is how long the opening screen waits for a server that does not
// answer: longer, and starting feels broken.
const AnswerTimeout = 1500 * time.Millisecond

// PrintFindings prints findings, one a line, the cure of each below it.
func PrintFindings(w io.Writer, findings []api.CheckResult) {
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
