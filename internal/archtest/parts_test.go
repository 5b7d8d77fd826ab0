package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// unplaced lists the parts without a section in the configuration, and why.
var unplaced = map[string]string{
	"providers/providertest": "the suite that every provider passes",
	"providers/replay":       "performs a scene that a command names; there is nothing to configure",
}

// A shelf is one kind of part: the folder of its packages, the struct of package config with their
// sections, and the heading of the table in status that lists them.
type shelf struct{ dir, sections, heading string }

// status is the page that says what each part can do.
const status = "docs/status.md"

var shelves = []shelf{
	{"providers", "Providers", "Sense"},
	{"outlets", "Outlets", "Outlet"},
}

// partsAgree checks that the same providers and outlets are named by the folders, the sections of
// the configuration, the imports of cmd/earshot, the daemon and its bot, and the page of their
// status. The configuration, the commands and the page are compared only if they exist.
func partsAgree(h *house) (complaints []string) {
	for _, s := range shelves {
		want := h.packages(s)
		compare := func(where string, got []string) {
			if !slices.Equal(want, got) {
				complaints = append(complaints, fmt.Sprintf("%s names %q, but the folders in %s are %q", where, got, s.dir, want))
			}
		}
		if len(h.in("config")) > 0 {
			compare("the struct config."+s.sections, h.tags("config", s.sections))
		}
		if len(h.in("cmd/earshot")) > 0 {
			compare("what cmd/earshot, daemon and internal/discord/bot import", h.built(s))
		}
		if page, ok := h.texts[status]; ok {
			compare("the table "+s.heading+" in "+status, firstColumn(page, s.heading))
		}
	}
	return complaints
}

// installed checks that the command installs every sense and outlet that the daemon can install;
// otherwise it would never start, and no other test would miss it.
func installed(h *house) (complaints []string) {
	used := make(map[string]bool)
	for _, f := range h.in("cmd/earshot") {
		ast.Inspect(f.File, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && !f.test {
				used[s.Sel.Name] = true
			}
			return true
		})
	}
	for _, f := range h.in("daemon") {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && !f.test && fn.Recv != nil && strings.HasPrefix(fn.Name.Name, "Install") && !used[fn.Name.Name] {
				complaints = append(complaints, h.at(fn)+": nothing in cmd/earshot calls it, so what it installs never starts; call it in cmd/earshot/run.go")
			}
		}
	}
	return complaints
}

// packages returns the names of the parts of s that can be configured.
func (h *house) packages(s shelf) (names []string) {
	for _, dir := range h.dirs() {
		if _, spared := unplaced[dir]; path.Dir(dir) == s.dir && !spared {
			names = append(names, path.Base(dir))
		}
	}
	return names
}

// built returns the parts of s that cmd/earshot, the daemon and its bot import. Imports of
// internal/probe do not count: it only looks at parts.
func (h *house) built(s shelf) (names []string) {
	for _, f := range h.files {
		if !fitsAny("cmd/earshot daemon/... internal/discord/bot", f.dir) {
			continue
		}
		for _, imported := range f.imports {
			dir, ok := ours(imported)
			if _, spared := unplaced[dir]; ok && !f.test && !spared && path.Dir(dir) == s.dir {
				names = append(names, path.Base(dir))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// quoted matches a name in a Markdown cell.
var quoted = regexp.MustCompile("^`([a-z]+)`$")

// firstColumn returns the names in backticks in the first column of the Markdown table whose first
// heading is heading. Rows that begin with anything else describe something that is still to come.
func firstColumn(markdown, heading string) (names []string) {
	inside := false
	for line := range strings.Lines(markdown) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			inside = false
			continue
		}
		first := strings.TrimSpace(cells[1])
		if first == heading {
			inside = true
		}
		if m := quoted.FindStringSubmatch(first); inside && m != nil {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return names
}
