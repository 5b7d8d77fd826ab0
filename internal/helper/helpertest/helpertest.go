// Package helpertest makes helpers for tests without a process: the same protocol, over pipes in
// memory, supervised by the same code. It works within a testing/synctest bubble. A pipe in memory
// has no buffer, so a slow reader is noticed at once.
package helpertest

import (
	"context"
	"io"
	"sync"

	"earshot/internal/helper"
)

// A Link is a helper in this process. It implements [helper.Link] as a [helper.Process] does: it
// is told to end by its input, half a second before its context. A work that does not return then
// never ends.
type Link struct{ *helper.Peer }

// New returns a helper that does work once it runs. The helper dies with the result of work.
func New(name string, work func(context.Context, *helper.Server) error) *Link {
	var l life
	control, controlOut := l.pipe(&l.inputs)
	sound, soundOut := l.pipe(&l.inputs)
	reply, replyOut := l.pipe(&l.outputs)
	back, backOut := l.pipe(&l.outputs)
	l.killed = make(chan struct{})
	far := helper.NewConn(control, replyOut, sound, backOut)
	l.serve = func(ctx context.Context) error { return helper.Serve(ctx, name, far, work) }
	return &Link{helper.NewPeer(name, helper.NewConn(reply, controlOut, back, soundOut), &l)}
}

// Dialer returns a dialer that starts such a helper each time.
func Dialer(name string, work func(context.Context, *helper.Server) error) helper.Dialer {
	return func() (helper.Link, error) { return New(name, work), nil }
}

// A life is the goroutine of a helper. It implements [helper.Life].
type life struct {
	serve           func(context.Context) error
	inputs, outputs []io.Closer // both ends of the pipes to and from it
	killed          chan struct{}
	once            sync.Once
}

func (l *life) pipe(list *[]io.Closer) (io.Reader, io.Writer) {
	r, w := io.Pipe()
	*list = append(*list, w, r)
	return r, w
}

// HangUp implements [helper.Life].
func (l *life) HangUp() { closeAll(l.inputs) }

// Kill implements [helper.Life].
func (l *life) Kill() {
	l.once.Do(func() { close(l.killed) })
	closeAll(l.inputs)
	closeAll(l.outputs)
}

// Wait implements [helper.Life].
func (l *life) Wait(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	parts.Go(func() {
		select {
		case <-l.killed:
			stop()
		case <-ctx.Done():
		}
	})
	err := l.serve(ctx)
	l.Kill()
	return err
}

func closeAll(pipes []io.Closer) {
	for _, p := range pipes {
		p.Close()
	}
}
