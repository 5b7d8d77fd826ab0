package wyoming

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/models/wire"
)

// A Waker is a server that listens for wake words.
type Waker struct {
	Server Server
	Word   string // of those that it knows; "" is any
}

// Check reports why the server cannot listen for the word, as far as it says so.
func (w Waker) Check(ctx context.Context) error {
	wanted := "listener for wake words"
	if w.Word != "" {
		wanted = fmt.Sprintf("listener for the wake word %q", w.Word)
	}
	return w.Server.check(ctx, wanted, "wyoming-openwakeword", func(d Description) []Program {
		return slices.DeleteFunc(d.Wakers, func(p Program) bool {
			return w.Word != "" && !slices.ContainsFunc(p.Models, func(m Program) bool { return m.Name == w.Word })
		})
	})
}

// Dialer returns a dialer, for package stt, of the server together with a helper that seeks the
// phrases. A wake word counts as the first name that is sought.
func (w Waker) Dialer(phrases helper.Dialer) helper.Dialer {
	return func() (helper.Link, error) {
		l, err := phrases()
		if err != nil {
			return nil, err
		}
		return &waking{Link: l, of: w, sound: make(chan stretch, ahead)}, nil
	}
}

// ahead is how many messages may wait for the server, a second of frames. It misses what comes then:
// the phrases, and whoever brings sound, do not wait.
const ahead = 50

// A waking is a server at work, beside a helper.
type waking struct {
	helper.Link
	of    Waker
	name  earshot.Text // known before there is sound
	sound chan stretch
}

// A stretch is some of the sound of a stream.
type stretch struct {
	stream uint32
	pcm    []byte
}

// Send implements [helper.Link]. The helper seeks no names.
func (l *waking) Send(name string, body any) error {
	if open, is := body.(wire.OpenHear); is {
		if len(open.Names) > 0 {
			l.name = earshot.Text(open.Names[0])
		}
		open.Names = nil
		body = open
	}
	return l.Link.Send(name, body)
}

// SendSound implements [helper.Link].
func (l *waking) SendSound(stream uint32, data []byte) error {
	if stream&wire.Spot != 0 {
		select {
		case l.sound <- stretch{stream, bytes.Clone(data)}:
		default:
		}
	}
	return l.Link.SendSound(stream, data)
}

// Run implements [helper.Link]. It ends when one of the two does.
func (l *waking) Run(ctx context.Context, h helper.Handler) error {
	ctx, stop := context.WithCancel(ctx)
	var handling sync.Mutex
	control := func(c helper.Control) error {
		handling.Lock()
		defer handling.Unlock()
		return h.Control(c)
	}
	var seeking sync.WaitGroup
	var fault error
	seeking.Go(func() {
		defer stop()
		if err := l.seek(ctx, control); ctx.Err() == nil {
			fault = err
		}
	})
	err := l.Link.Run(ctx, helper.Handler{Control: control, Sound: h.Sound})
	stop()
	if seeking.Wait(); fault != nil {
		return fault
	}
	return err
}

// seek has the server listen, until ctx ends or the server fails. Each stream has a connection of its
// own, and another one after each wake word, since some servers listen for one only.
func (l *waking) seek(ctx context.Context, found func(helper.Control) error) error {
	if err := l.of.Check(ctx); err != nil {
		return err
	}
	var of *search
	defer func() { of.end() }()
	is := wire.Phrase{Text: l.name}
	for {
		var answer <-chan error
		if of != nil {
			answer = of.answer
		}
		var err error
		select {
		case <-ctx.Done():
			return nil
		case err = <-answer:
			if of.end(); err == nil {
				err = tell(found, is)
			}
			of = nil
		case s := <-l.sound:
			if s.stream != is.Stream {
				of.end()
				of, is = nil, wire.Phrase{Stream: s.stream, Text: l.name}
			}
			if of == nil {
				of, err = l.of.begin(ctx)
			}
			if is.Sample += len(s.pcm) / 2; err == nil {
				of.c.SetWriteDeadline(time.Now().Add(answering))
				err = of.c.write(ctx, "audio-chunk", spoken, s.pcm)
			}
		}
		if err != nil {
			return err
		}
	}
}

// tell passes a phrase on.
func tell(found func(helper.Control) error, is wire.Phrase) error {
	b, err := json.Marshal(is)
	if err != nil {
		panic("wyoming: " + err.Error()) // it is ours
	}
	return found(helper.Control{Name: wire.PhraseName, Body: b})
}

// A search is a connection by which the server listens for one wake word.
type search struct {
	c       *conn
	answer  chan error // of capacity 1; nil if the word was said
	reading sync.WaitGroup
}

// begin begins a search.
func (w Waker) begin(ctx context.Context) (*search, error) {
	c, err := w.Server.dial(ctx)
	if err != nil {
		return nil, err
	}
	s := &search{c: c, answer: make(chan error, 1)}
	s.reading.Go(func() { s.answer <- s.detection(ctx) })
	var detect struct {
		Names []string `json:"names,omitempty"`
	}
	if w.Word != "" {
		detect.Names = []string{w.Word}
	}
	if err = c.write(ctx, "detect", detect, nil); err == nil {
		err = c.write(ctx, "audio-start", spoken, nil)
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// detection waits until the server has detected a wake word, or fails.
func (s *search) detection(ctx context.Context) error {
	for {
		e, err := s.c.read(ctx)
		if err != nil || e.Type == "detection" {
			return err
		}
	}
}

// end ends a search, unless s is nil.
func (s *search) end() {
	if s == nil {
		return
	}
	s.c.close()
	s.reading.Wait()
}
