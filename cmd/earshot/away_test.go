package main

import (
	"errors"
	"testing"

	"earshot"
	"earshot/api"
	"earshot/server/attach"
)

// TestPagesFromAway: history that lies elsewhere is fetched page by page until there is enough or
// no more, however few events a page brings.
func TestPagesFromAway(t *testing.T) {
	for _, tt := range []struct {
		name             string
		there, n, at     int // there are that many, n are wanted, and a page brings at most at
		asked, want, end int
	}{
		{"one page", 1000, 5, onePage, 1, 5, 996},
		{"several", 1000, 450, onePage, 3, 450, 551},
		{"long ones, of which few come at once", 1000, 10, 3, 4, 10, 991},
		{"more than there are", 30, 450, onePage, 1, 30, 1},
		{"nothing", 0, 450, onePage, 1, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			ask := func(before int64, limit int) (p api.HistoryPage, err error) {
				asked++
				if limit < 1 || limit > onePage {
					return p, errors.New("that would be refused")
				}
				next := int64(tt.there)
				if before > 0 {
					next = before - 1
				}
				for ; next > 0 && len(p.Events) < min(limit, tt.at); next-- {
					p.Events = append(p.Events, earshot.Event{Sequence: next})
				}
				if next > 0 {
					p.Before = next + 1
				}
				return p, nil
			}
			w := &remote{names: new(attach.Names), seen: make(map[earshot.EventID]earshot.Event)}
			all, err := w.pages(tt.n, ask)
			if err != nil || len(all) != tt.want || asked != tt.asked {
				t.Fatalf("%d came, asked for %d times, %v", len(all), asked, err)
			}
			for i, e := range all {
				if e.Sequence != int64(tt.there-i) {
					t.Fatalf("number %d is %d", i, e.Sequence)
				}
			}
			if tt.want > 0 && all[len(all)-1].Sequence != int64(tt.end) {
				t.Errorf("it ends with %d, want %d", all[len(all)-1].Sequence, tt.end)
			}
		})
	}
}
