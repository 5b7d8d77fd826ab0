package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/executive"
	"earshot/executive/command"
	"earshot/internal/atomicfile"
	"earshot/internal/english"
	"earshot/internal/power"
	"earshot/internal/usage"
	"earshot/llm"
	"earshot/participants"
	"earshot/store"
)

// costsFile is where it is written down what the models have cost, beside the journal: no
// words and no people, so nothing of it is forgotten.
const costsFile = "usage.json"

const (
	// saveInterval is how often the costs are written down, if they have changed: a loss of power
	// loses no more.
	saveInterval = 10 * time.Second

	// batteryInterval is how often it is looked whether the machine runs on its battery.
	batteryInterval = 30 * time.Second
)

// costs are what the models of a house have cost. They may be used from many goroutines, and
// nothing but save waits.
type costs struct {
	*usage.Ledger
	path     string
	log      *slog.Logger
	supplies string // where the machine tells what it runs on; "" where it is not asked

	battery atomic.Bool // it runs on its battery

	mu    sync.Mutex // held while it is written
	fails bool
}

// open reads what was spent before. What cannot be read is counted anew, and set aside.
func (c *costs) open(directory string, log *slog.Logger) {
	c.path, c.log = filepath.Join(directory, costsFile), log
	is, err := readCosts(directory)
	if err != nil {
		log.Warn("what the models have cost so far cannot be read, and is counted anew", "err", err)
		_ = os.Rename(c.path, c.path+".damaged") // where that fails it is written over
		is = new(usage.Ledger)
	}
	c.Ledger = is
}

// readCosts reads what is written down in the directory of a journal; where nothing is, nothing
// was spent.
func readCosts(directory string) (*usage.Ledger, error) {
	path := filepath.Join(directory, costsFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return new(usage.Ledger), nil
	}
	if err != nil {
		return nil, err
	}
	is, err := usage.Read(data)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", config.ShortPath(path), err)
	}
	return is, nil
}

// save writes down what was spent since it was written last. That it cannot be is logged once.
func (c *costs) save() {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.Save(func(data []byte) error { return atomicfile.Write(c.path, data) })
	if err != nil && !c.fails {
		c.log.Warn("what the models cost cannot be written down; after a restart some of it is forgotten", "err", err)
	}
	c.fails = err != nil
}

// spent counts what a question has cost.
func (c *costs) spent(s llm.Spent) {
	u := api.UsagePurpose{Kind: usage.Reply, Asked: !s.Origin.Unasked, Agent: s.Origin.Agent, Engine: s.Engine}
	id := "" // replies are counted when they are said; see took
	switch s.Priority {
	case llm.Reasoning:
		u.Kind, id = usage.Thought, s.Origin.Thought
	case llm.Memory:
		u.Kind = usage.Other
	}
	a := api.UsageAmount{PromptTokens: int64(s.PromptTokens), ReplyTokens: int64(s.ReplyTokens), Seconds: s.Took.Seconds()}
	if s.Estimated {
		a.Estimated = 1
	}
	if a.Tokens() == 0 { // it was refused
		id = ""
	}
	c.Asked(time.Now(), u, id, a)
}

// took counts a reply that a model has made.
func (c *costs) took(l api.Latency) {
	if !l.Reflex && (l.Outcome == earshot.Completed || l.Outcome == earshot.Interrupted) {
		c.Made(time.Now(), usage.Reply, !l.Unasked, string(l.Agent))
	}
}

// today returns what was spent today.
func (c *costs) today() api.UsageDay { return c.Days(time.Now(), 1)[0] }

// settings returns how the agents are to be now: what they think unasked depends on what that
// has cost, and on what the machine runs on.
func (d *daemon) settings() executive.Config {
	set := d.config().Executive
	if d.rests() != "" {
		set.Parallel.ReasoningContinuous = false
	}
	return set
}

// rests returns why nothing is thought unasked now although the configuration lets it, in words
// and with the key; "" if there is no reason.
func (d *daemon) rests() string {
	set := d.config().Executive
	p := set.Parallel
	switch most := int64(p.TokensPerDay); {
	case !thinksUnasked(set):
	case p.RestsOnBattery && d.costs.battery.Load():
		return "It thinks only when it is asked, since this machine runs on its battery (executive.parallel.reasoning_rests_on_battery)."
	case most > 0 && d.costs.Unasked(time.Now()) >= most:
		return fmt.Sprintf("It thinks only when it is asked until midnight: the %s of a day are used up (executive.parallel.reasoning_tokens_per_day).", tokens(most))
	}
	return ""
}

// thinksUnasked reports whether it is to be thought about what nobody asked for.
func thinksUnasked(set executive.Config) bool {
	return set.Enabled && set.Reasoning.Enabled && set.Parallel.Enabled && set.Parallel.ReasoningContinuous
}

// isFirst reports whether earshot has never run with a journal there. One in which nothing is
// was begun by a command.
func isFirst(ctx context.Context, cfg *config.Config) bool {
	archive, err := store.OpenReader(ctx, cfg.Store.Directory)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer archive.Close()
	for range archive.Export(ctx) { // also an error: nobody knows what is in there
		return false
	}
	return true
}

// forewarn says at the first start that it thinks by itself, which costs something, and how
// that is turned off.
func (a *app) forewarn(cfg *config.Config) {
	if !thinksUnasked(cfg.Executive) {
		return
	}
	w := a.told()
	if a.person() {
		w = a.printed()
	}
	fmt.Fprintf(w, "It also thinks unasked about what is new, which takes model time (earshot today says how much). To turn that off, set executive.parallel.reasoning_continuous to false in %s.\n\n",
		config.ShortPath(cmp.Or(cfg.File, config.Places()[0])))
}

// counting writes down what is spent, and has the rooms look again when there is another reason
// not to think unasked, or none any more, until ctx ends.
func (d *daemon) counting(ctx context.Context) {
	defer d.costs.save()
	write, look := time.NewTicker(saveInterval), time.NewTicker(batteryInterval)
	defer write.Stop()
	defer look.Stop()
	was := ""
	d.checkBattery()
	for {
		if now := d.rests(); now != was {
			was = now
			d.log.Info("what is thought unasked", "rests", now != "", "on_battery", d.costs.battery.Load())
			for _, c := range d.rooms.now() {
				c.Reseat()
			}
		}
		select {
		case <-write.C:
			d.costs.save()
		case <-look.C:
			d.checkBattery()
		case <-ctx.Done():
			return
		}
	}
}

// checkBattery looks what the machine runs on.
func (d *daemon) checkBattery() {
	d.costs.battery.Store(d.costs.supplies != "" && power.OnBattery(d.costs.supplies))
}

// costTable is the command by which one asks in a room what was spent.
func (d *daemon) costTable() command.Table {
	return command.Table{{
		Group: "For who operates earshot", Name: "today", Help: "what answering and thinking have cost today", Needs: participants.Operate,
		Do: func(context.Context, command.Call) (string, error) {
			text := "Today: " + spentOn(d.costs.today()) + "."
			if why := d.rests(); why != "" {
				text += "\n" + why
			}
			return text, nil
		},
	}}
}

// spentOn tells people what was spent on a day.
func spentOn(d api.UsageDay) string {
	all := usage.Sum(d, nil)
	if all.Requests == 0 {
		return "nothing was asked of a model"
	}
	if all.Made == 0 && all.Tokens() == 0 {
		return "a model was asked " + english.Count(int(all.Requests), "time") + ", and has answered nothing"
	}
	made := func(k api.UsageKind) int {
		return int(usage.Sum(d, func(u api.UsagePurpose) bool { return u.Kind == k }).Made)
	}
	parts := []string{
		english.Plural(made(usage.Reply), "reply", "replies"), english.Count(made(usage.Thought), "thought"),
		tokens(all.Tokens()), modelTime(all.Seconds) + " of model time",
	}
	text := strings.Join(parts, ", ")
	if all.Estimated > 0 {
		text = strings.Replace(text, tokens(all.Tokens()), "about "+tokens(all.Tokens()), 1)
	}
	unasked := usage.Sum(d, func(u api.UsagePurpose) bool { return !u.Asked })
	if unasked.Requests == 0 {
		return text + "; nothing of it unasked"
	}
	text += "; of that unasked: "
	if n := usage.Sum(d, usage.Unasked).Made; n > 0 {
		text += english.Count(int(n), "thought") + ", "
	}
	return text + tokens(unasked.Tokens()) + ", " + modelTime(unasked.Seconds)
}

// tokens writes a number of tokens as people read large ones.
func tokens(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if n == 1 {
		return "1 token"
	}
	return text + " tokens"
}

// modelTime writes some seconds as people read them.
func modelTime(seconds float64) string {
	d := time.Duration(min(seconds, 1e9) * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
