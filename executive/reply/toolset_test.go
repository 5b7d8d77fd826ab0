package reply_test

import (
	"strings"
	"testing"
	"time"

	"earshot/executive/reply"
	"earshot/executive/sight"
)

// TestDated: the first words that rest on an old picture say how old it is by then, the others do
// not, and words that rest on none are left as they are.
func TestDated(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	words := func(yield func(string, error) bool) {
		for _, w := range []string{" ", "A cat ", "is there."} {
			if !yield(w, nil) {
				return
			}
		}
	}
	for _, tt := range []struct {
		name    string
		picture time.Time
	}{{"no picture", time.Time{}}, {"an old picture", now.Add(-time.Hour)}, {"a new picture", now}} {
		turn := &reply.ToolTurn{ToolHost: reply.ToolHost{Now: func() time.Time { return now }}, Picture: tt.picture}
		var said strings.Builder
		for text, err := range turn.Dated(words) {
			if err != nil {
				t.Fatal(err)
			}
			said.WriteString(text)
		}
		opening := ""
		if !tt.picture.IsZero() {
			opening = sight.Opening(tt.picture, now)
		}
		if want := " " + opening + "A cat is there."; said.String() != want || tt.name == "an old picture" && opening == "" {
			t.Errorf("%s: said %q, want %q", tt.name, said.String(), want)
		}
		if !turn.Picture.IsZero() {
			t.Errorf("%s: its age would be said twice", tt.name)
		}
	}
}
