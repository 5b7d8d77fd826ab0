package workspace

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"earshot"
	"earshot/executive/tool"
)

// A Passage is a line of a file, in which models write a whole paragraph, and what the file was made from.
type Passage struct {
	File, Text string
	At         time.Time // when the file was written
	Score      float64
	Sources    []earshot.EventID
}

// Search returns the passages with the highest scores, the best first, of the files that an agent may use
// in a conversation. The caller has checked that who asks may use read_file.
func (s *Store) Search(ctx context.Context, of tool.Scope, score func(text string) float64, n int) (best []Passage) {
	all, err := s.folders(of)
	if err != nil {
		return nil
	}
	had := make(map[string]bool)
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
			info, gone := d.Info()
			if err != nil || gone != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
				return nil
			}
			sources := s.made(file{folder, name}, len(data))
			for _, id := range s.named(file{folder, name}) {
				if !slices.Contains(sources, id) {
					sources = append(sources, id)
				}
			}
			for line := range strings.Lines(string(data)) {
				if n := score(line); n > 0 {
					best = append(best, Passage{name, strings.TrimSpace(line), info.ModTime(), n, sources})
				}
			}
			return ctx.Err()
		}, nil)
		root.Close()
	}
	slices.SortStableFunc(best, func(a, b Passage) int { return cmp.Compare(b.Score, a.Score) })
	return best[:min(n, len(best))]
}
