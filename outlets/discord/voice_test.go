package discord_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/playback"
	"earshot/internal/playback/playbacktest"
	"earshot/internal/sound/soundtest"
)

var twelve = playbacktest.Clauses("one two three four. ", "five six, ", "seven eight nine ten eleven. ", "twelve.")

// speak says everything, and returns the speech, its listener, and a function that waits until all
// is said.
func speak(t *testing.T, s *stage, said []earshot.Clause) (earshot.Speaking, *playbacktest.Listener, func()) {
	t.Helper()
	l := playbacktest.Listen()
	speech, err := s.Open(t.Context(), earshot.Opening{}, l.Hear)
	if err != nil {
		t.Fatal(err)
	}
	var saying sync.WaitGroup
	saying.Go(func() {
		for _, c := range said {
			if speech.Say(c) != nil {
				return
			}
		}
		speech.Finish()
	})
	return speech, l, saying.Wait
}

// ended waits for the end of the speech.
func ended(t *testing.T, l *playbacktest.Listener, within time.Duration) {
	t.Helper()
	for began := time.Now(); !l.At().End; time.Sleep(audio.Time) {
		if time.Since(began) > within {
			t.Fatalf("not over after %v: %+v", within, l.At())
		}
	}
}

// TestVoice: all of a reply is sent without a gap, and is reported as heard as it leaves.
func TestVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, new(playbacktest.Cipher), new(plain))
		defer s.close()
		if !s.in || s.Name() != "discord voice" || !s.Audible() {
			t.Error("not a voice in the room")
		}
		began := time.Now()
		_, l, wait := speak(t, s, twelve)
		ended(t, l, 5*time.Second)
		took := time.Since(began)
		wait()
		if got := playbacktest.Text(twelve, l.At()); got != playbacktest.Text(twelve, earshot.Heard{Clause: 4}) || l.Ends() != 1 {
			t.Errorf("heard %q, ended %d times", got, l.Ends())
		}
		if _, most, ok := soundtest.FollowRuns(s.call.record()); !ok || most != 12*playbacktest.PerWord {
			t.Errorf("sent %d samples, in order: %v", most, ok)
		}
		if took > 1300*time.Millisecond {
			t.Errorf("1.2 s took %v", took)
		}
	})
}

// TestVoiceIsSilentAtOnce: after a pause or a cut no frame leaves. A speech that resumes goes on
// with the first sample that had not left.
func TestVoiceIsSilentAtOnce(t *testing.T) {
	for _, c := range []earshot.Control{earshot.Pause, earshot.Cut} {
		t.Run(c.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := play(t, new(playbacktest.Cipher), new(plain))
				defer s.close()
				speech, l, wait := speak(t, s, twelve)
				time.Sleep(517 * time.Millisecond)
				speech.Do(c)
				sent := s.call.Sent()
				time.Sleep(2 * time.Second)
				if now := s.call.Sent(); now != sent {
					t.Errorf("%d frames left after it", now-sent)
				}
				if at := l.At(); len(strings.Fields(playbacktest.Text(twelve, at))) != 5 || at.End != (c == earshot.Cut) {
					t.Errorf("heard %q, %v", playbacktest.Text(twelve, at), at.End)
				}
				speech.Do(earshot.Resume)
				wait()
				if c == earshot.Pause {
					ended(t, l, 2*time.Second)
				}
				least, most, ok := soundtest.FollowRuns(s.call.record())
				if want := 12 * playbacktest.PerWord; !ok || c == earshot.Pause && most != want || c == earshot.Cut && (most > int(sent)*audio.Samples || least == 0) {
					t.Errorf("sent %d to %d samples, in order: %v", least, most, ok)
				}
			})
		})
	}
}

// TestVoiceDucks: the voice begins to get softer at most 100 ms later, with the frame made then,
// and is soft 20 ms after that.
func TestVoiceDucks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, new(playbacktest.Cipher), new(plain))
		defer s.close()
		speech, l, wait := speak(t, s, twelve)
		time.Sleep(400 * time.Millisecond)
		speech.Do(earshot.Duck)
		time.Sleep(100*time.Millisecond + 3*audio.Time + time.Millisecond)
		synctest.Wait()
		got := s.call.record()
		last := got[len(got)-audio.Samples/2:]
		if loudest := slices.Max(last); loudest < 3900 || loudest > 4100 {
			t.Errorf("at most %d, want 16000 less 12 dB", loudest)
		}
		speech.Do(earshot.Resume)
		ended(t, l, 5*time.Second)
		wait()
		if _, most, ok := soundtest.FollowRuns(s.call.record()); !ok || most != 12*playbacktest.PerWord {
			t.Errorf("sent %d samples, in order: %v", most, ok)
		}
	})
}

// TestVoiceWaitsToBeLetOut: frames that may not leave, since encryption is not ready, do not count
// as heard, and are said afterwards. If that takes too long the speech ends.
func TestVoiceWaitsToBeLetOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, new(playbacktest.Cipher), new(plain))
		defer s.close()
		s.call.hold(true)
		_, l, wait := speak(t, s, twelve)
		time.Sleep(4 * time.Second)
		if at := l.At(); at != (earshot.Heard{}) {
			t.Errorf("heard %+v", at)
		}
		s.call.hold(false)
		time.Sleep(500 * time.Millisecond)
		if at := l.At(); playbacktest.Text(twelve, at) == "" {
			t.Error("nothing is heard")
		}
		s.call.hold(true)
		time.Sleep(5500 * time.Millisecond)
		wait()
		if at := l.At(); !at.End || l.Ends() != 1 || playbacktest.Text(twelve, at) == "" || at.Clause > 2 {
			t.Errorf("it ended with %+v", at)
		}
		s.call.hold(false)
		time.Sleep(time.Second)
		sent := s.call.Sent()
		if _, again, _ := speak(t, s, twelve[:1]); true {
			ended(t, again, 2*time.Second)
		}
		if s.call.Sent() == sent {
			t.Error("nothing is said after it")
		}
	})
}

// TestVoiceOutlivesItsEncoder: when the helper dies, the speech goes on at the sample where it was.
func TestVoiceOutlivesItsEncoder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, new(playbacktest.Cipher), &plain{dies: map[int]bool{3: true, 20: true, 31: true}})
		defer s.close()
		_, l, wait := speak(t, s, twelve)
		ended(t, l, 5*time.Second)
		wait()
		if got := playbacktest.Text(twelve, l.At()); got != playbacktest.Text(twelve, earshot.Heard{Clause: 4}) {
			t.Errorf("heard %q", got)
		}
		if _, most, ok := soundtest.FollowRuns(s.call.record()); !ok || most != 12*playbacktest.PerWord {
			t.Errorf("sent %d samples, in order: %v", most, ok)
		}
	})
}

// TestVoiceLosesTheCall: when the call is lost, a speech ends with what was heard of it.
func TestVoiceLosesTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, new(playbacktest.Cipher), new(plain))
		defer s.close()
		_, l, wait := speak(t, s, twelve)
		time.Sleep(500 * time.Millisecond)
		close(s.call.over)
		wait()
		synctest.Wait()
		if at := l.At(); !at.End || l.Ends() != 1 || playbacktest.Text(twelve, at) == "" || at.Clause > 1 || s.in {
			t.Errorf("it ended with %+v, in the room: %v", at, s.in)
		}
		if _, err := s.Open(t.Context(), earshot.Opening{}, func(earshot.Heard) {}); !errors.Is(err, playback.ErrClosed) {
			t.Errorf("opened without a call: %v", err)
		}
	})
}

// TestAnnounce: an announcement waits for a call, and a reply waits for the announcement.
func TestAnnounce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, new(playbacktest.Cipher), new(plain))
		defer s.close()
		told := make(chan error, 1)
		go func() { told <- s.Announce(t.Context(), "somebody listens here") }()
		synctest.Wait()
		_, l, wait := speak(t, s, playbacktest.Clauses("and answers"))
		if err := <-told; err != nil {
			t.Error(err)
		}
		ended(t, l, 2*time.Second)
		wait()
		if _, most, ok := soundtest.FollowRuns(s.call.record()); !ok || most != 5*playbacktest.PerWord {
			t.Errorf("sent %d samples, in order: %v", most, ok)
		}
		close(s.call.over)
		synctest.Wait()
		go func() { told <- s.Announce(t.Context(), "nobody hears it") }()
		synctest.Wait()
		select {
		case err := <-told:
			t.Errorf("told outside a call: %v", err)
		default:
		}
	})
}

// A late voice is not ready until comes is closed.
type late struct {
	*playbacktest.Cipher
	comes chan struct{} // closed when the voice is ready
}

var _ playback.Fickle = late{} // else it would count as always there

func (v late) Rate() int { return audio.Rate }

func (v late) Ready() (bool, <-chan struct{}) {
	select {
	case <-v.comes:
		return true, nil
	default:
		return false, v.comes
	}
}

// TestAnnounceWaitsForAVoice: an announcement made before there is a voice is said as soon as there
// is one, in this call or a later one.
func TestAnnounceWaitsForAVoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := late{new(playbacktest.Cipher), make(chan struct{})}
		first := play(t, v, new(plain))
		told := make(chan error, 1)
		go func() { told <- first.Announce(t.Context(), "somebody listens here") }()
		first.close()
		s := first.again(t)
		defer s.close()
		time.Sleep(time.Minute)
		select {
		case err := <-told:
			t.Errorf("told without a voice: %v", err)
		default:
		}
		close(v.comes)
		if err := <-told; err != nil {
			t.Error(err)
		}
		if _, most, ok := soundtest.FollowRuns(s.call.record()); !ok || most != 3*playbacktest.PerWord {
			t.Errorf("sent %d samples, in order: %v", most, ok)
		}
	})
}

// TestWhatLeftIsWhatWasHeard: whatever a speech is told and when, however late voice and encoder
// are, even if the encoder dies or the call may not send for a while: what has left is the speech
// up to some word, in order, with nothing lost or repeated, and that word is the one reported as
// heard.
func TestWhatLeftIsWhatWasHeard(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		thinks := rapid.SliceOfN(rapid.IntRange(0, 400), 1, 4).Draw(rt, "voice, ms")
		late := rapid.SliceOfN(rapid.IntRange(0, 30_000), 1, 6).Draw(rt, "encoder, µs")
		dies := rapid.SliceOfN(rapid.IntRange(1, 80), 0, 2).Draw(rt, "dies")
		holds := rapid.SliceOfN(rapid.IntRange(1, 900), 0, 3).Draw(rt, "held, ms")
		disturbed := playbacktest.Disturbances(rt)
		cut := disturbed[len(disturbed)-1].What == earshot.Cut
		var fault string
		synctest.Test(t, func(t *testing.T) {
			p := &plain{takes: each(late, time.Microsecond), dies: make(map[int]bool)}
			for _, n := range dies {
				p.dies[n] = true
			}
			s := play(t, &playbacktest.Cipher{Takes: each(thinks, time.Millisecond)}, p)
			defer s.close()
			speech, l, wait := speak(t, s, twelve)
			var holding sync.WaitGroup
			holding.Go(func() {
				for i, ms := range holds {
					time.Sleep(time.Duration(ms) * time.Millisecond)
					s.call.hold(i%2 == 0)
				}
				s.call.hold(false)
			})
			for _, d := range disturbed {
				time.Sleep(d.After)
				speech.Do(d.What)
			}
			ended(t, l, 20*time.Second)
			wait()
			holding.Wait()
			time.Sleep(time.Second)
			least, most, follows := soundtest.FollowRuns(s.call.record())
			fault = playbacktest.Compare(least, most, follows, len(strings.Fields(playbacktest.Text(twelve, l.At()))), 12, cut)
			if l.Ends() != 1 {
				fault = fmt.Sprintf("it ended %d times", l.Ends())
			}
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// each returns a function that returns all values in turn, over and over.
func each(all []int, unit time.Duration) func() time.Duration {
	n := -1
	return func() time.Duration {
		n++
		return time.Duration(all[n%len(all)]) * unit
	}
}
