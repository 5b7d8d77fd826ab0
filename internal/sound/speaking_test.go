package sound_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
)

// fade is how many samples may still sound after a cut or a pause: 5 ms.
const fade = audio.Rate / 200

// settled waits until the recording holds everything that was played, and returns it.
func settled(t *testing.T, rec *soundtest.Recording) []int16 {
	t.Helper()
	n := rec.Len()
	testkit.Await(t, soon, "the recording goes on", func() bool { return rec.Len() > n+audio.Rate/2 })
	return rec.PCM(0)
}

// TestRealOutput: every sample that is written is played, and the speech is over once all was
// heard.
func TestRealOutput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	rec := r.record(ctx)
	defer rec.Stop()
	out := r.output(ctx, "")
	pcm := counted(2 * audio.Rate)
	p, d := r.play(ctx, out, pcm)
	p.Finish()
	testkit.Receive(t, testkit.Patience, "the end of what is played", d.over)
	if at := d.position(); at.Samples != int64(len(pcm)) {
		t.Errorf("over at %+v, want all", at)
	}
	out.Close()
	same(t, "played", sounding(settled(t, rec)), pcm)
	if _, outs, err := r.server.Streams(); outs != 0 || err != nil {
		t.Errorf("after closing it %d playbacks are open, %v", outs, err)
	}
}

// TestRealPause: after a pause the speech goes on at exactly the sample where it stopped. During
// the pause that is the position that it reports.
func TestRealPause(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	rec := r.record(ctx)
	defer rec.Stop()
	out := r.output(ctx, "")
	pcm := counted(3 * audio.Rate)
	p, d := r.play(ctx, out, pcm[:audio.Rate])
	p.Do(earshot.Pause)
	begun := sounding(settled(t, rec))
	at := int(d.position().Samples)
	if len(begun) < at || len(begun) > at+fade {
		t.Fatalf("heard %d samples, and it says %d", len(begun), at)
	}
	same(t, "before the pause", begun[:at], pcm[:at])
	p.Do(earshot.Resume)
	if err := p.Write(ctx, pcm[audio.Rate:]); err != nil {
		t.Fatal(err)
	}
	p.Finish()
	testkit.Receive(t, testkit.Patience, "the end of what is played", d.over)
	all := sounding(settled(t, rec))
	same(t, "after the pause", tail(all, len(pcm)-at-fade), pcm[at+fade:])
	fading := tail(all, len(pcm)-at)[:fade]
	if !slices.IsSorted(fading) || fading[0] > 2000 {
		t.Errorf("it does not come back softly: %v", fading)
	}
}

// TestRealDuck: ducking lowers the speech to a quarter and resuming raises it again, without a
// click and without a lost sample.
func TestRealDuck(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	rec := r.record(ctx)
	defer rec.Stop()
	out := r.output(ctx, "")
	pcm := slices.Repeat([]int16{16000}, 2*audio.Rate)
	p, d := r.play(ctx, out, pcm[:audio.Rate/2])
	p.Do(earshot.Duck)
	if err := p.Write(ctx, pcm[audio.Rate/2:audio.Rate]); err != nil {
		t.Fatal(err)
	}
	p.Do(earshot.Resume)
	if err := p.Write(ctx, pcm[audio.Rate:]); err != nil {
		t.Fatal(err)
	}
	p.Finish()
	testkit.Receive(t, testkit.Patience, "the end of what is played", d.over)
	got := sounding(settled(t, rec))
	if len(got) != len(pcm) || got[0] != 16000 || got[len(got)-1] != 16000 || slices.Min(got) != 4019 {
		t.Fatalf("%d samples, down to %d; want 12dB less, and all of them", len(got), slices.Min(got))
	}
	for i := range got[1:] {
		if step := int(got[i+1]) - int(got[i]); step > 40 || step < -40 {
			t.Fatalf("a step of %d at sample %d clicks", step, i)
		}
	}
}

// TestRealCut: a cut speech falls silent soon, and the position that it reports is what was heard.
func TestRealCut(t *testing.T) {
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Duration(times())*soon)
	defer stop()
	rec := r.record(ctx)
	defer rec.Stop()
	out := r.output(ctx, "")
	var silent, told []time.Duration
	for range times() {
		from := rec.Len()
		p, d := r.play(ctx, out, counted(audio.Rate/2))
		heard, began := rec.Len(), time.Now()
		p.Do(earshot.Cut)
		testkit.Receive(t, testkit.Patience, "the end of what was cut", d.over)
		told = append(told, time.Since(began))
		settled(t, rec)
		got := sounding(rec.PCM(from))
		at := int(d.position().Samples)
		if len(got) < at || len(got) > at+fade {
			t.Errorf("heard %d samples, and it says %d", len(got), at)
			continue
		}
		same(t, "before the cut", got[:at], counted(at))
		silent = append(silent, time.Duration(from+lastSound(rec.PCM(from))-heard)*time.Second/audio.Rate)
	}
	slices.Sort(silent)
	slices.Sort(told)
	t.Logf("silent after %v to %v, mostly %v; told after %v to %v, mostly %v",
		silent[0], silent[len(silent)-1], silent[len(silent)/2], told[0], told[len(told)-1], told[len(told)/2])
	if most := silent[len(silent)/2]; most > 150*time.Millisecond && !r.stuttered.Load() {
		t.Errorf("it is silent after %v; want the device's 60ms and little more", most)
	}
}

// TestRealRest: after ten seconds of silence the device is stopped. The next speech is still played
// whole.
func TestRealRest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), 3*soon)
	defer stop()
	rec := r.record(ctx)
	defer rec.Stop()
	out := r.output(ctx, "")
	testkit.Await(t, 2*soon, "the device rests", func() bool {
		n, err := r.server.Playing()
		return err == nil && n == 0
	})
	p, d := r.play(ctx, out, counted(audio.Rate))
	p.Finish()
	testkit.Receive(t, testkit.Patience, "the end of what is played", d.over)
	same(t, "played after the rest", sounding(settled(t, rec)), counted(audio.Rate))
}

// TestRealSleep: a loudspeaker that the sound server suspends while nothing is said does not count
// as lost, and the next speech wakes it.
func TestRealSleep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), 3*soon)
	defer stop()
	out := r.output(ctx, "")
	testkit.Await(t, 2*soon, "the device sleeps", func() bool {
		asleep, err := r.server.Sleeping(soundtest.Speaker)
		return err == nil && asleep
	})
	select { // the device is checked each second
	case <-out.Lost():
		t.Fatalf("lost: %v", out.Err())
	case <-time.After(3 * time.Second):
	}
	p, d := r.play(ctx, out, counted(audio.Rate))
	p.Finish()
	testkit.Receive(t, testkit.Patience, "the end of what is played", d.over)
	if got := d.position().Samples; got != audio.Rate {
		t.Errorf("%d samples were played, want %d: %v", got, audio.Rate, out.Err())
	}
}

// TestRealRates: a speech at another rate is heard as what it is, and what comes at the usual rate
// after it is the same to the sample. A cut meanwhile is not lost.
func TestRealRates(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), 3*soon)
	defer stop()
	rec := r.record(ctx)
	defer rec.Stop()
	out := r.output(ctx, "")
	say := func(rate int, pcm []int16, do ...earshot.Control) {
		t.Helper()
		d := newDiary(t)
		p, err := out.Play(rate, d.moved)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range do {
			p.Do(c)
		}
		if err := p.Write(ctx, pcm); err != nil && len(do) == 0 {
			t.Fatal(err)
		}
		p.Finish()
		testkit.Receive(t, testkit.Patience, "the end of what is played", d.over)
		if at := d.position(); len(do) == 0 && at.Samples != int64(len(pcm)) {
			t.Errorf("over at %+v, want all of %d", at, len(pcm))
		}
	}
	const hz = 1007 // seldom crosses zero at a sample
	for _, rate := range []int{24000, 22050} {
		from := rec.Len()
		tone := make([]int16, rate)
		for i := range tone {
			tone[i] = int16(9000 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate)))
		}
		say(rate, tone)
		heard := sounding(settled(t, rec)[from:])
		rises := 0
		for i := range heard[1:] {
			if heard[i] < 0 && heard[i+1] >= 0 {
				rises++
			}
		}
		if lasts := float64(len(heard)) / audio.Rate; lasts < 0.9 || lasts > 1.1 || math.Abs(float64(rises)-hz) > 10 {
			t.Errorf("a second of 1007 Hz at %d a second is %.3f s with %d waves", rate, lasts, rises)
		}
	}
	say(48000, make([]int16, 48000), earshot.Cut)
	from := rec.Len()
	pcm := counted(audio.Rate)
	say(audio.Rate, pcm)
	same(t, "at the usual rate", sounding(settled(t, rec)[from:]), pcm)
}
