package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"earshot/internal/wait"
)

const (
	// manyRooms is how many rooms there are, in each of which something is said every second.
	manyRooms = 1000

	// manyPeople is how many people say it, of whom each may ask only so often.
	manyPeople = 10

	// sharedInserts is how many rows share a commit at most, as in the store.
	sharedInserts = 128
)

// manyTalk measures three daemons that share many rooms, in each of which something is said every second, by
// any of the daemons: how soon it is acknowledged, how much of it, and what the processes need. The bare thing
// is the row alone, inserted at the same times by a client that commits together what has come meanwhile.
func manyTalk(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutPostgres("rooms"); rows != nil {
		return rows, nil
	}
	long := max(time.Duration(min(b.rounds, 30))*time.Second, 3*time.Second)
	t, err := b.startTrio(ctx, b.rooms)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.stop()) }()
	say := func(i int) error {
		c := t.at(i%len(members), t.rooms[i])
		c.Identity, c.New = fmt.Sprintf("Teller%d", i%manyPeople), true
		_, err := c.Post(ctx, "", "@nobody the tide comes in")
		return err
	}
	if _, _, err := t.talk(ctx, time.Second, true, say); err != nil { // until all rooms have begun
		return nil, err
	}
	ours, took, rate, err := t.cost(ctx, long, true, say)
	if err != nil {
		return nil, err
	}
	insert, end, err := t.inserts(ctx)
	if err != nil {
		return nil, err
	}
	var most float64
	bare, bareTook, _, err := t.cost(ctx, long, true, insert)
	if err == nil {
		_, most, err = t.talk(ctx, 3*time.Second, false, insert)
	}
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	note := fmt.Sprintf("%d rooms, a message each second in each, for %v", b.rooms, long)
	return []Row{
		row("rooms: a message is acknowledged", "ms", spread(took), spread(bareTook), note+"; bare: the row alone is inserted at the same times").goal("p99", spread(took).P99, 1000),
		row("rooms: messages acknowledged", "1/s", same(rate), same(most), fmt.Sprintf("%d a second are offered; bare: as many rows as go", b.rooms)),
		row("rooms: transactions of PostgreSQL", "1/s", same(ours.commits), same(bare.commits), ""),
		row("rooms: CPU of PostgreSQL", "% of a core", same(ours.cpu[3]), same(bare.cpu[3]), ""),
		row("rooms: CPU of the daemons", "% of a core", same(ours.cpu[0]+ours.cpu[1]+ours.cpu[2]), same(bare.cpu[0]+bare.cpu[1]+bare.cpu[2]),
			fmt.Sprintf("with their buses: %s; who says it all needs %s %%; bare: nothing is said", ours.each, number(ours.cpu[4]))),
		row("rooms: memory of the daemons (PSS)", "MB", same(ours.memory), same(bare.memory), "with their buses; bare: afterwards, when nothing is said"),
	}, nil
}

// talk has something said in each room every second, or as often as goes if it is not paced. It returns how long
// each took from when it was to be said, and how many were in a second.
func (t *trio) talk(ctx context.Context, long time.Duration, paced bool, say func(room int) error) (took []float64, rate float64, err error) {
	var mu sync.Mutex
	began := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	for i := range t.rooms {
		g.Go(func() error {
			at := began.Add(time.Second * time.Duration(i) / time.Duration(len(t.rooms)))
			for ; at.Sub(began) < long && time.Since(began) < 2*long; at = at.Add(time.Second) { // who is behind gives up in the end
				if !paced {
					at = time.Now().Add(-time.Second)
				}
				if !wait.For(ctx, time.Until(at)) {
					return context.Cause(ctx)
				}
				if err := say(i); err != nil {
					return err
				}
				mu.Lock()
				took = append(took, milliseconds(time.Since(at)))
				mu.Unlock()
			}
			return nil
		})
	}
	if err = g.Wait(); err == nil && len(took) == 0 {
		err = errors.New("nothing was acknowledged in time")
	}
	return took, float64(len(took)) / time.Since(began).Seconds(), err
}

// A roomsCost is what the processes need while something is done.
type roomsCost struct {
	cpu     [5]float64 // % of a core: of the daemons, of PostgreSQL, and of this process
	memory  float64    // of the daemons, MB
	commits float64    // of PostgreSQL, in a second
	each    string     // in words
}

// cost has something said as talk does, and returns also what that costs.
func (t *trio) cost(ctx context.Context, long time.Duration, paced bool, say func(room int) error) (c roomsCost, took []float64, rate float64, err error) {
	all := append(t.daemons[:], t.server)
	look := func() (loads []load, commits float64, err error) {
		for _, p := range all {
			l, failed := p.needs()
			for tries := 0; failed != nil && tries < 9; tries++ { // a worker of PostgreSQL has ended meanwhile
				l, failed = p.needs()
			}
			loads, err = append(loads, l), errors.Join(err, failed)
		}
		own, failed := busyOf(os.Getpid())
		loads = append(loads, load{busy: own})
		return loads, commits, errors.Join(err, failed, t.db.QueryRowContext(ctx, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()").Scan(&commits))
	}
	before, commits, err := look()
	if err != nil {
		return c, nil, 0, err
	}
	began := time.Now()
	if took, rate, err = t.talk(ctx, long, paced, say); err != nil {
		return c, nil, 0, err
	}
	ago := time.Since(began)
	after, total, err := look()
	if err != nil {
		return c, nil, 0, err
	}
	c.commits = (total - commits) / ago.Seconds()
	for i, l := range after {
		c.cpu[i] = 100 * float64(l.busy-before[i].busy) / float64(ago)
		if i < len(members) {
			c.memory += l.pss
			var rooms int
			if err = t.db.QueryRowContext(ctx, "SELECT count(*) FROM room_leases WHERE owner LIKE ?", members[i]+".%").Scan(&rooms); err != nil {
				return c, nil, 0, err
			}
			c.each += fmt.Sprintf("%s with %d rooms: %s; ", members[i], rooms, strings.Join(l.since(before[i], ago), ", "))
		}
	}
	return c, took, rate, err
}

// inserts returns what inserts a row as the journal has them, and returns when it is committed. One client commits
// together what has come meanwhile, as daemons do, whose commits come one after another, too.
func (t *trio) inserts(ctx context.Context) (insert func(i int) error, end func() error, err error) {
	if _, err := t.db.ExecContext(ctx, "CREATE TABLE bare (LIKE journal INCLUDING ALL)"); err != nil {
		return nil, nil, err
	}
	queue := make(chan chan error, len(t.rooms)) // each room has at most one there
	_, end = beside(ctx, func(ctx context.Context) error {
		for last := int64(0); ; {
			var batch []chan error
			for len(batch) == 0 || len(queue) > 0 && len(batch) < sharedInserts {
				select {
				case done := <-queue:
					batch = append(batch, done)
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			last += int64(len(batch))
			err := t.commit(ctx, last, len(batch))
			for _, done := range batch {
				done <- err
			}
		}
	})
	return func(int) error {
		done := make(chan error, 1)
		queue <- done
		return <-done
	}, end, nil
}

// commit commits rows up to a sequence.
func (t *trio) commit(ctx context.Context, last int64, n int) error {
	tx, err := t.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	for k := range n {
		if _, err := tx.ExecContext(ctx, bareRow, sql.Named("n", last-int64(k)), sql.Named("id", newID()), sql.Named("at", time.Now().UnixMilli())); err != nil {
			return err
		}
	}
	return tx.Commit()
}
