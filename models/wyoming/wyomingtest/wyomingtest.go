// Package wyomingtest runs the speech servers of Home Assistant for tests: see [StartRecogniser] and
// [StartVoice]. They have the tiny models of package modeltest, so a recogniser understands tones. That
// of [StartWaker] is ours, made with Home Assistant's package, as those that there are need trained
// models.
//
// The servers are installed by scripts/wyoming/build, once and outside the tree. Each runs in a
// process group of its own, with its files in a temporary directory, on a free port of this machine,
// and talks to nobody else.
package wyomingtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"earshot/internal/testkit"
	"earshot/models/modeltest"
	"earshot/models/wyoming"
)

//go:embed requirements.txt
var requirements []byte

// upTime is how long a server may take to answer: it imports half a gigabyte of libraries.
const upTime = 3 * time.Minute

// folder returns where scripts/wyoming/build installs the servers.
func folder() string {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	sum := sha256.Sum256(requirements)
	return filepath.Join(cache, "earshot", fmt.Sprintf("wyoming-%x", sum[:6]))
}

// A Server is a running server.
type Server struct {
	Address wyoming.Server

	t     testing.TB
	args  []string
	dir   string
	log   bytes.Buffer // read only after it has ended
	p     *exec.Cmd
	ended chan struct{}
}

// StartRecogniser runs wyoming-faster-whisper until the test ends, with a streaming model of
// sherpa-onnx.
func StartRecogniser(t testing.TB) *Server {
	t.Helper()
	return start(t, func(dir string) ([]string, error) {
		return []string{
			"wyoming_faster_whisper", "--data-dir", dir, "--download-dir", dir, "--model", "tiny", "--stt-library", "sherpa",
			"--sherpa-streaming", "--local-files-only", "--language", "en",
		}, modeltest.WriteTransducer(filepath.Join(dir, "tiny"))
	})
}

// StartVoice runs wyoming-piper until the test ends.
func StartVoice(t testing.TB) *Server {
	t.Helper()
	const voice = "en_US-tiny-low"
	return start(t, func(dir string) ([]string, error) {
		return []string{"wyoming_piper", "--data-dir", dir, "--voice", voice}, modeltest.WritePiper(dir, voice)
	})
}

// WakeWord is that of [StartWaker].
const WakeWord = "ok_tone"

//go:embed waker.py
var waker []byte

// StartWaker runs a server until the test ends whose wake word is the tone of the word "one".
func StartWaker(t testing.TB) *Server {
	t.Helper()
	return start(t, func(dir string) ([]string, error) {
		return []string{"waker"}, os.WriteFile(filepath.Join(dir, "waker.py"), waker, 0o600)
	})
}

// start runs a server. If none is installed the test fails, unless EARSHOT_WITHOUT names wyoming:
// then it is skipped.
func start(t testing.TB, prepare func(dir string) (args []string, err error)) *Server {
	t.Helper()
	testkit.Need(t, "wyoming")
	if _, err := os.Stat(filepath.Join(folder(), "complete")); err != nil {
		t.Fatalf("no Wyoming servers to test with: install them with scripts/wyoming/build, or do without by EARSHOT_WITHOUT=wyoming: %v", err)
	}
	s := &Server{t: t, dir: t.TempDir()}
	var err error
	if s.args, err = prepare(s.dir); err != nil {
		t.Fatal(err)
	}
	for range 5 { // another process may take the port before it is used
		port, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s.Address = wyoming.Server(port.Addr().String())
		port.Close()
		if s.run() {
			t.Cleanup(s.Stop)
			return s
		}
		s.Stop()
	}
	t.Fatalf("%s does not answer; it printed:\n%s", s.args[0], s.log.Bytes())
	return nil
}

// run starts the server at its address, and reports whether it answers.
func (s *Server) run() bool {
	s.t.Helper()
	s.log.Reset()
	s.p = exec.Command(filepath.Join(folder(), "bin", "python"), append([]string{"-m", s.args[0], "--uri", "tcp://" + string(s.Address)}, s.args[1:]...)...)
	s.p.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "OMP_NUM_THREADS=1", "HF_HUB_OFFLINE=1", "PYTHONPATH=" + s.dir}
	s.p.Stdout, s.p.Stderr = &s.log, &s.log
	s.p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.p.Start(); err != nil {
		s.t.Fatal(err)
	}
	p, ended := s.p, make(chan struct{})
	s.ended = ended
	go func() { // until Stop
		defer close(ended)
		p.Wait()
	}()
	return testkit.Poll(upTime, func() bool {
		ctx, cancel := context.WithTimeout(s.t.Context(), testkit.Patience)
		defer cancel()
		_, err := s.Address.Describe(ctx)
		return err == nil || s.hasEnded()
	}) && !s.hasEnded()
}

func (s *Server) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// Stop kills the server, as a machine that fails does.
func (s *Server) Stop() {
	s.t.Helper()
	syscall.Kill(-s.p.Process.Pid, syscall.SIGKILL)
	testkit.Receive(s.t, testkit.Patience, "the end of "+s.args[0], s.ended)
}

// Restart runs the server again, at the same address.
func (s *Server) Restart() {
	s.t.Helper()
	if !s.run() {
		s.t.Fatalf("%s does not answer again", s.args[0])
	}
}
