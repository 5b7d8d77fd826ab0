package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/testkit"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		helpertest.Remove()
		os.Exit(code)
	}))
}

// TestStart: a server that cannot start says why, and what to do.
func TestStart(t *testing.T) {
	path := filepath.Join(helpertest.Build(t, helper.BusProgram), helper.BusProgram)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, hub := natstest.NewKey(t)
	good := natsserver.Config{Listen: "127.0.0.1:0", Hub: hub, Certificate: natstest.NewCertificate(t)}
	for _, tt := range []struct {
		name   string
		change func(*natsserver.Config)
		want   string
		cure   string
	}{
		{"a port that is taken", func(c *natsserver.Config) { c.Listen = taken.Addr().String() }, "the bus cannot listen: ", "set bus.listen to another port"},
		{"no port", func(c *natsserver.Config) { c.Listen = "here" }, "such as :4223, and not at \"here\"", ""},
		{"too large a port", func(c *natsserver.Config) { c.Listen = ":65536" }, "the bus listens at HOST:PORT", ""},
		{"no hub", func(c *natsserver.Config) { c.Hub = "" }, "the key of the hub", ""},
		{"no certificate", func(c *natsserver.Config) { c.Certificate = natsserver.Certificate{} }, "do not fit", ""},
		{"the key of another certificate", func(c *natsserver.Config) { c.Certificate.Key = natstest.NewCertificate(t).Key }, "do not fit", ""},
		{"a cluster without a port", func(c *natsserver.Config) { c.Cluster = &natsserver.Cluster{Name: "c"} }, "the bus listens at HOST:PORT", ""},
		{"a cluster at a port that is taken", func(c *natsserver.Config) {
			c.Cluster = &natsserver.Cluster{Name: "c", Listen: taken.Addr().String()}
		}, "the bus cannot listen: ", "set bus.cluster.listen to another port"},
		{"an address of another machine", func(c *natsserver.Config) { c.Listen = "192.0.2.1:4223" }, "the bus cannot listen: ", "set bus.listen to an address of this machine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := good
			tt.change(&cfg)
			dial := func() (helper.Link, error) {
				return helper.Start(helper.Command{Name: helper.BusProgram, Path: path, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
			}
			ended := make(chan error, 1)
			go func() { ended <- natsserver.New(dial, cfg).Run(t.Context()) }()
			err := testkit.Receive(t, testkit.Patience, "the server ends", ended)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("it says %v; want %q", err, tt.want)
			}
			var cure interface{ Cure() string }
			if got := errors.As(err, &cure); tt.cure != "" && (!got || !strings.Contains(cure.Cure(), tt.cure)) {
				t.Errorf("nothing says what to do: %v", err)
			}
		})
	}
}

// TestAlone: whoever starts it by hand is told that this is not how.
func TestAlone(t *testing.T) {
	path := filepath.Join(helpertest.Build(t, helper.BusProgram), helper.BusProgram)
	for _, tt := range []struct {
		args []string
		want string
		code int
	}{
		{nil, "does not run alone", 1},
		{[]string{"-p", "4222"}, "takes no arguments", 2},
	} {
		out, err := testkit.Command(t, path, tt.args...).CombinedOutput()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != tt.code || !strings.Contains(string(out), tt.want) {
			t.Errorf("%v: %s, %v", tt.args, out, err)
		}
	}
}

// TestLog: the log says what is wrong, and nothing that somebody may have said.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	l := &logger{w: &log, failed: make(chan string, 1)}
	l.Errorf("%s - cid:%d parser ERROR, state=%d: proto='%s...'", "there", 1, 2, "a secret")
	l.Noticef("%s", "nothing")
	l.Noticef("cid:1 - Slow Consumer %s", "Detected")
	l.Warnf("a warning")
	l.Fatalf("the end of %s", "it")
	l.Fatalf("once more")
	if got, want := log.String(), "there - cid:1 parser ERROR, state=2: \ncid:1 - Slow Consumer Detected\n"; got != want {
		t.Errorf("it says %q", got)
	}
	if why := testkit.Receive(t, testkit.Patience, "why", l.failed); why != "the end of it" {
		t.Errorf("it failed because of %q", why)
	}
}
