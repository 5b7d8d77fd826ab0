package acceptance

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// list is the file with the criteria, from the root of the repository.
const list = "internal/acceptance/criteria.txt"

// A criterion is one thing that earshot must do.
type criterion struct {
	line   int // line in the list, from 1
	text   string
	proofs []proof
}

// A proof is one line of the list, below a criterion.
type proof struct {
	line int
	text string // a file, or a folder, the name of a test in it, and optionally a case in quotes
}

// parse reads the list. The text before its first heading is for people.
func parse(text string) (criteria []criterion) {
	begun := false
	for i, line := range strings.Split(text, "\n") {
		switch p, is := strings.CutPrefix(line, "\t"); {
		case strings.HasPrefix(line, "# "):
			begun = true
		case !begun || line == "":
		case !is:
			criteria = append(criteria, criterion{line: i + 1, text: line})
		case len(criteria) > 0:
			last := &criteria[len(criteria)-1]
			last.proofs = append(last.proofs, proof{i + 1, p})
		}
	}
	return criteria
}

// numbered matches references, by number or as an issue, to documents that no reader has.
var numbered = regexp.MustCompile(`(?i)\b0\d\d\b|\b(seed|issue|phase|task)s? \d`)

// check returns what is wrong with the list in repository: criteria without a proof, proofs that do
// not exist, and words that refer to another document.
func check(repository fs.FS) (complaints []string) {
	text, err := fs.ReadFile(repository, list)
	if err != nil {
		return []string{err.Error()}
	}
	complain := func(line int, problem string) {
		complaints = append(complaints, fmt.Sprintf("%s:%d: %s", list, line, problem))
	}
	criteria := parse(string(text))
	if len(criteria) == 0 {
		return []string{list + ": has no criteria"}
	}
	t := tests{repository: repository, in: make(map[string]map[string]string)}
	for _, c := range criteria {
		if found := numbered.FindString(c.text); found != "" {
			complain(c.line, fmt.Sprintf("%q is a document that no reader has; say the thing itself", found))
		}
		if len(c.proofs) == 0 {
			complain(c.line, "nothing proves it")
		}
		for _, p := range c.proofs {
			if problem := t.lack(p.text); problem != "" {
				complain(p.line, problem)
			}
		}
	}
	return complaints
}

// tests finds the tests of a repository.
type tests struct {
	repository fs.FS
	in         map[string]map[string]string // by folder and test: the text of the file
}

// lack returns what a proof names that does not exist, or "".
func (t tests) lack(proof string) string {
	dir, rest, isTest := strings.Cut(proof, " ")
	if !isTest {
		if about, err := fs.Stat(t.repository, proof); err != nil || !about.Mode().IsRegular() {
			return "there is no file " + proof
		}
		return ""
	}
	name, quoted, hasCase := strings.Cut(rest, " ")
	text, ok := t.of(dir)[name]
	if !ok {
		return fmt.Sprintf("no test in %s is called %s", dir, name)
	}
	if !hasCase {
		return ""
	}
	if unquoted, err := strconv.Unquote(quoted); err != nil || !strings.Contains(text, strconv.Quote(unquoted)) {
		return fmt.Sprintf("no case of %s is called %s", name, quoted)
	}
	return ""
}

// of returns the tests, benchmarks and fuzz targets in a folder, each with the text of its file.
// Files behind build tags count, too.
func (t tests) of(dir string) map[string]string {
	if found, ok := t.in[dir]; ok {
		return found
	}
	found := make(map[string]string)
	t.in[dir] = found
	names, _ := fs.Glob(t.repository, path.Join(dir, "*_test.go")) // a bad pattern finds nothing
	for _, name := range names {
		text, err := fs.ReadFile(t.repository, name)
		if err != nil {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			continue // the compiler reports that
		}
		for _, d := range parsed.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && isTest(fn.Name.Name) {
				found[fn.Name.Name] = string(text)
			}
		}
	}
	return found
}

func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Benchmark") || strings.HasPrefix(name, "Fuzz")
}

// TestCriteria: each criterion of this repository is proved.
func TestCriteria(t *testing.T) {
	for _, complaint := range check(os.DirFS("../..")) {
		t.Error(complaint)
	}
}

// TestCheck: in a list with every kind of fault, each is found.
func TestCheck(t *testing.T) {
	text := "Words.\n\n# People\n\none\n\ta TestA\n\tx.md\n\ta TestA \"a case\"\ntwo\n" +
		"three\n\ta TestB\n\tb TestA\n\ty.md\n\ta TestA \"another\"\n\ta helper\n\ta\n\n# More\n\nas in 003\n\ta FuzzA\nfour, of issue 7\n"
	repository := fstest.MapFS{
		"a/a_test.go": {Data: []byte("package a\nfunc TestA() { _ = \"a case\" }\nfunc FuzzA() {}\nfunc helper() {}\nfunc (t) TestB() {}")},
		"a/a.go":      {Data: []byte("package a\nfunc TestB() {}")},
		"x.md":        {Data: []byte("x")},
		list:          {Data: []byte(text)},
	}
	want := strings.Join([]string{
		list + ":9: nothing proves it",
		list + ":11: no test in a is called TestB",
		list + ":12: no test in b is called TestA",
		list + ":13: there is no file y.md",
		list + `:14: no case of TestA is called "another"`,
		list + ":15: no test in a is called helper",
		list + ":16: there is no file a",
		list + `:20: "003" is a document that no reader has; say the thing itself`,
		list + `:22: "issue 7" is a document that no reader has; say the thing itself`,
		list + ":22: nothing proves it",
	}, "\n")
	if got := strings.Join(check(repository), "\n"); got != want {
		t.Errorf("complained:\n%s\nwant:\n%s", got, want)
	}
	repository[list] = &fstest.MapFile{Data: []byte("Words.\n")}
	if got := check(repository); len(got) != 1 || got[0] != list+": has no criteria" {
		t.Errorf("an empty list: %q", got)
	}
}
