package health

import (
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
	"earshot/internal/atomicfile"
	"earshot/internal/english"
	"earshot/internal/power"
	"earshot/internal/usage"
	"earshot/llm"
)

// CostsFile is the file, beside the journal, that records the costs of the models. It has no words
// and no people, so nothing in it needs to be forgotten.
const CostsFile = "usage.json"

const (
	// SaveInterval is how often changed costs are saved: a power loss loses no more than that.
	SaveInterval = 10 * time.Second

	// BatteryInterval is how often the power supply is checked.
	BatteryInterval = 30 * time.Second
)

// Costs records what the models have cost. It may be used from many goroutines, and only Write
// blocks.
type Costs struct {
	*usage.Ledger
	PowerSupplies string // where the machine reports its power supply; "" to ignore it

	path    string
	log     *slog.Logger
	battery atomic.Bool // the machine runs on its battery

	elsewhere atomic.Pointer[[]api.UsageDay] // today's costs of other daemons; nil if there are none

	mu    sync.Mutex // held while the file is written
	fails bool
}

// Open reads the earlier costs. A file that cannot be read is set aside, and counting starts
// again.
func (c *Costs) Open(directory string, log *slog.Logger) {
	c.path, c.log = filepath.Join(directory, CostsFile), log
	is, err := ReadCosts(directory)
	if err != nil {
		log.Warn("the record of model costs cannot be read, so counting starts again", "err", err)
		_ = os.Rename(c.path, c.path+".damaged") // if that fails, the file is overwritten
		is = new(usage.Ledger)
	}
	c.Ledger = is
}

// ReadCosts reads the costs recorded in the directory of a journal. Without a file there are none.
func ReadCosts(directory string) (*usage.Ledger, error) {
	path := filepath.Join(directory, CostsFile)
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

// Write saves the costs that changed since the last call. It logs the first failure.
func (c *Costs) Write() {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.Save(func(data []byte) error { return atomicfile.Write(c.path, data) })
	if err != nil && !c.fails {
		c.log.Warn("the record of model costs cannot be written; a restart will lose some of it", "err", err)
	}
	c.fails = err != nil
}

// CountRequest counts the cost of a request.
func (c *Costs) CountRequest(s llm.Usage) {
	u := api.UsagePurpose{Kind: usage.Reply, Asked: !s.Origin.Unasked, Agent: s.Origin.Agent, Engine: s.Engine}
	id := "" // replies are counted when they are said; see CountReply
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

// CountReply counts a reply that a model produced.
func (c *Costs) CountReply(l api.Latency) {
	if !l.Reflex && (l.Outcome == earshot.Completed || l.Outcome == earshot.Interrupted) {
		c.Made(time.Now(), usage.Reply, !l.Unasked, string(l.Agent))
	}
}

// Here returns what was spent today by this daemon, and Today what was spent by all.
func (c *Costs) Here() api.UsageDay { return c.Days(time.Now(), 1)[0] }
func (c *Costs) Today() api.UsageDay {
	if there := c.elsewhere.Load(); there != nil {
		return usage.Merge(c.Here(), *there...)
	}
	return c.Here()
}

// UnaskedToday returns how many tokens all daemons have spent today on thinking unasked.
func (c *Costs) UnaskedToday() int64 {
	now := time.Now()
	tokens := c.Unasked(now)
	if there := c.elsewhere.Load(); there != nil {
		for _, d := range *there {
			if d.Date == now.Format(time.DateOnly) {
				tokens += usage.Sum(d, usage.Unasked).Tokens()
			}
		}
	}
	return tokens
}

// SetElsewhere says what other daemons have spent, each on the day that it says.
func (c *Costs) SetElsewhere(days []api.UsageDay) { c.elsewhere.Store(&days) }

// CheckBattery checks the power supply.
func (c *Costs) CheckBattery() {
	c.battery.Store(c.PowerSupplies != "" && power.OnBattery(c.PowerSupplies))
}

// OnBattery reports whether the machine ran on its battery at the last check.
func (c *Costs) OnBattery() bool { return c.battery.Load() }

// CostsText describes what was spent on a day.
func CostsText(d api.UsageDay) string {
	all := usage.Sum(d, nil)
	if all.Requests == 0 {
		return "no model was used"
	}
	if all.Made == 0 && all.Tokens() == 0 {
		return "a model was asked " + english.Count(int(all.Requests), "time") + ", and did not answer"
	}
	made := func(k api.UsageKind) int {
		return int(usage.Sum(d, func(u api.UsagePurpose) bool { return u.Kind == k }).Made)
	}
	parts := []string{
		english.Plural(made(usage.Reply), "reply", "replies"), english.Count(made(usage.Thought), "thought"),
		TokensText(all.Tokens()), timeText(all.Seconds) + " of model time",
	}
	text := strings.Join(parts, ", ")
	if all.Estimated > 0 {
		text = strings.Replace(text, TokensText(all.Tokens()), "about "+TokensText(all.Tokens()), 1)
	}
	unasked := usage.Sum(d, func(u api.UsagePurpose) bool { return !u.Asked })
	if unasked.Requests == 0 {
		return text + "; none of it unasked"
	}
	text += "; of that unasked: "
	if n := usage.Sum(d, usage.Unasked).Made; n > 0 {
		text += english.Count(int(n), "thought") + ", "
	}
	return text + TokensText(unasked.Tokens()) + ", " + timeText(unasked.Seconds)
}

// TokensText formats a number of tokens for people.
func TokensText(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if n == 1 {
		return "1 token"
	}
	return text + " tokens"
}

// timeText formats a number of seconds for people.
func timeText(seconds float64) string {
	d := time.Duration(min(seconds, 1e9) * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
