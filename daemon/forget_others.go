package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/daemon/erase"
	"earshot/internal/wait"
)

const (
	// longestConfirmation is how long whoever forgets waits until other daemons have forgotten it, too.
	longestConfirmation = time.Second

	// mostErased is how many erased events wait to be forgotten by their IDs. If there are more, all
	// erased events of the rooms are looked up.
	mostErased = 10_000
)

// forgetSubject returns the subject at which the daemon of a name is told what is erased.
func forgetSubject(name string) string { return "earshot.cluster." + name + ".forget" }

// tellErased implements [erase.Eraser.Tell]. Whoever does not answer hears of the events from the database.
func (d *Daemon) tellErased(ctx context.Context, e erase.Erasure) {
	data, err := json.Marshal(e)
	b := d.bus.Current()
	if err == nil && b == nil {
		err = errors.New("there is no connection with the bus")
	}
	if err != nil {
		d.log.Warn("other daemons could not be told what is forgotten; they hear of it from the database", "err", err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, longestConfirmation)
	defer cancel()
	var asking sync.WaitGroup
	for _, m := range d.cluster.Members() {
		if m.Name() == d.Config().Cluster.Name {
			continue
		}
		asking.Go(func() {
			answer, err := b.Request(ctx, forgetSubject(m.Name()), data)
			if err == nil && len(answer) > 0 {
				err = errors.New(string(answer))
			}
			if err != nil {
				d.log.Warn("another daemon has not confirmed that it has forgotten something; it hears of it from the database", "member", m.Name(), "err", err)
			}
		})
	}
	asking.Wait()
}

// hearErased forgets what other daemons say they have erased, until ctx ends.
func (d *Daemon) hearErased(ctx context.Context) {
	take := func(m bus.Message) {
		var e erase.Erasure
		err := json.Unmarshal(m.Data, &e)
		if err == nil {
			bounded, cancel := context.WithTimeout(ctx, longestExclusion)
			defer cancel()
			err = errors.Join(d.store.CatchUp(bounded), d.eraser.Take(bounded, e)) // otherwise it might be learnt afterwards
		}
		var answer []byte
		if err != nil {
			d.log.Warn("what another daemon has erased is not quite forgotten here", "err", err)
			answer = []byte(err.Error())
		}
		if m.Respond != nil {
			_ = m.Respond(answer) // whoever asked does not wait for long
		}
	}
	d.bus.Keep(ctx, "other daemons cannot tell this one what they erase", func(ctx context.Context, b bus.Bus) error {
		stop, err := b.Subscribe(ctx, forgetSubject(d.Config().Cluster.Name), take)
		if err != nil {
			return err
		}
		defer stop()
		<-ctx.Done()
		return nil
	})
}

// An erasureQueue holds the IDs of what other daemons have erased, as the database tells, until it is
// forgotten here.
type erasureQueue struct {
	mu     sync.Mutex
	ids    []earshot.EventID
	missed bool // there may be more
	wake   chan struct{}
}

// add adds some; nil stands for any. It does not wait.
func (q *erasureQueue) add(ids []earshot.EventID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ids = append(q.ids, ids...); ids == nil || len(q.ids) > mostErased {
		q.missed = true
	}
	if q.missed {
		q.ids = nil
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// run forgets what is added, until ctx ends. It calls reload when people may have been forgotten.
func (q *erasureQueue) run(ctx context.Context, d *Daemon, reload func()) {
	for {
		select {
		case <-q.wake:
		case <-ctx.Done():
			return
		}
		q.mu.Lock()
		ids, missed := q.ids, q.missed
		q.ids, q.missed = nil, false
		q.mu.Unlock()
		if len(ids) == 0 && !missed { // they were taken along with the last ones
			continue
		}
		people, err := d.eraser.Review(ctx, ids)
		if people {
			reload()
		}
		if err != nil && ctx.Err() == nil {
			d.log.Warn("what another daemon has erased is not quite forgotten here", "err", err)
			q.add(ids)
			wait.For(ctx, retryCluster)
		}
	}
}
