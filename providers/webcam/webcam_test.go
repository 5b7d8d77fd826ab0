package webcam_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/models/see"
	"earshot/models/see/wire"
	"earshot/providers"
	"earshot/providers/providertest"
	"earshot/providers/webcam"
)

func TestProvider(t *testing.T) {
	providertest.Run(t, func(*testing.T) providers.Provider {
		p := &projector{film: film(strings.Repeat(".ppppdd!c", 1000)), random: rand.New(rand.NewPCG(1, 2))}
		sense := webcam.New(webcam.Camera{}, webcam.Parts{Source: p})
		p.show = sense.Observe
		return sense
	})
}

func TestSights(t *testing.T) {
	dots := func(n int) string { return strings.Repeat(".", n) }
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	for _, tt := range []struct {
		name, film, want string
	}{
		{"nobody", dots(30), "clear@0 away@30"},
		{"somebody comes and goes", dots(5) + many("p", 10) + dots(15), "clear@0 1@7 0@20 away@30"},
		{"somebody comes and sits", dots(5) + many("p", 5) + many("s", 300), "clear@0 1@7 away@310"},
		{"somebody sits and is not found", dots(5) + many("p", 5) + many("s", 20) + many("z", 100) + many("s", 20), "clear@0 1@7 away@150"},
		{"somebody walks and is not found for a while", many("p", 8) + many("x", 15) + many("p", 8), "clear@0 1@2 away@31"},
		{"a quick crossing", dots(5) + "pp" + dots(20), "clear@0 away@27"},
		{"two quick crossings", dots(5) + "pp..pp" + dots(20), "clear@0 away@31"},
		{"a detector errs", many(",", 10) + "f" + many(",", 10) + "f" + many(",", 10), "clear@0 away@32"},
		{"a picture on the wall", many("o", 600), "clear@0 away@600"},
		{"a picture on the wall, and somebody", many("o", 20) + many("O", 60) + many("o", 30), "clear@0 1@22 0@84 away@110"},
		{"two, and one goes", many("P", 10) + many("p", 30), "clear@0 1@2 2@8 1@16 away@40"},
		{"two who are one for a moment", many("P", 10) + "p" + many("P", 10), "clear@0 1@2 2@8 away@21"},
		{"a body with a face comes sooner", dots(5) + many("j", 5) + dots(20), "clear@0 1@7 0@15 away@30"},
		{"the light goes out and on again", many("p", 8) + many("d", 20) + many("p", 10), "clear@0 1@2 dark@11 clear@29 away@38"},
		{"the light goes out for the night", many("p", 8) + many("d", 600) + many(".", 10), "clear@0 1@2 dark@11 0@308 clear@609 away@618"},
		{"a shadow", dots(5) + "dd" + dots(5), "clear@0 away@12"},
		{"frozen", dots(5) + many("=", 40) + dots(5), "clear@0 frozen@15 clear@46 away@50"},
		{"a picture every twenty seconds", many(".===================", 4), "clear@0 frozen@11 away@80"},
		{"no pictures", dots(5) + many("-", 30) + dots(5), "clear@0 away@20 clear@35 away@40"},
		{"the camera is moved", dots(5) + "!,!," + dots(10), "clear@0 scene@11 away@19"},
		{"the camera is moved again and again", many("!....", 20), "clear@0 scene@4 scene@34 scene@64 scene@94 away@100"},
		{"a code", dots(2) + many("c", 10) + dots(5) + "c" + dots(310) + "c", "clear@0 hello@2 hello@328 away@329"},
		{"codes without end", many("C", 62), "clear@0 code_0@0 code_1@1 code_2@2 code_3@3 code_4@4 code_5@5 code_6@6 code_7@7 code_8@8 code_9@9 code_60@60 code_61@61 away@62"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := show(t, webcam.Camera{}, &projector{film: film(tt.film)})
			if got := strings.Join(out.sights, " "); got != tt.want {
				t.Errorf("told %s, want %s", got, tt.want)
			}
		})
	}
}

// TestNoFlicker: in an hour in which detectors miss one person in five and see a false one in one
// look of twenty, what is told is still true.
func TestNoFlicker(t *testing.T) {
	for _, tt := range []struct{ name, film, want string }{
		{"nobody", strings.Repeat(",", 3600), "clear away"},
		{"somebody walks about", strings.Repeat("p", 3600), "clear 1 away"},
		{"somebody sits", "ppppp" + strings.Repeat("sssssssssspp", 300), "clear 1 away"},
		{"two", strings.Repeat("P", 3600), "clear 1 2 away|clear 2 away"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(10) {
				out := show(t, webcam.Camera{}, &projector{film: film(tt.film), random: rand.New(rand.NewPCG(seed, 7)), miss: 0.2, false: 0.05})
				var got []string
				for _, s := range out.sights {
					what, _, _ := strings.Cut(s, "@")
					got = append(got, what)
				}
				if told := strings.Join(got, " "); !strings.Contains("|"+tt.want+"|", "|"+told+"|") {
					t.Errorf("seed %d: told %v, want %s", seed, out.sights, tt.want)
				}
			}
		})
	}
}

// TestAnyFilm: whatever film is shown, what the sense tells is consistent; see [tape.emit].
func TestAnyFilm(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 30).Draw(r, "scenes") {
			b.WriteString(strings.Repeat(rapid.SampledFrom(strings.Split(".,pPsSxzoOfjd=-!cC", "")).Draw(r, "what"), rapid.IntRange(1, 40).Draw(r, "seconds")))
		}
		p := &projector{
			film: film(b.String()), random: rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1)),
			miss: rapid.Float64Range(0, 0.5).Draw(r, "miss"), false: rapid.Float64Range(0, 0.5).Draw(r, "false"),
		}
		if out := show(t, webcam.Camera{}, p); len(out.faults) > 0 {
			r.Error(fmt.Sprint(out.faults))
		}
	})
}

// TestNotices: a fault that lasts is told once, and its end once.
func TestNotices(t *testing.T) {
	many := strings.Repeat
	for _, tt := range []struct{ name, film, want string }{
		{"dark for a moment", many(".", 5) + many("d", 50) + many(".", 30), ""},
		{"dark for long", many(".", 5) + many("d", 600) + many(".", 30), "true@68 false@611"},
		{"a flash in the dark", many("d", 100) + "..." + many("d", 200) + many(".", 30), "true@63 false@309"},
		{"frozen", many(".", 5) + many("=", 60) + many(".", 30), "true@15 false@71"},
		{"a picture every twenty seconds", many(".===================", 10), "true@11"},
		{"no pictures, which the supervisor tells of", many(".", 5) + many("-", 60) + many(".", 30), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := show(t, webcam.Camera{}, &projector{film: film(tt.film)})
			if got := strings.Join(out.notices, " "); got != tt.want {
				t.Errorf("said %s, want %s; told %v", got, tt.want, out.sights)
			}
		})
	}
}

// TestLost: a sense ends with the error that ended its camera, and tells first what it has seen.
func TestLost(t *testing.T) {
	pulled := errors.New("pulled out")
	out := show(t, webcam.Camera{Name: "door"}, &projector{film: "..", end: pulled})
	if got := strings.Join(out.sights, " "); got != "clear@0 away@2" || out.raw[1].Camera != "door" {
		t.Errorf("told %s of %s", got, out.raw[1].Camera)
	}
}

// TestReturns: somebody who was there before the helper died does not count as a new arrival
// afterwards, unless the break was long.
func TestReturns(t *testing.T) {
	for after, want := range map[time.Duration]string{
		time.Minute:      "clear@0 1@2 away@20 clear@80 away@100",
		10 * time.Minute: "clear@0 1@2 away@20 0@620 clear@620 1@622 away@640",
	} {
		synctest.Test(t, func(t *testing.T) {
			out := tape{began: time.Now()}
			p := &projector{film: film(strings.Repeat("p", 20)), random: rand.New(rand.NewPCG(1, 2)), end: errors.New("died")}
			sense := webcam.New(webcam.Camera{}, webcam.Parts{Source: p})
			p.show = sense.Observe
			for range 2 {
				if err := sense.Run(t.Context(), out.emit); err != p.end {
					t.Error(err)
				}
				time.Sleep(after)
			}
			if got := strings.Join(out.sights, " "); got != want || len(out.faults) > 0 {
				t.Errorf("after %v told %s, want %s; %v", after, got, want, out.faults)
			}
		})
	}
}

// A door is a camera source that sees nobody and notes when it was open.
type door struct {
	mu   sync.Mutex
	open []string
	sees func()
}

func (d *door) Run(ctx context.Context) error {
	began := time.Now()
	for ctx.Err() == nil {
		d.sees()
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = append(d.open, began.Format("15:04-")+time.Now().Format("15:04"))
	return nil
}

// TestHours: outside its hours the camera itself is closed.
func TestHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2000, 1, 2, 0, 0, 0, 0, time.Local)))
		ctx, stop := context.WithTimeout(t.Context(), 47*time.Hour)
		defer stop()
		d := new(door)
		sense := webcam.New(webcam.Camera{Hours: "08:00-20:00"}, webcam.Parts{Source: d})
		d.sees = func() {
			sense.Observe(see.Observation{At: time.Now(), Observation: wire.Observation{Brightness: 0.5, Contrast: 0.2, Width: 4, Height: 3}})
		}
		var told []string
		err := sense.Run(ctx, func(_ context.Context, e earshot.Event) error {
			if s, ok := e.Body.(earshot.Sight); ok {
				told = append(told, string(s.Eyes)+e.At.Format("@15:04"))
			}
			return nil
		})
		if got := strings.Join(d.open, " "); err != nil || got != "08:00-20:00 08:00-20:00" {
			t.Errorf("open %s, %v", got, err)
		}
		if got := strings.Join(told, " "); got != "clear@08:00 away@20:00 clear@08:00 away@20:00" {
			t.Errorf("told %s", got)
		}
	})
}

// TestSlowRoom: a slow room does not hold up pictures. What is dropped is counted, and pictures in
// which the detector looked for something are dropped last.
func TestSlowRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		p := &projector{film: film(strings.Repeat("p", 120)), random: rand.New(rand.NewPCG(1, 2))}
		sense := webcam.New(webcam.Camera{}, webcam.Parts{Source: p, Log: slog.New(slog.NewTextHandler(&log, nil))})
		p.show = sense.Observe
		var came []string
		err := sense.Run(t.Context(), func(_ context.Context, e earshot.Event) error {
			if s, ok := e.Body.(earshot.Sight); ok {
				came = append(came, fmt.Sprintf("%s %d", s.What, s.People))
			}
			time.Sleep(30 * time.Second)
			return nil
		})
		if got := strings.Join(came, ", "); err != nil || got != "eyes 0, people 1, eyes 1" {
			t.Errorf("told %s, %v", got, err)
		}
		if !strings.Contains(log.String(), "camera=camera pictures=") {
			t.Errorf("logged %q", log.String())
		}
	})
}
