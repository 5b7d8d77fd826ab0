package section

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/internal/testkit"
)

// TestRebuildDuringInstall: what is requested while a section is built first is not lost.
func TestRebuildDuringInstall(t *testing.T) {
	r := &Runner{
		Log: slog.New(slog.DiscardHandler), Report: func(earshot.Notice) {}, Starts: func(string) func() { return func() {} },
		Rebuilt: func([]string, []api.CheckResult, []api.CheckResult) {},
	}
	builds, again := 0, make(chan struct{})
	r.Install(t.Context(), &Section{Name: "the satellites", Build: func(context.Context) Build {
		if builds++; builds == 2 {
			close(again)
		} else if !r.Rebuild("the satellites") {
			t.Error("it cannot be rebuilt")
		}
		return Build{}
	}})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	r.Run(ctx, false, &running)
	testkit.Receive(t, testkit.Patience, "it is built again", again)
	stop()
	testkit.Finish(t, testkit.Patience, "the end", running.Wait)
}
