package workspace

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"earshot"
	"earshot/executive/tool"
)

const (
	mostSearched = 4 << 20 // bytes of files that one search reads
	mostPassage  = 400     // bytes after which a passage ends with its line
)

// A Passage is a piece of a file, and what it was made from.
type Passage struct {
	File    string
	Text    string
	Score   float64
	Sources []earshot.EventID
}

// Search returns the passages with the highest scores, the best first, of the files that an agent may use
// in a conversation; those without a score are left out. A search has the rights of read_file, which the
// caller has checked. A file that cannot be read is not there.
func (s *Store) Search(ctx context.Context, of tool.Scope, score func(text string) float64, n int) (best []Passage) {
	all, err := s.folders(of)
	if err != nil {
		return nil
	}
	had, left := make(map[string]bool), mostSearched
	for _, folder := range all {
		root, err := enter(folder, false)
		if err != nil {
			continue
		}
		_ = walk(root, ".", func(name string, d fs.DirEntry) error { // what was read before an error counts
			if !d.Type().IsRegular() || had[name] { // it stands in a folder before this one
				return nil
			}
			had[name] = true
			data, err := read(root, name)
			if left -= len(data); err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
				return nil
			}
			for text := range passages(string(data)) {
				if p := (Passage{File: name, Text: text, Score: score(text)}); p.Score > 0 {
					where := file{folder, name}
					p.Sources = append(s.made(where, len(data)), s.named(where)...)
					best = append(best, p)
				}
			}
			if left < 0 || ctx.Err() != nil {
				return errMany
			}
			return nil
		}, nil)
		root.Close()
	}
	slices.SortStableFunc(best, func(a, b Passage) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return best[:min(n, len(best))]
}

// passages yields the paragraphs of a text. A long one ends with the line that makes it long.
func passages(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var b strings.Builder
		for line := range strings.Lines(text + "\n\n") {
			if b.WriteString(line); b.Len() > mostPassage || strings.TrimSpace(line) == "" {
				if p := strings.TrimSpace(b.String()); p != "" && !yield(p) {
					return
				}
				b.Reset()
			}
		}
	}
}
