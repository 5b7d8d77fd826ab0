package hub_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/internal/testkit"
	"earshot/satellite"
	"earshot/satellite/hub"
)

// TestHears: what a satellite captures comes as if captured here, annotated as it was there, at the
// time of the hub's clock, however wrong the other clock is.
func TestHears(t *testing.T) {
	for _, ahead := range []time.Duration{0, 10 * time.Minute, -10 * time.Minute} {
		t.Run(ahead.String(), func(t *testing.T) {
			live(t, func(t *testing.T, h *house) {
				f, leave := h.join(&far{ahead: ahead})
				defer leave()
				if is := h.sat.State(); !is.Connected || is.Build != "test" || is.Offset != ahead || is.Within != 0 {
					t.Errorf("%+v", is)
				}
				began := time.Now()
				f.speak(50)
				f.says(f.now().Add(-audio.Time/2), func(p *satellite.Packet) { p.Own, p.Beside, p.EchoRatio, p.Lost, p.Voiced = true, true, 0.5, 3, false })
				all := h.heard()
				if len(all) != 51 {
					t.Fatalf("%d frames", len(all))
				}
				for i, g := range all[:50] {
					if want := began.Add(time.Duration(i) * audio.Time); !g.At.Equal(want) || g.PCM[0] != int16(i+1) || !g.Voiced || g.Own || g.Lost != 0 {
						t.Fatalf("frame %d at %v: %+v", i, g.At.Sub(began), g.PCM[0])
					}
				}
				if g := all[50]; !g.Own || !g.Beside || g.EchoRatio != 0.5 || g.Lost != 3 || g.Voiced {
					t.Errorf("%t %t %v %d %t", g.Own, g.Beside, g.EchoRatio, g.Lost, g.Voiced)
				}
			})
		})
	}
}

// TestQuiet: of a packet a second, there is sound of that loudness all the time, and what is said then
// follows without a gap, although it began before it was known to be a voice.
func TestQuiet(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		f, leave := h.join(new(far))
		defer leave()
		for minute := range 2 {
			level := int8(-50 - 10*minute)
			for range 60 {
				f.hush(level)
				time.Sleep(satellite.QuietEvery)
			}
			for i := range 15 { // what was before the voice
				f.says(f.now().Add(time.Duration(i-15)*audio.Time), nil)
			}
			f.speak(50)
			all := h.heard()
			quiet := all[:len(all)-65]
			if len(quiet) < 59*50 {
				t.Fatalf("%d quiet frames in a minute", len(quiet))
			}
			if l := levelOf(quiet[100:]); math.Abs(l-float64(level)) > 0.5 {
				t.Errorf("its level is %.1f dB, want %d", l, level)
			}
			for i := range all {
				if voiced := i >= len(quiet); all[i].Voiced != voiced {
					t.Fatalf("frame %d of %d: voiced %t", i, len(all), all[i].Voiced)
				}
				if gap := all[i].At.Sub(all[max(0, i-1)].At); i > 0 && (gap < audio.Time/2 || gap > 2*audio.Time) {
					t.Fatalf("frame %d of %d begins %v after the one before", i, len(all), gap)
				}
			}
		}
		select {
		case err := <-h.dies:
			t.Error(err)
		default:
		}
	})
}

// TestKept: what a satellite kept while it was away comes whole, in order and at its times, and what
// came before it went away is not heard twice.
func TestKept(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		f, leave := h.join(new(far))
		began := time.Now()
		f.speak(100)
		leave()
		if all := h.heard(); len(all) != 100 {
			t.Fatalf("%d frames before", len(all))
		}
		time.Sleep(30 * time.Second)
		f, leave = h.join(&far{number: 90})
		defer leave()
		for i := 90; i < 1500; i++ { // the last second of before, and what was said since
			if i%8 == 0 {
				time.Sleep(audio.Time)
			}
			if err := f.says(began.Add(time.Duration(i)*audio.Time), nil); err != nil {
				t.Fatal(err)
			}
		}
		for range 30 {
			f.hush(-60)
			time.Sleep(satellite.QuietEvery)
		}
		all := h.heard()
		if n := slices.IndexFunc(all, func(g audio.Frame) bool { return !g.Voiced }); n != 1400 {
			t.Fatalf("%d frames afterwards", n)
		}
		all = all[:1400]
		for i, g := range all {
			if want := began.Add(time.Duration(100+i) * audio.Time); !g.At.Equal(want) || g.PCM[0] != int16(101+i) {
				t.Fatalf("frame %d is of %v, and number %d", i, g.At.Sub(began), g.PCM[0])
			}
		}
		if is := h.sat.State(); is.Repeated != 10 || is.Forged != 0 || is.Lost != 1 {
			t.Errorf("%+v", is)
		}
	})
}

// TestRefused: nobody joins who is not paired, or whose program is another one, and they are told what
// to do. The hub may refuse for reasons of its own.
func TestRefused(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		attic := h.hub.Add(hub.SatelliteConfig{ID: "attic", Welcome: func() satellite.Welcome { return satellite.Welcome{Problem: "its room is gone"} }, Tell: func(string) {}})
		h.hub.Add(hub.SatelliteConfig{ID: "loft", Welcome: func() satellite.Welcome { return satellite.Welcome{Problem: "no room ever"} }, Tell: func(string) {}}) // and never runs
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- attic.Run(ctx) }()
		for _, tt := range []struct {
			id   string
			in   any
			want string
		}{
			{"cellar", satellite.Join{Version: satellite.Version}, "earshot pair"},
			{"kitchen", satellite.Join{Version: satellite.Version + 1}, "update earshot"},
			{"kitchen", satellite.Join{}, "update earshot"},
			{"kitchen", "hello", "cannot be read"},
			{"kitchen", strings.Repeat("x", 5000), "cannot be read"},
			{"attic", satellite.Join{Version: satellite.Version}, "its room is gone"},
			{"loft", satellite.Join{Version: satellite.Version}, "no room ever"},
		} {
			if w := h.ask(tt.id, tt.in); w.Session != 0 || w.Err() == nil || !strings.Contains(w.Err().Error(), tt.want) {
				t.Errorf("%s with %.20v: %+v, want %q", tt.id, tt.in, w, tt.want)
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if h.sat.State() != (hub.State{}) {
			t.Errorf("%+v", h.sat.State())
		}
	})
}

// TestTwoMachines: of two machines that are one satellite, as a copied disk makes them, one has it and the
// other is told why not; and so are people, once. A program that was started anew is not taken for another
// machine.
func TestTwoMachines(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		next := func(process string) func() {
			t.Helper()
			_, leave := h.join(&far{process: process})
			return leave
		}
		defer next("first")()
		defer next("second")() // the first was started anew, for all that is known
		leave := next("third")
		defer next("fourth")()
		leave()
		if told := h.tells(); len(told) > 0 {
			t.Errorf("people were told %q", told)
		}
		for range 3 {
			if err := h.ask("kitchen", satellite.Join{Version: satellite.Version, Process: "third"}).Err(); err == nil || !strings.Contains(err.Error(), "has the same code") || !strings.Contains(err.Error(), "earshot pair ANOTHER-NAME") {
				t.Errorf("the other machine is told %v", err)
			}
		}
		if told := h.tells(); len(told) != 1 || !strings.Contains(told[0], "runs twice") {
			t.Errorf("people were told %q", told)
		}
		if !h.sat.State().Connected {
			t.Error("the newer one was disconnected")
		}
	})
	live(t, func(t *testing.T, h *house) {
		_, first := h.join(&far{process: "first"})
		_, second := h.join(&far{process: "second"})
		first()
		second()
		testkit.Receive(t, testkit.Patience, "the end of the first", h.dies)
		testkit.Receive(t, testkit.Patience, "the end of the second", h.dies)
		_, first = h.join(&far{process: "first"}) // nobody else has it
		first()
	})
}

// TestEnds: a session ends for each of these reasons, and what is said then tells what to do; the next
// one works.
func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		does  func(h *house, f *far)
		want  error
		text  string
		after time.Duration // at most
	}{
		{"it is switched off", func(h *house, f *far) {}, helper.ErrHung, "nothing is heard", 4 * time.Second},
		{"it joins again", func(h *house, f *far) {
			go h.bus.Request(h.t.Context(), satellite.JoinSubject("kitchen"), fmt.Appendf(nil, `{"version": %d}`, satellite.Version))
		}, helper.ErrDied, "joined again", 0},
		{"a message is missing", func(h *house, f *far) {
			h.bus.Publish(satellite.Prefix("kitchen")+"up.control", append(stamp(h, 50), "{}"...))
		}, satellite.ErrGap, "", helper.Beat},
		{"it is removed", func(h *house, f *far) { h.sat.Remove() }, helper.ErrDied, "removed", 0},
		{"its own card is gone", func(h *house, f *far) {
			f.Send(sound.SayDown, sound.Fault{Text: "no sound here", Fix: "plug it in"})
		}, nil, "no sound here", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			live(t, func(t *testing.T, h *house) {
				f, leave := h.join(new(far))
				began := time.Now()
				if tt.after > time.Second {
					leave()
				}
				tt.does(h, f)
				err := <-h.dies
				if took := time.Since(began); took > tt.after {
					t.Errorf("after %v", took)
				}
				if tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("it ended with %v", err)
				}
				if !errors.Is(err, helper.ErrDied) && earshot.Cure(err) == "" {
					t.Errorf("no cure of %v", err)
				}
				if tt.after < time.Second {
					leave()
				}
				h.heard()
				h.mu.Lock()
				if !errors.Is(h.lost, sound.ErrCard) {
					t.Errorf("the microphone ended with %v", h.lost)
				}
				h.mu.Unlock()
				if tt.name == "it is removed" {
					return
				}
				f, leave = h.join(new(far))
				defer leave()
				f.speak(3)
				if n := len(h.heard()); n != 3 {
					t.Errorf("%d frames in the next session", n)
				}
			})
		})
	}
}

// stamp returns the beginning of a message of the session that runs, with a number.
func stamp(h *house, number byte) []byte {
	var head []byte
	stop, err := h.bus.Subscribe(h.t.Context(), satellite.Prefix("kitchen")+"up.control", func(m bus.Message) {
		if head == nil {
			head = slices.Clone(m.Data[:8])
		}
	})
	if err != nil {
		h.t.Fatal(err)
	}
	time.Sleep(helper.Beat)
	synctest.Wait()
	stop()
	return append(head, number, 0, 0, 0, 0, 0, 0, 0)
}

// TestSpoofs: what a satellite must not say ends its session, and people learn why.
func TestSpoofs(t *testing.T) {
	for _, tt := range []struct {
		name string
		does func(h *house, f *far)
	}{
		{"no packet", func(h *house, f *far) { f.SendSound(f.input, []byte("sound")) }},
		{"a stream that nobody opened", func(h *house, f *far) {
			f.mu.Lock()
			f.input += 7
			f.mu.Unlock()
			f.says(f.now(), nil)
		}},
		{"a time that nobody asked for", func(h *house, f *far) { f.Send(satellite.SayTime, satellite.TimeReply{Number: 99}) }},
		{"the same answer twice", func(h *house, f *far) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.take = func(c helper.Control) bool {
				var a satellite.TimeRequest
				if c.Name == satellite.SayAsk && c.Decode(&a) == nil {
					f.Send(satellite.SayTime, satellite.TimeReply{Number: a.Number, At: f.now().UnixNano()})
					f.Send(satellite.SayTime, satellite.TimeReply{Number: a.Number, At: f.now().UnixNano()})
				}
				return true
			}
		}},
		{"no answers", func(h *house, f *far) { f.mu.Lock(); f.mute = true; f.mu.Unlock() }},
		{"a state that is none", func(h *house, f *far) { f.Send(satellite.SayState, "well") }},
		{"something unknown", func(h *house, f *far) { f.Send("give me the keys", nil) }},
		{"sound that was not given is played", func(h *house, f *far) {
			out, err := h.sat.Card.Output(h.t.Context(), "", 1)
			if err != nil {
				h.t.Fatal(err)
			}
			if _, err := out.Play(audio.Rate, func(sound.Position) {}); err != nil {
				h.t.Fatal(err)
			}
			synctest.Wait()
			f.Send(sound.SayPlayed, sound.Played{Play: f.plays, Samples: 16000})
		}},
		{"a flood of sound", func(h *house, f *far) {
			go func() { // more than there is time for, of times that all may be
				at := f.now().Add(-50 * time.Second)
				for i := 0; f.says(at.Add(time.Duration(i)*time.Millisecond), func(p *satellite.Packet) { p.Opus = make([]byte, 1000) }) == nil && i < 20_000; i++ {
					if i%100 == 0 {
						time.Sleep(audio.Time)
					}
				}
			}()
		}},
		{"a flood of controls", func(h *house, f *far) {
			go func() {
				for i := 0; f.Send(satellite.SayState, satellite.State{Muted: i%2 == 0}) == nil && i < 20_000; i++ {
				}
			}()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			live(t, func(t *testing.T, h *house) {
				f, leave := h.join(&far{hushes: true})
				defer leave()
				tt.does(h, f)
				err := <-h.dies
				if !errors.Is(err, helper.ErrProtocol) && !errors.Is(err, satellite.ErrGap) {
					t.Errorf("it ended with %v", err)
				}
				if earshot.Cure(err) == "" {
					t.Errorf("no cure of %v", err)
				}
				t.Log(err)
				time.Sleep(time.Minute) // until all that is sent was sent
			})
		})
	}
}

// TestTimes: a time that cannot be true is clamped, counted, and told once a session; one that is late
// or a little wrong is not.
func TestTimes(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		f, leave := h.join(&far{hushes: true})
		defer leave()
		for i, tt := range []struct {
			says, want time.Duration
			forged     int64
		}{
			{-time.Second, -time.Second, 0}, {-50 * time.Second, -50 * time.Second, 0}, {30 * time.Millisecond, 0, 0},
			{time.Hour, 0, 1},
		} {
			time.Sleep(time.Minute)
			now := time.Now()
			if err := f.says(f.now().Add(tt.says), nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(audio.Time) // sound that was kept is taken slowly
			all := h.heard()
			k := slices.IndexFunc(all, func(g audio.Frame) bool { return g.Voiced })
			if k < 0 || all[k].At.Sub(now) != tt.want {
				t.Errorf("%d: of %d frames, %d is voiced; %v is to be taken for %v", i, len(all), k, tt.says, tt.want)
			}
			if n := h.sat.State().Forged; n != tt.forged {
				t.Errorf("%d: %d count as forged, want %d", i, n, tt.forged)
			}
		}
		f.says(f.now().Add(2*time.Hour), nil)
		synctest.Wait()
		if n, told := h.sat.State().Forged, h.tells(); n != 2 || len(told) != 1 || !strings.Contains(told[0], "cannot be true") {
			t.Errorf("%d are forged, and people were told %q", n, told)
		}
		f.says(f.now(), nil) // what is not after the last one
		synctest.Wait()
		if is := h.sat.State(); is.Repeated != 1 {
			t.Errorf("%+v", is)
		}
	})
}

// TestClockSet: after its clock was set, by whatever, a satellite is heard again within a second.
func TestClockSet(t *testing.T) {
	for _, by := range []time.Duration{10 * time.Minute, -10 * time.Minute, -2 * time.Second} {
		t.Run(by.String(), func(t *testing.T) {
			live(t, func(t *testing.T, h *house) {
				f, leave := h.join(new(far))
				defer leave()
				f.speak(100)
				f.mu.Lock()
				f.ahead = by
				f.mu.Unlock()
				f.speak(50)
				h.heard()
				began := time.Now()
				f.speak(100)
				all := h.heard()
				if len(all) != 100 {
					t.Fatalf("%d frames", len(all))
				}
				if off := all[99].At.Sub(began.Add(99 * audio.Time)).Abs(); off > audio.Time { // until the next pause
					t.Errorf("the times are wrong by %v", off)
				}
				if is := h.sat.State(); is.Offset != by {
					t.Errorf("%+v", is)
				}
			})
		})
	}
}

// TestMuted: whoever mutes a satellite at its machine is believed, in any order of messages, and
// people are told once.
func TestMuted(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		f, leave := h.join(new(far))
		defer leave()
		mode, changed := h.sat.Mode()
		if mode != earshot.Live {
			t.Errorf("it is %s at first", mode)
		}
		for range 3 {
			f.Send(satellite.SayState, satellite.State{Muted: true})
		}
		<-changed
		if mode, changed = h.sat.Mode(); mode != earshot.Muted {
			t.Errorf("it is %s", mode)
		}
		f.Send(satellite.SayState, satellite.State{})
		<-changed
		if mode, _ := h.sat.Mode(); mode != earshot.Live {
			t.Errorf("it is %s again", mode)
		}
		synctest.Wait()
		if told := h.tells(); len(told) != 2 || !strings.Contains(told[0], "kitchen was muted") || !strings.Contains(told[1], "not muted any more") {
			t.Errorf("people were told %q", told)
		}
	})
}

// TestMutedFlood: a satellite that says again and again that it is muted, and not, is not passed on to people for
// long: its session ends. Who presses a key some times in a row goes on.
func TestMutedFlood(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		f, leave := h.join(&far{hushes: true})
		defer leave()
		send := func(n int, every time.Duration) {
			for i := range n {
				f.Send(satellite.SayState, satellite.State{Muted: i%2 == 0})
				time.Sleep(every)
			}
		}
		send(20, 100*time.Millisecond)
		if len(h.tells()) != 20 || !h.sat.State().Connected {
			t.Errorf("people were told %d times; it is there: %v", len(h.tells()), h.sat.State().Connected)
		}
		time.Sleep(5 * time.Minute)
		send(600, 100*time.Millisecond)
		select {
		case err := <-h.dies:
			if !errors.Is(err, helper.ErrProtocol) || earshot.Cure(err) == "" {
				t.Errorf("it ended with %v", err)
			}
		default:
			t.Error("it goes on")
		}
		if n := len(h.tells()); n > 60 {
			t.Errorf("people were told %d times", n)
		}
	})
}

// TestCameraMode: the camera of a satellite may be opened while that is there and is not muted; whatever else it
// says is no change, by which the camera would be closed and opened again.
func TestCameraMode(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		h.camera = true
		f, leave := h.join(new(far))
		defer leave()
		mode, changed := h.sat.CameraMode()
		if mode != earshot.Live {
			t.Errorf("it is %s at first", mode)
		}
		is := func(what string, s satellite.State, want earshot.Mode, wantChange bool) {
			t.Helper()
			f.Send(satellite.SayState, s)
			synctest.Wait()
			did := false
			select {
			case <-changed:
				did = true
			default:
			}
			if mode, changed = h.sat.CameraMode(); mode != want || did != wantChange {
				t.Errorf("%s: it is %s, and changed: %v", what, mode, did)
			}
		}
		is("it recognises speech", satellite.State{Recognises: true}, earshot.Live, false)
		is("it is muted", satellite.State{Recognises: true, Muted: true}, earshot.Paused, true)
		is("it recognises no speech", satellite.State{Muted: true}, earshot.Paused, false)
		is("it is not muted", satellite.State{}, earshot.Live, true)
	})
}

// TestCameraRefused: a camera whose subjects the bus refuses ends, and nobody waits to tell it something.
func TestCameraRefused(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		_, leave := h.join(new(far))
		defer leave()
		link, err := h.sat.Camera()
		if err != nil {
			t.Fatal(err)
		}
		h.bus.refuses.Store(true)
		sent := make(chan error, 1)
		go func() { sent <- link.Send("open", nil) }()
		if err := link.Run(t.Context(), helper.Handler{}); !errors.Is(err, bus.ErrRefused) {
			t.Errorf("it ended with %v", err)
		}
		synctest.Wait()
		select {
		case err := <-sent:
			if !errors.Is(err, helper.ErrGone) {
				t.Errorf("sending: %v", err)
			}
		default:
			t.Fatal("sending waits for ever")
		}
	})
}

// TestSpeaks: what is played there is told in the positions of there, a cut ends it, and the gate of a
// satellite that waits for a name opens afterwards. When the satellite goes, it ends at the last
// position.
func TestSpeaks(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		f, leave := h.join(new(far))
		out, err := h.sat.Card.Output(t.Context(), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		var at []sound.Position
		p, err := out.Play(24000, func(p sound.Position) { at = append(at, p) })
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write(t.Context(), make([]int16, 1000)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.Send(sound.SayPlayed, sound.Played{Play: f.plays, Samples: 400})
		synctest.Wait()
		p.Do(earshot.Cut)
		synctest.Wait()
		f.Send(sound.SayPlayed, sound.Played{Play: f.plays, Samples: 420, End: true})
		synctest.Wait()
		if want := []sound.Position{{Samples: 400}, {Samples: 420, End: true}}; !slices.Equal(at, want) || f.played != 2000 {
			t.Errorf("positions %v, want %v; %d bytes came", at, want, f.played)
		}
		if s := fmt.Sprint(f.heard); !strings.Contains(s, "do") || !strings.HasSuffix(s, "gate]") {
			t.Errorf("it was told %s", s)
		}
		at = nil
		if p, err = out.Play(24000, func(p sound.Position) { at = append(at, p) }); err != nil {
			t.Fatal(err)
		}
		if err := p.Write(t.Context(), make([]int16, 1000)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.Send(sound.SayPlayed, sound.Played{Play: f.plays, Samples: 300})
		synctest.Wait()
		leave()
		<-out.Lost()
		synctest.Wait()
		if want := []sound.Position{{Samples: 300}, {Samples: 300, End: true}}; !slices.Equal(at, want) {
			t.Errorf("when it went, the positions were %v, want %v", at, want)
		}
	})
}

// A lame is a bus that takes requests although it is not connected whole.
type lame struct {
	bus.Local
	whole chan struct{} // closed when it is
}

func (l *lame) Connected() (bool, <-chan struct{}) {
	select {
	case <-l.whole:
		return true, nil
	default:
		return false, l.whole
	}
}

// TestJoinWaitsForBus: who asks to join is answered when the bus is connected with all its lanes, since
// what they send at once would be lost on one that is not.
func TestJoinWaitsForBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &lame{whole: make(chan struct{})}
		h := hub.New(hub.Config{Log: slog.New(slog.DiscardHandler), FollowUp: func() time.Duration { return 0 }})
		s := h.Add(hub.SatelliteConfig{ID: "kitchen", Tell: func(string) {}, Welcome: func() satellite.Welcome { return satellite.Welcome{Room: "the kitchen"} }})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = h.Run(ctx, b) })
		running.Go(func() { _ = s.Run(ctx) })
		synctest.Wait()
		for _, tt := range []struct{ after, want time.Duration }{{time.Minute, 5 * time.Second}, {time.Second, time.Second}} {
			asked := time.Now()
			whole := time.AfterFunc(tt.after, func() { close(b.whole) })
			within, done := context.WithTimeout(ctx, 5*time.Second)
			answer, err := b.Request(within, satellite.JoinSubject("kitchen"), []byte(`{"version":1}`))
			done()
			if took := time.Since(asked); took != tt.want || (err == nil) != (took < 5*time.Second) {
				t.Errorf("%s, %v after %v, want %v", answer, err, took, tt.want)
			}
			whole.Stop()
		}
		stop()
		testkit.Finish(t, testkit.Patience, "the hub ends", running.Wait)
	})
}

// TestNoReceipt: a satellite that does not say that it keeps receipts is given none.
func TestNoReceipt(t *testing.T) {
	live(t, func(t *testing.T, h *house) {
		f, leave := h.join(new(far))
		defer leave()
		h.sat.KeepReceipt([]byte("one"))
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		if slices.Contains(f.heard, satellite.SayKeep) || h.sat.TakeReceipt() != nil {
			t.Errorf("it is told %q", f.heard)
		}
	})
}
