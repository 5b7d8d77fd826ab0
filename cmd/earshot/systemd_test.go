package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"earshot/internal/testkit"
)

// A seat is a place where a real systemd looks after the programs of a user: a mount
// namespace of its own, with its own cgroups, which is gone when it ends.
type seat struct {
	*home
	pid int // of the systemd
}

// newSeat starts a systemd --user, or skips the test where that cannot be: without
// systemd, or without the right to make a namespace.
func newSeat(t *testing.T) *seat {
	t.Helper()
	for _, program := range []string{"unshare", "nsenter", "dbus-daemon", "systemctl", "/lib/systemd/systemd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no systemd to try it with: ", err)
		}
	}
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no namespace for a systemd of our own: %s", out)
	}
	s := &seat{home: newHome(t)}
	runtime := filepath.Dir(filepath.Dir(s.socket))
	log := s.write("systemd.log", "")
	pid := filepath.Join(s.dir, "pid")
	// A systemd wants to be told that the machine runs systemd, to have a cgroup of
	// its own, and a bus.
	script := s.write("seat.sh", `set -eu
mount -t tmpfs none /run
mkdir -p /run/systemd/system
umount -l /sys/fs/cgroup || true
mount -t cgroup2 none /sys/fs/cgroup
cg=/sys/fs/cgroup/earshot-test-$$
mkdir $cg
echo $$ >$cg/cgroup.procs
dbus-daemon --session --address=unix:path=$XDG_RUNTIME_DIR/bus --nofork --nopidfile &
while [ ! -S $XDG_RUNTIME_DIR/bus ]; do sleep 0.05; done
echo $$ >"$HOME/pid"
exec /lib/systemd/systemd --user
`)
	out, err := os.OpenFile(log, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c := exec.Command("unshare", "--mount", "sh", script)
	c.Env = append(s.env[:len(s.env):len(s.env)], "SYSTEMD_LOG_TARGET=console")
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Skip("no systemd of our own: ", err)
	}
	done := make(chan struct{})
	go func() { c.Wait(); close(done) }()
	t.Cleanup(func() {
		if s.pid != 0 {
			s.systemctl("exit")
		}
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		<-done
		exec.Command("unshare", "--mount", "sh", "-c", `umount -l /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup
			find /sys/fs/cgroup/earshot-test-`+strconv.Itoa(s.pid)+` -depth -type d -exec rmdir {} ';'`).Run()
	})
	up := filepath.Join(runtime, "systemd", "private")
	testkit.Await(t, soon, "a systemd", func() bool {
		select {
		case <-done:
			return true
		default:
		}
		_, err := os.Stat(up)
		return err == nil
	})
	select {
	case <-done:
		t.Skipf("systemd --user does not run here: %s", s.read("systemd.log"))
	default:
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	s.pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	s.env = append(s.env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+filepath.Join(runtime, "bus"))
	return s
}

// within runs a program beside the systemd.
func (s *seat) within(program string, args ...string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		s.t.Fatal(err)
	}
	c := exec.Command("nsenter", append([]string{"--mount", "--target", strconv.Itoa(s.pid), path}, args...)...)
	c.Env, c.Dir = s.env, s.dir
	out, err := c.CombinedOutput()
	return string(out), err
}

func (s *seat) systemctl(args ...string) (string, error) {
	return s.within("systemctl", append([]string{"--user", "--no-pager"}, args...)...)
}

// TestSystemd: a real systemd runs the service with all its hardening: it says when it
// is ready and how it is, is replaced when it is stuck, and ends.
func TestSystemd(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	// Systemd gives a service its own environment, not ours.
	var passed strings.Builder
	for _, entry := range append(s.env, asleep...) {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "EARSHOT_") && name != "GORACE" && name != "GOCOVERDIR" {
			continue
		}
		passed.WriteString(name + "=" + value + "\n")
	}
	passed.WriteString("EARSHOT_EXECUTIVE_LLM_PROVIDER=script\nEARSHOT_EXECUTIVE_LLM_SCRIPT=" + s.write("model.yaml", "reply: Well.\n") + "\n")
	s.write("config/earshot/environment", passed.String())

	s.write("config/systemd/user/earshot.service.d/test.conf",
		"[Service]\nWatchdogSec=2s\nTimeoutAbortSec=1s\n")

	out, err := s.within("earshot", "service", "install")
	if err != nil {
		log, _ := s.systemctl("status", unitName)
		t.Fatalf("install: %v\n%s\n%s\n%s", err, out, log, s.read("systemd.log"))
	}
	if !strings.Contains(out, "✓ the service is active (running)") || !strings.Contains(out, "Earshot runs.") {
		t.Errorf("install says\n%s", out)
	}
	said := func() {
		t.Helper()
		if out, err := s.within("earshot", "say", "hello"); err != nil || out != "Well.\n" {
			t.Errorf("it says %q, %v", out, err)
		}
	}
	said()
	is := s.properties(t)
	if is["StatusText"] != "within earshot, live" {
		t.Errorf("its status is %q", is["StatusText"])
	}
	first := is["MainPID"]
	pid, _ := strconv.Atoi(first)

	about := "/proc/" + first + "/"
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2"} {
		if text, err := os.ReadFile(about + "status"); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s is not so: %v", want, err)
		}
	}
	if out, err := s.systemctl("reload", unitName); err != nil {
		t.Errorf("reload: %v %s", err, out)
	}

	// Stuck as a whole it beats no more, and is replaced.
	syscall.Kill(pid, syscall.SIGSTOP)
	testkit.Await(t, soon, "another one", func() bool {
		is = s.properties(t)
		return is["MainPID"] != first && is["MainPID"] != "0" && is["ActiveState"] == "active"
	})
	if is["NRestarts"] != "1" {
		t.Errorf("it was started again %s times", is["NRestarts"])
	}
	said()
	if out, err := s.within("earshot", "service", "stop"); err != nil {
		t.Errorf("stop: %v %s", err, out)
	}
	if is := s.properties(t); is["ActiveState"] != "inactive" || is["Result"] != "success" {
		t.Errorf("after stop it is %v", is)
	}
	if out, err := s.within("earshot", "service", "uninstall"); err != nil {
		t.Errorf("uninstall: %v %s", err, out)
	}
	if is := s.properties(t); is["LoadState"] != "not-found" {
		t.Errorf("after uninstall it is %v", is)
	}
}

// properties returns what systemd knows of the service.
func (s *seat) properties(t *testing.T) map[string]string {
	t.Helper()
	out, err := s.systemctl("show", unitName)
	if err != nil {
		t.Fatalf("show: %v %s", err, out)
	}
	is := make(map[string]string)
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		is[name] = value
	}
	return is
}
