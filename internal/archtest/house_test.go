package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the name of our module in import paths.
const module = "earshot"

// A house is all files of the repository that a rule may look at.
type house struct {
	fset  *token.FileSet
	files []*file           // Go files
	texts map[string]string // by path, everything that a person can read, including Go
}

// A file is one Go file.
type file struct {
	*ast.File
	path    string // from the root, with slashes
	dir     string // folder of the package, "." for the root
	test    bool
	imports []string // ours from the root, such as "./llm/ollama"; others in full
}

// mostText is the size of the longest file that is read, in bytes; anything longer is data.
const mostText = 2 << 20

// load reads a house. The folders .git, .cache and bin are left out, and so are Go files below
// testdata, which are only data.
func load(fsys fs.FS) (*house, error) {
	h := &house{fset: token.NewFileSet(), texts: make(map[string]string)}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (base == ".git" || base == ".cache" || base == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if base == ".git" {
			return nil // in a linked working tree, it tells where the repository is
		}
		return h.add(fsys, name, d)
	})
	return h, err
}

func (h *house) add(fsys fs.FS, name string, d fs.DirEntry) error {
	about, err := d.Info()
	if err != nil || !about.Mode().IsRegular() || about.Size() > mostText {
		return nil // a socket or a link of a running test, or data
	}
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	if slices.Contains(src, 0) {
		return nil
	}
	h.texts[name] = string(src)
	if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
		return nil
	}
	parsed, err := parser.ParseFile(h.fset, name, src, parser.ParseComments)
	if err != nil {
		return err
	}
	f := &file{File: parsed, path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go")}
	for _, spec := range parsed.Imports {
		f.imports = append(f.imports, fromRoot(spec))
	}
	h.files = append(h.files, f)
	return nil
}

// fromRoot returns the path that spec imports; our own paths begin with "." instead of the module's
// name.
func fromRoot(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
	if p == module {
		return "."
	}
	if rest, ok := strings.CutPrefix(p, module+"/"); ok {
		return "./" + rest
	}
	return p
}

// ours returns the folder of ours that an entry of file.imports names, if it is ours.
func ours(imported string) (dir string, ok bool) {
	if imported == "." {
		return ".", true
	}
	return strings.CutPrefix(imported, "./")
}

// at returns the position of n.
func (h *house) at(n ast.Node) string {
	p := h.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// isMain reports whether f belongs to a command.
func (f *file) isMain() bool { return f.Name.Name == "main" }

// uses returns every mention of one of the names of the package at importPath.
func (f *file) uses(importPath string, names ...string) (found []*ast.SelectorExpr) {
	local := f.localName(importPath)
	if local == "" {
		return nil
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && slices.Contains(names, sel.Sel.Name) {
			found = append(found, sel)
		}
		return true
	})
	return found
}

// localName returns the name of the package at importPath in f, or "".
func (f *file) localName(importPath string) string {
	for _, spec := range f.Imports {
		if p, _ := strconv.Unquote(spec.Path.Value); p == importPath {
			if spec.Name != nil {
				return spec.Name.Name
			}
			return path.Base(importPath)
		}
	}
	return ""
}

// dirs returns the folders with Go files, sorted.
func (h *house) dirs() []string {
	var all []string
	for _, f := range h.files {
		all = append(all, f.dir)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// in returns the files of the package in dir.
func (h *house) in(dir string) (files []*file) {
	for _, f := range h.files {
		if f.dir == dir {
			files = append(files, f)
		}
	}
	return files
}

// home loads this repository.
func home(t *testing.T) *house {
	t.Helper()
	h, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	return h
}
