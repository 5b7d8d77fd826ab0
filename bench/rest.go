package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// staffed is how many agents a daemon has, all told, beside one with a single one.
const staffed = 50

// rests measures what it costs the daemon that it has many agents while nothing
// happens, beside the same binary with one, in the same seconds.
func (b bench) rests(ctx context.Context) (rows []Row, err error) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		return []Row{{Name: "idle agents", Note: "not measured: this system has no /proc/self/schedstat"}}, nil
	}
	many, err := b.startDaemon(ctx, "staffed", staff())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, many.stop()) }()
	one, err := b.startDaemon(ctx, "alone", "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, one.stop()) }()
	watch := time.Duration(min(b.rounds, idleRounds)) * 10 * time.Second / idleRounds
	uses, err := many.watch(watch, one)
	if err != nil {
		return nil, err
	}
	same := func(v float64) Spread { return Spread{v, v, v} }
	name := fmt.Sprintf("%d idle agents", staffed)
	note := fmt.Sprintf("after %v; of it RssAnon %s MB, bare %s MB; beside the daemon with one agent; none has been called since the start", watch, number(uses[0].anon), number(uses[1].anon))
	return []Row{
		row(name+", memory (VmRSS)", "MB", same(uses[0].rss), same(uses[1].rss), note),
		row(name+", CPU", "% of a core", same(uses[0].cpu), same(uses[1].cpu), ""),
	}, nil
}

// staff is a configuration with so many agents, of which the main one needs no words.
func staff() string {
	var all strings.Builder
	all.WriteString("agents:\n")
	for i := range staffed - 1 {
		fmt.Fprintf(&all, "  - name: %s\n    description: knows the tides of harbour %d\n", guest(i), i)
	}
	return all.String()
}
