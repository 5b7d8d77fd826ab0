package erase

import (
	"context"
	"errors"
	"testing"
)

// TestForgetComesFirst: erasing that is in no hurry makes way for a request to forget something.
func TestForgetComesFirst(t *testing.T) {
	o := new(Eraser)
	ctx, yield := context.WithCancel(t.Context())
	o.doing.Lock()
	o.yields.Store(&yield)
	go func() {
		<-ctx.Done()
		o.yields.Store(nil)
		o.doing.Unlock()
	}()
	if err := o.hold(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone, end := context.WithCancel(t.Context())
	end()
	if err := o.hold(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone waits on: %v", err)
	}
	o.doing.Unlock()
}
