package sound_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/internal/supervise"
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

// soon is how long a real device or process may take on a loaded machine.
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
	testkit.Need(t, "voice")
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

// times returns how many times each outage is tried.
func times() int {
	if os.Getenv("EARSHOT_PROOF") == "1" {
		return 100
	}
	return 10
}

// A rig is a real helper on a private sound server. It is restarted as by the daemon, but sooner.
type rig struct {
	t      testing.TB
	server *soundtest.Server
	card   *sound.Card
	dial   helper.Dialer

	stuttered atomic.Bool // the helper reported a stutter: the machine is busy

	mu      sync.Mutex
	pids    []int            // of all helpers; the last one runs
	began   []string         // when each of them was started; see started
	notices []earshot.Notice // of outages
}

func newRig(t testing.TB) *rig {
	t.Helper()
	path := realHelper(t)
	r := &rig{t: t, server: soundtest.Start(t)}
	log := slog.New(slog.NewTextHandler(testLog{t, r}, nil))
	r.dial = func() (helper.Link, error) {
		p, err := helper.Start(helper.Command{Name: sound.Helper, Path: path, Env: r.server.Env(), Log: log})
		if err == nil {
			r.mu.Lock()
			r.pids = append(r.pids, p.Pid())
			r.began = append(r.began, started(p.Pid()))
			r.mu.Unlock()
		}
		return p, err
	}
	r.card = sound.New(r.dial, log)
	r.supervise()
	return r
}

// supervise runs the card until the test ends.
func (r *rig) supervise() {
	ctx, stop := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		supervise.Run(ctx, "sound card", r.card.Run, supervise.Config{
			Report: func(n earshot.Notice) {
				r.t.Logf("notice: %s (%s)", n.Text, n.Cure)
				r.mu.Lock()
				defer r.mu.Unlock()
				r.notices = append(r.notices, n)
			},
			First: 50 * time.Millisecond, Most: 200 * time.Millisecond, Well: time.Second, // a busy machine takes its time to fail
		})
	})
	r.t.Cleanup(func() {
		stop()
		testkit.Finish(r.t, 5*testkit.Patience, "the end of the card", run.Wait)
		for i, pid := range r.pids {
			if now := started(pid); now != "" && now == r.began[i] {
				r.t.Errorf("the helper %d is still there", pid)
			}
		}
	})
}

// started returns when a process was started, in ticks since the machine was, or "" if there is none:
// another one may get the same number later.
func started(pid int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ") // the name before it may hold anything
	if fields := strings.Fields(after); len(fields) > 19 {
		return fields[19]
	}
	return ""
}

// kill kills the helper.
func (r *rig) kill() error { return r.signal(syscall.SIGKILL) }

// signal sends the helper a signal.
func (r *rig) signal(sig syscall.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return syscall.Kill(r.pids[len(r.pids)-1], sig)
}

// said returns how many notices there were.
func (r *rig) said() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.notices)
}

// alternate reports whether every notice of a loss was followed by the notice of its end, before
// the next loss.
func (r *rig) alternate() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, n := range r.notices {
		if n.Over != (i%2 == 1) {
			return false
		}
	}
	return len(r.notices)%2 == 0
}

// input opens the microphone.
func (r *rig) input(ctx context.Context, device string) *sound.Input {
	r.t.Helper()
	in, err := r.card.Input(ctx, device)
	if err != nil {
		r.t.Fatal(err)
	}
	return in
}

// output opens the loudspeaker.
func (r *rig) output(ctx context.Context, device string) *sound.Output {
	r.t.Helper()
	out, err := r.card.Output(ctx, device, 1)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// play begins a speech on out and writes pcm.
func (r *rig) play(ctx context.Context, out *sound.Output, pcm []int16) (*sound.Playing, *diary) {
	r.t.Helper()
	d := newDiary(r.t)
	p, err := out.Play(audio.Rate, d.moved)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := p.Write(ctx, pcm); err != nil {
		r.t.Fatal(err)
	}
	return p, d
}

// record begins a recording of the loudspeaker.
func (r *rig) record(ctx context.Context) *soundtest.Recording {
	r.t.Helper()
	rec, err := r.server.Record(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	return rec
}

// testLog writes to the log of the test, and watches for reports that the loudspeaker stuttered.
type testLog struct {
	t testing.TB
	r *rig
}

func (l testLog) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "the loudspeaker stuttered") {
		l.r.stuttered.Store(true)
	}
	l.t.Logf("%s", strings.TrimSpace(string(b)))
	return len(b), nil
}

// counted returns n loud samples, each of which tells its position, so that a recording can be
// compared with what was sent.
func counted(n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(2000 + i%20000)
	}
	return pcm
}

// sounding returns pcm without its silent samples. A loaded machine may stutter, which puts silence
// between the samples and is no fault of ours.
func sounding(pcm []int16) (loud []int16) {
	for _, s := range pcm {
		if s != 0 {
			loud = append(loud, s)
		}
	}
	return loud
}

// lastSound returns the length of pcm up to its last sample that is not silent.
func lastSound(pcm []int16) int {
	n := len(pcm)
	for n > 0 && pcm[n-1] == 0 {
		n--
	}
	return n
}

// same fails the test if got differs from want, and says where.
func same(t *testing.T, what string, got, want []int16) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: sample %d is %d, want %d", what, i, got[i], want[i])
			return
		}
	}
	t.Errorf("%s: %d samples, want %d", what, len(got), len(want))
}
