package neural

import (
	"context"

	"earshot/internal/helper"
)

// Sense returns the dialer of what senses voices, with the sets that its client names. The helper
// starts only if check returns nil.
func (l Library) Sense(check func(context.Context) error) helper.Dialer {
	dial := helper.NewDialer(l.Log, helper.NeuralProgram, "sense")
	open := func(body any) any { return body }
	return func() (helper.Link, error) {
		return &link{dial: dial, check: check, open: open, started: make(chan struct{}), over: make(chan struct{})}, nil
	}
}
