package archtest

import (
	"fmt"
	"go/ast"
	"strconv"
	"strings"
)

// seeds is where it is written what proves that we do what the first designs ask
// for. Below headings, which begin with #, stands what is asked for, and below
// each of these, behind a tab, what proves it, or, behind "later: ", what it needs that
// there is not yet.
const seeds = "testdata/seeds.txt"

// seedsAreProved wants every proof to exist, and all that is asked for to have
// one.
func seedsAreProved(h *house) (complaints []string) {
	begun, asked := false, 0 // the line of what has no proof yet
	text, ok := h.texts[seeds]
	if !ok {
		return []string{seeds + ": there is none"}
	}
	lines := strings.Split(text, "\n")
	for i, line := range append(lines, "") {
		proof, is := strings.CutPrefix(line, "\t")
		switch {
		case is:
			asked = 0
			if problem := h.proves(proof); problem != "" {
				complaints = append(complaints, fmt.Sprintf("%s:%d: %s", seeds, i+1, problem))
			}
			continue
		case asked > 0:
			complaints = append(complaints, fmt.Sprintf("%s:%d: nothing proves it", seeds, asked))
		}
		heading := strings.HasPrefix(line, "#")
		begun, asked = begun || heading, 0
		if begun && !heading && line != "" {
			asked = i + 1
		}
	}
	return complaints
}

// proves returns why a proof is none.
func (h *house) proves(proof string) string {
	if what, later := strings.CutPrefix(proof, "later: "); later && what != "" {
		return "" // of what is not built yet
	}
	dir, rest, tests := strings.Cut(proof, " ")
	if !tests {
		if _, ok := h.texts[proof]; !ok {
			return fmt.Sprintf("there is no file %s", proof)
		}
		return ""
	}
	name, quoted, named := strings.Cut(rest, " ")
	file := h.declares(dir, name)
	if file == nil {
		return fmt.Sprintf("no test in %s is called %s", dir, name)
	}
	if !named {
		return ""
	}
	if text, err := strconv.Unquote(quoted); err != nil || !strings.Contains(h.texts[file.path], strconv.Quote(text)) {
		return fmt.Sprintf("no case of %s is called %s", name, quoted)
	}
	return ""
}

// declares returns the file in which a test or a benchmark of dir is, or nil.
func (h *house) declares(dir, name string) *file {
	for _, f := range h.files {
		if f.dir != dir || !f.test {
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == name {
				return f
			}
		}
	}
	return nil
}
