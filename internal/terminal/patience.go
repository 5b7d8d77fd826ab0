package terminal

import (
	"os"
	"sync/atomic"
	"time"
)

// A patience ends a write that has waited for [drain].
type patience struct {
	timer *time.Timer
	done  atomic.Bool
}

func newPatience(w *os.File) *patience {
	p := new(patience)
	p.timer = time.AfterFunc(drain, func() {
		p.done.Store(true)
		w.SetWriteDeadline(past)
	})
	return p
}

func (p *patience) over() bool { return p.done.Load() }
func (p *patience) stop()      { p.timer.Stop() }
