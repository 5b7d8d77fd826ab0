package daemon

import (
	"context"
	"fmt"
	"time"

	"earshot/daemon/health"
	"earshot/executive"
	"earshot/executive/command"
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
