package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"earshot/config"
	"earshot/internal/probe"
	"earshot/server/client"
)

// TestADaemonThatIsStuck: a command that asks a daemon which accepts connections and never answers
// says so, and does not wait for ever.
func TestADaemonThatIsStuck(t *testing.T) {
	dir, err := os.MkdirTemp("", "stuck") // short, because the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket) // accepts nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := (&client.Client{Socket: socket}).StateWithin(t.Context(), time.Millisecond); !errors.Is(err, client.ErrStuck) {
		t.Errorf("who asks is told %v", err)
	}
	cfg := config.Default()
	cfg.Server.Socket = socket
	if f := probe.Daemon(t.Context(), cfg); f.Works || !strings.Contains(f.Text, "has not answered") || f.Cure == "" {
		t.Errorf("the doctor says %+v", f)
	}
}
