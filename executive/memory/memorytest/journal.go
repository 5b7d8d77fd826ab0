// Package memorytest is a journal in memory as what fills a memory reads it. Only tests import it.
package memorytest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"earshot"
	"earshot/executive/memory"
	"earshot/internal/testkit"
)

// A Journal does for a [memory.Consolidator] what a store with a [memory.Projection] does, for one room.
type Journal struct{ *testkit.Journal }

// Unread does what [memory.Unread] does.
func (j Journal) Unread(_ context.Context, _ earshot.RoomID, _ time.Time, n int) ([][]earshot.EventID, error) {
	read := make(map[earshot.EventID]bool)
	for _, e := range j.Events() {
		if e.Body.Kind() == earshot.KindSummary {
			for _, id := range e.Sources {
				read[id] = true
			}
		}
	}
	circles := make(map[string][]earshot.EventID)
	for _, e := range j.Events() {
		if c := fmt.Sprintf("%#v", e.Visibility); memory.Words(e) != "" && !read[e.ID] && len(circles[c]) < n {
			circles[c] = append(circles[c], e.ID)
		}
	}
	return slices.SortedFunc(maps.Values(circles), slices.Compare), nil
}

// Find returns those of some events that everybody in an audience may see.
func (j Journal) Find(_ context.Context, a earshot.Audience, ids []earshot.EventID) ([]earshot.Event, error) {
	return slices.DeleteFunc(j.Events(), func(e earshot.Event) bool { return !slices.Contains(ids, e.ID) || !e.Visibility.Allows(a) }), nil
}
