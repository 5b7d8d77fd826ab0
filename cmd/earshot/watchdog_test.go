package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"earshot/daemon/health"
	"earshot/internal/sdnotify"
	"earshot/internal/testkit"
)

// A manager stands in for systemd: it is a socket that a service reports its state to.
type manager struct {
	*net.UnixConn
	socket string
}

func newManager(t testing.TB) manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "es") // short, because the path of a socket has at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return manager{c, socket}
}

// told returns what was reported since the last call, without waiting.
func (m manager) told() string {
	var all strings.Builder
	raw, err := m.SyscallConn()
	if err != nil {
		return err.Error()
	}
	b := make([]byte, 4096)
	_ = raw.Control(func(fd uintptr) {
		for {
			n, _, err := syscall.Recvfrom(int(fd), b, syscall.MSG_DONTWAIT)
			if err != nil {
				return
			}
			all.Write(b[:n])
		}
	})
	return all.String()
}

// TestHeart: the heart beats four times in the watchdog's period, as long as every room turns. It
// stops while a room is stuck, and goes on when the room is free again.
func TestHeart(t *testing.T) {
	m := newManager(t)
	synctest.Test(t, func(t *testing.T) {
		var stuck atomic.Bool
		room := func(ctx context.Context) error {
			if stuck.Load() {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		}
		var log strings.Builder
		var muted atomic.Bool
		h := health.Watchdog{
			Notifier: sdnotify.FromEnvironment(func(name string) string {
				return map[string]string{"NOTIFY_SOCKET": m.socket, "WATCHDOG_USEC": "60000000"}[name]
			}),
			Rooms: func() []func(context.Context) error { return []func(context.Context) error{room, room} },
			Status: func() string {
				if muted.Load() {
					return "muted"
				}
				return "live"
			},
			Log: slog.New(slog.NewTextHandler(&log, nil)),
		}
		ctx, cancel := context.WithCancel(t.Context())
		var beating sync.WaitGroup
		beating.Go(func() { h.Run(ctx) })
		after := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := m.told(); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
		after(time.Second, "READY=1\nSTATUS=live\nWATCHDOG=1\n")
		after(time.Minute, strings.Repeat("WATCHDOG=1\n", 4))
		stuck.Store(true)
		after(2*time.Minute, "")
		stuck.Store(false)
		muted.Store(true)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if got := m.told(); !strings.Contains(got, "WATCHDOG=1") || !strings.Contains(got, "STATUS=muted\n") {
			t.Errorf("after it has come loose: told %q", got)
		}
		cancel()
		beating.Wait()
		if got := m.told(); got != "STOPPING=1\n" {
			t.Errorf("at the end: told %q", got)
		}
		if !strings.Contains(log.String(), "a room is stuck") {
			t.Errorf("nothing in the log: %s", log.String())
		}
	})
}

// TestHeartOfNobody: without a manager nothing happens.
func TestHeartOfNobody(t *testing.T) {
	health.Watchdog{Status: func() string { panic(errors.New("asked")) }}.Run(t.Context())
}

// TestService shows the whole program as a service manager sees it.
func TestService(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	h := newHome(t, "NOTIFY_SOCKET="+m.socket, "WATCHDOG_USEC=400000")
	h.scripted("reply: Well.\n")
	d := h.daemon()
	told := ""
	await := func(want string) {
		t.Helper()
		testkit.Await(t, soon, want, func() bool { told += m.told(); return strings.Contains(told, want) })
	}
	await("READY=1\n")
	await("STATUS=running, live\n")
	await("WATCHDOG=1\nWATCHDOG=1\n")
	if r := h.earshot(nil, "say", "the canary sings"); r.out != "Well.\n" {
		t.Errorf("it says %q, %s", r.out, r.err)
	}
	told = ""
	d.Process.Signal(syscall.SIGHUP)
	await("RELOADING=1\nMONOTONIC_USEC=")
	await("READY=1\n")
	d.end(syscall.SIGTERM)
	await("STOPPING=1\n")
	if strings.Contains(told, "canary") {
		t.Error("what was said was told to the manager")
	}
	if d.ProcessState.ExitCode() != success {
		t.Errorf("it ended with %v", d.ProcessState)
	}
}
