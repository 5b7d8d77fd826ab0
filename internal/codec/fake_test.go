package codec_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
)

// fake returns the dialer of a media helper that calls act when it is asked for the first time.
func fake(act func(context.Context, *helper.Server) error) helper.Dialer {
	return helpertest.Dialer("fake", func(ctx context.Context, s *helper.Server) error {
		asked := make(chan struct{}, 1)
		read := make(chan error, 1)
		go func() { // ends with the pipe
			read <- s.Controls(func(helper.Control) error { asked <- struct{}{}; return nil })
		}()
		<-asked
		if err := act(ctx, s); err != nil {
			return err
		}
		return <-read // lives until its input closes
	})
}

// frame returns the encoded frame n of a fake.
func frame(n int) []byte {
	f := audio.Frame{At: time.Unix(0, 0), Voiced: n%2 == 1, Own: true, EchoRatio: 1, Lost: 7}
	f.PCM[0] = int16(n)
	return f.Append(nil)
}

// plays returns the dialer of a helper that plays n frames.
func plays(n int) helper.Dialer {
	return fake(func(ctx context.Context, s *helper.Server) error {
		s.Send(codec.MsgOpened, codec.Info{Codec: "fake"})
		for i := range n {
			if s.SendSound(0, frame(i)) != nil {
				return nil
			}
		}
		s.Send(codec.MsgEnded, codec.Ended{Frames: int64(n)})
		return nil
	})
}

// some returns a source that exists.
func some(t testing.TB) codec.Source {
	path := filepath.Join(t.TempDir(), "some.wav")
	if err := os.WriteFile(path, []byte("RIFF"), 0o600); err != nil {
		t.Fatal(err)
	}
	return codec.Source{Path: path}
}

// listen returns what a source yields.
func listen(ctx context.Context, dial helper.Dialer, s codec.Source) (frames []audio.Frame, err error) {
	for f, e := range codec.Open(ctx, dial, s) {
		if e != nil {
			return frames, e
		}
		frames = append(frames, *f)
	}
	return frames, nil
}

func TestFrames(t *testing.T) {
	s := some(t)
	s.Base = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var info codec.Info
	var end codec.Ended
	s.Opened = func(i codec.Info) { info = i }
	s.Ended = func(e codec.Ended) { end = e }
	synctest.Test(t, func(t *testing.T) {
		frames, err := listen(t.Context(), plays(100), s)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range frames {
			want := audio.Frame{At: s.Base.Add(time.Duration(i) * audio.Time), Voiced: i%2 == 1}
			want.PCM[0] = int16(i)
			if f != want {
				t.Fatalf("frame %d is %v, %v, %d", i, f.At, f.Voiced, f.PCM[0])
			}
		}
		if len(frames) != 100 || info.Codec != "fake" || end.Frames != 100 {
			t.Errorf("%d frames of %v, %v", len(frames), info, end)
		}
	})
}

func TestRealTime(t *testing.T) {
	for _, tt := range []struct {
		name     string
		realTime bool
		slow     time.Duration // how long the reader takes for frame 10
		want     string        // when frames 0, 9, 11, 12 and 99 come
	}{
		{"as fast as can be", false, 0, "0s 0s 0s 0s 0s"},
		{"when due", true, 0, "0s 180ms 220ms 240ms 1.98s"},
		{"behind, then when due", true, 35 * time.Millisecond, "0s 180ms 235ms 240ms 1.98s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := some(t)
			s.RealTime = tt.realTime
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var at []string
				n := 0
				for f, err := range codec.Open(t.Context(), plays(100), s) {
					if err != nil {
						t.Fatal(err)
					}
					switch n {
					case 0, 9, 11, 12, 99:
						at = append(at, time.Since(began).String())
					case 10:
						time.Sleep(tt.slow)
					}
					if due := began.Add(time.Duration(n) * audio.Time); !f.At.Equal(due) {
						t.Fatalf("frame %d is at %v", n, f.At.Sub(began))
					}
					n++
				}
				if got := strings.Join(at, " "); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestFastest: even a fast helper is not read so fast that it would look like a flood.
func TestFastest(t *testing.T) {
	s := some(t)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		frames, err := listen(t.Context(), plays(3000), s)
		if took := time.Since(began); err != nil || len(frames) != 3000 || took < 45*time.Millisecond || took > 60*time.Millisecond {
			t.Errorf("a minute in %v, %d frames, %v", took, len(frames), err)
		}
	})
}

func TestSlowReader(t *testing.T) {
	s := some(t)
	synctest.Test(t, func(t *testing.T) {
		n := 0
		for f, err := range codec.Open(t.Context(), plays(50), s) {
			if err != nil {
				t.Fatal(err)
			}
			if int(f.PCM[0]) != n {
				t.Fatalf("frame %d is %d", n, f.PCM[0])
			}
			time.Sleep(time.Second)
			n++
		}
		if n != 50 {
			t.Errorf("%d frames, want 50", n)
		}
	})
}

func TestLeaving(t *testing.T) {
	for _, at := range []int{0, 1, 20} {
		s := some(t)
		s.Ended = func(codec.Ended) { t.Error("ended, although it was left") }
		synctest.Test(t, func(t *testing.T) {
			n := 0
			for _, err := range codec.Open(t.Context(), plays(10000), s) {
				if err != nil {
					t.Fatal(err)
				}
				if n == at {
					break
				}
				n++
			}
		}) // the bubble fails if the helper still lives
	}
}

func TestContextEnds(t *testing.T) {
	s := some(t)
	s.RealTime = true
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 105*time.Millisecond)
		defer stop()
		began := time.Now()
		frames, err := listen(ctx, plays(1000), s)
		if err != nil {
			t.Errorf("the end of the context is an error: %v", err)
		}
		if took := time.Since(began); len(frames) != 6 || took != 105*time.Millisecond {
			t.Errorf("%d frames in %v", len(frames), took)
		}
	})
}

var errCrash = errors.New("crash")

func TestBadHelpers(t *testing.T) {
	opened := func(s *helper.Server) { s.Send(codec.MsgOpened, codec.Info{}) }
	for _, tt := range []struct {
		name   string
		act    func(context.Context, *helper.Server) error
		frames int
		want   error
	}{
		{"dies at once", func(context.Context, *helper.Server) error { return errCrash }, 0, errCrash},
		{"dies after opening", func(_ context.Context, s *helper.Server) error { opened(s); return errCrash }, 0, errCrash},
		{"says nothing", func(context.Context, *helper.Server) error { return nil }, 0, helper.ErrHung},
		{"stops in between", func(_ context.Context, s *helper.Server) error {
			opened(s)
			s.SendSound(0, frame(0))
			return nil
		}, 1, helper.ErrHung},
		{"half a frame", func(_ context.Context, s *helper.Server) error {
			opened(s)
			s.SendSound(0, frame(0)[1:])
			return nil
		}, 0, helper.ErrProtocol},
		{"another stream", func(_ context.Context, s *helper.Server) error {
			opened(s)
			s.SendSound(1, frame(0))
			return nil
		}, 0, helper.ErrProtocol},
		{"opens twice", func(_ context.Context, s *helper.Server) error { opened(s); opened(s); return nil }, 0, helper.ErrProtocol},
		{"ends before it opens", func(_ context.Context, s *helper.Server) error {
			s.Send(codec.MsgEnded, codec.Ended{})
			return nil
		}, 0, helper.ErrProtocol},
		{"has a problem and frames", func(_ context.Context, s *helper.Server) error {
			s.Send(codec.MsgEnded, codec.Ended{Frames: 1, Problem: codec.Broken})
			return nil
		}, 0, helper.ErrProtocol},
		{"a problem that is none", func(_ context.Context, s *helper.Server) error {
			s.Send(codec.MsgEnded, codec.Ended{Problem: "headache"})
			return nil
		}, 0, helper.ErrProtocol},
		{"a long story", func(_ context.Context, s *helper.Server) error {
			s.Send(codec.MsgEnded, codec.Ended{Problem: codec.Broken, Detail: strings.Repeat("a", 1000)})
			return nil
		}, 0, helper.ErrProtocol},
		{"fewer than none", func(_ context.Context, s *helper.Server) error {
			opened(s)
			s.Send(codec.MsgEnded, codec.Ended{Frames: -1})
			return nil
		}, 0, helper.ErrProtocol},
		{"less than it says", func(_ context.Context, s *helper.Server) error {
			opened(s)
			s.SendSound(0, frame(0))
			s.Send(codec.MsgEnded, codec.Ended{Frames: 2})
			return nil
		}, 1, helper.ErrHung},
		{"speaks another language", func(_ context.Context, s *helper.Server) error {
			s.Send("bonjour", nil)
			return nil
		}, 0, helper.ErrProtocol},
		{"a body of another kind", func(_ context.Context, s *helper.Server) error {
			s.Send(codec.MsgOpened, "hello")
			return nil
		}, 0, helper.ErrProtocol},
		{"frames before it opens", func(_ context.Context, s *helper.Server) error {
			for i := range 100 {
				s.SendSound(0, frame(i))
			}
			return nil
		}, 0, helper.ErrHung},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := some(t)
			synctest.Test(t, func(t *testing.T) {
				frames, err := listen(t.Context(), fake(tt.act), s)
				if !errors.Is(err, tt.want) || len(frames) != tt.frames {
					t.Errorf("got %d frames and %v, want %d and %v", len(frames), err, tt.frames, tt.want)
				}
			})
		})
	}
}

// TestFlood: what a helper sends after its end is ignored.
func TestFlood(t *testing.T) {
	s := some(t)
	synctest.Test(t, func(t *testing.T) {
		flood := fake(func(ctx context.Context, s *helper.Server) error {
			s.Send(codec.MsgOpened, codec.Info{})
			s.Send(codec.MsgEnded, codec.Ended{Frames: 3})
			synctest.Wait() // control and sound are two pipes: wait until it is known that there are three
			for i := 0; ctx.Err() == nil; i++ {
				if s.SendSound(0, frame(i)) != nil {
					break
				}
			}
			return nil
		})
		if frames, err := listen(t.Context(), flood, s); len(frames) != 3 || err != nil {
			t.Errorf("%d frames, %v", len(frames), err)
		}
	})
}

func TestLongest(t *testing.T) {
	s := some(t)
	s.Longest = time.Second
	synctest.Test(t, func(t *testing.T) {
		frames, err := listen(t.Context(), plays(60), s)
		var wrong *codec.Error
		if !errors.As(err, &wrong) || wrong.Problem != codec.TooLong || len(frames) != 50 {
			t.Errorf("%d frames, %v", len(frames), err)
		}
	})
}

// TestProblem: a problem is reported after all that could be heard.
func TestProblem(t *testing.T) {
	s := some(t)
	synctest.Test(t, func(t *testing.T) {
		broken := fake(func(_ context.Context, s *helper.Server) error {
			s.Send(codec.MsgOpened, codec.Info{})
			s.Send(codec.MsgEnded, codec.Ended{Frames: 2, Problem: codec.Broken, Detail: "the wire was cut"})
			s.SendSound(0, frame(0))
			s.SendSound(0, frame(1))
			return nil
		})
		frames, err := listen(t.Context(), broken, s)
		var wrong *codec.Error
		if !errors.As(err, &wrong) || wrong.Problem != codec.Broken || len(frames) != 2 {
			t.Errorf("%d frames, %v", len(frames), err)
		}
	})
}

func TestNoHelper(t *testing.T) {
	missing := &helper.MissingError{Name: "earshot-speech"}
	_, err := listen(t.Context(), func() (helper.Link, error) { return nil, missing }, some(t))
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

// TestSources: faults that can be seen without a helper do not start one.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.wav")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		source codec.Source
		want   codec.Problem
		says   string
	}{
		{codec.Source{}, codec.Missing, `"" there is no such file`},
		{codec.Source{Path: "there/is/none.wav"}, codec.Missing, `"there/is/none.wav" there is no such file`},
		{codec.Source{Path: "."}, codec.NoFile, `"." is not a file`},
		{codec.Source{Path: "/dev/zero"}, codec.NoFile, `"/dev/zero" is not a file`},
		{codec.Source{Path: empty}, codec.Empty, `"` + empty + `" is empty`},
		{codec.Source{URL: "file:///etc/passwd"}, codec.NoAddress, `"file:///etc/passwd" is not an address that can be opened`},
		{codec.Source{URL: "concat:a|b"}, codec.NoAddress, `"concat:a|b" is not an address that can be opened`},
		{codec.Source{URL: "http://"}, codec.NoAddress, `"http:" is not an address that can be opened`},
		{codec.Source{URL: "ftp://me:secret@example.org/x?key=secret"}, codec.NoAddress, `"ftp://example.org/x" is not an address that can be opened`},
		{codec.Source{URL: "\x7f://secret"}, codec.NoAddress, `"the address" is not an address that can be opened`},
		{codec.Source{URL: "http://example.org/" + strings.Repeat("a", 5000)}, codec.NoAddress, ""},
	} {
		t.Run(string(tt.want)+" "+tt.source.Path, func(t *testing.T) {
			dial := func() (helper.Link, error) { t.Error("a helper was started"); return nil, io.EOF }
			_, err := listen(t.Context(), dial, tt.source)
			var wrong *codec.Error
			if !errors.As(err, &wrong) || wrong.Problem != tt.want || tt.says != "" && err.Error() != tt.says {
				t.Errorf("got %v, want %s", err, tt.says)
			}
		})
	}
}

// FuzzHelper lets a helper say anything: the client must neither panic nor wait for ever, and
// yields only what may be a frame.
func FuzzHelper(f *testing.F) {
	say := func(name string, body any) []byte {
		b, err := json.Marshal(body)
		if err != nil {
			f.Fatal(err)
		}
		return append([]byte(name+" "), b...)
	}
	f.Add(say(codec.MsgOpened, codec.Info{Codec: "x"}), frame(1), say(codec.MsgEnded, codec.Ended{Frames: 1}))
	f.Add(say(codec.MsgEnded, codec.Ended{Problem: codec.Silent}), []byte{}, []byte{})
	f.Add([]byte("opened {}"), frame(0)[:20], []byte(`ended {"frames":-1}`))
	f.Fuzz(func(t *testing.T, first, sound, last []byte) {
		s := some(t)
		synctest.Test(t, func(t *testing.T) {
			hostile := fake(func(_ context.Context, s *helper.Server) error {
				send(s, first)
				s.SendSound(0, sound)
				send(s, last)
				return nil
			})
			frames, err := listen(t.Context(), hostile, s)
			if len(frames) > 1 || len(frames) == 1 && len(sound) != audio.Size {
				t.Errorf("%d frames, %v", len(frames), err)
			}
		})
	})
}

// send sends a message made of a name and a body.
func send(s *helper.Server, message []byte) {
	name, body, _ := strings.Cut(string(message), " ")
	if json.Valid([]byte(body)) {
		s.Send(name, json.RawMessage(body))
	}
}

// TestNoAllocation: the client allocates nothing for a frame.
func TestNoAllocation(t *testing.T) {
	s := some(t)
	const frames = 5000
	alone := testing.AllocsPerRun(3, func() { listen(t.Context(), plays(0), s) })
	fed := make([]byte, 0, audio.Size)
	n := testing.AllocsPerRun(3, func() {
		again := fake(func(_ context.Context, s *helper.Server) error {
			s.Send(codec.MsgOpened, codec.Info{})
			f := audio.Frame{At: time.Unix(0, 0)}
			fed = f.Append(fed[:0])
			for range frames {
				s.SendSound(0, fed)
			}
			s.Send(codec.MsgEnded, codec.Ended{Frames: frames})
			return nil
		})
		for _, err := range codec.Open(t.Context(), again, s) {
			if err != nil {
				t.Error(err)
			}
		}
	})
	if per := (n - alone) / frames; per > 0.05 {
		t.Errorf("%.2f allocations a frame", per)
	}
}
