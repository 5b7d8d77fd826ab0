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

// module is our name in import paths.
const module = "earshot"

// A house is every file of the repository that a rule may look at.
type house struct {
	fset  *token.FileSet
	files []*file           // Go
	texts map[string]string // everything a person can read, Go too, by path
}

// A file is one Go file.
type file struct {
	*ast.File
	path    string // from the root, with slashes
	dir     string // the package's, "." for the root
	test    bool
	imports []string // of ours from the root, such as "llm/ollama"; of others in full
}

// mostText is the longest file that is read, in bytes: beyond it are data.
const mostText = 2 << 20

// load reads a house. What git ignores and what only looks like Go, below
// testdata, is left out of the files.
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
			return nil // a linked working tree says there where its repository is
		}
		return h.add(fsys, name, d)
	})
	return h, err
}

func (h *house) add(fsys fs.FS, name string, d fs.DirEntry) error {
	about, err := d.Info()
	if err != nil || !about.Mode().IsRegular() || about.Size() > mostText {
		return nil // a socket or a link of a test that is running, or data
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

// fromRoot returns what spec imports, ours without the module's name.
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

// ours returns what an entry of file.imports names of ours.
func ours(imported string) (dir string, ok bool) {
	if imported == "." {
		return ".", true
	}
	return strings.CutPrefix(imported, "./")
}

// at says where n is.
func (h *house) at(n ast.Node) string {
	p := h.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// isMain reports whether f belongs to a command.
func (f *file) isMain() bool { return f.Name.Name == "main" }

// uses yields every mention of what the package at importPath calls name.
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

// localName returns what f calls the package at importPath, or "".
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

// dirs returns the folders that hold Go, sorted.
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
