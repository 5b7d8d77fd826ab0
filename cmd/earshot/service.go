package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"earshot/api"
	"earshot/config"
	"earshot/internal/atomicfile"
	"earshot/internal/terminal"
	"earshot/server"
)

// unitName is what systemd calls the service.
const unitName = "earshot.service"

// unitsOf are the places, besides the user's own, where a unit of earshot may be
// installed with its program.
var unitsOf = []string{"/usr/local/share/systemd/user", "/usr/share/systemd/user", "/usr/lib/systemd/user"}

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

// A systemd is the service manager of this user.
type systemd struct{ *app }

// An unmanaged error says that there is no systemd for this user.
type unmanaged struct{ why string }

func (e *unmanaged) Error() string {
	return "this user has no systemd session: " + e.why
}

// Cure says what to do without it.
func (e *unmanaged) Cure() string {
	return "start it yourself: earshot run (^C stops it), or without a terminal:\n    setsid earshot run </dev/null >/dev/null 2>&1 &"
}

// do runs systemctl, and returns what it printed. What it complains of is the error.
func (m systemd) do(args ...string) (string, error) {
	program, err := exec.LookPath("systemctl")
	if err != nil {
		return "", &unmanaged{"systemctl is not installed here"}
	}
	var out, errs bytes.Buffer
	c := exec.CommandContext(m.ctx, program, append([]string{"--user", "--no-pager"}, args...)...)
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	says := strings.TrimSpace(errs.String())
	switch {
	case strings.Contains(says, "Failed to connect to"):
		return "", &unmanaged{says}
	case err != nil:
		return out.String(), fmt.Errorf("systemctl %s: %s", strings.Join(args, " "), cmp.Or(says, err.Error()))
	}
	return out.String(), nil
}

// version returns which systemd it is.
func (m systemd) version() int {
	out, err := m.do("--version")
	if err != nil {
		return 0
	}
	return systemdVersion(out)
}

// ownUnit is where the user's own unit is.
func ownUnit() string { return filepath.Join(xdg.ConfigHome, "systemd", "user", unitName) }

// program returns which program the service is to run: this one.
func program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the earshot program: %w", err)
	}
	if strings.ContainsAny(self, "\"'\\\n") {
		return "", fmt.Errorf("systemd accepts no program path such as %q; move the program elsewhere", self)
	}
	return self, nil
}

type serviceUnit struct {
	Program string `help:"The program to run, as an absolute path; this one by default." placeholder:"PATH"`
	Systemd int    `help:"The version of systemd to write for; all by default." placeholder:"N"`
}

// Run prints the unit.
func (c serviceUnit) Run(a *app) (err error) {
	if c.Program == "" {
		if c.Program, err = program(); err != nil {
			return err
		}
	}
	if !filepath.IsAbs(c.Program) {
		return &verdict{misused, errors.New("--program must be an absolute path")}
	}
	_, err = fmt.Fprint(a.out, unit(c.Program, c.Systemd))
	return err
}

type serviceInstall struct {
	Start bool `default:"true" negatable:"" help:"Start it now (the default)."`
	Force bool `help:"Replace a unit of that name that earshot did not write."`
}

// Run writes the unit, and has it started now and with each session.
func (c serviceInstall) Run(a *app) error {
	m := systemd{a}
	if _, err := m.do("daemon-reload"); err != nil {
		return err
	}
	self, err := program()
	if err != nil {
		return err
	}
	where, err := c.place(unit(self, m.version()))
	if err != nil {
		return err
	}
	if _, err := m.do("daemon-reload"); err != nil {
		return err
	}
	if _, err := m.do("enable", unitName); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "✓ the unit is %s; it runs %s\n✓ earshot starts with your session\n", config.ShortPath(where), config.ShortPath(self))
	if !c.Start {
		return nil
	}
	if err := m.start("restart"); err != nil { // a new unit holds from the next start
		return err
	}
	return serviceStatus{}.Run(a)
}

// place puts the unit where systemd looks, unless it is there, and returns where it is.
func (c serviceInstall) place(text string) (string, error) {
	own := ownUnit()
	is, err := os.ReadFile(own)
	switch {
	case err == nil && string(is) == text:
		return own, nil
	case err == nil && !ours(is) && !c.Force:
		return "", fmt.Errorf("%s exists and was not written by earshot\n  → move your changes to a drop-in (systemctl --user edit earshot), and add --force", config.ShortPath(own))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("reading the unit: %w", err)
	case err != nil:
		for _, dir := range append([]string{filepath.Join(xdg.DataHome, "systemd", "user")}, unitsOf...) {
			if there, err := os.ReadFile(filepath.Join(dir, unitName)); err == nil && string(there) == text {
				return filepath.Join(dir, unitName), nil
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(own), 0o755); err != nil {
		return "", fmt.Errorf("creating the folder of the unit: %w", err)
	}
	if err := atomicfile.Write(own, []byte(text)); err != nil {
		return "", fmt.Errorf("writing the unit: %w", err)
	}
	return own, nil
}

// ours reports whether earshot has written a unit.
func ours(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return string(first) == "# "+unitMark
}

type serviceUninstall struct{}

// Run ends the service, and takes the unit away that install has written.
func (serviceUninstall) Run(a *app) error {
	m := systemd{a}
	if there, err := m.show(); err != nil {
		return err
	} else if there["LoadState"] != "not-found" {
		if _, err := m.do("disable", "--now", unitName); err != nil {
			return err
		}
	}
	own := ownUnit()
	if is, err := os.ReadFile(own); err == nil && ours(is) {
		if err := os.Remove(own); err != nil {
			return fmt.Errorf("removing the unit: %w", err)
		}
	}
	if _, err := m.do("daemon-reload"); err != nil {
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
	m := systemd{a}
	if err := m.start("start"); err != nil {
		return err
	}
	return serviceStatus{}.Run(a)
}

type serviceStop struct{}

// Run ends the service.
func (serviceStop) Run(a *app) error {
	m := systemd{a}
	if err := m.known(); err != nil {
		return err
	}
	if _, err := m.do("stop", unitName); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.out, "The service has stopped; to start it again: earshot service start")
	return err
}

type serviceRestart struct{}

// Run ends the service and starts it.
func (serviceRestart) Run(a *app) error {
	m := systemd{a}
	if err := m.start("restart"); err != nil {
		return err
	}
	return serviceStatus{}.Run(a)
}

// known fails if there is no unit.
func (m systemd) known() error {
	is, err := m.show()
	if err == nil && is["LoadState"] == "not-found" {
		return &verdict{notFound, errors.New("there is no service yet; to create it: earshot service install")}
	}
	return err
}

// start starts the service by a verb of systemctl, which waits until it is ready. An
// earshot that runs beside it would be in its way.
func (m systemd) start(verb string) error {
	if err := m.known(); err != nil {
		return err
	}
	if is, err := m.show(); err == nil && is["ActiveState"] != "active" && m.runs() {
		return errors.New("an earshot that is not the service is already running\n  → stop it (in its terminal: /exit), then: earshot service start")
	}
	// Whoever asks for it by hand has mended what it died of five times.
	_, _ = m.do("reset-failed", unitName)
	_, err := m.do(verb, unitName)
	if err != nil {
		return fmt.Errorf("%w\n  → earshot service logs", err)
	}
	return nil
}

// runs reports whether an earshot answers.
func (m systemd) runs() bool {
	cfg, err := m.config()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(m.ctx, 5*time.Second) // one that is stuck is there too
	defer cancel()
	_, err = (&server.Client{Socket: cfg.Server.Path()}).State(ctx)
	return !errors.Is(err, server.ErrNotRunning)
}

// properties are those of the unit that are told.
var properties = []string{
	"LoadState", "ActiveState", "SubState", "UnitFileState", "Result", "MainPID", "NRestarts", "StatusText", "FragmentPath", "ActiveEnterTimestamp",
}

// show returns what systemd knows of the service.
func (m systemd) show() (map[string]string, error) {
	out, err := m.do("show", unitName, "--property="+strings.Join(properties, ","))
	if err != nil {
		return nil, err
	}
	is := make(map[string]string)
	for line := range strings.Lines(out) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && slices.Contains(properties, name) {
			is[name] = value
		}
	}
	return is, nil
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
	var none *unmanaged
	if is.Unit, err = (systemd{a}).show(); errors.As(err, &none) {
		is.Manager = none.why
	} else if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
	defer cancel()
	daemon := &server.Client{Socket: cfg.Server.Path()}
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
func (s serviceState) print(a *app, none *unmanaged) error {
	switch u := s.Unit; {
	case none != nil:
		fmt.Fprintf(a.out, "○ %s\n", terminal.Safe(none.Error()))
		if !s.Answering {
			fmt.Fprintf(a.out, "  → %s\n", none.Cure())
		}
	case u["LoadState"] == "not-found":
		fmt.Fprintln(a.out, "○ there is no service\n  → earshot service install")
	default:
		fmt.Fprintln(a.out, s.tells())
		for _, line := range s.cures() {
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
	if s.Ready != nil {
		for _, u := range s.Ready.Underway {
			fmt.Fprintf(a.out, "· %s: %s\n", terminal.Safe(u.Part), terminal.Safe(u.Text))
		}
	}
	if s.State == nil { // it is not open yet
		return nil
	}
	return printStatus(a.printed(), *s.State, time.Now())
}

// tells says in a line what systemd knows.
func (s serviceState) tells() string {
	u := s.Unit
	mark := "✗"
	if u["ActiveState"] == "active" {
		mark = "✓"
	}
	text := fmt.Sprintf("%s the service is %s (%s)", mark, u["ActiveState"], u["SubState"])
	if since := u["ActiveEnterTimestamp"]; since != "" && u["ActiveState"] == "active" {
		text += " since " + since
	}
	if u["MainPID"] != "" && u["MainPID"] != "0" {
		text += ", process " + u["MainPID"]
	}
	if n := u["NRestarts"]; n != "" && n != "0" {
		text += ", started again " + n + " times"
	}
	if r := u["Result"]; r != "" && r != "success" {
		text += "; it ended with: " + r
	}
	if u["UnitFileState"] == "enabled" {
		return text + "; it starts with your session"
	}
	return text + "; it does not start with your session"
}

// cures says what could be done.
func (s serviceState) cures() (all []string) {
	switch u := s.Unit; {
	case u["ActiveState"] != "active" && s.Answering:
		all = append(all, "an earshot that is not the service is running; stop it, then: earshot service start")
	case u["Result"] == "start-limit-hit":
		all = append(all, "it failed five times within five minutes and is not started again; see: earshot service logs")
	case u["ActiveState"] == "failed":
		all = append(all, "see: earshot service logs")
	case u["ActiveState"] != "active":
		all = append(all, "earshot service start")
	}
	if s.Unit["UnitFileState"] == "disabled" {
		all = append(all, "earshot service install")
	}
	return all
}
