package sound_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/internal/sound/deck"
	"earshot/internal/testkit"
)

// speech returns n samples, none of them silent.
func speech(n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(i%30000 + 1)
	}
	return pcm
}

func TestInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		in, err := h.Input(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		var got []int16
		for f, err := range in.Frames(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, f.PCM[0]); len(got) == 100 {
				break
			}
		}
		for i := range got[1:] {
			if got[i+1] != got[i]+1 {
				t.Fatalf("frame %d came after frame %d", got[i+1], got[i])
			}
		}
		if said := h.fake.said(); !slices.Equal(said, []string{sound.SayOpen, sound.SayClose}) {
			t.Errorf("said %q; want the capture to be closed when the loop is left", said)
		}
		for range in.Frames(t.Context()) {
			t.Log("a closed input ends with an error")
			break
		}
		if _, err := h.Input(t.Context(), ""); err != nil {
			t.Errorf("opening it again: %v", err)
		}
	})
}

func TestInputEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		in, err := h.Input(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		for _, err := range in.Frames(ctx) {
			if err != nil {
				t.Errorf("being told to stop is no error: %v", err)
			}
		}
		if said := h.fake.said(); !slices.Equal(said, []string{sound.SayOpen, sound.SayClose}) {
			t.Errorf("said %q; want the capture to be closed", said)
		}
	})
}

// TestInputSlowReader: a reader that pauses for ten seconds gets the latest frames, and is told how
// many are missing.
func TestInputSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		in, err := h.Input(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		var last int16
		n := 0
		for f, err := range in.Frames(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if missing := int(f.PCM[0]-last) - 1; n > 0 && missing != int(f.Lost) {
				t.Fatalf("%d frames are missing, and Lost is %d", missing, f.Lost)
			}
			last = f.PCM[0]
			if n++; n == 1 {
				time.Sleep(10 * time.Second)
			}
			if n == 2 && f.Lost < 240 {
				t.Errorf("after ten seconds %d frames were lost; want all but the last five", f.Lost)
			}
			if n == 100 {
				break
			}
		}
	})
}

func TestOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		out, err := h.Output(t.Context(), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 { // three speeches in turn
			h.fake.set(func(f *fake) { f.played = nil })
			d := newDiary(t)
			p, err := out.Play(audio.Rate, d.moved)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			pcm := speech(3 * audio.Rate)
			if err := p.Write(t.Context(), pcm); err != nil {
				t.Fatal(err)
			}
			if ahead := 3*time.Second - time.Since(began); ahead < 150*time.Millisecond || ahead > 250*time.Millisecond {
				t.Errorf("writing was %v ahead; want about 200ms", ahead)
			}
			p.Finish()
			<-d.over
			if at := d.position(); at.Samples != int64(len(pcm)) {
				t.Errorf("ended at %+v, want all %d", at, len(pcm))
			}
			h.fake.set(func(f *fake) {
				if !slices.Equal(f.played, pcm) {
					t.Errorf("played %d samples that are not the %d written", len(f.played), len(pcm))
				}
			})
			if err := p.Write(t.Context(), pcm); !errors.Is(err, sound.ErrOver) {
				t.Errorf("writing after the end: %v, want ErrOver", err)
			}
			p.Do(earshot.Cut)
			p.Finish()
		}
		out.Close()
		if _, err := out.Play(audio.Rate, newDiary(t).moved); !errors.Is(err, sound.ErrOver) {
			t.Errorf("playing on a closed output: %v, want ErrOver", err)
		}
	})
}

// TestCut: a cut frees the writer at once, and ends the speech at the position where it was heard.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		out, _ := h.Output(t.Context(), "", 1)
		d := newDiary(t)
		p, err := out.Play(audio.Rate, d.moved)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		go func() {
			time.Sleep(500 * time.Millisecond)
			p.Do(earshot.Cut)
		}()
		if err := p.Write(t.Context(), speech(10*audio.Rate)); !errors.Is(err, sound.ErrOver) {
			t.Errorf("the writer was told %v, want ErrOver", err)
		}
		if took := time.Since(began); took != 500*time.Millisecond {
			t.Errorf("the writer was free after %v, want 500ms", took)
		}
		<-d.over
		if took := time.Since(began); took > 530*time.Millisecond {
			t.Errorf("it was over after %v", took)
		}
		if at := d.position(); at.Samples < 7500 || at.Samples > 8200 {
			t.Errorf("ended at %+v, want about half a second", at)
		}
	})
}

// TestPauseIsNoOutage: a paused speech may stand still for any time.
func TestPauseIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		out, _ := h.Output(t.Context(), "", 1)
		d := newDiary(t)
		p, _ := out.Play(audio.Rate, d.moved)
		if err := p.Write(t.Context(), speech(3000)); err != nil {
			t.Fatal(err)
		}
		p.Do(earshot.Pause)
		p.Finish()
		time.Sleep(time.Minute)
		if at := d.position(); at.End || at.Samples > 400 {
			t.Errorf("after the pause it is at %+v", at)
		}
		p.Do(earshot.Resume)
		<-d.over
		if at := d.position(); at.Samples != 3000 {
			t.Errorf("ended at %+v, want all", at)
		}
	})
}

// TestSilenceIsNoOutage: a speech may also stand still while its next words are late.
func TestSilenceIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		out, _ := h.Output(t.Context(), "", 1)
		d := newDiary(t)
		p, _ := out.Play(audio.Rate, d.moved)
		for range 3 {
			if err := p.Write(t.Context(), speech(777)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
		if at := d.position(); at.End || at.Samples != 3*777 {
			t.Errorf("it is at %+v, want all that was written", at)
		}
	})
}

func TestWriteEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		out, _ := h.Output(t.Context(), "", 1)
		p, _ := out.Play(audio.Rate, newDiary(t).moved)
		p.Do(earshot.Pause)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := p.Write(ctx, speech(audio.Rate)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("writing to a paused speech: %v, want the end of its context", err)
		}
	})
}

func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		if _, err := h.Input(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Input(t.Context(), ""); !errors.Is(err, sound.ErrBusy) {
			t.Errorf("a second input: %v, want ErrBusy", err)
		}
		out, err := h.Output(t.Context(), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Play(audio.Rate, newDiary(t).moved); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Play(audio.Rate, newDiary(t).moved); !errors.Is(err, sound.ErrBusy) {
			t.Errorf("a second speech: %v, want ErrBusy", err)
		}
	})
}

// rehearse opens an input and an output, begins a speech, spoils it, and waits
// until all of them and the card have ended.
func rehearse(t *testing.T, spoil func(h *house)) (took time.Duration, run, in, out error) {
	h := start(t, nil)
	defer h.close()
	input, err := h.Input(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	output, err := h.Output(t.Context(), "", 1)
	if err != nil {
		t.Fatal(err)
	}
	d := newDiary(t)
	p, err := output.Play(audio.Rate, d.moved)
	if err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- p.Write(t.Context(), speech(600*audio.Rate)) }()
	ended := make(chan error, 1)
	go func() {
		for _, err := range input.Frames(t.Context()) {
			if err != nil {
				ended <- err
			}
		}
		close(ended)
	}()
	time.Sleep(time.Second)
	began := time.Now()
	spoil(h)
	run = h.wait()
	took = time.Since(began)
	in, out = <-ended, <-wrote
	<-d.over
	<-output.Lost()
	if at := d.position(); at.Samples < 15000 || at.Samples > 16000+56000 {
		t.Errorf("the speech ended at %+v, want where it was", at)
	}
	if output.Err() == nil {
		t.Error("the output has no error")
	}
	return took, run, in, out
}

func TestOutage(t *testing.T) {
	fault := &sound.Fault{Text: "the sound server is gone", Fix: "start it"}
	for _, tt := range []struct {
		name  string
		spoil func(h *house)
		want  func(error) bool
		most  time.Duration
	}{
		{"the server is gone", func(h *house) { h.fake.server.Send(sound.SayDown, fault) }, hasCure("start it"), 0},
		{"the microphone is frozen", func(h *house) { h.fake.set(func(f *fake) { f.dumb = true }) }, hasCure(""), 3300 * time.Millisecond},
		{"the loudspeaker is frozen", func(h *house) { h.fake.set(func(f *fake) { f.frozen = true }) }, hasCure(""), 3300 * time.Millisecond},
		{"it says what it may not", func(h *house) { h.fake.server.Send("joke", nil) }, isLie, 0},
		{"it says nonsense", func(h *house) { h.fake.server.Send(sound.SayPlayed, "x") }, isLie, 0},
		{"a fault that is none", func(h *house) { h.fake.server.Send(sound.SayDown, 7) }, isLie, 0},
		{"sound that is no frame", func(h *house) { h.fake.server.SendSound(1, make([]byte, 7)) }, isLie, 0},
		{"a frame of no stream", func(h *house) { h.fake.server.SendSound(99, new(audio.Frame).Append(nil)) }, isLie, 0},
		{"news of no stream", func(h *house) { h.fake.server.Send(sound.SayClosed, sound.Stream{Number: 99}) }, isLie, 0},
		{"a position of no speech", func(h *house) { h.fake.server.Send(sound.SayPlayed, sound.Played{Play: 99}) }, isLie, 0},
		{"more than was sent", func(h *house) {
			h.fake.server.Send(sound.SayPlayed, sound.Played{Play: 3, Samples: 1 << 40})
		}, isLie, 0},
		{"backwards", func(h *house) { h.fake.server.Send(sound.SayPlayed, sound.Played{Play: 3}) }, isLie, 0},
		{"credit to take back", func(h *house) {
			h.fake.server.Send(sound.SayPlayed, sound.Played{Play: 3, Samples: 16000, Credit: -1})
		}, isLie, 0},
		{"too much credit", func(h *house) {
			h.fake.server.Send(sound.SayPlayed, sound.Played{Play: 3, Samples: 16000, Credit: deck.Most(audio.Rate) + 1})
		}, isLie, 0},
		{"a flood of frames", func(h *house) {
			b := new(audio.Frame).Append(nil)
			for h.fake.server.SendSound(1, b) == nil {
			}
		}, isLie, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				took, run, in, out := rehearse(t, tt.spoil)
				if run == nil || !tt.want(run) {
					t.Errorf("the card ended with %v", run)
				}
				if !errors.Is(in, sound.ErrCard) || !errors.Is(out, sound.ErrCard) {
					t.Errorf("the input ended with %v, the writer with %v, want ErrCard", in, out)
				}
				if took > tt.most {
					t.Errorf("it took %v, want %v", took, tt.most)
				}
			})
		})
	}
}

func isLie(err error) bool { return errors.Is(err, helper.ErrProtocol) }

// hasCure returns a check for a fault with the given remedy, or with any if it is empty.
func hasCure(cure string) func(error) bool {
	return func(err error) bool {
		f, ok := errors.AsType[*sound.Fault](err)
		return ok && f.Cure() != "" && (cure == "" || f.Cure() == cure)
	}
}

// TestDeviceLost: when one device is lost, everything else goes on.
func TestDeviceLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		in, _ := h.Input(t.Context(), "")
		out, _ := h.Output(t.Context(), "", 1)
		d := newDiary(t)
		p, err := out.Play(audio.Rate, d.moved)
		if err != nil {
			t.Fatal(err)
		}
		lost := sound.Lost{Fault: sound.Fault{Text: "pulled", Fix: "plug it in"}}
		n := 0
		for _, err := range in.Frames(t.Context()) {
			switch n++; {
			case n == 50:
				lost.Number = 1
				h.fake.server.Send(sound.SayLost, lost)
				h.fake.server.Send(sound.SayLost, lost) // the second one is ignored
			case err != nil && !hasCure("plug it in")(err):
				t.Errorf("the input ended with %v", err)
			}
		}
		if err := p.Write(t.Context(), speech(100)); err != nil {
			t.Errorf("the speech stopped too: %v", err)
		}
		time.Sleep(time.Second)
		lost.Number = 2
		h.fake.server.Send(sound.SayLost, lost)
		<-out.Lost()
		<-d.over
		if at := d.position(); at.Samples != 100 {
			t.Errorf("the speech ended at %+v, want 100", at)
		}
		if err := p.Write(t.Context(), speech(100)); !hasCure("plug it in")(err) {
			t.Errorf("writing to it: %v", err)
		}
		if _, err := out.Play(audio.Rate, d.moved); !hasCure("plug it in")(err) {
			t.Errorf("playing on it: %v", err)
		}
		if _, err := h.Input(t.Context(), ""); err != nil {
			t.Errorf("opening another: %v", err)
		}
	})
}

// TestMoved: a stream that was moved to another device goes on.
func TestMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		in, _ := h.Input(t.Context(), "")
		h.fake.server.Send(sound.SayMoved, sound.Opened{Number: 1, Device: "another"})
		n := 0
		for _, err := range in.Frames(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 100 {
				break
			}
		}
	})
}

// TestLate: late messages about streams and speeches that are over have no effect.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, nil)
		defer h.close()
		in, _ := h.Input(t.Context(), "") // 1
		in.Close()
		in, _ = h.Input(t.Context(), "") // 2
		frame := new(audio.Frame)
		frame.PCM[0] = -1
		h.fake.server.SendSound(1, frame.Append(nil))
		h.fake.server.Send(sound.SayLost, sound.Lost{Number: 1})
		h.fake.server.Send(sound.SayClosed, sound.Stream{Number: 1})
		n := 0
		for f, err := range in.Frames(t.Context()) {
			if err != nil || f.PCM[0] == -1 {
				t.Fatal("a late frame, or ", err)
			}
			if n++; n == 10 {
				break
			}
		}
		out, _ := h.Output(t.Context(), "", 1) // 3
		d := newDiary(t)
		p, _ := out.Play(audio.Rate, d.moved) // 4
		p.Finish()
		<-d.over
		p, _ = out.Play(audio.Rate, newDiary(t).moved) // 5
		h.fake.server.Send(sound.SayPlayed, sound.Played{Play: 4, Samples: 1 << 30, End: true})
		if err := p.Write(t.Context(), speech(100)); err != nil {
			t.Error(err)
		}
	})
}

func TestOpeningFails(t *testing.T) {
	refuse := func(f *fake, c helper.Control) bool {
		var o sound.Open
		if c.Name != sound.SayOpen || c.Decode(&o) != nil {
			return false
		}
		f.server.Send(sound.SayLost, sound.Lost{Number: o.Number, Fault: sound.Fault{Text: "no such device", Fix: "earshot devices"}})
		return true
	}
	synctest.Test(t, func(t *testing.T) {
		h := start(t, &fake{control: refuse})
		defer h.close()
		for range 100 { // a failed opening never leaves the card busy
			if _, err := h.Input(t.Context(), "x"); !hasCure("earshot devices")(err) {
				t.Fatalf("opening the input: %v", err)
			}
		}
		if _, err := h.Output(t.Context(), "x", 1); !hasCure("earshot devices")(err) {
			t.Errorf("opening the output: %v", err)
		}
	})
}

// TestOpeningHangs: a helper that does not open a device within 6 s is ended. The caller goes on
// waiting and gets the device from the next helper.
func TestOpeningHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := new(fake)
		f.control = func(_ *fake, c helper.Control) bool { return c.Name == sound.SayOpen }
		h := start(t, f)
		defer h.close()
		began := time.Now()
		opened := make(chan error, 1)
		go func() {
			_, err := h.Input(t.Context(), "")
			opened <- err
		}()
		if err := h.wait(); !hasCure("")(err) {
			t.Errorf("the card ended with %v", err)
		}
		if took := time.Since(began); took != 6*time.Second {
			t.Errorf("after %v, want 6s", took)
		}
		time.Sleep(time.Minute)
		f.control = nil
		h.done = false
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		h.stop = stop
		go func() { h.end <- h.Run(ctx) }()
		if err := <-opened; err != nil {
			t.Errorf("opening it in the next life: %v", err)
		}
	})
}

// TestOpeningIsGivenUp: a stream that opens after its caller has given up is closed.
func TestOpeningIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := new(fake)
		f.control = func(f *fake, c helper.Control) bool {
			if c.Name == sound.SayOpen {
				time.Sleep(2 * time.Second)
			}
			return false
		}
		h := start(t, f)
		defer h.close()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := h.Input(ctx, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("opening it: %v", err)
		}
		if said := f.said(); !slices.Equal(said, []string{sound.SayOpen, sound.SayClose}) {
			t.Errorf("said %q", said)
		}
	})
}

// TestLostWhileClosing: a device that takes too long to open, and is lost by the time it is closed,
// does no harm to the others.
func TestLostWhileClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked sound.Open // the latest
		f := new(fake)
		f.control = func(f *fake, c helper.Control) bool {
			if c.Name == sound.SayOpen {
				asked = sound.Open{}
				if err := c.Decode(&asked); err != nil {
					t.Error(err)
				}
				return !asked.Output // the microphone never answers
			}
			if c.Name == sound.SayClose {
				f.server.Send(sound.SayLost, sound.Lost{Number: asked.Number, Fault: sound.Fault{Text: "gone"}})
			}
			return false
		}
		h := start(t, f)
		defer h.close()
		out, err := h.Output(t.Context(), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		began := time.Now()
		if _, err := h.Input(ctx, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("opening it: %v", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("giving up took %v", took)
		}
		time.Sleep(10 * time.Second)
		if err := out.Err(); err != nil {
			t.Errorf("the loudspeaker is gone, too: %v", err)
		}
	})
}

// TestPlayWhileClosing: an output that is being closed takes no speech.
func TestPlayWhileClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{control: func(_ *fake, c helper.Control) bool {
			if c.Name == sound.SayClose {
				time.Sleep(time.Second) // as a wireless device does
			}
			return false
		}}
		h := start(t, f)
		defer h.close()
		out, err := h.Output(t.Context(), "", 1)
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan struct{})
		go func() { out.Close(); close(closed) }()
		<-out.Lost()
		if _, err := out.Play(audio.Rate, newDiary(t).moved); !errors.Is(err, sound.ErrOver) {
			t.Errorf("speaking on it: %v", err)
		}
		<-closed
		if out, err = h.Output(t.Context(), "", 1); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Play(audio.Rate, newDiary(t).moved); err != nil {
			t.Errorf("speaking on the next: %v", err)
		}
	})
}

func TestWaitingForTheCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := sound.New(nil, nil)
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		if _, err := c.Input(ctx, ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a card that never comes: %v", err)
		}
	})
}

func TestHelperIsMissing(t *testing.T) {
	c := sound.New(func() (helper.Link, error) { return nil, &helper.MissingError{Name: sound.Helper} }, nil)
	if err := c.Run(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("ended with %v, want what no restart mends", err)
	}
}

func TestList(t *testing.T) {
	down := &sound.Fault{Text: "nothing here", Fix: "plug something in"}
	for _, tt := range []struct {
		name    string
		control func(f *fake, c helper.Control) bool
		want    int
		fails   func(error) bool
	}{
		{"honest", nil, 1, func(err error) bool { return err == nil }},
		{"down", func(f *fake, c helper.Control) bool { f.server.Send(sound.SayDown, down); return true }, 0, hasCure("plug something in")},
		{"silent", func(*fake, helper.Control) bool { return true }, 0, hasCure("")},
		{"lies", func(f *fake, c helper.Control) bool { f.server.Send(sound.SayListed, 7); return true }, 0, isLie},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, err := sound.List(t.Context(), helpertest.Dialer(sound.Helper, (&fake{control: tt.control}).work))
				if len(d.Inputs) != tt.want || !tt.fails(err) {
					t.Errorf("got %+v, %v", d, err)
				}
			})
		})
	}
}

func TestStableName(t *testing.T) {
	for _, tt := range [][2]string{
		{"HDA Intel PCH: ALC257 Analog (hw:0,0)", "HDA Intel PCH: ALC257 Analog"},
		{"USB Audio (2): - (hw:1,0)", "USB Audio (2): -"},
		{"default", "default"},
		{"", ""},
		{" (hw:1,0)", " (hw:1,0)"},
		{"odd (hw:1,0", "odd (hw:1,0"},
	} {
		if got := sound.StableName(tt[0]); got != tt[1] {
			t.Errorf("%q is %q, want %q", tt[0], got, tt[1])
		}
	}
}

// A mute link is a helper that never says anything by itself.
type mute struct{ handler chan helper.Handler }

func (m mute) Send(string, any) error         { return nil }
func (m mute) SendSound(uint32, []byte) error { return nil }
func (m mute) Run(ctx context.Context, h helper.Handler) error {
	m.handler <- h
	<-ctx.Done()
	return nil
}

// say makes the helper say something.
func say(t testing.TB, h helper.Handler, name string, body any) {
	b, _ := json.Marshal(body)
	if err := h.Control(helper.Control{Name: name, Body: b}); err != nil {
		t.Error(err)
	}
}

// TestHotPathAllocatesNothing: neither capturing nor playing a frame allocates memory.
func TestHotPathAllocatesNothing(t *testing.T) {
	m := mute{make(chan helper.Handler, 1)}
	c := sound.New(func() (helper.Link, error) { return m, nil }, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	end := make(chan error, 1)
	go func() { end <- c.Run(ctx) }()
	h := testkit.Receive(t, testkit.Patience, "the card to begin", m.handler)
	say(t, h, sound.SayReady, nil)
	open := func(number uint32, open func() error) {
		opened := make(chan error, 1)
		go func() { opened <- open() }()
		testkit.Await(t, soon, "the stream is asked for", func() bool {
			return h.Control(helper.Control{Name: sound.SayOpened, Body: fmt.Appendf(nil, `{"number":%d}`, number)}) == nil
		})
		if err := testkit.Receive(t, testkit.Patience, "the stream", opened); err != nil {
			t.Fatal(err)
		}
	}
	open(1, func() error { _, err := c.Input(ctx, ""); return err })
	var out *sound.Output
	open(2, func() (err error) { out, err = c.Output(ctx, "", 1); return err })
	p, err := out.Play(audio.Rate, newDiary(t).moved)
	if err != nil {
		t.Fatal(err)
	}
	say(t, h, sound.SayPlayed, sound.Played{Play: 3, Credit: deck.Most(audio.Rate)})

	frame, pcm := new(audio.Frame).Append(nil), make([]int16, 100)
	if n := testing.AllocsPerRun(20, func() {
		if err := h.Sound(helper.Sound{Stream: 1, Data: frame}); err != nil {
			t.Fatal(err)
		}
		if err := p.Write(ctx, pcm); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
	stop()
	testkit.Receive(t, testkit.Patience, "the end of the card", end)
}
