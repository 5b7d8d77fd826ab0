package calls

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/audio"
)

// TestTrack: one character for 20 ms. comes shows what arrives: # a frame, D a frame that the
// decoder delivers 60 ms late, E the call says that the speaker stopped when the last frame was
// over. want shows what the ear gets at that time: # sound, - one frame of silence, 2 to z so many
// of them, ~ sound after something missing.
func TestTrack(t *testing.T) {
	for _, tt := range []struct{ name, comes, want string }{
		{"nobody speaks", ".....", "....."},
		{"silence as soon as it is told",
			"###.........E.....",
			"###.........a-----"},
		{"nobody tells",
			"###........................",
			"###...................k----"},
		{"a packet is late, and nothing is made up",
			"###........####",
			"###........8###"},
		{"they go on", // frames of silence that were made up do not replace frames that come
			"##....E....##....E...",
			"##....5----##....5---"},
		{"the decoder is late, and the end is told before",
			"##DE.......",
			"##...3-----"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr, began := newTrack(), time.Unix(1000, 0)
			var due []int // at which steps frames are delivered
			var last time.Time
			var got strings.Builder
			for i, c := range tt.comes {
				now := began.Add(time.Duration(i+1) * audio.Time) // a frame is delivered when it is over
				if c == '#' {
					due = append(due, i)
				}
				if i >= 3 && tt.comes[i-3] == 'D' {
					due = append(due, i-3)
				}
				for _, at := range due {
					tr.put(&audio.Frame{At: began.Add(time.Duration(at) * audio.Time), Voiced: true})
				}
				due = due[:0]
				switch c {
				case '#', 'D':
					last = now
				case 'E':
					tr.ends(now, last)
				}
				got.WriteString(draw(tr, now))
			}
			if got.String() != tt.want {
				t.Errorf("comes %s\ngot   %s\nwant  %s", tt.comes, got.String(), tt.want)
			}
		})
	}
}

// draw draws what a track has at the time now.
func draw(tr *track, now time.Time) string {
	silent, sound := 0, ""
	var f audio.Frame
	for {
		ok, _ := tr.take(now, &f)
		switch {
		case !ok && sound != "" && silent > 0:
			return strconv.FormatInt(int64(silent), 36) // and the sound, for which the column has no room
		case !ok && sound != "":
			return sound
		case !ok && silent == 0:
			return "."
		case !ok && silent == 1:
			return "-"
		case !ok:
			return strconv.FormatInt(int64(silent), 36)
		case !f.Voiced:
			silent++
		case f.Lost > 0:
			sound = "~"
		default:
			sound = "#"
		}
	}
}

// TestTrackIsTrue: whatever comes when, what was sent comes out once and in order, silence is
// filled in without gaps, and the ear's clock never lags behind the time of what it hears.
func TestTrackIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr, now := newTrack(), time.Unix(1000, 0)
		at, sent, heard, clock := now, 0, 0, 0
		first := now
		var f audio.Frame
		take := func() {
			for {
				ok, wait := tr.take(now, &f)
				if !ok {
					if wait < 0 {
						t.Fatalf("it waits for %v", wait)
					}
					return
				}
				clock += 1 + int(f.Lost)
				if f.Voiced {
					if heard++; int(f.PCM[0]) != heard {
						t.Fatalf("heard %d as number %d", f.PCM[0], heard)
					}
					if behind := f.At.Sub(first) - time.Duration(clock-1)*audio.Time; behind > audio.Time {
						t.Fatalf("the ear is %v behind", behind)
					}
				}
			}
		}
		for range rapid.IntRange(1, 40).Draw(t, "stretches") {
			if gap := time.Duration(rapid.IntRange(0, 20_000).Draw(t, "gap")) * time.Millisecond; sent > 0 {
				for end := now.Add(gap); now.Before(end); now = now.Add(70 * time.Millisecond) {
					take()
				}
			}
			if at.Before(now.Add(-audio.Time)) {
				at = now.Add(-audio.Time)
			}
			if sent == 0 {
				first = at
			}
			for range rapid.IntRange(1, 30).Draw(t, "frames") {
				sent++
				g := audio.Frame{At: at, Voiced: true}
				g.PCM[0] = int16(sent)
				tr.put(&g)
				at, now = at.Add(audio.Time), now.Add(audio.Time)
				if rapid.Bool().Draw(t, "taken") {
					take()
				}
			}
			if rapid.Bool().Draw(t, "told") {
				tr.ends(now, at)
			}
		}
		take()
		if heard != sent {
			t.Fatalf("heard %d of %d", heard, sent)
		}
	})
}

// TestTrackRests: the track of somebody who is silent costs nothing after a while, and goes on with
// what they say next.
func TestTrackRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, began := newTrack(), time.Now()
		ctx, stop := context.WithCancel(t.Context())
		var last time.Time
		n, lost := 0, 0
		done := make(chan error, 1)
		go func() {
			for f, err := range tr.Frames(ctx) {
				if err != nil {
					done <- err
					return
				}
				last, n, lost = time.Now(), n+1, lost+int(f.Lost)
			}
			done <- ctx.Err()
		}()
		tr.put(&audio.Frame{At: began, Voiced: true})
		time.Sleep(time.Hour)
		synctest.Wait()
		if rests := last.Sub(began); rests < lingers-audio.Time || rests > lingers+audio.Time || n != 1+int(lingers/audio.Time) {
			t.Errorf("after one frame there were %d in %v", n, rests)
		}
		tr.put(&audio.Frame{At: time.Now(), Voiced: true})
		synctest.Wait()
		if n = n + lost; n < int((time.Hour-time.Second)/audio.Time)%65536 && lost != 65535 {
			t.Errorf("of an hour %d frames are known", n)
		}
		tr.leave()
		if err := <-done; err != errLeft {
			t.Errorf("it ended with %v", err)
		}
		stop()
	})
}

// TestTrackIsWiped: when nobody may listen any more, nothing that was waiting is left.
func TestTrackIsWiped(t *testing.T) {
	tr := newTrack()
	for i := range 150 {
		f := audio.Frame{At: time.Unix(0, int64(i)*int64(audio.Time))}
		f.PCM[7] = 77
		tr.put(&f)
	}
	var f audio.Frame
	for range 3 {
		tr.take(time.Now(), &f)
	}
	tr.wipe()
	for i := range tr.ring {
		if tr.ring[i].PCM[7] != 0 {
			t.Fatal("there is sound left")
		}
	}
	tr.put(&f)
	if ok, _ := tr.take(time.Now(), &f); ok || !tr.over() {
		t.Error("it still takes sound")
	}
}
