package sound_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if built.dir != "" {
			os.RemoveAll(built.dir)
		}
		os.Exit(code)
	}))
}

// soon is what a real device or process may take on a machine under load.
const soon = 20 * time.Second

// built is the real helper, built once.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// realHelper returns the path of the real helper, or skips the test where there
// is no sound server.
func realHelper(t testing.TB) string {
	t.Helper()
	without := strings.FieldsFunc(os.Getenv("EARSHOT_WITHOUT"), func(r rune) bool { return r == ',' || r == ' ' })
	if testing.Short() || slices.Contains(without, "pulse") || slices.Contains(without, "voice") {
		t.Skip("without a sound server")
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "earshot-sound"); built.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-o", built.dir, "earshot/cmd/"+sound.Helper)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = errors.Join(err, errors.New(string(out)))
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, sound.Helper)
}

// times returns how often an outage is rehearsed.
func times() int {
	if os.Getenv("EARSHOT_PROOF") == "1" {
		return 100
	}
	return 10
}

// A rig is a real helper on a private sound server, kept running as the daemon
// does.
type rig struct {
	t      testing.TB
	server *soundtest.Server
	card   *sound.Card
	dial   helper.Dialer

	mu   sync.Mutex
	pid  int
	ends []error // of its lives
}

func newRig(t testing.TB) *rig {
	t.Helper()
	path := realHelper(t)
	r := &rig{t: t, server: soundtest.Start(t)}
	log := slog.New(slog.NewTextHandler(testLog{t}, nil))
	r.dial = func() (helper.Link, error) {
		p, err := helper.Start(helper.Command{Name: sound.Helper, Path: path, Env: r.server.Env(), Log: log})
		if err == nil {
			r.mu.Lock()
			r.pid = p.Pid()
			r.mu.Unlock()
		}
		return p, err
	}
	r.card = sound.New(r.dial, log)
	r.run()
	return r
}

// run runs the card until the test ends, again and again.
func (r *rig) run() {
	ctx, stop := context.WithCancel(context.Background())
	var lives sync.WaitGroup
	lives.Go(func() {
		for ctx.Err() == nil {
			err := r.card.Run(ctx)
			r.mu.Lock()
			r.ends = append(r.ends, err)
			r.mu.Unlock()
		}
	})
	r.t.Cleanup(func() {
		stop()
		lives.Wait()
	})
}

// kill kills the helper.
func (r *rig) kill() {
	r.mu.Lock()
	pid := r.pid
	r.mu.Unlock()
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}

// lives returns how many lives of the helper have ended, and how the last did.
func (r *rig) lives() (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ends) == 0 {
		return 0, nil
	}
	return len(r.ends), r.ends[len(r.ends)-1]
}

// testLog writes a log into the test's.
type testLog struct{ t testing.TB }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Logf("%s", strings.TrimSpace(string(b)))
	return len(b), nil
}

var _ io.Writer = testLog{}

// TestCaptureAndPlay: what is played into the microphone is captured, and what
// is written to the loudspeaker comes out of it.
func TestRealCapture(t *testing.T) {
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	in, err := r.card.Input(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	var played sync.WaitGroup
	played.Go(func() {
		if err := r.server.Play(ctx, tone(8000, 16000)); err != nil {
			t.Error(err)
		}
	})
	defer played.Wait()
	loud := 0
	began := time.Now()
	frames := 0
	for f, err := range in.Frames(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		frames++
		if frames < 3 || frames%25 == 0 {
			t.Log(time.Since(began), frames, time.Since(f.At), f.Own, f.EchoRatio, f.Lost, f.PCM[10])
		}
		for _, s := range f.PCM {
			if s > 4000 || s < -4000 {
				loud++
			}
		}
		if loud > 5000 {
			break
		}
	}
	if n, _, err := r.server.Streams(); n != 0 || err != nil {
		t.Errorf("after the loop %d captures are open, %v", n, err)
	}
}

// tone returns n samples of a tone.
func tone(amplitude, n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(amplitude)
		if i/20%2 == 0 {
			pcm[i] = int16(-amplitude)
		}
	}
	return pcm
}

func TestRealPlay(t *testing.T) {
	r := newRig(t)
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	rec, err := r.server.Record(ctx)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.card.Output(ctx, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	pcm := ramp(16000)
	end := make(chan sound.Position, 1)
	began := time.Now()
	p, err := out.Play(func(at sound.Position) {
		if rec := rec.PCM(0); at.Samples > 0 {
			last := 0
			for i, s := range rec {
				if s != 0 {
					last = i
				}
			}
			t.Log(time.Since(began), at, "recorded", func() int {
				if last == 0 {
					return 0
				}
				return int(rec[last])
			}())
		}
		if at.End {
			end <- at
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(ctx, pcm); err != nil {
		t.Fatal(err)
	}
	p.Finish()
	t.Log(<-end)
	testkit.Await(t, soon, "recording", func() bool { return rec.Len() > 20000 })
	out.Close()
	got := rec.Stop()
	first := slices.IndexFunc(got, func(s int16) bool { return s != 0 })
	t.Log(first, len(got))
	got = got[first:]
	for i := range pcm {
		if got[i] != pcm[i] {
			t.Fatalf("sample %d is %d, want %d", i, got[i], pcm[i])
		}
	}
}

// ramp counts
func ramp(n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(i + 1)
	}
	return pcm
}
