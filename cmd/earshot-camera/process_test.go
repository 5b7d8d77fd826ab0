//go:build cgo

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
	"earshot/models/see"
	"earshot/models/see/seetest"
	"earshot/models/see/wire"
)

// A process is the real program.
type process struct {
	path string
	log  *slog.Logger
	pid  atomic.Int64
}

// dial starts it.
func (p *process) dial() (helper.Link, error) {
	link, err := helper.Start(helper.Command{Name: name, Path: p.path, Log: p.log})
	if err != nil {
		return nil, err
	}
	p.pid.Store(int64(link.Pid()))
	return link, nil
}

// real returns the real program, and what it logs.
func real(t testing.TB) (*process, *logged) {
	t.Helper()
	dir := helpertest.Build(t, name)
	said := new(logged)
	return &process{path: filepath.Join(dir, name), log: slog.New(slog.NewTextHandler(said, nil))}, said
}

// A logged is what was logged.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestProcess: the real program sees, and says nothing of what it should keep to itself.
func TestProcess(t *testing.T) {
	p, said := real(t)
	virtual := seetest.NewCamera(20)
	defer virtual.Close()
	virtual.Show(somebody(320))
	secret := strings.Replace(virtual.URL(), "://", "://user:secret@", 1) + "?token=secret"
	var people atomic.Int64
	c := see.New(see.Config{Name: "camera", Dial: p.dial, Open: wire.Open{Source: secret}, On: func(o see.Observation) {
		people.Add(int64(some(o.Seen, earshot.Person)))
	}})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	testkit.Await(t, time.Minute, "somebody to be seen", func() bool { return people.Load() > 0 })
	picture, err := c.Look(ctx, time.Time{}, true)
	if err != nil || len(picture.JPEG) == 0 {
		t.Errorf("a picture of %d bytes, %v", len(picture.JPEG), err)
	}
	stop()
	if err := testkit.Receive(t, testkit.Patience, "the end of the helper", ended); err != nil {
		t.Error(err)
	}
	for _, source := range []string{"rtsp://user:secret@127.0.0.1:1/secret", "http://user:secret@127.0.0.1:1/secret", strings.Replace(secret, "stream", "secret", 1)} {
		virtual.Misbehave(seetest.Nowhere)
		c := see.New(see.Config{Name: "camera", Dial: p.dial, Open: wire.Open{Source: source}})
		if err := c.Run(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("ended with %v", err)
		}
	}
	if strings.Contains(said.String(), "secret") {
		t.Errorf("it logs a secret:\n%s", said)
	}
}

// times is how often something is done here, and in a proof.
func times(here, proof int) int {
	if os.Getenv("EARSHOT_PROOF") != "" {
		return proof
	}
	return here
}

// TestKilled: a helper that is killed, at whatever it is, is noticed and can be started
// again.
func TestKilled(t *testing.T) {
	p, _ := real(t)
	virtual := seetest.NewCamera(50)
	defer virtual.Close()
	for i := range times(20, 1000) {
		seen := make(chan struct{}, 1)
		c := see.New(see.Config{Name: "camera", Dial: p.dial, Open: wire.Open{Source: virtual.URL()}, On: func(see.Observation) {
			select {
			case seen <- struct{}{}:
			default:
			}
		}})
		ended := make(chan error, 1)
		go func() { ended <- c.Run(t.Context()) }()
		if i%4 > 0 {
			testkit.Receive(t, testkit.Patience, "a picture", seen)
		} else {
			testkit.Await(t, time.Minute, "a process", func() bool { return p.pid.Load() > 0 })
		}
		unix.Kill(int(p.pid.Swap(0)), unix.SIGKILL)
		if err := testkit.Receive(t, testkit.Patience, "the end of the helper that was killed", ended); !errors.Is(err, helper.ErrDied) {
			t.Fatalf("ended with %v", err)
		}
		if _, err := c.Look(t.Context(), time.Time{}, false); !errors.Is(err, see.ErrAway) {
			t.Errorf("a look afterwards: %v", err)
		}
	}
	testkit.Await(t, time.Minute, "nobody to look", func() bool { _, n := virtual.Sent(); return n == 0 })
}

// TestMemory: however many pictures were looked at, and looked for, the memory of the
// process, that of the libraries too, is what it was.
func TestMemory(t *testing.T) {
	p, _ := real(t)
	path := film(t, 30, 60, func(i int) *image.RGBA {
		m := seetest.Room()
		if i%20 > 9 {
			seetest.Person(m, 200+i%10*20, 470, 300)
		}
		if i%20 > 15 {
			seetest.Code(m, 30, 250, 160, fmt.Sprint(i))
		}
		return noisy(m, i)
	})
	var number atomic.Uint64
	c := see.New(see.Config{Name: "camera", Dial: p.dial, Open: wire.Open{Source: path, Unpaced: true, Loop: true, Idle: 30, Active: 30}, On: func(o see.Observation) {
		number.Store(o.Number)
	}})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	const full = 300 // what is kept of ten seconds
	all := uint64(times(2*full, 20_000))
	var early, late float64
	for early == 0 || late == 0 {
		testkit.Await(t, 2*time.Minute, "more pictures", func() bool { n := number.Load(); return n%10 == 0 })
		if _, err := c.Look(ctx, time.Time{}, true); err != nil && !errors.Is(err, see.ErrAway) && !errors.Is(err, see.ErrNone) {
			t.Fatal(err)
		}
		switch n := number.Load(); {
		case n > full && early == 0:
			early = resident(t, int(p.pid.Load()))
		case n > all:
			late = resident(t, int(p.pid.Load()))
		}
	}
	stop()
	if err := testkit.Receive(t, testkit.Patience, "the end of the helper", ended); err != nil {
		t.Error(err)
	}
	t.Logf("after %d pictures %.0f MB, after %d %.0f MB", full, early, all, late)
	if late > early+10 {
		t.Errorf("after %d pictures it has %.0f MB, after %d %.0f MB", full, early, all, late)
	}
}

// resident returns how much memory a process has, in MB.
func resident(t *testing.T, pid int) float64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Skipf("this system does not say: %v", err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return float64(pages*os.Getpagesize()) / 1e6
}
