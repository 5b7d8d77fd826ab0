package owner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"earshot/executive/owner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errClosed = errors.New("closed")

// TestLoop: what others ask for is done by the owner; a stuck owner is found out, and one that is done
// keeps nobody waiting.
func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := owner.New(errClosed)
		ctx, cancel := context.WithCancel(t.Context())
		stuck := make(chan struct{})
		woken := 0
		go func() {
			defer l.Close()
			for {
				select {
				case <-ctx.Done():
					return
				case <-l.Woken():
					woken++
				case do := <-l.Calls():
					do(ctx)
				}
			}
		}()
		for range 3 { // one may still wait when the next comes
			l.Wake()
		}
		if err := l.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		did := false
		if err := l.Do(t.Context(), func(context.Context) { did = true }); err != nil || !did || woken == 0 {
			t.Errorf("done: %t, woken %d times, %v", did, woken, err)
		}
		go func() { _ = l.Do(t.Context(), func(context.Context) { <-stuck }) }()
		synctest.Wait()
		within, giveUp := context.WithTimeout(t.Context(), time.Second)
		defer giveUp()
		if err := l.Ping(within); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of a stuck owner: %v", err)
		}
		if err := l.Do(within, func(context.Context) {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a stuck owner did it, or: %v", err)
		}
		close(stuck)
		synctest.Wait()
		cancel()
		<-l.Closed()
		if err := l.Ping(t.Context()); err != nil {
			t.Errorf("of an owner that is done: %v", err)
		}
		if err := l.Do(t.Context(), func(context.Context) {}); err != errClosed {
			t.Errorf("an owner that is done did it, or: %v", err)
		}
	})
}
