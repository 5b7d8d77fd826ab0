package audio_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/audio"
)

// perform puts and takes as the picture says: a letter is put as a frame, a dot takes one, a bar
// closes. It returns what was taken: the letter, after the number of frames missing before it, if
// any; "-" for none.
func perform(r *audio.Ring, picture string) string {
	waitNot, stop := context.WithCancel(context.Background())
	stop()
	var got strings.Builder
	var f audio.Frame
	for _, c := range picture {
		switch c {
		case '|':
			r.Close(nil)
		case '.':
			switch err := r.Take(waitNot, &f); {
			case err == io.EOF:
				got.WriteByte('|')
			case err != nil:
				got.WriteByte('-')
			default:
				if f.Lost > 0 {
					got.WriteByte('0' + byte(f.Lost))
				}
				got.WriteByte(byte(f.PCM[0]))
			}
		default:
			f := audio.Frame{}
			f.PCM[0] = int16(c)
			r.Put(&f)
		}
	}
	return got.String()
}

func TestRing(t *testing.T) {
	for _, tt := range []struct {
		name          string
		size          int
		picture, want string
	}{
		{"in order", 3, "ab..c.", "abc"},
		{"nothing there", 3, ".a..", "-a-"},
		{"full", 3, "abc...", "abc"},
		{"the oldest goes", 3, "abcd...", "1bcd"},
		{"three of them", 3, "abcdef....", "3def-"},
		{"again and again", 2, "abc..def..", "1bc1ef"},
		{"between", 2, "abcd.ef..", "2c1ef"},
		{"for one", 1, "abc.d.", "2cd"},
		{"for none is for one", 0, "ab.", "1b"},
		{"closed", 3, "a|b...", "a||"},
		{"closed when empty", 3, "|..", "||"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := perform(audio.NewRing(tt.size), tt.picture); got != tt.want {
				t.Errorf("%q gave %q, want %q", tt.picture, got, tt.want)
			}
		})
	}
}

// TestRingAccountsForEverything: whatever is put and taken, the frames that come out and those
// reported missing make up what went in, in order.
func TestRingAccountsForEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := audio.NewRing(rapid.IntRange(1, 5).Draw(t, "size"))
		sent, seen := 0, 0
		take := func() {
			var f audio.Frame
			if r.Take(t.Context(), &f) != nil {
				return
			}
			seen += int(f.Lost) + 1
			if int(f.PCM[0]) != seen {
				t.Fatalf("frame %d came as number %d", f.PCM[0], seen)
			}
		}
		for _, put := range rapid.SliceOf(rapid.Bool()).Draw(t, "puts") {
			switch {
			case put:
				sent++
				f := audio.Frame{PCM: [audio.Samples]int16{int16(sent)}}
				r.Put(&f)
			case seen < sent:
				take()
			}
		}
		r.Close(nil)
		for seen < sent {
			take()
		}
	})
}

func TestRingCountsOnlySoFar(t *testing.T) {
	r := audio.NewRing(1)
	for range 3 {
		r.Put(&audio.Frame{Lost: math.MaxUint16 - 1})
	}
	var f audio.Frame
	if err := r.Take(t.Context(), &f); err != nil || f.Lost != math.MaxUint16 {
		t.Errorf("%d are missing, %v, want %d", f.Lost, err, math.MaxUint16)
	}
}

func TestRingWaits(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		end  func(r *audio.Ring, stop context.CancelCauseFunc)
		want error
	}{
		{"for a frame", func(r *audio.Ring, _ context.CancelCauseFunc) { r.Put(&audio.Frame{}) }, nil},
		{"until it is closed", func(r *audio.Ring, _ context.CancelCauseFunc) { r.Close(broken) }, broken},
		{"until ctx ends", func(_ *audio.Ring, stop context.CancelCauseFunc) { stop(broken) }, broken},
		{"and remembers why", func(r *audio.Ring, _ context.CancelCauseFunc) { r.Close(broken); r.Close(nil) }, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				r := audio.NewRing(2)
				began := time.Now()
				time.AfterFunc(time.Second, func() { tt.end(r, stop) })
				var f audio.Frame
				if err := r.Take(ctx, &f); err != tt.want || time.Since(began) != time.Second {
					t.Errorf("after %v: %v, want %v after 1s", time.Since(began), err, tt.want)
				}
			})
		})
	}
}

func TestRingAllocatesNothing(t *testing.T) {
	r := audio.NewRing(3)
	var f audio.Frame
	if n := testing.AllocsPerRun(100, func() {
		for range 5 {
			r.Put(&f)
		}
		if err := r.Take(t.Context(), &f); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRing(b *testing.B) {
	r := audio.NewRing(50)
	var f audio.Frame
	b.ReportAllocs()
	for b.Loop() {
		r.Put(&f)
		if err := r.Take(b.Context(), &f); err != nil {
			b.Fatal(err)
		}
	}
}
