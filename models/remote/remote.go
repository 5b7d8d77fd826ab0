// Package remote lets engines that are asked over a network stand in for the helper processes of
// packages stt and tts: [Hear] and [Say] return dialers that those use like the dialers of
// earshot-speech. So what they promise holds here, too: their bounds, their patience, that an
// utterance is heard again if its engine fails, and what is said about deaths.
//
// Such engines do not say when each word of a text begins; that is estimated by its share of the
// letters. They give no confidence, so every result counts as certain.
//
// What happens when a reader is slow: sound for an engine waits in its sender, which package stt
// bounds; sound from an engine waits in the engine.
package remote

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"earshot/internal/helper"
	"earshot/models/wire"
)

// A Recogniser recognises utterances somewhere else. One is asked at a time.
type Recogniser interface {
	// Check reports why it cannot be used.
	Check(ctx context.Context) error

	// Transcribe returns the words in pcm, which holds little-endian samples at the rate of package
	// audio and comes in real time, until its end. Partial receives the words so far, if they are
	// known while somebody speaks; it returns at once.
	Transcribe(ctx context.Context, pcm io.Reader, partial func(text string)) (string, error)
}

// A Voice says texts somewhere else. One is said at a time.
type Voice interface {
	// Check reports why it cannot be used.
	Check(ctx context.Context) error

	// Synthesize says a text. Sound receives its samples, mono, at a rate of the voice's own, the
	// same for all of a text; it blocks until they are wanted, and its error ends the text.
	Synthesize(ctx context.Context, text string, sound func(rate int, pcm []int16) error) error
}

// A link is an engine as its client sees it, without what the two kinds of engine differ in.
type link struct {
	name  string
	check func(context.Context) error
	ready any // what it says of itself once it can be used

	begun chan request
	fault chan error    // of the engine, or of what it says; the first counts
	over  chan struct{} // closed when it has ended

	to       helper.Handler // from when it runs
	controls sync.Mutex     // held while one is handled
}

// A request is work that the link is asked for, and gets back what ends it.
type request struct {
	work func(context.Context)
	end  chan context.CancelFunc
}

func newLink(name string, check func(context.Context) error, ready any) *link {
	return &link{name: name, check: check, ready: ready, begun: make(chan request), fault: make(chan error, 1), over: make(chan struct{})}
}

// Run implements [helper.Link]. Nothing is asked of the engine before it has said that it is ready.
func (l *link) Run(ctx context.Context, h helper.Handler) (err error) {
	defer close(l.over)
	ctx, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	l.to = h
	work.Go(func() { l.open(ctx) })
	for {
		select {
		case r := <-l.begun:
			ctx, end := context.WithCancel(ctx)
			r.end <- end
			work.Go(func() { defer end(); r.work(ctx) })
		case err := <-l.fault:
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

// begin runs work in a goroutine until it is ended, or the link is.
func (l *link) begin(work func(context.Context)) (end context.CancelFunc, err error) {
	r := request{work, make(chan context.CancelFunc, 1)}
	select {
	case l.begun <- r:
		return <-r.end, nil
	case <-l.over:
		return nil, helper.ErrGone
	}
}

// open says whether the engine can be used.
func (l *link) open(ctx context.Context) {
	err := l.check(ctx)
	if err == nil {
		l.control(ctx, wire.ReadyName, l.ready)
		return
	}
	l.control(ctx, wire.FaultName, helper.NewFault(err))
}

// control passes a message to the client, unless ctx has ended.
func (l *link) control(ctx context.Context, name string, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		panic("remote: " + err.Error()) // all are ours
	}
	l.controls.Lock()
	defer l.controls.Unlock()
	if ctx.Err() != nil {
		return
	}
	if err := l.to.Control(helper.Control{Name: name, Body: b}); err != nil {
		l.fail(err)
	}
}

// died ends the link by a fault of the engine.
func (l *link) died(err error) { l.fail(&helper.DeathError{Name: l.name, Err: err}) }

func (l *link) fail(err error) {
	select {
	case l.fault <- err:
	default:
	}
}
