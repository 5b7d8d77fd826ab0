package systemd

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

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

// versioned finds the version in what systemctl --version prints.
var versioned = regexp.MustCompile(`^systemd (\d+)`)

// systemdVersion returns the version, 0 if out says none.
func systemdVersion(out string) int {
	found := versioned.FindStringSubmatch(out)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}
