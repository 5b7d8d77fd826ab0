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

	"earshot"
	"earshot/api"
	"earshot/internal/terminal"
)

// A Finding is what was found out about one thing that earshot needs.
type Finding api.CheckResult

// Notice tells of a finding that does not work, where others are told of too.
func (f Finding) Notice() earshot.Notice {
	return earshot.Notice{Key: f.Thing, Text: f.Thing + ": " + f.Text, Cure: f.Cure, Absent: f.Absent}
}

// Brief returns findings with a line for each device that is not there: earshot doctor says
// more of them.
func Brief(findings []Finding) []Finding {
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
