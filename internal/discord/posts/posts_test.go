package posts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot/internal/discord/gateway"
	"earshot/internal/discord/posts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A recorder is a Discord that takes 100 ms for a message, and records what it was asked.
type recorder struct {
	began time.Time

	mu  sync.Mutex
	all []string
	err error
}

// Do implements [posts.REST].
func (r *recorder) Do(_ context.Context, q gateway.Request) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	var m struct{ Content string }
	data, _ := json.Marshal(q.Body)
	_ = json.Unmarshal(data, &m)
	r.all = append(r.all, fmt.Sprintf("%dms %s %s %s", time.Since(r.began).Milliseconds(), q.Method, q.Path[strings.LastIndex(q.Path, "/")+1:], m.Content))
	if q.Into == nil {
		return nil
	}
	time.Sleep(100 * time.Millisecond)
	return json.Unmarshal([]byte(`{"id":"7"}`), q.Into)
}

// A run is a running writer, and what it has reported.
type run struct {
	*posts.Writer
	bytes int
	err   error
	stop  context.CancelFunc
}

func start(r *recorder) *run {
	ctx, stop := context.WithCancel(context.Background())
	is := &run{stop: stop}
	is.Writer = posts.NewWriter(posts.WriterConfig{
		Channel: posts.Channel{ID: 5, REST: r}, Ping: func() bool { return false },
		Posted: func(uint64) {}, Reached: func(n int) { is.bytes = n },
		Ended: func(n int, err error) { is.bytes, is.err = n, err },
	})
	go is.Run(ctx)
	return is
}

// TestWriter: after the typing indicator, the first paragraph is posted at once, and later text is
// gathered. Text in a paused writer waits, and text that is cut is not posted.
func TestWriter(t *testing.T) {
	const first, second, third = "The tides follow the moon, mostly.\n\n", "Twice a day they come.\n\n", "More than anybody needs to know.\n\n"
	for name, tt := range map[string]struct {
		do    func(*run)
		want  []string
		bytes int
	}{
		"to its end": {func(w *run) { w.Write(third); w.Finish() }, []string{"4500ms POST messages Twice a day they come.\n\nMore than anybody needs to know."}, len(first + second + third)},
		"paused":     {func(w *run) { w.Pause(true); time.Sleep(time.Minute); w.Pause(false); w.Finish() }, []string{"64500ms POST messages Twice a day they come."}, len(first + second)},
		"cut":        {func(w *run) { w.Cut() }, nil, len(first)},
		"given up":   {func(w *run) { w.stop() }, nil, len(first)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{began: time.Now()}
				w := start(r)
				defer w.stop()
				time.Sleep(500 * time.Millisecond)
				w.Write(first)
				time.Sleep(time.Second)
				w.Write(second)
				time.Sleep(3 * time.Second)
				tt.do(w)
				<-w.Over()
				if want := append([]string{"300ms POST typing ", "500ms POST messages The tides follow the moon, mostly."}, tt.want...); !slices.Equal(r.all, want) || w.bytes != tt.bytes || w.err != nil {
					t.Errorf("asked %q, reported %d bytes and %v", r.all, w.bytes, w.err)
				}
			})
		})
	}
}

// TestWriterRefused: a refusal by Discord ends the reply, and a waiting Write, too.
func TestWriterRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{began: time.Now()}
		w := start(r)
		defer w.stop()
		w.Pause(true)
		full := make(chan error)
		go func() { full <- w.Write(strings.Repeat("a line of words\n", 2000)) }()
		synctest.Wait()
		select {
		case err := <-full:
			t.Fatalf("32 KB are taken at once: %v", err)
		default:
		}
		r.mu.Lock()
		r.err = errors.New("no")
		r.mu.Unlock()
		w.Pause(false)
		if err := <-full; err != r.err {
			t.Errorf("writing ends with %v", err)
		}
		<-w.Over()
		if w.err != r.err || w.bytes != 0 || w.Write("more") != r.err {
			t.Errorf("it ends with %v after %d bytes", w.err, w.bytes)
		}
	})
}

// TestLines: lines that come while Discord is slow become one message, and the oldest are left out.
func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, dropped := &recorder{began: time.Now()}, 0
		l := posts.NewLines(posts.Channel{ID: 5, REST: r}, func(n int) { dropped += n })
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); l.Run(ctx) }()
		l.Add("first")
		synctest.Wait()
		for i := range 10 {
			l.Add(fmt.Sprint("line ", i))
		}
		time.Sleep(time.Minute)
		stop()
		<-over
		want := []string{
			"0ms POST messages first",
			"5100ms POST messages -# \\(2 lines are left out)\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9",
		}
		if !slices.Equal(r.all, want) || dropped != 2 {
			t.Errorf("posted %q, dropped %d", r.all, dropped)
		}
	})
}
