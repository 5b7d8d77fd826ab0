package wyoming_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/internal/testkit"
	"earshot/models/modeltest"
	"earshot/models/wire"
	"earshot/models/wyoming"
	"earshot/models/wyoming/wyomingtest"
)

// A phraseHelper stands in for the helper that seeks phrases.
type phraseHelper struct {
	mu   sync.Mutex
	open wire.OpenHear
	got  int // messages of sound
}

// Run implements [helper.Link].
func (p *phraseHelper) Run(ctx context.Context, h helper.Handler) error {
	if err := h.Control(helper.Control{Name: wire.ReadyName}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// Send implements [helper.Link].
func (p *phraseHelper) Send(_ string, body any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open, _ = body.(wire.OpenHear)
	return nil
}

// SendSound implements [helper.Link].
func (p *phraseHelper) SendSound(uint32, []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got++
	return nil
}

// A waker is a server at work beside a helper.
type waker struct {
	helper.Link
	t      *testing.T
	beside *phraseHelper
	found  chan wire.Phrase
	ended  chan error
	stop   func()
}

// wakes starts one, until the test ends.
func wakes(t *testing.T, w wyoming.Waker) *waker {
	t.Helper()
	is := &waker{t: t, beside: new(phraseHelper), found: make(chan wire.Phrase, 99), ended: make(chan error, 1)}
	var err error
	if is.Link, err = w.Dialer(func() (helper.Link, error) { return is.beside, nil })(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		is.ended <- is.Run(ctx, helper.Handler{Control: func(c helper.Control) error {
			if c.Name != wire.PhraseName {
				return nil
			}
			p, err := wire.DecodePhrase(c)
			is.found <- p
			return err
		}})
	})
	is.stop = func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the end of the search", running.Wait)
	}
	t.Cleanup(is.stop)
	if err := is.Send(wire.OpenName, wire.OpenHear{Names: []string{"Robin"}, Phrases: []string{"stop talking"}}); err != nil {
		t.Fatal(err)
	}
	return is
}

// hears has it listen to sound of less than a second, in a stream.
func (w *waker) hears(stream uint32, pcm []int16) {
	w.t.Helper()
	for some := range slices.Chunk(pcm, audio.Samples) {
		if err := w.SendSound(stream, audio.AppendPCM(nil, some)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestWake: a wake word counts as the name, as often as the server detects one. The phrases, and no
// names, are left to the helper, which has all of the sound.
func TestWake(t *testing.T) {
	info := within("info", `{"wake":[{"name":"a","models":[{"name":"ok_nabu"},{"name":"alexa"}]}]}`)
	kinds := make(chan string, 999)
	s := serve(t, func(c net.Conn) {
		chunks := 0
		for {
			e, err := wyoming.ReadEvent(c)
			if err != nil {
				return
			}
			var about struct{ Names []string }
			e.Decode(&about)
			switch kinds <- strings.Join(append([]string{e.Type}, about.Names...), " "); e.Type {
			case "describe":
				io.WriteString(c, info)
				return
			case "audio-chunk":
				if chunks++; chunks%3 == 0 {
					io.WriteString(c, within("something-new", `{}`)+behind("detection", `{"name":"alexa","timestamp":null}`))
				}
			}
		}
	})
	w := wakes(t, wyoming.Waker{Server: s, Word: "alexa"})
	frame := make([]int16, audio.Samples)
	for i, stream := range []uint32{1 | wire.Spot, 1 | wire.Spot, 2 | wire.Spot} {
		w.hears(7, frame) // an utterance is not for the server
		w.hears(stream, slices.Concat(frame, frame, frame))
		p := testkit.Receive(t, testkit.Patience, "the name", w.found)
		if want := 3 * audio.Samples * (1 + i%2); p.Stream != stream || string(p.Text) != "Robin" || p.Sample != want {
			t.Errorf("in stream %x it found %q at %d of %x, want %d", stream, string(p.Text), p.Sample, p.Stream, want)
		}
	}
	w.stop()
	if err := testkit.Receive(t, testkit.Patience, "the end", w.ended); err != nil {
		t.Error(err)
	}
	if b := w.beside; b.open.Names != nil || !slices.Equal(b.open.Phrases, []string{"stop talking"}) || b.got != 12 {
		t.Errorf("the helper got %+v and %d messages", b.open, b.got)
	}
	var sent []string
	for range len(kinds) {
		sent = append(sent, testkit.Receive(t, testkit.Patience, "what was sent", kinds))
	}
	begins, chunks := []string{"detect alexa", "audio-start"}, []string{"audio-chunk", "audio-chunk", "audio-chunk"}
	if want := slices.Concat([]string{"describe"}, begins, chunks, chunks, begins, chunks); !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

// TestWakeFails: a server that is away, is another one, or fails in the middle ends the search with what
// is wrong; so does the helper beside it.
func TestWakeFails(t *testing.T) {
	info := within("info", `{"wake":[{"name":"a","models":[{"name":"ok_nabu"}]}]}`)
	for name, tt := range map[string]struct {
		word, info, answer string
		want               string
		lasting            bool
	}{
		"another word":   {"alexa", info, "", `is no listener for the wake word "alexa"`, true},
		"a recogniser":   {"", within("info", `{"asr":[{"name":"a"}]}`), "", "is no listener for wake words", true},
		"closes":         {"", info, "close", "closed the connection", false},
		"complains":      {"ok_nabu", info, within("error", `{"text":"no model"}`), "no model", false},
		"speaks no such": {"", info, "HTTP/1.0 400 Bad Request\n", "does not speak", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(c net.Conn) {
				for {
					e, err := wyoming.ReadEvent(c)
					switch {
					case err != nil, tt.answer == "close" && e.Type == "audio-start":
						return
					case e.Type == "describe":
						io.WriteString(c, tt.info)
						return
					case e.Type == "audio-start":
						io.WriteString(c, tt.answer)
					}
				}
			})
			w := wakes(t, wyoming.Waker{Server: s, Word: tt.word})
			w.hears(1|wire.Spot, make([]int16, audio.Samples))
			err := testkit.Receive(t, testkit.Patience, "the end", w.ended)
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, errors.ErrUnsupported) != tt.lasting {
				t.Errorf("it ends with %v", err)
			}
		})
	}
	t.Run("away", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		w := wakes(t, wyoming.Waker{Server: wyoming.Server(l.Addr().String())})
		err = testkit.Receive(t, testkit.Patience, "the end", w.ended)
		if err == nil || !strings.Contains(err.Error(), "no speech server answers") {
			t.Errorf("it ends with %v", err)
		}
	})
	t.Run("no helper", func(t *testing.T) {
		missing := errors.New("there is none")
		if _, err := (wyoming.Waker{}).Dialer(func() (helper.Link, error) { return nil, missing })(); err != missing {
			t.Error(err)
		}
	})
}

// TestSlowWaker: while the server does not answer, whoever brings sound does not wait, and the helper
// has all of it.
func TestSlowWaker(t *testing.T) {
	done := make(chan struct{})
	s := serve(t, func(net.Conn) { testkit.Receive(t, testkit.Patience, "the end of the test", done) })
	w := wakes(t, wyoming.Waker{Server: s})
	w.hears(1|wire.Spot, make([]int16, 10*audio.Rate))
	if w.beside.got != 500 {
		t.Errorf("the helper got %d frames", w.beside.got)
	}
	close(done)
}

// TestRealWaker: a server that is made with Home Assistant's own package detects its wake word in sound,
// and nothing in other sound.
func TestRealWaker(t *testing.T) {
	server := wyomingtest.StartWaker(t)
	if err := (wyoming.Waker{Server: server.Address, Word: "other"}).Check(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("it has another wake word, too: %v", err)
	}
	if err := (wyoming.Recogniser{Server: server.Address}).Check(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("it recognises speech: %v", err)
	}
	for _, word := range []string{"", wyomingtest.WakeWord} {
		w := wakes(t, wyoming.Waker{Server: server.Address, Word: word})
		for n := range uint32(3) {
			w.hears(2*n+1|wire.Spot, modeltest.Tones("three")[:audio.Rate/2]) // together no more than may wait
			w.hears(2*n+2|wire.Spot, modeltest.Tones("one")[:audio.Rate/2])
			if p := testkit.Receive(t, testkit.Patience, "the name", w.found); p.Stream != 2*n+2|wire.Spot || string(p.Text) != "Robin" || p.Sample < audio.Rate/4 {
				t.Errorf("%q was found at %d of %x", string(p.Text), p.Sample, p.Stream)
			}
		}
		w.stop()
		if n := len(w.found); n != 0 {
			t.Errorf("it found %d more", n)
		}
	}
}
