package webcam_test

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/models/see"
	"earshot/providers/webcam"
)

var record = flag.String("record", "", "have the real helper look at this `film`, and keep what it sees in testdata")

// TestRecord makes a recording of a film, at the film's pace.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("only with -record FILM")
	}
	defer helpertest.Remove()
	path := filepath.Join(helpertest.Build(t, "earshot-camera"), "earshot-camera")
	var all see.Recording
	var began time.Time
	c := see.New(see.Config{
		Dial: func() (helper.Link, error) {
			return helper.Start(helper.Command{Name: "earshot-camera", Path: path, Log: slog.New(slog.DiscardHandler)})
		},
		Open: webcam.Camera{Device: *record}.Open(nil),
		On: func(o see.Observation) {
			if began.IsZero() {
				began = o.At
			}
			all = append(all, see.Recorded{After: o.At.Sub(began), Observation: o.Observation})
		},
	})
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(*record), filepath.Ext(*record))
	if err := os.WriteFile(filepath.Join("testdata", name+".txt"), []byte(all.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A reel is a camera source that plays a recording.
type reel struct {
	see.Recording
	show func(see.Observation)
}

func (r *reel) Run(ctx context.Context) error {
	r.Play(ctx, r.show)
	return nil
}

// TestRecorded: from what the real helper saw of Debian's example films, presence results that does
// not flicker. In the first film there is always somebody, but detectors find nobody in up to five
// looks in a row; fewer people are told than there are.
func TestRecorded(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"vtest", "clear@0 1@5 2@53 away@79"},
		{"tree", "clear@0 away@4"}, // the tree sways
		{"Megamind", "clear@0 1@2 away@11"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", tt.name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			all, err := see.ParseRecording(text)
			if err != nil || all.String() != string(text) {
				t.Fatalf("%d pictures, %v; and it is written as it was read: %v", len(all), err, all.String() == string(text))
			}
			r := &reel{Recording: all}
			out := watching(t, webcam.Camera{}, r, nil, func(sense *webcam.Provider) { r.show = sense.Observe })
			if got := strings.Join(out.sights, " "); got != tt.want {
				t.Errorf("told %s, want %s", got, tt.want)
			}
		})
	}
}
