package progress

import (
	"context"
	"strings"
	"testing"
	"time"

	"earshot/api"
)

// TestPreparation: what is shown while the journal is prepared depends on how long that takes.
func TestPreparation(t *testing.T) {
	const line = "the journal is being prepared for this version: "
	for _, tt := range []struct {
		name string
		over bool
		at   []time.Duration // when each tenth is done, in milliseconds
		want string
	}{
		{"nothing to do", true, nil, ""},
		{"soon done", true, []time.Duration{10, 200, 999}, ""},
		{"a terminal", true, []time.Duration{900, 1000, 1100, 1999, 2000, 5000},
			"\r\x1b[K" + line + "20 % of 10 events\r\x1b[K" + line + "50 % of 10 events\r\x1b[K" + line + "60 % of 10 events\r\x1b[K"},
		{"a file", false, []time.Duration{900, 1000, 1100, 1999, 2000, 5000},
			"earshot: " + line + "20 % of 10 events; this takes a while\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var w strings.Builder
			var manager []string
			began := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
			answered := 0
			p := &Journal{
				W: &w, Overwrites: tt.over, Began: began,
				Status: func(text string) error { manager = append(manager, text); return nil },
				Answer: func(ctx context.Context, why func() api.Obstacle) {
					answered++
					<-ctx.Done()
					if is := why(); !strings.Contains(is.Text, "60 %") || !is.Since.Equal(began) {
						t.Errorf("who asks is told %+v", is)
					}
				},
			}
			for i, at := range tt.at {
				p.Step(t.Context(), began.Add(at*time.Millisecond), int64(i)+1, 10)
			}
			p.End()
			p.Step(t.Context(), began.Add(time.Minute), 10, 10) // a mend while earshot runs shows nothing
			if w.String() != tt.want {
				t.Errorf("it shows %q, want %q", &w, tt.want)
			}
			if said := tt.want != ""; (answered == 1) != said || (len(manager) == 3) != said {
				t.Errorf("%d answer, and the manager is told %q", answered, manager)
			}
		})
	}
}
