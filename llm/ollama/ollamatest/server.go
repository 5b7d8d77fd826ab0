// Package ollamatest runs a real Ollama server for tests, with models that say what the test
// wants: see [Start] and [Model].
//
// The server is built by scripts/ollama/build, once and outside the tree. It
// runs in a process group of its own, with its files in a temporary directory,
// on a free port of this machine, and talks to nobody else.
package ollamatest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/ollama/ollama/api"

	"earshot/internal/testkit"
)

// Options are the choices of a test. The zero value is a default server, one reply at a time.
type Options struct {
	// Slots is how many replies a model gives at a time; 0 means 1.
	Slots int
}

// A Server is a running Ollama server. It is for one goroutine, except where
// a method says otherwise.
type Server struct {
	binary  string
	options Options
	dir     string
	addr    string
	client  *api.Client
	idle    *http.Transport // the connections of client
	process *exec.Cmd       // nil when it does not run
	ended   chan struct{}   // closed when process has ended
	log     bytes.Buffer    // what the server prints; read only after it has ended
}

// Run starts the server binary, and returns when it answers, or when ctx ends, which does not
// affect a server that has started. The caller must [Server.Stop] it. Tests call [Start] instead.
func Run(ctx context.Context, binary string, o Options) (*Server, error) {
	dir, err := os.MkdirTemp("", "ollamatest-")
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{}
	s := &Server{binary: binary, options: o, dir: dir, idle: transport}
	for range 5 { // another process may take the port before it is used
		if s.addr, err = testkit.FreeAddress(); err != nil {
			break
		}
		s.client = api.NewClient(&url.URL{Scheme: "http", Host: s.addr}, &http.Client{Transport: transport, Timeout: answerTime})
		if err = s.start(ctx); err == nil {
			return s, nil
		}
	}
	s.Stop()
	return nil, fmt.Errorf("starting %s: %w", binary, err)
}

// Host returns its address, in the form for [earshot/llm/ollama.Config]. It stays the same when
// the server is started again.
func (s *Server) Host() string { return s.addr }

// Client returns a plain client, for direct requests of a test.
func (s *Server) Client() *api.Client { return s.client }

// Restart ends the server, if it runs, and starts it again on the same port with the same models.
// It returns like [Run].
func (s *Server) Restart(ctx context.Context) error {
	s.end(syscall.SIGINT)
	return s.start(ctx)
}

// Stop ends the server as ^C does, and removes its files.
func (s *Server) Stop() {
	s.end(syscall.SIGINT)
	s.idle.CloseIdleConnections()
	os.RemoveAll(s.dir)
}

// Kill kills the server, and the processes that hold its models, like a power failure. The models
// stay on disk; see [Server.Restart].
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// KillRunner kills the processes that hold models, as when memory runs out, and returns how many
// there were. The server itself goes on. It finds them in /proc.
func (s *Server) KillRunner() int {
	runners := children(s.process.Process.Pid)
	for _, pid := range runners {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(runners)
}

// Make builds the model under a name. It may be used from many goroutines.
func (s *Server) Make(ctx context.Context, name string, m Model) error {
	files := make(map[string]string)
	var err error
	if files[name+".gguf"], err = s.file(ctx, m.Write); err == nil && m.Sees != nil {
		files[name+"-projector.gguf"], err = s.file(ctx, m.writeProjector)
	}
	if err != nil {
		return fmt.Errorf("making %s: %w", name, err)
	}
	return s.client.Create(ctx, &api.CreateRequest{
		Model:    name,
		Files:    files,
		Template: m.template(),
		Parameters: map[string]any{
			"num_ctx":    Context,
			"num_thread": 1, // more threads than cores that are free make it many times slower
		},
	}, func(api.ProgressResponse) error { return nil })
}

// file uploads the file that write writes, and returns its digest.
func (s *Server) file(ctx context.Context, write func(*os.File) error) (digest string, err error) {
	f, err := os.CreateTemp(s.dir, "model-*.gguf")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := write(f); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	digest = fmt.Sprintf("sha256:%x", sum.Sum(nil))
	return digest, s.client.CreateBlob(ctx, digest, io.NopCloser(f)) // the transport would close f, which is ours
}

// answerTime bounds a test's direct requests: a server wedged by a cut never answers.
const answerTime = 3 * time.Minute

// upTime is how long the server may take to answer. It takes 80 ms; a busy machine has been seen
// to take five seconds.
const upTime = 30 * time.Second

// start starts the process, and returns when it answers.
func (s *Server) start(ctx context.Context) error {
	s.log.Reset()
	p := exec.Command(s.binary, "serve")
	p.Env = s.environment()
	p.Stdout, p.Stderr = &s.log, &s.log
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.WaitDelay = time.Second // a runner that outlives its server keeps the log open
	if err := p.Start(); err != nil {
		return err
	}
	s.process, s.ended = p, make(chan struct{})
	go func() { // until [Server.end]
		defer close(s.ended)
		p.Wait()
	}()
	return s.await(ctx)
}

// await returns when the server answers, or ends it.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, upTime)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond) // nothing announces an open port
	defer again.Stop()
	for s.client.Heartbeat(ctx) != nil {
		select {
		case <-again.C:
			continue
		case <-ctx.Done():
		case <-s.ended:
		}
		s.end(syscall.SIGKILL)
		return fmt.Errorf("it does not answer; it printed:\n%s", Tail(s.log.Bytes()))
	}
	return nil
}

// environment is the whole environment of the server. Its home is in our directory, since it
// writes a key there.
func (s *Server) environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + s.dir,
		"OLLAMA_HOST=" + s.addr,
		"OLLAMA_MODELS=" + filepath.Join(s.dir, "models"),
		"OLLAMA_NUM_PARALLEL=" + strconv.Itoa(max(s.options.Slots, 1)),
		"OLLAMA_CONTEXT_LENGTH=" + strconv.Itoa(Context),
		"OLLAMA_KEEP_ALIVE=30m",
		"OLLAMA_NO_CLOUD=1",
	}
}

// endTime is how long the server may take to end when asked to.
const endTime = 5 * time.Second

// end sends the signal, kills the whole process group, and waits until it is gone.
func (s *Server) end(by syscall.Signal) {
	if s.process == nil {
		return
	}
	group := -s.process.Process.Pid
	if by == syscall.SIGINT {
		s.process.Process.Signal(by) // to the server alone, which ends its runners
	} else {
		syscall.Kill(group, by)
	}
	late := time.AfterFunc(endTime, func() { syscall.Kill(group, syscall.SIGKILL) })
	<-s.ended
	late.Stop()
	syscall.Kill(group, syscall.SIGKILL) // runners that it left behind
	s.process = nil
}

// Tail returns the last lines of a log.
func Tail(log []byte) []byte { return log[max(0, len(log)-4000):] }
