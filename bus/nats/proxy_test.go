package nats_test

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// A proxy passes on connections to a server that may change, and can stop passing on what is sent.
type proxy struct {
	address string
	to      atomic.Value // string

	mu      sync.Mutex
	change  sync.Cond
	conns   int
	stalled map[int]bool
	over    bool
}

// newProxy returns a proxy that runs until the test is over.
func newProxy(t *testing.T) *proxy {
	p := &proxy{stalled: make(map[int]bool)}
	p.change.L = &p.mu
	var passing sync.WaitGroup
	p.address = listener(t, func(near net.Conn) {
		p.mu.Lock()
		number := p.conns
		p.conns++
		p.mu.Unlock()
		defer near.Close()
		far, err := net.Dial("tcp", p.to.Load().(string))
		if err != nil {
			return
		}
		passing.Go(func() {
			defer far.Close()
			p.pass(number, far, near)
		})
		p.pass(number, near, far)
	})
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
		p.change.Broadcast()
	})
	return p
}

// pass passes on what comes from one side.
func (p *proxy) pass(number int, from, to net.Conn) {
	defer to.Close()
	b := make([]byte, 16<<10)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		for p.stalled[number] && !p.over {
			p.change.Wait()
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// stall stops passing on what is sent by one connection, counted from 0.
func (p *proxy) stall(number int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled[number] = true
}
