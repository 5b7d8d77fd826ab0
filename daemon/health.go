package daemon

import (
	"context"
	"fmt"
	"time"

	"earshot/api"
	"earshot/daemon/health"
	"earshot/internal/probe"
)

// Ready implements [server.Admin].
func (h backend) Ready(ctx context.Context) api.Readiness {
	if h.daemon.health.WantsProbe(time.Now()) {
		for _, l := range probe.Engines(ctx, h.daemon.Config().Executive.LLM) {
			h.daemon.health.NoteEngine(l)
		}
	}
	is := api.Readiness{Obstacles: health.Obstacles(h.daemon.health.List()), Underway: h.underway()}
	is.Ready = len(is.Obstacles) == 0
	return is
}

// underway lists background tasks that do not keep the daemon from its work.
func (h backend) underway() (all []api.Task) {
	if since, is := h.daemon.store.Checking(); is {
		all = append(all, api.Task{Part: "journal", Text: "it is being checked for damage, because earshot was not shut down properly; messages are kept in the meantime", Since: since})
	}
	if since, percent, is := h.daemon.store.Cleaning(); is {
		all = append(all, api.Task{Part: "journal", Text: fmt.Sprintf("cleaning up after forgetting: %d%%", percent), Since: since})
	}
	return all
}
