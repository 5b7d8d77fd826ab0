package probe

import (
	"context"

	"earshot/config"
	"earshot/server"
	"earshot/server/client"
)

// APIPart is what the port is called where it is told how it stands with it.
const APIPart = "API"

// API finds something only where the daemon is to listen: whether it does, or could.
func API(ctx context.Context, cfg *config.Config) []Finding {
	if cfg.Server.Listen == "" {
		return nil
	}
	f := Finding{Thing: APIPart}
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	now, err := (&client.Client{Socket: cfg.Server.Path()}).State(ctx)
	switch {
	case err == nil && now.API != "":
		f.Works, f.Text = true, "listens at "+now.API
	case err == nil:
		f.Text, f.Cure = "the running earshot does not listen at "+cfg.Server.Listen, "see why: earshot status; after a change of the configuration: earshot reload"
	default:
		l, err := server.ListenLoopback(ctx, cfg.Server.Listen)
		if err != nil {
			f.Text, f.Cure = Explain(err)
			break
		}
		l.Close()
		f.Works, f.Text = true, "will listen at "+cfg.Server.Listen+" when earshot runs"
	}
	return []Finding{f}
}
