//go:build cgo

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/neural"
	"earshot/models/wire"
)

// say speaks with the set that the daemon names; see package wire. It makes a sentence at a time. When
// the daemon is slow to take the sound, the next sentence is not begun.
func say(ctx context.Context, s *helper.Server, _ []string) error {
	t := &speaking{s: s, Requests: wire.NewRequests[wire.OpenSay](), stop: func() {}}
	return t.Serve(s, t.control, func() (any, error) { return t.open(ctx) }, func(m helper.Sound) error { return t.take(ctx, m) })
}

// A speaking turns texts into sound. All of it but its requests belongs to one goroutine.
type speaking struct {
	*wire.Requests[wire.OpenSay]
	s     *helper.Server
	voice voice
	buf   []byte

	mu     sync.Mutex
	stream uint32             // the text that is being said
	stop   context.CancelFunc // ends it
}

func (t *speaking) open(ctx context.Context) (ready any, err error) {
	defer t.s.Guard(opens)()
	if t.voice, err = openVoice(ctx, t.Config); err != nil {
		return nil, err
	}
	return wire.ReadySay{Rate: t.voice.rate(), Voice: fmt.Sprintf("%+v", t.Config)}, nil
}

// control handles the daemon's messages.
func (t *speaking) control(c helper.Control) error {
	err := t.Control(c)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stream <= t.Cancelled.Load() {
		t.stop()
	}
	return err
}

// begin returns the context of a text, which ends when the text is cancelled.
func (t *speaking) begin(ctx context.Context, stream uint32) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stream, t.stop = stream, stop
	if stream <= t.Cancelled.Load() { // before there was anything to stop
		stop()
	}
	return ctx, stop
}

// take says one text. What it cannot say it reports, and the daemon ends this process.
func (t *speaking) take(ctx context.Context, m helper.Sound) error {
	saying, stop := t.begin(ctx, m.Stream)
	defer stop()
	sentences := divide(string(m.Data))
	from := 0
	for i := range sentences {
		pcm, err := t.synthesise(saying, &sentences[i])
		if saying.Err() != nil {
			return nil
		}
		if err != nil {
			return t.s.Send(wire.FaultName, helper.NewFault(err))
		}
		if err := t.send(m.Stream, &sentences[i], from, pcm); err != nil {
			return err
		}
		from += len(pcm)
	}
	if saying.Err() != nil {
		return nil
	}
	return t.s.SendSound(m.Stream, nil)
}

func (t *speaking) synthesise(ctx context.Context, s *sentence) ([]float32, error) {
	defer t.s.Guard(steps)()
	return synthesise(ctx, t.voice, s)
}

// synthesise returns the sound of a sentence, as samples from -1 to 1.
func synthesise(ctx context.Context, v voice, s *sentence) ([]float32, error) {
	pcm, err := v.say(ctx, s)
	if err == nil && len(pcm) == 0 {
		err = neural.Unfit(v.name(), "it makes no sound of words")
	}
	return pcm, err
}

// pieces is how many messages a second of sound takes, of which a cancelled text drops the rest.
const pieces = 20

// send sends a sentence, which begins at a sample of the text: where its words begin, and its sound.
func (t *speaking) send(stream uint32, s *sentence, from int, pcm []float32) error {
	for some := range slices.Chunk(s.marks(from, len(pcm)), wire.MaxMarks) {
		t.buf = wire.AppendMarks(t.buf[:0], some...)
		if err := t.s.SendSound(stream|wire.Words, t.buf); err != nil {
			return err
		}
	}
	piece := make([]int16, t.voice.rate()/pieces)
	for some := range slices.Chunk(pcm, len(piece)) {
		if stream <= t.Cancelled.Load() {
			return nil
		}
		for i, x := range some {
			piece[i] = int16(max(-1, min(x, 1)) * (1<<15 - 1))
		}
		t.buf = audio.AppendPCM(t.buf[:0], piece[:len(some)])
		if err := t.s.SendSound(stream, t.buf); err != nil {
			return err
		}
	}
	return nil
}
