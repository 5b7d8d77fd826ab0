package decision_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"earshot/executive/decision"
)

// TestReasons: whatever the source calls a reason is in the list by which decisions are
// counted.
func TestReasons(t *testing.T) {
	all, found := decision.Reasons(), 0
	for _, dir := range []string{".", ".", "../room", "../reason", "../attention", "../addressing", "../unasked"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				block, ok := d.(*ast.GenDecl)
				reasons := dir == "../reason" || ok && strings.Contains(strings.ToLower(block.Doc.Text()), "reason")
				if !ok || block.Tok != token.CONST || !reasons || strings.HasSuffix(name, "_test.go") {
					continue
				}
				for _, s := range block.Specs {
					for _, v := range s.(*ast.ValueSpec).Values {
						text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
						if found++; err != nil || !slices.Contains(all, text) {
							t.Errorf("%s: %s is not in the list", name, text)
						}
					}
				}
			}
		}
	}
	if found < 60 {
		t.Errorf("only %d reasons were found in the source; this test proves nothing", found)
	}
}
