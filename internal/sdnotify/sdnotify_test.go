package sdnotify_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"earshot/internal/sdnotify"
)

// A manager is the far end of a notify socket, as systemd is.
type manager struct {
	*net.UnixConn
	t *testing.T
}

func listen(t *testing.T, name string) manager {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return manager{c, t}
}

// told returns the next datagram.
func (m manager) told() string {
	m.t.Helper()
	m.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, 4096)
	n, err := m.Read(b)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(b[:n])
}

// env is an environment.
type env map[string]string

func (e env) get(name string) string { return e[name] }

func TestTellsTheManager(t *testing.T) {
	dir, err := os.MkdirTemp("", "sd") // short, because a socket path has at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, address := range map[string]string{
		"by a path":   filepath.Join(dir, "notify"),
		"by no path":  "@earshot-sdnotify-" + strconv.Itoa(os.Getpid()),
		"with spaces": filepath.Join(dir, "a b"),
	} {
		t.Run(name, func(t *testing.T) {
			m := listen(t, address)
			n := sdnotify.FromEnvironment(env{"NOTIFY_SOCKET": address}.get)
			for _, tt := range []struct {
				tell func() error
				want string
			}{
				{n.Ready, "READY=1\n"},
				{n.Stopping, "STOPPING=1\n"},
				{n.Beat, "WATCHDOG=1\n"},
				{func() error { return n.Status("live\nREADY=1\x00") }, "STATUS=live READY=1 \n"},
			} {
				if err := tt.tell(); err != nil {
					t.Fatal(err)
				}
				if got := m.told(); got != tt.want {
					t.Errorf("the manager was told %q, want %q", got, tt.want)
				}
			}
		})
	}
}

// TestReloading: each message carries a new time, because systemd ignores an answer that is older
// than its signal.
func TestReloading(t *testing.T) {
	name := "@earshot-reloading-" + strconv.Itoa(os.Getpid())
	m := listen(t, name)
	n := sdnotify.FromEnvironment(env{"NOTIFY_SOCKET": name}.get)
	var last int64
	for range 2 {
		if err := n.Reloading(); err != nil {
			t.Fatal(err)
		}
		var at int64
		if _, err := fmt.Sscanf(m.told(), "RELOADING=1\nMONOTONIC_USEC=%d\n", &at); err != nil || at <= last {
			t.Errorf("told %d after %d: %v", at, last, err)
		}
		last = at
	}
}

func TestNobodyAsked(t *testing.T) {
	for _, socket := range []string{"", "relative", "vsock:2:1234"} {
		n := sdnotify.FromEnvironment(env{"NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "1000"}.get)
		if err := n.Ready(); err != nil || n.Asked() || n.Watchdog() != 0 {
			t.Errorf("%q: asked %v, watchdog %v, error %v", socket, n.Asked(), n.Watchdog(), err)
		}
	}
}

func TestWatchdog(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for _, tt := range []struct {
		usec, pid string
		want      time.Duration
	}{
		{"", "", 0},
		{"30000000", "", 30 * time.Second},
		{"30000000", own, 30 * time.Second},
		{"30000000", "1", 0},
		{"-5", "", 0},
		{"soon", "", 0},
		{"99999999999999999", "", 0},
	} {
		n := sdnotify.FromEnvironment(env{"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": tt.usec, "WATCHDOG_PID": tt.pid}.get)
		if n.Watchdog() != tt.want {
			t.Errorf("%+v: %v", tt, n.Watchdog())
		}
	}
}

// TestManagerGone: if the service manager is gone, telling it something fails and does not hang.
func TestManagerGone(t *testing.T) {
	n := sdnotify.FromEnvironment(env{"NOTIFY_SOCKET": filepath.Join(t.TempDir(), "none")}.get)
	if err := n.Beat(); err == nil || !strings.Contains(err.Error(), "telling the service manager") {
		t.Errorf("it says %v", err)
	}
}
