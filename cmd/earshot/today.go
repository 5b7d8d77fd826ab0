package main

import (
	"errors"
	"fmt"
	"time"

	"earshot/api"
	"earshot/daemon/health"
	"earshot/internal/terminal"
	"earshot/server/client"
)

type todayCommand struct {
	identityFlags
	Days int  `default:"1" help:"How many days, up to today; at most 92."`
	JSON bool `help:"Print them as JSON, one day per line, by agent and engine."`
}

// Run says what the models have cost, whether earshot runs or not.
func (c todayCommand) Run(a *app) error {
	if c.Days < 1 {
		return &verdict{misused, fmt.Errorf("%d is not a number of days; today alone is 1", c.Days)}
	}
	days, why, err := c.days(a)
	if err != nil {
		return err
	}
	if c.JSON {
		return lines(a.out, days)
	}
	for _, d := range days {
		fmt.Fprintf(a.printed(), "%s  %s\n", d.Date, terminal.Safe(health.CostsText(d)))
	}
	if why != "" {
		fmt.Fprintln(a.printed(), terminal.Safe(why))
	}
	return nil
}

// days returns the days, and why nothing is thought unasked now. What was spent in the last
// moments is not written down yet, and is known to the earshot that runs.
func (c todayCommand) days(a *app) (days []api.UsageDay, why string, err error) {
	cfg, err := a.asking()
	if err != nil {
		return nil, "", err
	}
	if a.API != "" && c.Days > 1 {
		return nil, "", &verdict{misused, errors.New("an earshot elsewhere tells only what today has cost\n  → ask there: earshot today --days " + fmt.Sprint(c.Days))}
	}
	now := time.Now()
	_, s, err := a.visit(cfg, c.identityFlags, "")
	if err == nil && s.Today == nil {
		return nil, "", errors.New("only operators of this earshot may see what the models cost")
	}
	if a.API != "" && err == nil {
		return []api.UsageDay{*s.Today}, s.Rests, nil
	}
	if err != nil && (a.API != "" || !errors.Is(err, client.ErrNotRunning)) {
		return nil, "", err
	}
	runs := err == nil
	if _, wrong := a.asking("store.directory"); wrong != nil { // which is said already
		switch {
		case !runs:
			_, err = a.config()
			return nil, "", err
		case c.Days > 1:
			return nil, "", &verdict{misused, errors.New("the running earshot tells only of today; for other days the configuration must be valid")}
		}
		return []api.UsageDay{*s.Today}, s.Rests, nil
	}
	ledger, err := health.ReadCosts(cfg.Store.Directory)
	if err != nil && !runs {
		return nil, "", err
	}
	if err == nil {
		days = ledger.Days(now, c.Days)
	}
	if runs {
		days = append(days[:max(0, len(days)-1)], *s.Today)
	}
	return days, s.Rests, nil
}
