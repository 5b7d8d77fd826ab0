// Package pgtest runs PostgreSQL's own server for tests, from Debian's package: in a directory of
// its own, on a unix socket, and under a user that may do nothing else where the tests run as root.
package pgtest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"earshot/internal/testkit"
)

// A Server is a server that may be running. Its methods fail the test that they are called from.
type Server struct {
	Dir string // with its data in the folder data, its socket, and its log

	host       Host
	credential *syscall.Credential // nil means ours
	programs   string
	process    *exec.Cmd
	exited     chan struct{}
}

// A Host is where a server runs. The zero value is this machine, where only its socket leads to it.
type Host struct {
	Address string             // of the host, without a port, where the server listens too, for whoever comes there
	In      func(start func()) // calls start, which starts a process, on a thread of the host
}

// databases counts the databases that tests have made.
var databases atomic.Int64

// Start starts a server with an empty cluster, and with settings such as "fsync=on". It stops when
// the test ends. EARSHOT_WITHOUT=postgres skips the test.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	return StartOn(t, Host{}, settings...)
}

// StartOn starts a server as [Start] does, on a host.
func StartOn(t testing.TB, host Host, settings ...string) *Server {
	t.Helper()
	s := newServer(t, host)
	s.run(t, "initdb", "--pgdata", s.data(), "--username", "earshot", "--auth", "trust", "--locale", "C", "--encoding", "UTF8", "--no-sync", "--no-instructions")
	hba := filepath.Join(s.data(), "pg_hba.conf")
	rules, err := os.ReadFile(hba)
	if err == nil {
		err = os.WriteFile(hba, append(rules, "host all all all trust\n"...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Resume(t, settings...)
	return s
}

func newServer(t testing.TB, host Host) *Server {
	t.Helper()
	testkit.Need(t, "postgres")
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		t.Fatal("PostgreSQL is missing: run scripts/setup test, or do without it: EARSHOT_WITHOUT=postgres")
	}
	slices.Sort(found)
	dir, err := os.MkdirTemp("", "pg") // the path of a socket has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{Dir: dir, host: host, programs: filepath.Dir(found[len(found)-1])}
	if os.Getuid() == 0 { // as whom the server refuses to run
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

// command returns a command of PostgreSQL, which runs as the user of the server.
func (s *Server) command(t testing.TB, program string, args ...string) *exec.Cmd {
	return s.as(testkit.Command(t, filepath.Join(s.programs, program), args...))
}

// as has a command run as the user of the server.
func (s *Server) as(c *exec.Cmd) *exec.Cmd {
	c.Dir = s.Dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "PGHOST=" + s.Dir, "PGUSER=earshot", "PGDATABASE=postgres", "PGCONNECT_TIMEOUT=10"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.credential}
	return c
}

// run runs a command of PostgreSQL to its end, and returns what it wrote.
func (s *Server) run(t testing.TB, program string, args ...string) string {
	t.Helper()
	out, err := s.command(t, program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(bytes.TrimSpace(out))
}

// Resume starts the server again that was stopped or killed, and waits until it can be used.
func (s *Server) Resume(t testing.TB, settings ...string) {
	t.Helper()
	args := []string{"-D", s.data(), "-k", s.Dir, "-h", s.host.Address}
	for _, set := range append([]string{"fsync=off", "max_connections=50", "shared_buffers=16MB", "wal_level=replica"}, settings...) {
		args = append(args, "-c", set)
	}
	s.process, s.exited = s.as(exec.Command(filepath.Join(s.programs, "postgres"), args...)), make(chan struct{})
	log, err := os.OpenFile(s.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.process.Stdout, s.process.Stderr = log, log
	if s.host.In == nil {
		err = s.process.Start()
	} else {
		s.host.In(func() { err = s.process.Start() })
	}
	if err != nil {
		t.Fatal(err)
	}
	process, exited := s.process, s.exited
	go func() {
		defer close(exited)
		_ = process.Wait()
	}()
	t.Cleanup(func() {
		select {
		case <-exited:
		default:
			_ = process.Process.Signal(syscall.SIGQUIT) // at once, as after a crash
			testkit.Receive(t, testkit.Patience, "the end of the server", exited)
		}
	})
	ready := false
	testkit.Poll(testkit.Patience, func() bool {
		select {
		case <-exited:
			return true
		default:
			ready = s.command(t, "pg_isready", "--quiet").Run() == nil
			return ready
		}
	})
	if !ready {
		text, _ := os.ReadFile(s.log())
		t.Fatalf("the server ended, or accepted no connections for %v; its log ends with\n%s", testkit.Patience, text[max(0, len(text)-2000):])
	}
}

func (s *Server) log() string { return filepath.Join(s.Dir, "log") }

// Database makes an empty database, and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", databases.Add(1))
	s.run(t, "createdb", name)
	return URL(name, s)
}

// URL returns the URL of a database that is on all of some servers, at their hosts' addresses if they have any.
func URL(database string, servers ...*Server) string {
	var hosts []string
	for _, s := range servers {
		hosts = append(hosts, cmp.Or(s.host.Address, s.Dir))
	}
	return "postgres://earshot@/" + database + "?host=" + url.QueryEscape(strings.Join(hosts, ",")) + "&sslmode=disable"
}

// Query runs a statement in a database, and returns what psql writes of its result.
func (s *Server) Query(t testing.TB, database, statement string) string {
	t.Helper()
	return s.run(t, "psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--dbname", database, "--command", statement)
}

// Standby starts a copy of the server that follows it, with settings. Nothing is committed before it has
// that too.
func (s *Server) Standby(t testing.TB, settings ...string) *Server {
	t.Helper()
	return s.StandbyOn(t, Host{}, settings...)
}

// StandbyOn starts such a copy on a host.
func (s *Server) StandbyOn(t testing.TB, host Host, settings ...string) *Server {
	t.Helper()
	b := newServer(t, host)
	b.Follow(t, s, settings...)
	return b
}

// Follow makes a server that does not run a copy of another, as [Server.Standby] does. What it had is gone.
func (s *Server) Follow(t testing.TB, first *Server, settings ...string) {
	t.Helper()
	if err := os.RemoveAll(s.data()); err != nil {
		t.Fatal(err)
	}
	first.run(t, "pg_basebackup", "--pgdata", s.data(), "--write-recovery-conf", "--checkpoint", "fast", "--no-sync", "--dbname", "host="+first.Dir+" user=earshot application_name=standby")
	s.Resume(t, settings...)
	first.Query(t, "postgres", "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
	first.Query(t, "postgres", "SELECT pg_reload_conf()")
	testkit.Await(t, testkit.Patience, "the standby follows", func() bool {
		return first.Query(t, "postgres", "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1"
	})
}

// Promote makes a standby the server that can be written to, for which it needs none of its own.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.run(t, "pg_ctl", "promote", "--pgdata", s.data(), "--wait")
}

// Pause stops all processes of the server where they are, until goOn is called.
func (s *Server) Pause(t testing.TB) (goOn func()) {
	s.signal(t, syscall.SIGSTOP)
	return func() { s.signal(t, syscall.SIGCONT) }
}

// Kill ends all processes of the server without asking them, and waits until none of them is attached to its
// memory: until then, it does not start again.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	s.signal(t, syscall.SIGKILL)
	testkit.Receive(t, testkit.Patience, "the end of the server", s.exited)
	lock, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	lines := append(strings.Split(string(lock), "\n"), make([]string, 7)...)
	memory := strings.Fields(lines[6]) // its key and its ID
	if len(memory) != 2 {
		t.Fatalf("postmaster.pid does not say which memory the server has: %q", lock)
	}
	testkit.Await(t, testkit.Patience, "the processes of the server give up its memory", func() bool {
		all, err := os.ReadFile("/proc/sysvipc/shm")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(all)) {
			if is := strings.Fields(line); is[1] == memory[1] {
				return is[6] == "0"
			}
		}
		return true
	})
}

// signal sends a signal to the server and to each of its processes, which have process groups of
// their own.
func (s *Server) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	pid := s.process.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil { // so that it starts no more of them
		t.Fatal(err)
	}
	testkit.Await(t, testkit.Patience, "the server stands still", func() bool { // it may be starting one at this moment
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return bytes.Contains(status, []byte("State:\tT")) || bytes.Contains(status, []byte("State:\tZ"))
	})
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	var faults []error
	for _, child := range strings.Fields(string(children)) {
		n, _ := strconv.Atoi(child)
		if err := syscall.Kill(n, signal); !errors.Is(err, syscall.ESRCH) { // it may have ended by itself
			faults = append(faults, err)
		}
	}
	if err := errors.Join(append(faults, syscall.Kill(pid, signal))...); err != nil {
		t.Fatal(err)
	}
}
