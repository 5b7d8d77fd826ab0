package helper_test

import (
	"context"
	"runtime"
	"testing"

	"earshot/internal/helper"
	"earshot/internal/testkit"
)

// A bench is a real helper that is measured.
type bench struct {
	*helper.Process
	back chan struct{} // gets a value for each message that comes back
}

func newBench(b *testing.B, kind string) bench {
	helper.Believe()
	p, err := start(kind, nil)
	if err != nil {
		b.Fatal(err)
	}
	to := bench{p, make(chan struct{}, 1)}
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error, 1)
	back := func() error { to.back <- struct{}{}; return nil }
	go func() {
		done <- p.Run(ctx, helper.Handler{
			Control: func(helper.Control) error { return back() },
			Sound:   func(helper.Sound) error { return back() },
		})
		close(to.back)
	}()
	b.Cleanup(func() {
		stop()
		if err := testkit.Receive(b, testkit.Patience, "the end of the helper", done); err != nil {
			b.Error(err)
		}
	})
	return to
}

// round waits until one message is back.
func (t bench) round(b *testing.B, sent error) {
	if sent != nil {
		b.Fatal(sent)
	}
	select {
	case _, ok := <-t.back: // closed when the helper is gone, even after it hung
		if !ok {
			b.Fatal("the helper is gone")
		}
	case <-b.Context().Done():
	}
}

// BenchmarkControl measures one message to a real helper and back.
func BenchmarkControl(b *testing.B) {
	p := newBench(b, "echo")
	b.ReportAllocs()
	for b.Loop() {
		p.round(b, p.Send("cut", nil))
	}
}

// BenchmarkControlBesideFullSound measures the same while the pipe for sound is full.
func BenchmarkControlBesideFullSound(b *testing.B) {
	p := newBench(b, "reads control only")
	go func() { // ends with the helper
		for p.SendSound(0, make([]byte, helper.MaxSound)) == nil {
		}
	}()
	for b.Loop() {
		p.round(b, p.Send("cut", nil))
	}
}

// BenchmarkFrame measures one frame to a real helper and back.
func BenchmarkFrame(b *testing.B) {
	p := newBench(b, "echo")
	frame := make([]byte, 656)
	b.ReportAllocs()
	for b.Loop() {
		p.round(b, p.SendSound(0, frame))
	}
}

// BenchmarkFrames measures frames to a real helper, as fast as it takes them.
func BenchmarkFrames(b *testing.B) {
	p := newBench(b, "reads sound only")
	frame := make([]byte, 656)
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		if err := p.SendSound(0, frame); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMemory measures what one more helper costs the daemon in memory, and how long it takes
// until it answers.
func BenchmarkMemory(b *testing.B) {
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := used()
	n := 0
	for b.Loop() {
		p := newBench(b, "echo")
		p.round(b, p.Send("there?", nil))
		n++
	}
	b.ReportMetric(float64(used()-before)/float64(n), "B/helper")
}
