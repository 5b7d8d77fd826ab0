package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"earshot/api"
	"earshot/bus"
	"earshot/bus/nats"
	"earshot/config"
	"earshot/executive"
	"earshot/internal/english"
	"earshot/satellite/pairing"
	"earshot/server/client"
)

// Satellites finds something only where there is to be a bus: whether it can be reached, and whether each
// satellite has a room.
func Satellites(ctx context.Context, cfg *config.Config) (all []api.CheckResult) {
	if !cfg.Bus.Enabled() {
		return nil
	}
	if cfg.Bus.Listen != "" {
		all = append(all, listens(ctx, cfg))
	}
	for _, at := range cfg.Bus.Servers {
		all = append(all, busServer(ctx, cfg.Bus, at))
	}
	paired, err := pairing.In(cfg.Store.Directory).List()
	all = append(all, countFindings("satellites", len(paired), err, english.Count(len(paired), "satellite")+" paired; see: earshot pair list")...)
	for _, p := range paired {
		if !slices.ContainsFunc(cfg.Rooms.All(), func(r executive.Room) bool { return r.ID == p.Room }) {
			all = append(all, NoRoom(p))
		}
	}
	return all
}

// NoRoom finds that a satellite is paired for a room that does not exist.
func NoRoom(p pairing.Satellite) api.CheckResult {
	return api.CheckResult{
		Thing: "satellite " + p.ID, Text: fmt.Sprintf("its room %s does not exist", p.Room),
		Cure: fmt.Sprintf("earshot pair remove %s; then earshot pair %s --room ROOM", p.ID, p.ID),
	}
}

// listens finds whether the daemon that runs listens for satellites, or could if one ran.
func listens(ctx context.Context, cfg *config.Config) api.CheckResult {
	f, at := api.CheckResult{Thing: "bus"}, cfg.Bus.Listen
	asking, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	s, err := (&client.Client{Socket: cfg.Server.Path()}).State(asking)
	if errors.Is(err, client.ErrNotRunning) {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", at)
		if err != nil {
			f.Text, f.Cure = err.Error(), "stop what listens there, or correct bus.listen"
			return f
		}
		l.Close()
		f.Works, f.Text = true, "will listen at "+at+" when earshot runs"
		return f
	}
	for _, n := range s.Faults { // another program may listen there
		if n.Key == "bus" {
			f.Text, f.Cure = n.Text, cmp.Or(n.Cure, "look into the log of the running earshot")
			return f
		}
	}
	host, port, _ := net.SplitHostPort(at) // which Validate has checked
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = ""
	}
	c, err := (&net.Dialer{Timeout: AnswerTimeout}).DialContext(ctx, "tcp", net.JoinHostPort(cmp.Or(host, "localhost"), port))
	if err != nil {
		f.Text, f.Cure = "the running earshot does not listen at "+at, "see why: earshot status; after a change of the configuration: earshot reload"
		return f
	}
	c.Close()
	f.Works, f.Text = true, "listens at "+at
	return f
}

// busServer finds whether a server lets earshot in.
func busServer(ctx context.Context, c bus.Config, at string) api.CheckResult {
	ctx, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	f := api.CheckResult{Thing: "bus", Works: true, Text: at + " lets earshot in"}
	conn, err := nats.Connect(ctx, nats.Config{Name: "earshot doctor", Servers: []string{at}, Seed: c.Seed})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		f.Works, f.Text, f.Cure = false, fmt.Sprintf("%s has not answered within %v", at, AnswerTimeout), "start it, or correct bus.servers"
		return f
	case err != nil:
		f.Works, f.Text, f.Cure = false, err.Error(), "correct bus.servers or bus.seed, or mend the server"
		return f
	}
	conn.Close()
	return f
}
