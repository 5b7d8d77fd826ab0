package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cgo lists the only folders that may contain C.
var cgo = []string{"cmd/earshot-sound", "cmd/earshot-speech", "cmd/earshot-camera", "cmd/earshot-neural"}

// onePackageComment checks that each package has exactly one package comment. Packages with tests
// alone may have it in a test file.
func onePackageComment(h *house) (complaints []string) {
	for _, dir := range h.dirs() {
		files := h.in(dir)
		if slices.ContainsFunc(files, func(f *file) bool { return !f.test }) {
			files = slices.DeleteFunc(files, func(f *file) bool { return f.test })
		}
		var docs []*file
		for _, f := range files {
			if f.Doc != nil && strings.TrimSpace(f.Doc.Text()) != "" {
				docs = append(docs, f)
			}
		}
		if len(docs) != 1 {
			complaints = append(complaints, fmt.Sprintf("%s: has %d package comments, not one", dir, len(docs)))
			continue
		}
		if want := opening(docs[0]); !strings.HasPrefix(docs[0].Doc.Text(), want) {
			complaints = append(complaints, fmt.Sprintf("%s: the package comment does not begin with %q", docs[0].path, want))
		}
	}
	return complaints
}

// opening returns how the package comment in f must begin.
func opening(f *file) string {
	if f.isMain() {
		return "Command " + path.Base(f.dir) + " "
	}
	return "Package " + f.Name.Name + " "
}

// noInit checks that there are no init functions: everything that happens is called by somebody.
func noInit(h *house) (complaints []string) {
	for _, f := range h.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				complaints = append(complaints, h.at(fn)+": an init function")
			}
		}
	}
	return complaints
}

// asleep lists the test files that sleep outside a synctest bubble, and why.
var asleep = map[string]string{
	"internal/testkit/await.go":                   "the one sleep in real time",
	"providers/providertest/providertest_test.go": "its providers sleep in the bubble of the suite that they are given to",
}

// forTests reports whether f is linked only into tests.
func forTests(f *file) bool {
	return f.test || slices.Contains(doubles, f.dir) && !slices.Contains(linked, f.dir)
}

// noSleep checks that tests sleep only in simulated time.
func noSleep(h *house) (complaints []string) {
	for _, f := range h.files {
		_, spared := asleep[f.path]
		if spared || !forTests(f) || f.localName("testing/synctest") != "" {
			continue
		}
		for _, use := range f.uses("time", "Sleep") {
			complaints = append(complaints, h.at(use)+": sleeps in real time; see testing/synctest and internal/testkit")
		}
	}
	return complaints
}

// waitsAreBounded checks that no test waits in its own goroutine without a bound: for a channel, a
// process, the handlers of a server, or others. Simulated time is exempt, since a bubble notices
// who waits for ever. So are functions that a test hands to others, and what a context or a clock
// sends.
func waitsAreBounded(h *house) (complaints []string) {
	for _, f := range h.files {
		simulated := f.localName("testing/synctest")
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !f.test || fn.Body == nil || !isGivenATest(fn.Type) {
				continue
			}
			if simulated != "" && !strings.HasPrefix(fn.Name.Name, "Test") {
				continue // the caller may be in a bubble
			}
			for _, at := range waits(fn.Body, simulated) {
				complaints = append(complaints, h.at(at)+": waits without a bound; see internal/testkit.Receive, Finish and Command")
			}
		}
	}
	return complaints
}

// isGivenATest reports whether a function has a parameter of a type of package testing.
func isGivenATest(fn *ast.FuncType) bool {
	return slices.ContainsFunc(fn.Params.List, func(p *ast.Field) bool {
		typ := p.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		sel, ok := typ.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		pkg, ok := sel.X.(*ast.Ident)
		return ok && pkg.Name == "testing"
	})
}

// waits returns where body waits without a bound, in the goroutine that runs it, when that is left,
// or in a subtest. In a file that imports simulated time under a name, a subtest may be a bubble,
// and is left out.
func waits(body ast.Node, simulated string) (found []ast.Node) {
	own := make(map[ast.Node]bool) // functions that the same goroutine calls
	serves := servers(body)
	closes := func(n ast.Node) bool { // the Close of a server, which waits for all that it serves
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Close" {
			return false
		}
		of, ok := sel.X.(*ast.Ident)
		return ok && serves[of.Name]
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectStmt:
			if !slices.ContainsFunc(n.Body.List, endsByItself) {
				found = append(found, n)
			}
		case *ast.CommClause:
			for _, s := range n.Body {
				found = append(found, waits(s, simulated)...)
			}
			return false
		case *ast.DeferStmt:
			own[n.Call.Fun] = true
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			of, _ := sel.X.(*ast.Ident)
			switch {
			case closes(n.Fun) && len(n.Args) == 0, sel.Sel.Name == "Cleanup" && len(n.Args) == 1 && closes(n.Args[0]):
				found = append(found, n)
			case sel.Sel.Name == "Cleanup" && len(n.Args) == 1:
				own[n.Args[0]] = true
			case sel.Sel.Name == "CommandContext" && of != nil && of.Name == "exec": // the context of a test does not end by itself
				found = append(found, n)
			case sel.Sel.Name == "Wait" && len(n.Args) == 0 && (of == nil || of.Name != simulated):
				found = append(found, n)
			}
		case *ast.FuncLit:
			return own[n] || isGivenATest(n.Type) && simulated == ""
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !sendsByItself(n.X) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

// servers returns the names of the httptest servers that body starts.
func servers(body ast.Node) map[string]bool {
	names := make(map[string]bool)
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			return true
		}
		call, _ := a.Rhs[0].(*ast.CallExpr)
		if call == nil {
			return true
		}
		sel, _ := call.Fun.(*ast.SelectorExpr)
		if sel == nil || !strings.HasPrefix(sel.Sel.Name, "New") || !strings.HasSuffix(sel.Sel.Name, "Server") {
			return true
		}
		if of, ok := sel.X.(*ast.Ident); ok && of.Name == "httptest" {
			if name, ok := a.Lhs[0].(*ast.Ident); ok {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}

// endsByItself reports whether a case of a select is taken when a context or a clock says so, at
// the latest.
func endsByItself(s ast.Stmt) bool {
	c := s.(*ast.CommClause)
	if c.Comm == nil {
		return true
	}
	ends := false
	ast.Inspect(c.Comm, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
			ends = ends || sendsByItself(u.X)
		}
		return true
	})
	return ends
}

// sendsByItself reports whether a channel belongs to a context or a clock.
func sendsByItself(ch ast.Expr) bool {
	if call, ok := ch.(*ast.CallExpr); ok {
		ch = call.Fun
	}
	sel, ok := ch.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Done", "After", "C"}, sel.Sel.Name)
}

// riddles are former names of types for which nobody would search. Each of them has the usual
// technical name now; docs/architecture.md has a glossary.
var riddles = strings.Fields(`
	affair aim amid attendance census chamber choir chorus chronicle circumstance climb course crowd
	embassy erased errand eye foresight forgotten gathering gaze glimpse growing guess halls
	infirmary keeper labour larynx lens matter muse musing oblivion panorama ponder porch portrait
	prospect regard remnant resident rung said scrubber sieve sighting singer stir tap telling
	throat tooks turnout veil vitals whose worth`)

// namesAreFound checks that, outside tests, no type has one of the names in riddles.
func namesAreFound(h *house) (complaints []string) {
	for _, f := range h.files {
		if f.test {
			continue
		}
		for _, d := range f.Decls {
			types, ok := d.(*ast.GenDecl)
			if !ok || types.Tok != token.TYPE {
				continue
			}
			for _, s := range types.Specs {
				name := s.(*ast.TypeSpec).Name
				if slices.Contains(riddles, strings.ToLower(name.Name)) {
					complaints = append(complaints, h.at(name)+": the type "+name.Name+" has a name that nobody would search for; take the word of the field")
				}
			}
		}
	}
	return complaints
}

// talkIsRun checks that tests with the name that make race skips exist only where make aloud runs
// them.
func talkIsRun(h *house) (complaints []string) {
	for _, f := range h.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && f.test && f.dir != "cmd/earshot" && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "TestAloud") {
				complaints = append(complaints, h.at(fn)+": make race leaves it out, and make aloud does not run it; give it another name")
			}
		}
	}
	return complaints
}

// cOnlyInHelpers keeps C out of the daemon, and makes sure that the folder of a helper vanishes
// from builds without C.
func cOnlyInHelpers(h *house) (complaints []string) {
	for _, f := range h.files {
		helper := slices.Contains(cgo, f.dir)
		if slices.Contains(f.imports, "C") && !helper {
			complaints = append(complaints, f.path+": C lives in helper processes")
		}
		if helper && !f.test && !constrained(f, "cgo") {
			complaints = append(complaints, f.path+": must say //go:build cgo")
		}
	}
	return complaints
}

// constrained reports whether f is built only with tag.
func constrained(f *file, tag string) bool {
	line := regexp.MustCompile(`^//go:build (.* && )?` + tag + `( && .*)?$`)
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Pos() < f.Package && line.MatchString(c.Text) {
				return true
			}
		}
	}
	return false
}

// printOnlyInCommands checks that only commands print, and that everything else logs to the logger
// that it is given.
func printOnlyInCommands(h *house) (complaints []string) {
	for _, f := range h.files {
		if f.isMain() || f.test {
			continue
		}
		for _, use := range f.uses("fmt", "Print", "Println", "Printf") {
			complaints = append(complaints, h.at(use)+": prints; only commands do")
		}
		for _, use := range f.uses("os", "Stdout", "Stderr") {
			complaints = append(complaints, h.at(use)+": takes the program's own output; it is passed in")
		}
		if slices.Contains(f.imports, "log") {
			complaints = append(complaints, f.path+": logs by itself; the logger is passed in")
		}
		for _, use := range f.uses("log/slog", "Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log") {
			complaints = append(complaints, h.at(use)+": logs by itself; the logger is passed in")
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "println" || id.Name == "print") && id.Obj == nil {
					complaints = append(complaints, h.at(call)+": prints; only commands do")
				}
			}
			return true
		})
	}
	return complaints
}

// contextIsPassed checks that contexts are made only where a program begins; others could not be
// cancelled by anybody.
func contextIsPassed(h *house) (complaints []string) {
	for _, f := range h.files {
		if f.isMain() || forTests(f) {
			continue
		}
		for _, use := range f.uses("context", "Background", "TO"+"DO") {
			complaints = append(complaints, h.at(use)+": makes a context; it is passed in")
		}
	}
	return complaints
}

// stored lists the files with a struct that carries a context, and why.
var stored = map[string]string{
	"cmd/earshot/commands.go":  "what every command is given, and gone with it",
	"store/postgres/driver.go": "database/sql ends a transaction and a connection without one",
	"store/writer.go":          "a request that waits for the writer belongs to its caller, and goes when the caller does",
}

// contextIsNotStored checks that no struct holds a context.
func contextIsNotStored(h *house) (complaints []string) {
	for _, f := range h.files {
		if _, spared := stored[f.path]; spared || forTests(f) {
			continue
		}
		uses := f.uses("context", "Context")
		ast.Inspect(f.File, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, member := range s.Fields.List {
				if sel, ok := member.Type.(*ast.SelectorExpr); ok && slices.Contains(uses, sel) {
					complaints = append(complaints, h.at(member)+": stores a context; it is passed")
				}
			}
			return true
		})
	}
	return complaints
}

// leaksAreSought checks that the tests of a package that starts goroutines look for leaked ones. A
// package without tests is left to the tests of its users.
func leaksAreSought(h *house) (complaints []string) {
	for _, dir := range h.dirs() {
		started, tested, sought := "", false, false
		for _, f := range h.in(dir) {
			tested = tested || f.test
			sought = sought || f.test && len(f.uses("go.uber.org/goleak", "VerifyTestMain", "Find")) > 0
			if !f.test && started == "" {
				started = h.starts(f)
			}
		}
		if started != "" && tested && !sought {
			complaints = append(complaints, started+": starts a goroutine, and no test of the package calls goleak.VerifyTestMain or goleak.Find")
		}
	}
	return complaints
}

// starts returns where f starts a goroutine, or "".
func (h *house) starts(f *file) (where string) {
	ast.Inspect(f.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			where = h.at(n)
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Go" {
				where = h.at(n)
			}
		}
		return where == ""
	})
	return where
}

// unfinished matches how a file says that it is not done. The pattern does not match itself.
var unfinished = regexp.MustCompile(`\b(TOD[O]|FIXM[E])\b`)

// somewhere matches a path that exists on one machine and not on another. The pattern does not
// match itself.
var somewhere = regexp.MustCompile(`(?m)(^|[^\w.~/$})-])/(root|home|Users|work|tmp|var/tmp|var/folders)(/|["'` + "`" + `\s]|$)`)

// nothingLeftOpen checks that no file contains promises.
func nothingLeftOpen(h *house) []string {
	return h.grep(unfinished, "promises something; do it, or write an issue", func(name string) bool { return true })
}

// noMachinePaths checks that no file contains a path of the machine on which it was written.
func noMachinePaths(h *house) []string {
	return h.grep(somewhere, "names a path of one machine", func(name string) bool {
		return !strings.HasPrefix(name, "scripts/ollama/include/")
	})
}

// grep reports every line that pattern matches.
func (h *house) grep(pattern *regexp.Regexp, why string, look func(name string) bool) (complaints []string) {
	for name, text := range h.texts {
		if !look(name) || !pattern.MatchString(text) {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if found := pattern.FindString(line); found != "" {
				complaints = append(complaints, fmt.Sprintf("%s:%d: %q %s", name, i+1, strings.TrimSpace(found), why))
			}
		}
	}
	slices.Sort(complaints)
	return complaints
}

// modules returns the paths of the go.mod files, the root's first.
func (h *house) modules() (paths []string) {
	for name := range h.texts {
		if path.Base(name) == "go.mod" {
			paths = append(paths, name)
		}
	}
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	return paths
}

// noReplace checks that go.mod means the same to everybody. Only a module below the root may
// replace a module: ours, by the folder above.
func noReplace(h *house) (complaints []string) {
	for _, name := range h.modules() {
		for i, line := range strings.Split(h.texts[name], "\n") {
			above := name != "go.mod" && line == "replace "+module+" => ../"
			if strings.HasPrefix(strings.TrimSpace(line), "replace") && !above {
				complaints = append(complaints, fmt.Sprintf("%s:%d: replaces a module", name, i+1))
			}
		}
	}
	return complaints
}

// modulesAgree checks that go.work uses every module, and that modules require the same version of
// a common dependency: with go.work the newest is built, without it each module's own.
func modulesAgree(h *house) (complaints []string) {
	versions := make(map[string]string)
	for _, name := range h.modules() {
		if dir := path.Dir(name); dir != "." && !strings.Contains(h.texts["go.work"], "\t./"+dir+"\n") {
			complaints = append(complaints, "go.work: does not use ./"+dir)
		}
		for _, line := range required.FindAllStringSubmatch(h.texts[name], -1) {
			switch first, known := versions[line[1]]; {
			case !known:
				versions[line[1]] = line[2]
			case first != line[2]:
				complaints = append(complaints, fmt.Sprintf("%s: requires %s %s, another module %s; require the newest in each", name, line[1], line[2], first))
			}
		}
	}
	return complaints
}

// thirdParty is the page that lists all dependencies with their licences.
const thirdParty = "THIRD_PARTY.md"

// required matches a module that a go.mod requires, with its version. moduleRow matches a row of
// the tables of Go modules, with the licence.
var (
	required  = regexp.MustCompile(`(?m)^(?:require )?\s*([a-z][a-z0-9.-]*\.[a-z]+/\S+) (v\S+)`)
	moduleRow = regexp.MustCompile("(?m)^\\| `([a-z][a-z0-9.-]*\\.[a-z]+/[^`]+)` \\|([^|]*)\\|")
)

// dependenciesAreLicensed checks that THIRD_PARTY.md lists exactly the modules that ours require,
// each once and with a licence.
func dependenciesAreLicensed(h *house) (complaints []string) {
	listed := make(map[string]bool)
	for _, row := range moduleRow.FindAllStringSubmatch(h.texts[thirdParty], -1) {
		name, licence := row[1], strings.TrimSpace(row[2])
		if licence == "" {
			complaints = append(complaints, fmt.Sprintf("%s: %s has no licence; read that of the module", thirdParty, name))
		}
		if listed[name] {
			complaints = append(complaints, fmt.Sprintf("%s: %s is listed twice", thirdParty, name))
		}
		listed[name] = true
	}
	needed := make(map[string]bool)
	for _, file := range h.modules() {
		for _, module := range required.FindAllStringSubmatch(h.texts[file], -1) {
			if name := module[1]; !listed[name] && !needed[name] {
				complaints = append(complaints, fmt.Sprintf("%s: %s is in %s and not listed; add it with its licence", thirdParty, name, file))
			}
			needed[module[1]] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !needed[name] {
			complaints = append(complaints, fmt.Sprintf("%s: %s is in no go.mod any more; remove it", thirdParty, name))
		}
	}
	return complaints
}

// tags returns the yaml names of the fields of the struct name in dir, if it exists.
func (h *house) tags(dir, name string) (keys []string) {
	for _, f := range h.in(dir) {
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				if typ := spec.(*ast.TypeSpec); typ.Name.Name == name {
					keys = append(keys, tagsOf(typ)...)
				}
			}
		}
	}
	slices.Sort(keys)
	return keys
}

func tagsOf(typ *ast.TypeSpec) (keys []string) {
	s, ok := typ.Type.(*ast.StructType)
	if !ok {
		return nil
	}
	for _, member := range s.Fields.List {
		if member.Tag == nil {
			continue
		}
		raw, _ := strconv.Unquote(member.Tag.Value)
		if m := regexp.MustCompile(`yaml:"([a-z_]+)`).FindStringSubmatch(raw); m != nil {
			keys = append(keys, m[1])
		}
	}
	return keys
}

// typed are the folders whose exported signatures must not use any.
var typed = []string{"server", "server/remote"}

// theAPIIsTyped checks that nothing exported by the server and its clients takes or returns any:
// functions, methods, methods of interfaces, and fields that are functions. What encodes or decodes
// values is not exported.
func theAPIIsTyped(h *house) (complaints []string) {
	for _, f := range h.files {
		if f.test || !slices.Contains(typed, f.dir) {
			continue
		}
		check := func(name *ast.Ident, t ast.Expr) {
			if fn, ok := t.(*ast.FuncType); ok && name.IsExported() && takesAny(fn) {
				complaints = append(complaints, h.at(name)+": "+name.Name+" has any in its signature; say which type it is, such as one of package api")
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(d.Name, d.Type)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					is, ok := spec.(*ast.TypeSpec)
					if !ok || !is.Name.IsExported() {
						continue
					}
					check(is.Name, is.Type)
					for _, m := range members(is.Type) {
						for _, name := range m.Names {
							check(name, m.Type)
						}
					}
				}
			}
		}
	}
	return complaints
}

// members returns the methods of an interface, or the fields of a struct.
func members(t ast.Expr) []*ast.Field {
	switch t := t.(type) {
	case *ast.InterfaceType:
		return t.Methods.List
	case *ast.StructType:
		return t.Fields.List
	}
	return nil
}

// takesAny reports whether a function takes or returns a value of any type.
func takesAny(fn *ast.FuncType) (is bool) {
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			is = is || n.Name == "any"
		case *ast.InterfaceType:
			is = is || len(n.Methods.List) == 0
		}
		return !is
	}
	ast.Inspect(fn.Params, look)
	if fn.Results != nil {
		ast.Inspect(fn.Results, look)
	}
	return is
}
