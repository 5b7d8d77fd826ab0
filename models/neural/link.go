package neural

import (
	"context"
	"fmt"

	"earshot/internal/helper"
	"earshot/models/catalog"
	"earshot/models/wire"
)

// Hear returns the dialer of a recogniser: a set that hears, or recognises whole utterances. A second
// set, if it has a name, corrects what the first has heard. The helper starts only if check returns
// nil.
func (l Library) Hear(first, second catalog.Installed, language string, check func(context.Context) error) helper.Dialer {
	return l.dialer("hear", check, func(body any) any {
		o := body.(wire.OpenHear)
		o.Set, o.Second, o.Language = first.Dir, second.Dir, language
		return o
	})
}

// Say returns the dialer of a voice, of which a speaker has a name or a number, or is the first for
// "". Speed 1 is its own. The helper starts only if check returns nil.
func (l Library) Say(set catalog.Installed, speaker string, speed float64, check func(context.Context) error) helper.Dialer {
	return l.dialer("say", check, func(any) any { return wire.OpenSay{Set: set.Dir, Speaker: speaker, Speed: speed} })
}

// Wake returns the dialer of what seeks names and phrases, for package stt. The helper starts only if
// check returns nil.
func (l Library) Wake(set catalog.Installed, check func(context.Context) error) helper.Dialer {
	return l.dialer("wake", check, func(body any) any {
		o := body.(wire.OpenHear)
		o.Set = set.Dir
		return o
	})
}

// Sense returns the dialer of what senses voices, with the sets that its client names. The helper
// starts only if check returns nil.
func (l Library) Sense(check func(context.Context) error) helper.Dialer {
	return l.dialer("sense", check, func(body any) any { return body })
}

func (l Library) dialer(role string, check func(context.Context) error, open func(body any) any) helper.Dialer {
	dial := helper.NewDialer(l.Log, helper.NeuralProgram, role)
	return func() (helper.Link, error) {
		return &link{dial: dial, check: check, open: open, begun: make(chan struct{})}, nil
	}
}

// A link is a helper that starts when its set was checked.
type link struct {
	dial  helper.Dialer
	check func(context.Context) error
	open  func(body any) any // what the helper is told to open, from what its client says

	of    helper.Link   // nil if it has not started
	begun chan struct{} // closed when it has, or never will
}

// Run implements [helper.Link].
func (l *link) Run(ctx context.Context, h helper.Handler) error {
	err := l.start(ctx)
	close(l.begun)
	if l.of == nil {
		return err
	}
	return l.of.Run(ctx, h)
}

func (l *link) start(ctx context.Context) error {
	if err := l.check(ctx); ctx.Err() != nil {
		return nil
	} else if err != nil {
		return err
	}
	of, err := l.dial()
	if err != nil {
		return fmt.Errorf("starting the model: %w", err)
	}
	l.of = of
	return nil
}

// Send implements [helper.Link].
func (l *link) Send(name string, body any) error {
	if <-l.begun; l.of == nil {
		return helper.ErrGone
	}
	if name == wire.OpenName {
		body = l.open(body)
	}
	return l.of.Send(name, body)
}

// SendSound implements [helper.Link].
func (l *link) SendSound(stream uint32, data []byte) error {
	if <-l.begun; l.of == nil {
		return helper.ErrGone
	}
	return l.of.SendSound(stream, data)
}
