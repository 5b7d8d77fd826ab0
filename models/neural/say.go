package neural

import (
	"context"

	"earshot/internal/helper"
	"earshot/models/catalog"
	"earshot/models/wire"
)

// Say returns the dialer of a voice, of which a speaker has a name or a number, or is the first for
// "". Speed 1 is its own. The helper starts only if check returns nil.
func (l Library) Say(set catalog.Installed, speaker string, speed float64, check func(context.Context) error) helper.Dialer {
	dial := helper.NewDialer(l.Log, helper.NeuralProgram, "say")
	open := func(any) any { return wire.OpenSay{Set: set.Dir, Speaker: speaker, Speed: speed} }
	return func() (helper.Link, error) {
		return &link{dial: dial, check: check, open: open, started: make(chan struct{}), over: make(chan struct{})}, nil
	}
}
