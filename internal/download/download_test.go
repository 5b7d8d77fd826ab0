package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/testkit"
)

func TestMain(m *testing.M) {
	if url := os.Getenv("EARSHOT_TEST_DOWNLOAD"); url != "" {
		d := &Downloader{Parts: filepath.Join(os.Getenv("EARSHOT_TEST_FOLDER"), "parts")}
		_, err := d.Get(context.Background(), File{SHA256: sumOf(content), Bytes: int64(len(content)), URLs: []string{url}}, filepath.Join(os.Getenv("EARSHOT_TEST_FOLDER"), "model"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// content is a file.
var content = func() []byte {
	b := make([]byte, 300_000)
	rand.NewChaCha8([32]byte{7}).Read(b)
	return b
}()

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// A host serves content in many ways, and counts what it was asked.
type fileHost struct {
	*httptest.Server
	mu     sync.Mutex
	asked  map[string]int
	ranges []string
	sent   atomic.Int64

	release chan struct{} // closed when /wait may answer
}

// newHost starts a server.
func newHost(t *testing.T) *fileHost {
	h := &fileHost{asked: make(map[string]int), release: make(chan struct{})}
	h.Server = httptest.NewServer(h)
	t.Cleanup(func() { testkit.Finish(t, testkit.Patience, "the end of the server", h.Close) })
	return h
}

// ServeHTTP answers as its path says.
func (h *fileHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked[r.URL.Path]++
	n := h.asked[r.URL.Path]
	h.ranges = append(h.ranges, r.Header.Get("Range"))
	h.mu.Unlock()
	give := func(w http.ResponseWriter, b []byte) {
		http.ServeContent(w, r, "m.onnx", time.Time{}, bytes.NewReader(b))
	}
	switch r.URL.Path {
	case "/good":
		give(&counter{w, h}, content)
	case "/cut": // each time after 100 kB
		give(&cutter{counter{w, h}, 100_000}, content)
	case "/whole": // knows no ranges
		r.Header.Del("Range")
		give(w, content)
	case "/wrong":
		b := bytes.Clone(content)
		b[1000] ^= 1
		give(w, b)
	case "/changed": // another version while it is brought
		b := slices.Repeat([]byte{9}, len(content))
		if n == 1 {
			give(&cutter{counter{w, h}, 100_000}, b)
			return
		}
		give(w, content)
	case "/short": // has another file, which is shorter
		give(w, content[:1000])
	case "/packed":
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(content)
	case "/tagged": // as /cut, and says which version it is
		w.Header().Set("ETag", `"1"`)
		give(&cutter{counter{w, h}, 100_000}, content)
	case "/weak": // promises little about its version
		w.Header().Set("ETag", `W/"1"`)
		give(&cutter{counter{w, h}, 100_000}, content)
	case "/renewed": // is another version the second time
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
		if n == 1 {
			give(&cutter{counter{w, h}, 100_000}, slices.Repeat([]byte{9}, len(content)))
			return
		}
		give(w, content)
	case "/liar": // continues another version than it was asked for
		if r.Header.Get("Range") == "" && n == 1 {
			w.Header().Set("ETag", `"1"`)
			give(&cutter{counter{w, h}, 100_000}, slices.Repeat([]byte{9}, len(content)))
			return
		}
		r.Header.Del("If-Range")
		w.Header().Set("ETag", `"2"`)
		give(w, content)
	case "/page":
		fmt.Fprint(w, "<!DOCTYPE html><html>log in</html>")
	case "/pointer":
		fmt.Fprint(w, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
	case "/empty":
	case "/endless":
		for range 10 * len(content) / 1000 {
			if _, err := w.Write(content[:1000]); err != nil {
				return
			}
		}
	case "/longer":
		give(w, append(bytes.Clone(content), 1))
	case "/busy":
		if n < 3 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		give(w, content)
	case "/circle":
		http.Redirect(w, r, "/circle", http.StatusFound)
	case "/moved":
		http.Redirect(w, r, "/good", http.StatusFound)
	case "/slow":
		w.Write(content[:10])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "/hold": // sends 30 kB each time, and then nothing
		give(&holder{cutter{counter{w, h}, 30_000}, r.Context()}, content)
	case "/wait":
		<-h.release
		give(w, content)
	default:
		http.NotFound(w, r)
	}
}

// A counter counts what is sent.
type counter struct {
	http.ResponseWriter
	h *fileHost
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	c.h.sent.Add(int64(n))
	return n, err
}

// A cutter ends the connection after so many bytes.
type cutter struct {
	counter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	n, err := c.counter.Write(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 {
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// A holder sends nothing more after so many bytes, and waits for the end of the connection.
type holder struct {
	cutter
	ctx interface{ Done() <-chan struct{} }
}

func (c *holder) Write(b []byte) (int, error) {
	n, err := c.counter.Write(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 {
		c.ResponseWriter.(http.Flusher).Flush()
		<-c.ctx.Done()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// newDownloader returns one that waits for nothing.
func newDownloader(dir string) *Downloader {
	return &Downloader{Parts: filepath.Join(dir, "parts"), sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
}

// TestGet: whatever the servers do, the file is whole and right, or there is none.
func TestGet(t *testing.T) {
	for _, tt := range []struct {
		urls, part string
		want       string         // of the error
		asked      map[string]int // if it matters
		sent       int            // at most, if it matters
	}{
		{urls: "/good"},
		{urls: "/moved"},
		{urls: "/cut", asked: map[string]int{"/cut": 3}, sent: len(content) + 100},
		{urls: "/busy", asked: map[string]int{"/busy": 3}},
		{urls: "/changed", asked: map[string]int{"/changed": 3}},
		{urls: "/gone /good", asked: map[string]int{"/gone": 1}},
		{urls: "/wrong /good", asked: map[string]int{"/wrong": 1}},
		{urls: "/page /good", asked: map[string]int{"/page": 1}},
		{urls: "/wrong", want: "another file"},
		{urls: "/page", want: "web page"},
		{urls: "/pointer", want: "git-lfs"},
		{urls: "/empty", want: "0 of 300000 bytes"},
		{urls: "/endless", want: "more than the file has"},
		{urls: "/longer", want: "another length"},
		{urls: "/short", want: "another length", asked: map[string]int{"/short": 1}},
		{urls: "/packed", want: "encoding", asked: map[string]int{"/packed": 1}},
		{urls: "/circle", want: "redirects too often"},
		{urls: "/gone", want: "404"},
		{urls: "", want: "no address"},
		{urls: "/good", part: "half", sent: len(content)/2 + 100},
		{urls: "/whole", part: "half"},
		{urls: "/good", part: "wrong", asked: map[string]int{"/good": 2}}, // once more from its beginning
		{urls: "/good", part: "long", asked: map[string]int{"/good": 1}},
		{urls: "/good", part: "all", asked: map[string]int{"/good": 0}},
	} {
		t.Run(strings.ReplaceAll(tt.urls, "/", "")+" "+tt.part, func(t *testing.T) {
			h, dir := newHost(t), t.TempDir()
			d, path := newDownloader(dir), filepath.Join(dir, "model")
			f := File{SHA256: sumOf(content), Bytes: int64(len(content))}
			for _, u := range strings.Fields(tt.urls) {
				f.URLs = append(f.URLs, h.URL+u)
			}
			part := map[string][]byte{"half": content[:len(content)/2], "wrong": make([]byte, len(content)/2), "long": make([]byte, len(content)+5), "all": content}
			if tt.part != "" {
				if err := errors.Join(os.MkdirAll(d.Parts, 0o700), os.WriteFile(filepath.Join(d.Parts, f.SHA256), part[tt.part], 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			sum, err := d.Get(t.Context(), f, path)
			got, _ := os.ReadFile(path)
			switch {
			case tt.want != "":
				if err == nil || !strings.Contains(err.Error(), tt.want) || got != nil {
					t.Errorf("%v with %d bytes; want %q", err, len(got), tt.want)
				}
				if tt.urls != "" && err != nil && !strings.Contains(err.Error(), "127.0.0.1") {
					t.Errorf("%v does not name the server", err)
				}
			case err != nil || sum != f.SHA256 || !bytes.Equal(got, content):
				t.Errorf("%d bytes, %.12s, %v", len(got), sum, err)
			}
			for path, n := range tt.asked {
				if h.asked[path] != n {
					t.Errorf("%s was asked %d times, not %d", path, h.asked[path], n)
				}
			}
			if sent := h.sent.Load(); tt.sent > 0 && sent > int64(tt.sent) {
				t.Errorf("%d bytes were sent of %d", sent, len(content))
			}
			if tt.want == "" {
				clear(h.asked)
				if _, err := d.Get(t.Context(), f, path); err != nil || len(h.asked) > 0 {
					t.Errorf("again: %v after %v", err, h.asked)
				}
				if left, _ := os.ReadDir(d.Parts); len(left) > 0 {
					t.Errorf("%v is left", left)
				}
			}
		})
	}
}

// TestUnpublished: a file whose checksum nobody has published is believed as it comes, but a cut
// one is not, and is not continued.
func TestUnpublished(t *testing.T) {
	h, dir := newHost(t), t.TempDir()
	d, path := newDownloader(dir), filepath.Join(dir, "model")
	if _, err := d.Get(t.Context(), File{URLs: []string{h.URL + "/cut"}}, path); err == nil {
		t.Error("a cut file was believed")
	}
	if h.asked["/cut"] != tries || slices.ContainsFunc(h.ranges, func(r string) bool { return r != "" }) {
		t.Errorf("asked %v for %q", h.asked, h.ranges)
	}
	sum, err := d.Get(t.Context(), File{URLs: []string{h.URL + "/good"}}, path)
	if err != nil || sum != sumOf(content) {
		t.Errorf("%q, %v", sum, err)
	}
}

// TestUnpublishedContinues: such a file is continued if its server says which version it has, and that
// it is still the same; and begun again if not.
func TestUnpublishedContinues(t *testing.T) {
	for _, tt := range []struct {
		url   string
		asked int
		fails bool
	}{{"/tagged", 3, false}, {"/renewed", 2, false}, {"/liar", 3, false}, {"/weak", tries, true}} {
		h, dir := newHost(t), t.TempDir()
		d, path := newDownloader(dir), filepath.Join(dir, "model")
		sum, err := d.Get(t.Context(), File{URLs: []string{h.URL + tt.url}}, path)
		if (err != nil) != tt.fails || err == nil && sum != sumOf(content) || h.asked[tt.url] != tt.asked {
			t.Errorf("%s: %.12s, %v after %v", tt.url, sum, err, h.asked)
		}
		if left, _ := os.ReadDir(d.Parts); !tt.fails && len(left) > 0 {
			t.Errorf("%s: %v is left", tt.url, left)
		}
	}
	h, dir := newHost(t), t.TempDir() // what one mirror began is not continued by another
	_, err := newDownloader(dir).Get(t.Context(), File{URLs: []string{h.URL + "/weak", h.URL + "/tagged"}}, filepath.Join(dir, "model"))
	if err != nil || slices.IndexFunc(h.ranges, func(r string) bool { return r != "" }) != tries+1 {
		t.Errorf("%v after %q", err, h.ranges)
	}
}

// TestSlow: a server that sends hardly anything is as good as one that sends nothing.
func TestSlow(t *testing.T) {
	h, dir := newHost(t), t.TempDir()
	d := newDownloader(dir)
	d.stall = 100 * time.Millisecond
	_, err := d.Get(t.Context(), File{SHA256: sumOf(content), Bytes: int64(len(content)), URLs: []string{h.URL + "/slow"}}, filepath.Join(dir, "model"))
	if err == nil || !strings.Contains(err.Error(), "hardly anything") || h.asked["/slow"] != tries {
		t.Errorf("%v after %v", err, h.asked)
	}
}

// TestReplaced: what is at the path is replaced if it is another file, and kept until then.
func TestReplaced(t *testing.T) {
	h, dir := newHost(t), t.TempDir()
	d, path := newDownloader(dir), filepath.Join(dir, "model")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	f := File{SHA256: sumOf(content), Bytes: int64(len(content)), URLs: []string{h.URL + "/wrong"}}
	if _, err := d.Get(t.Context(), f, path); err == nil {
		t.Error("a wrong file was believed")
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("the old file became %d bytes", len(b))
	}
	f.URLs = []string{h.URL + "/good"}
	if _, err := d.Get(t.Context(), f, path); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o444 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestTwoAtOnce: several that want the same file bring it once.
func TestTwoAtOnce(t *testing.T) {
	h, dir := newHost(t), t.TempDir()
	f := File{SHA256: sumOf(content), Bytes: int64(len(content)), URLs: []string{h.URL + "/wait"}}
	var all, waiting sync.WaitGroup
	waiting.Add(3)
	for range 4 {
		var once sync.Once
		d := newDownloader(dir)
		d.sleep = func(ctx context.Context, _ time.Duration) error {
			once.Do(waiting.Done)
			runtime.Gosched()
			return ctx.Err()
		}
		all.Go(func() {
			if _, err := d.Get(t.Context(), f, filepath.Join(dir, "model")); err != nil {
				t.Error(err)
			}
		})
	}
	testkit.Finish(t, testkit.Patience, "three that wait for the fourth", waiting.Wait)
	close(h.release)
	testkit.Finish(t, testkit.Patience, "four downloads", all.Wait)
	if h.asked["/wait"] != 1 {
		t.Errorf("it was brought %d times", h.asked["/wait"])
	}
}

// TestStopped: the end of the context ends a download at once, and says why.
func TestStopped(t *testing.T) {
	h, dir := newHost(t), t.TempDir()
	ctx, stop := context.WithCancelCause(t.Context())
	d := newDownloader(dir)
	why := errors.New("stopped by hand")
	d.Progress = func(int64, int64) { stop(why) }
	f := File{SHA256: sumOf(content), Bytes: int64(len(content)), URLs: []string{h.URL + "/slow"}}
	if _, err := d.Get(ctx, f, filepath.Join(dir, "model")); !errors.Is(err, why) {
		t.Error(err)
	}
	if b, _ := os.ReadFile(filepath.Join(d.Parts, f.SHA256)); !bytes.Equal(b, content[:10]) {
		t.Errorf("%d bytes were kept", len(b))
	}
}

// TestPlainRedirect: nobody is led from https to anything else.
func TestPlainRedirect(t *testing.T) {
	h, dir := newHost(t), t.TempDir()
	secure := httptest.NewTLSServer(http.RedirectHandler(h.URL+"/good", http.StatusFound))
	defer testkit.Finish(t, testkit.Patience, "the end of the server", secure.Close)
	d := newDownloader(dir)
	d.transport = secure.Client().Transport
	_, err := d.Get(t.Context(), File{SHA256: sumOf(content), URLs: []string{secure.URL}}, filepath.Join(dir, "model"))
	if err == nil || !strings.Contains(err.Error(), "without https") || len(h.asked) > 0 {
		t.Errorf("%v after %v", err, h.asked)
	}
}

// TestFullDisk: a disk that is too small is said before, and one that becomes full when it does.
func TestFullDisk(t *testing.T) {
	h, dir := newHost(t), t.TempDir()
	var full *SpaceError
	_, err := newDownloader(dir).Get(t.Context(), File{SHA256: sumOf(content), Bytes: 1 << 60, URLs: []string{h.URL + "/good"}}, filepath.Join(dir, "model"))
	if !errors.As(err, &full) || full.Cure() == "" || len(h.asked) > 0 {
		t.Errorf("%v after %v", err, h.asked)
	}
	small := t.TempDir()
	if err := syscall.Mount("none", small, "tmpfs", 0, "size=100k"); err != nil {
		t.Skipf("only root can make a small disk: %v", err)
	}
	defer syscall.Unmount(small, 0)
	_, err = newDownloader(small).Get(t.Context(), File{SHA256: sumOf(content), URLs: []string{h.URL + "/good"}}, filepath.Join(small, "model"))
	if !errors.As(err, &full) || full.Free != -1 {
		t.Errorf("%v", err)
	}
}

// TestKilled: a program that is killed while it downloads leaves nothing that another would take
// for the file, and the next one goes on.
func TestKilled(t *testing.T) {
	h, dir := newHost(t), t.TempDir()
	start := func(path string) *exec.Cmd {
		cmd := testkit.Command(t, os.Args[0])
		cmd.Env = append(os.Environ(), "EARSHOT_TEST_DOWNLOAD="+h.URL+path, "EARSHOT_TEST_FOLDER="+dir)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	part := filepath.Join(dir, "parts", sumOf(content))
	for n := int64(1); n <= 5; n++ {
		cmd := start("/hold")
		testkit.Await(t, testkit.Patience, "30 kB more of the file", func() bool {
			info, err := os.Stat(part)
			return err == nil && info.Size() == n*30_000
		})
		cmd.Process.Kill()
		testkit.Finish(t, testkit.Patience, "the end of the program", func() { cmd.Wait() })
		if _, err := os.Stat(filepath.Join(dir, "model")); err == nil {
			t.Fatal("there is a file already")
		}
	}
	last := start("/good")
	testkit.Finish(t, testkit.Patience, "the end of the program", func() {
		if err := last.Wait(); err != nil {
			t.Error(err)
		}
	})
	if b, _ := os.ReadFile(filepath.Join(dir, "model")); !bytes.Equal(b, content) {
		t.Errorf("%d bytes", len(b))
	}
}

// TestCutAnywhere: wherever a connection ends, the next one goes on exactly there.
func TestCutAnywhere(t *testing.T) {
	small := content[:257]
	dir := t.TempDir()
	for at := range len(small) {
		n := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n++; n == 1 {
				w.Header().Set("Content-Length", fmt.Sprint(len(small)))
				w.Write(small[:at])
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(small))
		}))
		path := filepath.Join(dir, fmt.Sprint(at))
		if _, err := newDownloader(dir).Get(t.Context(), File{SHA256: sumOf(small), Bytes: int64(len(small)), URLs: []string{s.URL}}, path); err != nil {
			t.Errorf("cut after %d bytes: %v", at, err)
		}
		testkit.Finish(t, testkit.Patience, "the end of the server", s.Close)
		if b, _ := os.ReadFile(path); !bytes.Equal(b, small) || n != 2 {
			t.Errorf("cut after %d bytes: %d bytes after %d requests", at, len(b), n)
		}
	}
}
