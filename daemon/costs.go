package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"earshot/api"
	"earshot/daemon/health"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/usage"
	"earshot/internal/wait"
	"earshot/participants"
)

// settings returns the current settings of the agents: how much they think unasked depends on
// today's costs, and on the power supply.
func (d *Daemon) settings() executive.Config {
	set := d.Config().Executive
	if d.restReason() != "" {
		set.Parallel.ReasoningContinuous = false
	}
	return set
}

// restReason says why no unasked thinking happens now although the configuration allows it, in
// words and with the key; "" if there is no reason.
func (d *Daemon) restReason() string {
	set := d.Config().Executive
	p := set.Parallel
	switch most := int64(p.TokensPerDay); {
	case !set.ThinksUnasked():
	case p.RestsOnBattery && d.costs.OnBattery():
		return "It thinks only when asked, because this machine is on battery (executive.parallel.reasoning_rests_on_battery)."
	case most > 0 && d.costs.UnaskedToday() >= most:
		return fmt.Sprintf("It thinks only when asked until midnight: today's %s are used up (executive.parallel.reasoning_tokens_per_day).", health.TokensText(most))
	}
	return ""
}

// writeCosts saves the costs, and has the rooms check again when the reason against unasked
// thinking changes, until ctx ends.
func (d *Daemon) writeCosts(ctx context.Context) {
	defer d.costs.Write()
	write, look := time.NewTicker(health.SaveInterval), time.NewTicker(health.BatteryInterval)
	defer write.Stop()
	defer look.Stop()
	was := ""
	d.costs.CheckBattery()
	for {
		if now := d.restReason(); now != was {
			was = now
			d.log.Info("unasked thinking", "rests", now != "", "on_battery", d.costs.OnBattery())
			for _, c := range d.rooms.Now() {
				c.Room.Reseat()
			}
		}
		select {
		case <-write.C:
			d.costs.Write()
		case <-look.C:
			d.costs.CheckBattery()
		case <-ctx.Done():
			return
		}
	}
}

const (
	// shareInterval is how often daemons tell each other what their models have cost: a budget of all is
	// exceeded by what is spent in that time at most.
	shareInterval = 2 * time.Second

	// sharedCosts is how many bytes are read of what another daemon tells. A day has fewer.
	sharedCosts = 64 << 10
)

// shareCosts has all daemons know what their models have cost today, and counts those that are present, until
// ctx ends.
func (c *clusterMember) shareCosts(ctx context.Context) {
	failed := false
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(ctx, shareInterval)
		err := c.syncCosts(bounded)
		cancel()
		if err != nil && !failed && ctx.Err() == nil {
			c.daemon.log.Warn("what models cost at other daemons is not known at present", "err", err)
		}
		failed = err != nil
		c.present.Store(int64(len(c.member.Members())))
		wait.For(ctx, shareInterval)
	}
}

// syncCosts writes what models have cost here today, and reads what they have cost at other daemons. What
// cannot be read stays as it was.
func (c *clusterMember) syncCosts(ctx context.Context) error {
	here := c.daemon.costs.Here()
	data, err := usage.Format(here)
	if err != nil {
		return err
	}
	name := c.daemon.Config().Cluster.Name
	if !bytes.Equal(data, c.costs) {
		_, err := c.db.ExecContext(ctx, `INSERT INTO model_costs (member, day, content) VALUES (?, ?, ?)
			ON CONFLICT (member) DO UPDATE SET day = excluded.day, content = excluded.content`, name, here.Date, data)
		if err != nil {
			return err
		}
		c.costs = data
	}
	rows, err := c.db.QueryContext(ctx, "SELECT member, substr(content, 1, ?::int) FROM model_costs WHERE day = ? AND member <> ?", sharedCosts, here.Date, name)
	if err != nil {
		return err
	}
	defer rows.Close()
	there, wrong := make(map[string]api.UsageDay), error(nil)
	for rows.Next() {
		var member string
		if err := rows.Scan(&member, &data); err != nil {
			return err
		}
		ledger, err := usage.Read(data)
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("reading the costs of %s: %w", member, err))
			there[member] = c.elsewhere[member]
			continue
		}
		there[member] = ledger.Days(time.Now(), 1)[0]
	}
	if err := rows.Err(); err != nil {
		return err
	}
	c.elsewhere = there
	c.daemon.costs.SetElsewhere(slices.Collect(maps.Values(there)))
	return wrong
}

// costTable is the command that shows the costs in a room.
func (d *Daemon) costTable() command.Table {
	return command.Table{{
		Group: "For operators of earshot", Name: "today", Help: "what answering and thinking have cost today", Needs: participants.Operate,
		Do: func(context.Context, command.Call) (string, error) {
			text := "Today: " + health.CostsText(d.costs.Today()) + "."
			if why := d.restReason(); why != "" {
				text += "\n" + why
			}
			return text, nil
		},
	}}
}
