// Package llamatest runs llama.cpp's own server for tests: see [Start]. It runs a model made by
// [ollamatest], with a chat template that the test writes, and so refuses prompts as real models'
// templates do.
//
// The server is built by scripts/llama/build, once and outside the tree. It runs in a
// process group of its own, with its files in a temporary directory, on a free port of
// this machine, and talks to nobody else.
package llamatest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"earshot/internal/testkit"
	"earshot/llm/ollama/ollamatest"
)

// version is the version of the package that contains the server, as in scripts/llama/build.
const version = "0.3.36"

// Options are the choices of a test.
type Options struct {
	Model ollamatest.Model

	// Template is the chat template of the model, in Jinja. Its output must end with [Speak]. Empty
	// means one that accepts every prompt.
	Template string

	// Context is how many tokens a prompt and its reply may have; 0 means all of
	// [ollamatest.Context].
	Context int

	Embeds bool // the server turns texts into vectors, the mean of what the model has of each word
}

// Render is a template's loop over messages, as the model needs them; a template may refuse some
// before it.
const Render = `{%- for m in messages -%}
{%- if m.role != 'system' -%}<|{{ m.role }}|>{{ m.content }}<|end|><|end|><|end|><|end|>{%- endif -%}
{%- endfor -%}` + Speak

// Speak is the token at which the model begins to speak.
const Speak = "<|start|>"

// A Server is a running llama-server.
type Server struct {
	addr string
	log  bytes.Buffer // read only after it has ended
}

// Host returns its address, in the form for [earshot/llm/openai.Config].
func (s *Server) Host() string { return s.addr }

// upTime is how long the server may take to answer. It takes 0.2 s; a busy machine may take many
// times as long.
const upTime = 30 * time.Second

// Start runs a server until the test ends, and returns when it answers. If there is no binary the
// test fails, unless EARSHOT_WITHOUT names llama: then it is skipped.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	testkit.Need(t, "llama")
	binary := filepath.Join(Folder(), "llama-server")
	if _, err := os.Stat(binary); err != nil {
		t.Fatalf("no llama-server to test with: build one with scripts/llama/build, or do without by EARSHOT_WITHOUT=llama: %v", err)
	}
	dir := t.TempDir()
	model, template := filepath.Join(dir, "parrot.gguf"), filepath.Join(dir, "template.jinja")
	if err := writeModel(model, o.Model); err != nil {
		t.Fatal(err)
	}
	if o.Template == "" {
		o.Template = Render
	}
	if err := os.WriteFile(template, []byte(o.Template), 0o600); err != nil {
		t.Fatal(err)
	}
	if o.Context == 0 {
		o.Context = ollamatest.Context
	}
	s := &Server{}
	for range 5 { // another process may take the port before it is used
		var err error
		if s.addr, err = testkit.FreeAddress(); err != nil {
			t.Fatal(err)
		}
		host, port, _ := net.SplitHostPort(s.addr)
		s.log.Reset()
		p := exec.Command(binary, "--model", model, "--alias", "parrot", "--host", host, "--port", port,
			"--jinja", "--chat-template-file", template, "--ctx-size", strconv.Itoa(o.Context), "--parallel", "1", "--threads", "1", "--no-warmup", "--offline")
		if o.Embeds {
			p.Args = append(p.Args, "--embedding", "--pooling", "mean")
		}
		p.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		p.Stdout, p.Stderr = &s.log, &s.log
		p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { // until [end]
			defer close(ended)
			p.Wait()
		}()
		if s.answers(t.Context(), ended) {
			t.Cleanup(func() { s.end(t, p, ended) })
			return s
		}
		s.end(t, p, ended)
	}
	t.Fatalf("llama-server does not answer; it printed:\n%s", ollamatest.Tail(s.log.Bytes()))
	return nil
}

// Folder returns where scripts/llama/build installs the server, with the templates of models in
// templates below it.
func Folder() string {
	cache, _ := os.UserCacheDir() // without one, nothing is there either
	return filepath.Join(cache, "earshot", "llama-"+version)
}

// writeModel writes a model into a file.
func writeModel(path string, m ollamatest.Model) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return m.Write(f)
}

// answers reports whether the server answers before it ends.
func (s *Server) answers(ctx context.Context, ended <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(ctx, upTime)
	defer cancel()
	transport := &http.Transport{DisableKeepAlives: true}
	client := http.Client{Transport: transport}
	again := time.NewTicker(10 * time.Millisecond) // nothing announces a loaded model
	defer again.Stop()
	for {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/health", s.addr), nil)
		if resp, err := client.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return true
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		case <-ended:
			return false
		}
	}
}

// end ends the server and waits until it is gone.
func (s *Server) end(t testing.TB, p *exec.Cmd, ended <-chan struct{}) {
	p.Process.Signal(syscall.SIGINT)
	late := time.AfterFunc(5*time.Second, func() { syscall.Kill(-p.Process.Pid, syscall.SIGKILL) })
	testkit.Receive(t, testkit.Patience, "the end of the server, which was killed", ended)
	late.Stop()
	if t.Failed() {
		t.Logf("the server printed:\n%s", ollamatest.Tail(s.log.Bytes()))
	}
}
