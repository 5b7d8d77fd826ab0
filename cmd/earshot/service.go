package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"earshot/api"
	"earshot/config"
	"earshot/daemon/health"
	"earshot/internal/systemd"
	"earshot/internal/terminal"
	"earshot/server/client"
)

type serviceCommand struct {
	Install   serviceInstall   `cmd:"" help:"Make systemd start earshot with your session, and start it."`
	Uninstall serviceUninstall `cmd:"" help:"Undo install. What earshot knows is kept."`
	Start     serviceStart     `cmd:"" help:"Start the service."`
	Stop      serviceStop      `cmd:"" help:"Stop the service; a reply in progress is cut off and kept."`
	Restart   serviceRestart   `cmd:"" help:"Restart the service, such as after an upgrade. Attached terminals reconnect by themselves."`
	Status    serviceStatus    `cmd:"" help:"Show the state of the service and what works."`
	Logs      serviceLogs      `cmd:"" help:"Show the log, which never contains what people said."`
	Unit      serviceUnit      `cmd:"" help:"Print the systemd unit."`
}

type serviceUnit struct {
	Program string `help:"The program to run, as an absolute path; this one by default." placeholder:"PATH"`
	Systemd int    `help:"The version of systemd to write for; all by default." placeholder:"N"`
}

// Run prints the unit.
func (c serviceUnit) Run(a *app) (err error) {
	if c.Program == "" {
		if c.Program, err = systemd.Program(); err != nil {
			return err
		}
	}
	if !filepath.IsAbs(c.Program) {
		return &verdict{misused, errors.New("--program must be an absolute path")}
	}
	_, err = fmt.Fprint(a.out, systemd.Unit(c.Program, c.Systemd))
	return err
}

type serviceInstall struct {
	Start bool `default:"true" negatable:"" help:"Start it now (the default)."`
	Force bool `help:"Replace a unit of that name that earshot did not write."`
}

// Run writes the unit, and has it started now and with each session.
func (c serviceInstall) Run(a *app) error {
	if _, err := systemd.Systemctl(a.ctx, "daemon-reload"); err != nil {
		return err
	}
	self, err := systemd.Program()
	if err != nil {
		return err
	}
	where, err := systemd.Install(systemd.Unit(self, systemd.Version(a.ctx)), c.Force)
	if err != nil {
		return err
	}
	if _, err := systemd.Systemctl(a.ctx, "daemon-reload"); err != nil {
		return err
	}
	if _, err := systemd.Systemctl(a.ctx, "enable", systemd.UnitName); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "✓ the unit is %s; it runs %s\n✓ earshot starts with your session\n", config.ShortPath(where), config.ShortPath(self))
	if !c.Start {
		return nil
	}
	return a.startUnit("restart") // a new unit holds from the next start
}

type serviceUninstall struct{}

// Run ends the service, and takes the unit away that install has written.
func (serviceUninstall) Run(a *app) error {
	if there, err := systemd.Show(a.ctx); err != nil {
		return err
	} else if there["LoadState"] != "not-found" {
		if _, err := systemd.Systemctl(a.ctx, "disable", "--now", systemd.UnitName); err != nil {
			return err
		}
	}
	own := systemd.UnitPath()
	if is, err := os.ReadFile(own); err == nil && systemd.IsOurs(is) {
		if err := os.Remove(own); err != nil {
			return fmt.Errorf("removing the unit: %w", err)
		}
	}
	if _, err := systemd.Systemctl(a.ctx, "daemon-reload"); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "earshot no longer starts with your session.")
	if cfg, err := a.config(); err == nil {
		fmt.Fprintf(a.out, "  what was said is still in %s\n", config.ShortPath(cfg.Store.Directory))
	}
	return nil
}

type serviceStart struct{}

// Run starts the service.
func (serviceStart) Run(a *app) error {
	return a.startUnit("start")
}

type serviceStop struct{}

// Run ends the service.
func (serviceStop) Run(a *app) error {
	if err := a.hasUnit(); err != nil {
		return err
	}
	if _, err := systemd.Systemctl(a.ctx, "stop", systemd.UnitName); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out, "The service has stopped; to start it again: earshot service start")
	return err
}

type serviceRestart struct{}

// Run ends the service and starts it.
func (serviceRestart) Run(a *app) error {
	return a.startUnit("restart")
}

// hasUnit fails if there is no unit.
func (a *app) hasUnit() error {
	is, err := systemd.Show(a.ctx)
	if err == nil && is["LoadState"] == "not-found" {
		return &verdict{notFound, errors.New("there is no service yet; to create it: earshot service install")}
	}
	return err
}

// startUnit starts the service by a verb of systemctl, which waits until it is ready, and says how
// it is. An earshot that runs beside it would be in its way.
func (a *app) startUnit(verb string) error {
	if err := a.hasUnit(); err != nil {
		return err
	}
	if is, err := systemd.Show(a.ctx); err == nil && is["ActiveState"] != "active" && a.runs() {
		return errors.New("an earshot that is not the service is already running\n  → stop it (in its terminal: /exit), then: earshot service start")
	}
	// Whoever asks for it by hand has mended what it died of five times.
	_, _ = systemd.Systemctl(a.ctx, "reset-failed", systemd.UnitName)
	_, err := systemd.Systemctl(a.ctx, verb, systemd.UnitName)
	if err != nil {
		return fmt.Errorf("%w\n  → earshot service logs", err)
	}
	return serviceStatus{}.Run(a)
}

// runs reports whether an earshot answers.
func (a *app) runs() bool {
	cfg, err := a.config()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second) // one that is stuck is there too
	defer cancel()
	_, err = (&client.Client{Socket: cfg.Server.Path()}).State(ctx)
	return !errors.Is(err, client.ErrNotRunning)
}

type serviceStatus struct {
	JSON bool `help:"Print it as JSON."`
}

// A serviceState is how the service is.
type serviceState struct {
	Manager   string            `json:"manager"` // "systemd", or why there is none
	Unit      map[string]string `json:"unit,omitempty"`
	Answering bool              `json:"answering"` // an earshot, whoever started it
	Ready     *api.Readiness    `json:"ready,omitempty"`
	State     *api.Status       `json:"state,omitempty"`
}

// Run says how the service is: what systemd says of it, and what it says of itself.
// Nothing of it is what anybody said.
func (c serviceStatus) Run(a *app) error {
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	is := serviceState{Manager: "systemd"}
	var none *systemd.UnavailableError
	if is.Unit, err = systemd.Show(a.ctx); errors.As(err, &none) {
		is.Manager = none.Why
	} else if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
	defer cancel()
	daemon := &client.Client{Socket: cfg.Server.Path()}
	if s, err := state(ctx, daemon); err == nil {
		is.State = &s
	}
	if r, err := daemon.Ready(ctx); err == nil {
		is.Ready = &r
	}
	is.Answering = is.State != nil || is.Ready != nil
	if c.JSON {
		err = a.json(is)
	} else {
		err = is.print(a, none)
	}
	if err == nil && !is.Answering {
		return &verdict{code: notRunning}
	}
	return err
}

// print tells it to people.
func (s serviceState) print(a *app, none *systemd.UnavailableError) error {
	switch u := s.Unit; {
	case none != nil:
		fmt.Fprintf(a.out, "○ %s\n", terminal.Safe(none.Error()))
		if !s.Answering {
			fmt.Fprintf(a.out, "  → %s\n", none.Cure())
		}
	case u["LoadState"] == "not-found":
		fmt.Fprintln(a.out, "○ there is no service\n  → earshot service install")
	default:
		fmt.Fprintln(a.out, systemd.Describe(s.Unit))
		for _, line := range systemd.Cures(s.Unit, s.Answering) {
			fmt.Fprintf(a.out, "  → %s\n", line)
		}
	}
	if !s.Answering {
		_, err := fmt.Fprintln(a.out, "✗ earshot does not answer")
		return err
	}
	if s.Ready != nil && !s.Ready.Ready {
		for _, o := range s.Ready.Obstacles {
			fmt.Fprintf(a.out, "✗ it is not ready: %s: %s\n", terminal.Safe(o.Part), terminal.Safe(o.Text))
		}
	}
	if s.State == nil { // it is not open yet
		return nil
	}
	return health.PrintStatus(a.printed(), *s.State, time.Now())
}
