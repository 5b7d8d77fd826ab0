// Package systemd writes the unit by which systemd runs earshot as a service of its user, and asks
// systemctl how that service is.
package systemd

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/adrg/xdg"

	"earshot/config"
	"earshot/internal/atomicfile"
)

// UnitName is what systemd calls the service.
const UnitName = "earshot.service"

// unitsOf are the places, besides the user's own, where a unit of earshot may be
// installed with its program.
var unitsOf = []string{"/usr/local/share/systemd/user", "/usr/share/systemd/user", "/usr/lib/systemd/user"}

// A UnavailableError error says that there is no systemd for this user.
type UnavailableError struct{ Why string }

func (e *UnavailableError) Error() string {
	return "this user has no systemd session: " + e.Why
}

// Cure says what to do without it.
func (e *UnavailableError) Cure() string {
	return "start it yourself: earshot run (^C stops it), or without a terminal:\n    setsid earshot run </dev/null >/dev/null 2>&1 &"
}

// Systemctl runs systemctl, and returns what it printed. What it complains of is the error.
func Systemctl(ctx context.Context, args ...string) (string, error) {
	program, err := exec.LookPath("systemctl")
	if err != nil {
		return "", &UnavailableError{"systemctl is not installed here"}
	}
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, program, append([]string{"--user", "--no-pager"}, args...)...)
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	says := strings.TrimSpace(errs.String())
	switch {
	case strings.Contains(says, "Failed to connect to"):
		return "", &UnavailableError{says}
	case err != nil:
		return out.String(), fmt.Errorf("systemctl %s: %s", strings.Join(args, " "), cmp.Or(says, err.Error()))
	}
	return out.String(), nil
}

// Version returns which systemd it is.
func Version(ctx context.Context) int {
	out, err := Systemctl(ctx, "--version")
	if err != nil {
		return 0
	}
	return systemdVersion(out)
}

// UnitPath is where the user's own unit is.
func UnitPath() string { return filepath.Join(xdg.ConfigHome, "systemd", "user", UnitName) }

// Program returns which program the service is to run: this one.
func Program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the earshot program: %w", err)
	}
	if strings.ContainsAny(self, "\"'\\\n") {
		return "", fmt.Errorf("systemd accepts no program path such as %q; move the program elsewhere", self)
	}
	return self, nil
}

// Install puts the unit where systemd looks, unless it is there, and returns where it is.
func Install(text string, force bool) (string, error) {
	own := UnitPath()
	is, err := os.ReadFile(own)
	switch {
	case err == nil && string(is) == text:
		return own, nil
	case err == nil && !IsOurs(is) && !force:
		return "", fmt.Errorf("%s exists and was not written by earshot\n  → move your changes to a drop-in (systemctl --user edit earshot), and add --force", config.ShortPath(own))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("reading the unit: %w", err)
	case err != nil:
		for _, dir := range append([]string{filepath.Join(xdg.DataHome, "systemd", "user")}, unitsOf...) {
			if there, err := os.ReadFile(filepath.Join(dir, UnitName)); err == nil && string(there) == text {
				return filepath.Join(dir, UnitName), nil
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

// IsOurs reports whether earshot has written a unit.
func IsOurs(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return string(first) == "# "+unitMark
}

// properties are those of the unit that are told.
var properties = []string{
	"LoadState", "ActiveState", "SubState", "UnitFileState", "Result", "MainPID", "NRestarts", "StatusText", "FragmentPath", "ActiveEnterTimestamp",
}

// Show returns what systemd knows of the service.
func Show(ctx context.Context) (map[string]string, error) {
	out, err := Systemctl(ctx, "show", UnitName, "--property="+strings.Join(properties, ","))
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

// Describe says in a line what systemd knows.
func Describe(u map[string]string) string {
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

// Cures says what could be done about the service; answering is whether an earshot answers,
// whoever started it.
func Cures(u map[string]string, answering bool) (all []string) {
	switch {
	case u["ActiveState"] != "active" && answering:
		all = append(all, "an earshot that is not the service is running; stop it, then: earshot service start")
	case u["Result"] == "start-limit-hit":
		all = append(all, "it failed five times within five minutes and is not started again; see: earshot service logs")
	case u["ActiveState"] == "failed":
		all = append(all, "see: earshot service logs")
	case u["ActiveState"] != "active":
		all = append(all, "earshot service start")
	}
	if u["UnitFileState"] == "disabled" {
		all = append(all, "earshot service install")
	}
	return all
}

//go:embed earshot.service
var unitText string

// unitMark is in the first line of every unit that earshot has written, by which it
// knows its own.
const unitMark = "Written by earshot service; to change it: systemctl --user edit earshot"

// reloadsSince is the first systemd that tells a service to read its configuration anew
// and waits until it has. An older one does not know the type notify-reload, and would
// take a service of that type for one that is ready at once.
const reloadsSince = 253

// Unit returns the unit by which systemd runs program, an absolute path.
func Unit(program string, systemd int) string {
	reloads := systemd >= reloadsSince
	is := struct {
		Mark, Program, Type string
		Reloads             bool
	}{unitMark, quoteUnit(program), "notify", reloads}
	if reloads {
		is.Type = "notify-reload"
	}
	var text strings.Builder
	if err := template.Must(template.New("unit").Parse(unitText)).Execute(&text, is); err != nil {
		panic(fmt.Sprintf("earshot: the text of the unit is wrong: %v", err))
	}
	return text.String()
}

// quoteUnit writes a path as one word of a command line in a unit, where % begins a
// specifier. A $ is itself in the first word; quotation marks and backslashes systemd
// takes in no program.
func quoteUnit(path string) string { return `"` + strings.ReplaceAll(path, `%`, `%%`) + `"` }

// systemdVersion returns the version in what systemctl --version prints, 0 if it says none.
func systemdVersion(out string) (n int) {
	_, _ = fmt.Sscanf(out, "systemd %d", &n)
	return n
}
