package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/health"
	"earshot/internal/usage"
	"earshot/llm"
)

// A thinker is a daemon whose model thinks about anything new.
type thinker struct {
	*Daemon
	t    *testing.T
	end  func()
	said int
}

// thinks runs a daemon with its journal in dir, which may spend so many tokens a day on thinking
// unasked.
func thinks(t *testing.T, dir string, most int) *thinker {
	t.Helper()
	cfg := config.Default()
	cfg.Store.Directory = filepath.Join(dir, "journal")
	cfg.Executive.Parallel.ReasoningContinuous, cfg.Executive.Parallel.TokensPerDay = true, most
	cfg.Executive.LLM.Provider, cfg.Executive.LLM.Script = llm.Script, filepath.Join(dir, "model.yaml")
	script := "reply: Well.\nrules:\n- {for: thought, when: \"\", reply: \"one two three\"}\n- {for: findings, when: \"\", reply: '{\"findings\": []}'}\n"
	if err := os.WriteFile(cfg.Executive.LLM.Script, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return running(t, cfg)
}

// running returns a daemon that runs.
func running(t *testing.T, cfg *config.Config, prepare ...func(*Daemon)) *thinker {
	t.Helper()
	return runningWith(t, cfg, nil, prepare...)
}

// runningWith returns a daemon that runs and writes a log.
func runningWith(t *testing.T, cfg *config.Config, log *slog.Logger, prepare ...func(*Daemon)) *thinker {
	t.Helper()
	d, err := Open(t.Context(), cfg, Options{Account: earshot.Handle{Provider: "console", ID: "1"}, Name: "ann", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	d.costs.PowerSupplies = filepath.Join(filepath.Dir(cfg.Store.Directory), "supplies") // does not exist yet
	for _, change := range prepare {
		change(d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := d.Run(ctx, nil); err != nil {
			t.Error(err)
		}
	}()
	synctest.Wait()
	return &thinker{Daemon: d, t: t, end: func() {
		t.Helper()
		cancel()
		<-ended
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}}
}

// news lets somebody write about new subjects, and reports whether the daemon thinks about them.
func (h *thinker) news() bool {
	h.t.Helper()
	before := usage.Sum(h.today(), usage.Unasked).Made
	for range 3 {
		h.said++
		n := h.said
		h.says(earshot.Message{Text: earshot.Text(fmt.Sprintf("subject%dx and topic%dy with matter%dz near place%dw", n, n, n, n))})
		time.Sleep(time.Minute)
	}
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	return usage.Sum(h.today(), usage.Unasked).Made > before
}

func (h *thinker) says(body earshot.Body) {
	h.t.Helper()
	if err := h.Admit(h.t.Context(), earshot.Event{ID: h.id(), From: h.options.Account, Body: body}); err != nil {
		h.t.Fatal(err)
	}
}

func (h *thinker) today() api.UsageDay { return h.costs.Today() }

// TestBudget: unasked thinking ends when the day's tokens are used up, also after a restart, and
// begins again the next day. Thoughts that somebody asks for go on.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		time.Sleep(time.Until(time.Date(now.Year(), now.Month(), now.Day()+1, 8, 0, 0, 0, now.Location()))) // the next morning, local time
		dir := t.TempDir()
		h := thinks(t, dir, 1)
		if !h.news() || h.restReason() == "" {
			t.Fatalf("after something new it rests %q, and has spent %+v", h.restReason(), h.today())
		}
		spent := usage.Sum(h.today(), usage.Unasked)
		if spent.Made != 1 || spent.Tokens() == 0 {
			t.Errorf("it has thought on until %+v", spent)
		}
		if h.news() {
			t.Errorf("it thinks unasked although it rests, %+v", h.today().Lines)
		}
		h.end()
		h = thinks(t, dir, 1)
		if got := usage.Sum(h.today(), usage.Unasked); got != spent {
			t.Errorf("after a restart %+v is spent, want %+v", got, spent)
		}
		h.said = 100
		if h.restReason() == "" || h.news() {
			t.Error("after a restart it thinks unasked")
		}
		h.says(earshot.Command{Name: "think", Args: "whether the boat leaves in time"})
		time.Sleep(time.Minute)
		asked := func(u api.UsagePurpose) bool { return u.Kind == usage.Thought && u.Asked }
		if got := usage.Sum(h.today(), asked); got.Made != 1 || got.Tokens() == 0 {
			t.Errorf("somebody has asked for a thought, and %+v is spent", got)
		}
		replies := usage.Sum(h.today(), func(u api.UsagePurpose) bool { return u.Kind == usage.Reply && u.Asked })
		if replies.Made == 0 || replies.Made != replies.Requests || replies.Estimated > 0 {
			t.Errorf("replies have cost %+v", replies)
		}
		for _, line := range h.today().Lines {
			if line.Agent != "agent" || line.Engine != "script" {
				t.Errorf("nobody knows what %+v was spent by", line)
			}
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if got := usage.Sum(h.today(), usage.Unasked); got.Made != 1 || got.Requests != 2 {
			t.Errorf("the next day it thinks about what was new meanwhile, and has spent %+v", got)
		}
		h.end()
	})
}

// TestOnBattery: within half a minute of unplugging the machine, unasked thinking rests, and it
// goes on as soon after plugging in again. It does not rest if the key says so.
func TestOnBattery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		h := thinks(t, dir, 0)
		battery := filepath.Join(h.costs.PowerSupplies, "BAT0")
		if err := os.MkdirAll(battery, 0o700); err != nil {
			t.Fatal(err)
		}
		is := func(status string) {
			for name, word := range map[string]string{"type": "Battery", "status": status} {
				if err := os.WriteFile(filepath.Join(battery, name), []byte(word+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(health.BatteryInterval + time.Second)
			synctest.Wait()
		}
		thought := func() int64 { return usage.Sum(h.today(), usage.Unasked).Made }
		for range 2 {
			before := thought()
			if is("Charging"); h.restReason() != "" || !h.news() && thought() == before {
				t.Errorf("on mains it rests: %q", h.restReason())
			}
			if is("Discharging"); !strings.Contains(h.restReason(), "battery") || h.news() {
				t.Errorf("on battery it thinks; it rests: %q", h.restReason())
			}
		}
		before := thought()
		next := *h.Config()
		next.Executive.Parallel.RestsOnBattery = false
		h.current.Store(&next)
		if h.restReason() != "" || !h.news() && thought() == before {
			t.Errorf("it may think on battery, and rests: %q", h.restReason())
		}
		h.end()
	})
}
