package erase

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/daemon/buslink"
	"earshot/internal/wait"
)

const (
	// longestConfirmation is how long whoever forgets waits until other daemons have forgotten it, too.
	longestConfirmation = time.Second

	// mostErased is how many erased events wait to be forgotten by their IDs. If there are more, all
	// erased events of the rooms are looked up.
	mostErased = 10_000

	// longestTaking is how long what another daemon has erased may take to be forgotten here.
	longestTaking = 5 * time.Second

	// retry is how long to wait before something is forgotten again that could not be.
	retry = time.Second
)

// forgetSubject returns the subject at which the daemon of a name is told what is erased.
func forgetSubject(name string) string { return "earshot.cluster." + name + ".forget" }

// Peers are the other daemons that share the journal: they are told what is erased here, and what they erase is
// forgotten here. The methods may be called from many goroutines, but for Hear and Run, which are called once.
type Peers struct {
	eraser  *Eraser
	bus     *buslink.Link
	name    string // of this daemon
	members func() []string
	catchUp func(context.Context) error

	mu     sync.Mutex
	ids    []earshot.EventID // erased by others, as the database tells, until they are forgotten here
	missed bool              // there may be more
	wake   chan struct{}     // of capacity 1
}

// NewPeers returns the peers of the daemon of a name. Members returns the names of all that are present, and
// catchUp returns when what they have written is known here.
func NewPeers(e *Eraser, link *buslink.Link, name string, members func() []string, catchUp func(context.Context) error) *Peers {
	return &Peers{eraser: e, bus: link, name: name, members: members, catchUp: catchUp, wake: make(chan struct{}, 1)}
}

// Tell implements [Eraser.Tell]. Whoever does not answer hears of the events from the database.
func (p *Peers) Tell(ctx context.Context, e Erasure) {
	data, err := json.Marshal(e)
	b := p.bus.Current()
	if err == nil && b == nil {
		err = errors.New("there is no connection with the bus")
	}
	if err != nil {
		p.eraser.Log.Warn("other daemons could not be told what is forgotten; they hear of it from the database", "err", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, longestConfirmation)
	defer cancel()
	var asking sync.WaitGroup
	for _, name := range p.members() {
		if name == p.name {
			continue
		}
		asking.Go(func() {
			answer, err := b.Request(ctx, forgetSubject(name), data)
			if err == nil && len(answer) > 0 {
				err = errors.New(string(answer))
			}
			if err != nil {
				p.eraser.Log.Warn("another daemon has not confirmed that it has forgotten something; it hears of it from the database", "member", name, "err", err)
			}
		})
	}
	asking.Wait()
}

// Hear forgets what other daemons say they have erased, until ctx ends.
func (p *Peers) Hear(ctx context.Context) {
	take := func(m bus.Message) {
		var e Erasure
		err := json.Unmarshal(m.Data, &e)
		if err == nil {
			bounded, cancel := context.WithTimeout(ctx, longestTaking)
			defer cancel()
			err = errors.Join(p.catchUp(bounded), p.eraser.Take(bounded, e)) // otherwise it might be learnt afterwards
		}
		var answer []byte
		if err != nil {
			p.eraser.Log.Warn("what another daemon has erased is not quite forgotten here", "err", err)
			answer = []byte(err.Error())
		}
		if m.Respond != nil {
			_ = m.Respond(answer) // whoever asked does not wait for long
		}
	}
	p.bus.Keep(ctx, "other daemons cannot tell this one what they erase", func(ctx context.Context, b bus.Bus) error {
		stop, err := b.Subscribe(ctx, forgetSubject(p.name), take)
		if err != nil {
			return err
		}
		defer stop()
		<-ctx.Done()
		return nil
	})
}

// Add adds events that another daemon has erased, as the database tells, to be forgotten by Run; nil stands for any.
// It does not wait.
func (p *Peers) Add(ids []earshot.EventID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ids = append(p.ids, ids...); ids == nil || len(p.ids) > mostErased {
		p.missed = true
	}
	if p.missed {
		p.ids = nil
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Run forgets what is added, until ctx ends. It calls reload when people may have been forgotten.
func (p *Peers) Run(ctx context.Context, reload func()) {
	for {
		select {
		case <-p.wake:
		case <-ctx.Done():
			return
		}
		p.mu.Lock()
		ids, missed := p.ids, p.missed
		p.ids, p.missed = nil, false
		p.mu.Unlock()
		if len(ids) == 0 && !missed { // they were taken along with the last ones
			continue
		}
		people, err := p.eraser.Review(ctx, ids)
		if people {
			reload()
		}
		if err != nil && ctx.Err() == nil {
			p.eraser.Log.Warn("what another daemon has erased is not quite forgotten here", "err", err)
			p.Add(ids)
			wait.For(ctx, retry)
		}
	}
}
