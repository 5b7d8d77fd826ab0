package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"earshot/config"
	"earshot/internal/english"
	"earshot/internal/terminal"
	"earshot/server/audit"
)

type auditCommand struct {
	Number  int  `short:"n" default:"50" help:"How many of the newest entries."`
	Refused bool `help:"Only what was refused."`
	JSON    bool `help:"Print them as JSON, one per line."`
}

// Run shows who has changed something by the server, or was refused. It reads the file,
// which is the account's alone.
func (c auditCommand) Run(a *app) error {
	cfg, err := a.asking("store.directory", "log.file")
	if err != nil {
		return err
	}
	all, err := audit.Last(config.AuditFile(cfg), max(1, c.Number), func(e audit.Entry) bool { return !c.Refused || e.Refused() })
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return &verdict{notFound, errors.New("nobody has changed anything or been refused yet")}
	}
	if c.JSON {
		return lines(a.out, all)
	}
	people, err := a.people(cfg)
	if err != nil {
		return err
	}
	for _, e := range all {
		who := "somebody"
		if e.Who != "" {
			who = people.Name(e.Who)
		}
		fmt.Fprintln(a.out, terminal.Safe(audited(e, who)))
	}
	return nil
}

// audited is an entry in one line.
func audited(e audit.Entry, who string) string {
	what := "changed: " + e.Changed
	if e.Refused() {
		what = fmt.Sprintf("refused (%d)", e.Status)
	}
	if e.Missing > 0 {
		what += fmt.Sprintf("; %s before it could not be written", english.Count(e.Missing, "refusal"))
	}
	return strings.TrimSpace(fmt.Sprintf("%s  %-10s %-10s %-7s %-16s %s", english.When(e.At), who, e.From, e.Method, cmp.Or(e.Route, "-"), what))
}
