package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"earshot/internal/systemd"
	"earshot/internal/testkit"
)

// A seat is a mount namespace with its own cgroups, in which a real systemd looks after the
// programs of a user. It is gone when the systemd ends.
type seat struct {
	*home
	pid int // of the systemd
}

// newSeat starts a systemd --user for the user of h. It skips the test if there is no systemd, or
// no right to make a namespace.
func newSeat(t *testing.T, h *home) *seat {
	t.Helper()
	for _, program := range []string{"unshare", "nsenter", "dbus-daemon", "systemctl", "/lib/systemd/systemd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no systemd to try it with: ", err)
		}
	}
	if out, err := testkit.Command(t, "unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no namespace for a systemd of our own: %s", out)
	}
	s := &seat{home: h}
	runtime := filepath.Dir(filepath.Dir(s.socket))
	log := s.write("systemd.log", "")
	pid := filepath.Join(s.dir, "pid")
	// A systemd needs to see that the machine runs systemd, and it needs a cgroup of its own and a
	// bus. What its children mount for a service must be visible to all, as on a machine that it
	// has booted.
	script := s.write("seat.sh", `set -eu
mount --make-rshared /
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
		testkit.Receive(t, testkit.Patience, "the end of systemd", done)
		testkit.Command(t, "unshare", "--mount", "sh", "-c", `umount -l /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup
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

// within runs a program in the namespace of the systemd.
func (s *seat) within(program string, args ...string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		s.t.Fatal(err)
	}
	c := testkit.Command(s.t, "nsenter", append([]string{"--mount", "--target", strconv.Itoa(s.pid), path}, args...)...)
	c.Env, c.Dir = s.env, s.dir
	out, err := c.CombinedOutput()
	return string(out), err
}

func (s *seat) systemctl(args ...string) (string, error) {
	return s.within("systemctl", append([]string{"--user", "--no-pager"}, args...)...)
}

// installs installs the service. Systemd gives the service its own environment, not that of the
// user, so the settings go into a file. More is added to the unit.
func (s *seat) installs(more string) (out string) {
	s.t.Helper()
	var passed strings.Builder
	for _, entry := range append(s.env, asleep...) {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "EARSHOT_") && name != "GORACE" && name != "GOCOVERDIR" && name != "SSL_CERT_FILE" {
			continue
		}
		passed.WriteString(name + "=" + value + "\n")
	}
	s.write("config/earshot/environment", passed.String())
	s.write("config/systemd/user/earshot.service.d/test.conf", "[Service]\n"+more)
	out, err := s.within("earshot", "service", "install")
	if err != nil {
		log, _ := s.systemctl("status", systemd.UnitName)
		s.t.Fatalf("install: %v\n%s\n%s\n%s", err, out, log, s.read("systemd.log"))
	}
	return out
}

// TestSystemd: a real systemd runs the service with all its hardening. The service says when it is
// ready and how it is, is replaced when it is stuck, and ends.
func TestSystemd(t *testing.T) {
	t.Parallel()
	s := newSeat(t, newHome(t))
	s.scripted("reply: Well.\n")
	out := s.installs("WatchdogSec=2s\nTimeoutAbortSec=1s\n")
	if !strings.Contains(out, "✓ the service is active (running)") || !strings.Contains(out, "Earshot is running.") {
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
	if is["StatusText"] != "running, live" {
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
	if out, err := s.systemctl("reload", systemd.UnitName); err != nil {
		t.Errorf("reload: %v %s", err, out)
	}

	// Stopped as a whole, the service sends no more heartbeats, and is replaced.
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

// TestSystemdCredential: the service uses the secret that systemd hands to it as described in
// docs/service.md, and the secret is nowhere else.
func TestSystemdCredential(t *testing.T) {
	t.Parallel()
	c := newClub(t, "reply: Well.\n", "")
	s := newSeat(t, c.home)
	secret := filepath.Join(c.dir, "config/earshot/discord.token")
	if err := os.MkdirAll(filepath.Dir(secret), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(c.dir, "token"), secret); err != nil { // so that nothing is where the configuration looks for it
		t.Fatal(err)
	}
	said := s.installs("LoadCredential=discord:%E/earshot/discord.token\nEnvironment=EARSHOT_PROVIDERS_DISCORD_TOKEN_FILE=%d/discord\n")
	testkit.Await(t, soon, "the bot", func() bool { return c.Connected(c.bot.ID) })

	is := s.properties(t)
	pid := is["MainPID"]
	for _, file := range []string{"environ", "cmdline"} {
		text, err := os.ReadFile("/proc/" + pid + "/" + file)
		if err != nil || len(text) == 0 {
			t.Fatal(err)
		}
		said += string(text)
	}
	if !strings.Contains(said, "CREDENTIALS_DIRECTORY=") {
		t.Error("no credentials were handed to it")
	}
	for _, args := range [][]string{{"status"}, {"doctor"}, {"diagnostics"}, {"service", "status"}} {
		out, _ := s.within("earshot", args...) // the exit code may say that something is amiss
		said += out
	}
	for name, value := range is {
		said += name + "=" + value + "\n"
	}
	if out, err := s.within("earshot", "service", "stop"); err != nil {
		t.Errorf("stop: %v %s", err, out)
	}
	handed := filepath.Join(filepath.Dir(filepath.Dir(s.socket)), "credentials", systemd.UnitName)
	if out, err := s.within("ls", handed); err == nil {
		t.Errorf("after stop there is still %q in %s", out, handed)
	}
	for where, text := range map[string]string{"what is said": said, "systemd's log": s.read("systemd.log"), "the state": c.everything("state")} {
		if text == "" || strings.Contains(text, c.bot.Token) {
			t.Errorf("the secret stands in %s, or that is empty", where)
		}
	}
}

// properties returns what systemd knows about the service.
func (s *seat) properties(t *testing.T) map[string]string {
	t.Helper()
	out, err := s.systemctl("show", systemd.UnitName)
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
