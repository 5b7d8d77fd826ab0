package webcam_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/models/see"
	"earshot/models/see/wire"
	"earshot/providers/webcam"
)

var record = flag.String("record", "", "have the real helper look at this `film`, and keep what it sees in testdata")

// read reads a recording: what the real helper saw of a film, one picture a line: when, in seconds;
// brightness, contrast, motion and novelty; whether the picture is another one (!), and
// whether detectors looked (+); and what they found.
func read(t *testing.T, name string) (all []see.Observation) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		o := see.Observation{Observation: wire.Observation{Number: uint64(len(all) + 1), Width: 768, Height: 576}}
		var at float64
		var flags string
		fields := strings.Fields(s.Text())
		if _, err := fmt.Sscan(strings.Join(fields[:6], " "), &at, &o.Brightness, &o.Contrast, &o.Motion, &o.Novelty, &flags); err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		o.At = time.Time{}.Add(time.Duration(at * float64(time.Second)))
		o.Cut, o.Detected = strings.Contains(flags, "!"), strings.Contains(flags, "+")
		for _, seen := range fields[6:] {
			var thing earshot.Seen
			parts := strings.Split(seen, ",")
			thing.What = earshot.Thing(parts[0])
			if _, err := fmt.Sscan(strings.Join(parts[1:], " "), &thing.Box.X, &thing.Box.Y, &thing.Box.Width, &thing.Box.Height, &thing.Sure); err != nil {
				t.Fatalf("%s: %v", seen, err)
			}
			o.Seen = append(o.Seen, thing)
		}
		all = append(all, o)
	}
	return all
}

// TestRecord makes a recording, at the pace of the film.
func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("only with -record FILM")
	}
	defer helpertest.Remove()
	path := filepath.Join(helpertest.Build(t, "earshot-camera"), "earshot-camera")
	var b strings.Builder
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
			flags := "."
			if o.Cut {
				flags += "!"
			}
			if o.Detected {
				flags += "+"
			}
			fmt.Fprintf(&b, "%.2f %.3f %.3f %.4f %.4f %s", o.At.Sub(began).Seconds(), o.Brightness, o.Contrast, o.Motion, o.Novelty, flags)
			for _, s := range o.Seen {
				fmt.Fprintf(&b, " %s,%.3f,%.3f,%.3f,%.3f,%.2f", s.What, s.Box.X, s.Box.Y, s.Box.Width, s.Box.Height, s.Sure)
			}
			b.WriteString("\n")
		},
	})
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(*record), filepath.Ext(*record))
	if err := os.WriteFile(filepath.Join("testdata", name+".txt"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A reel is an eye that sees a recording.
type reel struct {
	all  []see.Observation
	show func(see.Observation)
}

func (r *reel) Run(ctx context.Context) error {
	began := time.Now()
	for _, o := range r.all {
		o.At = began.Add(o.At.Sub(time.Time{}))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(o.At)):
		}
		r.show(o)
	}
	return nil
}

// TestRecorded: what the real helper saw of Debian's example films becomes presence that
// does not flicker. In the first there is always somebody, and detectors find nobody in up
// to five looks on end; how many are told is less than there are.
func TestRecorded(t *testing.T) {
	for _, tt := range []struct{ name, want string }{
		{"vtest", "clear@0 1@5 2@53 away@79"},
		{"tree", "clear@0 away@4"}, // it sways
		{"Megamind", "clear@0 1@2 away@11"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &reel{all: read(t, tt.name)}
			out := watching(t, webcam.Camera{}, r, nil, func(sense *webcam.Provider) { r.show = sense.Observe })
			if got := strings.Join(out.sights, " "); got != tt.want {
				t.Errorf("told %s, want %s", got, tt.want)
			}
		})
	}
}
