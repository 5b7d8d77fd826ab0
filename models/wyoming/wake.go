package wyoming

import (
	"bytes"
	"context"
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
		return &wakeLink{Link: l, of: w, sound: make(chan helper.Sound, ahead)}, nil
	}
}

// ahead is how many messages may wait for the server, a second of frames. It misses what comes then,
// and nobody else waits.
const ahead = 50

// A wakeLink is a server at work, beside a helper.
type wakeLink struct {
	helper.Link
	of    Waker
	name  earshot.Text // known before there is sound
	sound chan helper.Sound
}

// Send implements [helper.Link]. The helper seeks no names.
func (l *wakeLink) Send(name string, body any) error {
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
func (l *wakeLink) SendSound(stream uint32, data []byte) error {
	if stream&wire.Spot != 0 {
		select {
		case l.sound <- helper.Sound{Stream: stream, Data: bytes.Clone(data)}:
		default:
		}
	}
	return l.Link.SendSound(stream, data)
}

// Run implements [helper.Link]. It ends when one of the two does.
func (l *wakeLink) Run(ctx context.Context, h helper.Handler) error {
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

// seek has the server listen, on one connection, until ctx ends or the server fails.
func (l *wakeLink) seek(ctx context.Context, found func(helper.Control) error) error {
	if err := l.of.Check(ctx); err != nil {
		return err
	}
	c, err := l.of.Server.dial(ctx)
	if err != nil {
		return err
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	defer c.close()
	answers := make(chan error, 1) // nil for a wake word; the server waits while nobody reads them
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	reading.Go(func() { c.detections(ctx, answers) })
	var is wire.Phrase
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case err = <-answers:
			if err == nil && is.Stream != 0 {
				err = found(helper.Control{Name: wire.PhraseName, Body: mustMarshal(is)})
			}
		case s := <-l.sound:
			c.SetWriteDeadline(time.Now().Add(answering))
			if s.Stream != is.Stream {
				is = wire.Phrase{Stream: s.Stream, Text: l.name}
				err = l.of.begin(ctx, c)
			}
			if is.Sample += len(s.Data) / 2; err == nil {
				err = c.write(ctx, "audio-chunk", spoken, s.Data)
			}
		}
	}
	return err
}

// begin begins a stream. Some servers find one wake word in each, which is enough: the agent stops.
func (w Waker) begin(ctx context.Context, c *conn) error {
	detect := make(map[string][]string)
	if w.Word != "" {
		detect["names"] = []string{w.Word}
	}
	if err := c.write(ctx, "detect", detect, nil); err != nil {
		return err
	}
	return c.write(ctx, "audio-start", spoken, nil)
}

// detections passes on when the server detects a wake word, until it fails.
func (c *conn) detections(ctx context.Context, answers chan<- error) {
	for {
		e, err := c.read(ctx)
		if err == nil && e.Type != "detection" {
			continue
		}
		select {
		case answers <- err:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
