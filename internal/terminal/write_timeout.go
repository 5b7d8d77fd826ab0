package terminal

import (
	"os"
	"sync/atomic"
	"time"
)

// A writeTimeout ends a write that has waited for [drain].
type writeTimeout struct {
	timer *time.Timer
	done  atomic.Bool
}

func newWriteTimeout(w *os.File) *writeTimeout {
	p := new(writeTimeout)
	p.timer = time.AfterFunc(drain, func() {
		p.done.Store(true)
		w.SetWriteDeadline(past)
	})
	return p
}

func (p *writeTimeout) over() bool { return p.done.Load() }
func (p *writeTimeout) stop()      { p.timer.Stop() }
