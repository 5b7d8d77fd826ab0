package server_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"earshot"
	"earshot/internal/testkit"
	"earshot/server"
	"earshot/server/attach"
	"earshot/server/client"
	"earshot/server/socket"
)

func TestListenIsForItsUserAlone(t *testing.T) {
	at := socketPath(t)
	l, err := socket.Listen(at)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]fs.FileMode{at: 0o600, filepath.Dir(at): 0o700, at + ".lock": 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v; %v", filepath.Base(path), info.Mode().Perm(), want, err)
		}
	}
}

func TestListenTwice(t *testing.T) {
	at := socketPath(t)
	l, err := socket.Listen(at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := socket.Listen(at); !errors.Is(err, socket.ErrRunning) {
		t.Errorf("the second one: %v", err)
	}
	l.Close()
	if l, err = socket.Listen(at); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
	l.Close()
	if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket was left behind: %v", err)
	}
}

// abandon leaves a socket at which nobody listens, as a killed daemon does.
func abandon(t *testing.T, at string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

func TestListenAfterADeadDaemon(t *testing.T) {
	at := socketPath(t)
	abandon(t, at)
	if _, err := (&client.Client{Socket: at}).State(t.Context()); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("a client of the dead is told %v", err)
	}
	l, err := socket.Listen(at)
	if err != nil {
		t.Fatal(err)
	}
	serveAt(t, newHouse(), l)
	if _, err := (&client.Client{Socket: at}).State(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestListenRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(at string) error
		want    string
	}{
		{"a file in its place", func(at string) error { return os.WriteFile(at, []byte("mine"), 0o600) }, "is not a socket"},
		{"a folder in its place", func(at string) error { return os.Mkdir(at, 0o700) }, "is not a socket"},
		{"an open directory", func(at string) error { return os.Chmod(filepath.Dir(at), 0o755) }, "chmod 700"},
		{"somebody who knows no lock", func(at string) error {
			l, err := net.Listen("unix", at)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		}, socket.ErrRunning.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := socketPath(t)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.prepare(at); err != nil {
				t.Fatal(err)
			}
			l, err := socket.Listen(at)
			if err == nil {
				l.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("listened with %v, want %q", err, tt.want)
			}
			if _, err := os.Lstat(at); tt.want != "chmod 700" && err != nil {
				t.Errorf("what stood there is gone: %v", err)
			}
		})
	}
}

func TestNobodyIsRunning(t *testing.T) {
	c := &client.Client{Socket: socketPath(t)}
	_, posted := c.Post(t.Context(), "", "x")
	_, stated := c.State(t.Context())
	attached := c.Attach(t.Context(), sense(nil), &testkit.Voice{}, new(attach.Names))
	for _, err := range []error{posted, stated, attached} {
		if !errors.Is(err, client.ErrNotRunning) || !strings.Contains(err.Error(), "earshot run") {
			t.Errorf("told %v", err)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/x")
	if got, want := server.DefaultConfig().Path(), "/x/earshot/earshot.sock"; got != want {
		t.Errorf("the socket is %s, want %s", got, want)
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	if c := server.DefaultConfig(); c.Validate() != nil || !filepath.IsAbs(c.Path()) {
		t.Errorf("the socket is %s, %v", c.Path(), c.Validate())
	}
	for socket, want := range map[string]string{
		"/x/s":                         "",
		"s":                            `socket: is "s"; must be an absolute path`,
		"/" + strings.Repeat("x", 102): "",
		"/" + strings.Repeat("x", 103): "socket: has 104 bytes; the path of a socket can have at most 103",
		"~/earshot.sock":               `socket: is "~/earshot.sock"; must be an absolute path`,
	} {
		err := server.Config{Socket: socket}.Validate()
		if got := ""; err != nil && err.Error() != want || err == nil && got != want {
			t.Errorf("%.20s: %v, want %s", socket, err, want)
		}
	}
}

// TestPostIsCancelled: a caller that stops waiting is told so, and the daemon goes on.
func TestPostIsCancelled(t *testing.T) {
	h := newHouse()
	asked := make(chan struct{})
	h.refuse = func(ctx context.Context, _ earshot.Event) error {
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	}
	at, _ := serve(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := (&client.Client{Socket: at}).Post(ctx, "", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("told %v", err)
	}
}
