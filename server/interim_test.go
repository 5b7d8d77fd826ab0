package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"earshot"
)

// A talk is what people are saying at the moment.
type talk struct {
	mu      sync.Mutex
	words   []earshot.Event
	changed chan struct{}
}

func (s *talk) now() ([]earshot.Event, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.words, s.changed
}

// says sets the words of some people, such as "ann: hello".
func (s *talk) says(all ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words = nil
	for _, one := range all {
		who, words, _ := strings.Cut(one, ": ")
		s.words = append(s.words, earshot.Event{
			At: time.Unix(1, 0), From: earshot.Handle{Provider: "voice", ID: who}, Visibility: earshot.Visibility{Scope: earshot.Public},
			Body: earshot.Speech{Stage: earshot.VoiceWords, Words: earshot.Text(words)},
		})
	}
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// lines returns the lines of the event stream of the house at a socket.
func lines(t *testing.T, path string) *bufio.Scanner {
	t.Helper()
	c := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
		DisableKeepAlives: true,
	}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", "http://localhost/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return bufio.NewScanner(resp.Body)
}

// next returns the next event of the stream, in short.
func next(t *testing.T, in *bufio.Scanner) string {
	t.Helper()
	for in.Scan() {
		if len(in.Bytes()) == 0 {
			continue
		}
		var e earshot.Event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case earshot.Speech:
			if e.Sequence != 0 || strings.Contains(in.Text(), `"sequence"`) {
				t.Errorf("words have a sequence: %s", in.Text())
			}
			return strings.TrimSpace(e.From.ID + " " + string(b.Stage) + " " + string(b.Words))
		case earshot.Message:
			return "message " + string(b.Text)
		}
	}
	t.Fatalf("nothing more comes: %v", in.Err())
	return ""
}

// TestWordsInTheStream: the event stream has the words that are being said, each time they change,
// and says when they are over. Other events come in between as usual.
func TestWordsInTheStream(t *testing.T) {
	var s talk
	h := newHouse()
	h.says = s.now
	path, _ := serve(t, h)
	fill(t, h, 1)
	in := lines(t, path)
	wants := func(all ...string) {
		t.Helper()
		for _, want := range all {
			if got := next(t, in); !strings.HasPrefix(got, want) {
				t.Fatalf("told %q, want %q", got, want)
			}
		}
	}
	wants("message")
	s.says("ann: turn")
	wants("ann words turn")
	s.says("ann: turn the lights", "bob: no")
	wants("ann words turn the lights", "bob words no")
	fill(t, h, 1)
	wants("message")
	s.says("bob: no", "ann: turn the lights") // the same words in another order are no change
	s.says("bob: no")
	wants("ann over")
	s.says()
	wants("bob over")
}

// TestSlowReaderIsToldTheNewestWords: a client that reads late gets the current words, and not all
// the earlier ones.
func TestSlowReaderIsToldTheNewestWords(t *testing.T) {
	var s talk
	h := newHouse()
	h.says = s.now
	path, _ := serve(t, h)
	in := lines(t, path)
	long := strings.Repeat("x", 4000)
	const n = 3000 // more than a socket buffers
	for i := range n {
		s.says("ann: " + long[:1000+i])
		if i == 0 {
			if got := next(t, in); got != "ann words "+long[:1000] {
				t.Fatalf("told %.40q first", got)
			}
		}
	}
	s.says("ann: the end")
	told, last := 0, ""
	for last != "ann words the end" {
		last = next(t, in)
		if told++; told > n {
			t.Fatalf("told %d times, and the end was not among it", told)
		}
	}
	if told == n {
		t.Error("all was told that was said meanwhile")
	}
}
