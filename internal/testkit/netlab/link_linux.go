package netlab

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// A Condition is how a link treats packets. The zero value passes everything on at once.
type Condition struct {
	Delay  time.Duration // of each packet, each way; a round trip takes twice as long
	Jitter time.Duration // up to which more is added, by chance; the order is kept
	Loss   float64       // share of the packets that are lost, by chance, from 0 to 1

	// Seed decides all that is left to chance, from Set on: of the packets of one direction, the
	// same numbers are lost.
	Seed uint64
}

// A Count is what has happened to packets so far.
type Count struct {
	Sent          int // the sum of what follows, and what is under way
	Passed, Bytes int // bytes of those that were passed on, with the headers of IP
	Lost          int // by [Condition.Loss]
	Cut           int // sent or under way while it was cut
	Full          int // that found no room, which means that the lab itself was too slow
}

// A Link is one or more ways between nodes. Its methods act on each of them.
type Link []*way

// Link returns both ways between two nodes.
func (l *Lab) Link(a, b string) Link { return append(l.Way(a, b), l.Way(b, a)...) }

// Way returns the way from one node to another only.
func (l *Lab) Way(from, to string) Link {
	return Link{l.node(from).to[slices.Index(l.nodes, l.node(to))]}
}

// Links returns all ways from and to the named nodes, or those of the whole network if none is named.
func (l *Lab) Links(names ...string) Link {
	var all Link
	for _, from := range l.nodes {
		for i, to := range l.nodes {
			if from != to && (len(names) == 0 || slices.Contains(names, from.name) || slices.Contains(names, to.name)) {
				all = append(all, from.to[i])
			}
		}
	}
	return all
}

// Set changes how packets are treated that are sent from now on.
func (l Link) Set(c Condition) {
	l.each(func(w *way) { w.condition, w.chance = c, newChance(c.Seed, w.number) })
}

// Cut loses all packets until Heal, also those that are under way. Nobody is told.
func (l Link) Cut() { l.each(func(w *way) { w.cut = true; w.cuts++ }) }

// Heal ends what Cut began; the condition is as before.
func (l Link) Heal() { l.each(func(w *way) { w.cut = false }) }

// Count returns what has happened, of all ways together.
func (l Link) Count() (sum Count) {
	l.each(func(w *way) {
		sum.Sent += w.count.Sent
		sum.Passed += w.count.Passed
		sum.Bytes += w.count.Bytes
		sum.Lost += w.count.Lost
		sum.Cut += w.count.Cut
		sum.Full += w.count.Full
	})
	return sum
}

// each calls f with each way, to which nothing else happens meanwhile.
func (l Link) each(f func(*way)) {
	for _, w := range l {
		w.mu.Lock()
		f(w)
		w.mu.Unlock()
	}
}

// A packet is under way.
type packet struct {
	data [1500]byte // as the interface has its MTU
	size int
	due  time.Time
	cuts int // that its way had seen when it was sent
}

// A way leads from one node to another.
type way struct {
	number uint64 // different for each way of a lab
	to     *node
	queue  chan *packet // in the order in which they are due; bounded at 12 MB

	mu        sync.Mutex
	condition Condition
	chance    *rand.Rand
	cut       bool
	cuts      int
	last      time.Time // when the last in the queue is due
	count     Count
}

func newWay(from, to *node) *way {
	number := uint64(from.address.As4()[3])<<8 | uint64(to.address.As4()[3])
	return &way{number: number, to: to, queue: make(chan *packet, 8192), chance: newChance(0, number)}
}

func newChance(seed, way uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, way)) }

// forward takes packets out of a node until its interface is closed.
func (l *Lab) forward(from *node) {
	for {
		p := new(packet)
		var err error
		if p.size, err = from.tun.Read(p.data[:]); err != nil {
			return
		}
		if w := l.route(from, p.data[:p.size]); w != nil {
			w.send(p)
		}
	}
}

// route returns the way that an IP packet goes, or nil for what is not for another node, such as
// multicasts.
func (l *Lab) route(from *node, data []byte) *way {
	if len(data) < 20 || data[0]>>4 != 4 { // IPv4, where the destination ends the header
		return nil
	}
	to := netip.AddrFrom4([4]byte(data[16:]))
	if i := slices.IndexFunc(l.nodes, func(n *node) bool { return n.address == to }); i >= 0 {
		return from.to[i]
	}
	return nil
}

// send puts a packet in the queue, unless it is lost.
func (w *way) send(p *packet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count.Sent++
	lost, jitter := w.chance.Float64() < w.condition.Loss, w.chance.Float64()*float64(w.condition.Jitter)
	switch {
	case w.cut:
		w.count.Cut++
		return
	case lost:
		w.count.Lost++
		return
	}
	p.due, p.cuts = time.Now().Add(w.condition.Delay+time.Duration(jitter)), w.cuts
	if p.due.Before(w.last) {
		p.due = w.last
	}
	select {
	case w.queue <- p:
		w.last = p.due
	default:
		w.count.Full++
	}
}

// deliver passes on packets that are due until ctx ends.
func (w *way) deliver(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case p := <-w.queue:
			if wait := time.Until(p.due); wait > 0 {
				timer.Reset(wait)
				select {
				case <-timer.C:
				case <-ctx.Done():
					return
				}
			}
			w.arrive(p)
		case <-ctx.Done():
			return
		}
	}
}

// arrive gives a packet to its node, unless the way was cut meanwhile.
func (w *way) arrive(p *packet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cuts != p.cuts {
		w.count.Cut++
	} else if _, err := w.to.tun.Write(p.data[:p.size]); err != nil { // the interface is down, or closed at the end
		w.count.Full++
	} else {
		w.count.Passed++
		w.count.Bytes += p.size
	}
}
