package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"earshot"
	"earshot/executive/attention"
	"earshot/executive/think"
)

// mulled is how many tokens, or events, a round has.
const mulled = 1000

// mulling measures what it costs that the agent thinks and pays attention: a token
// of a thought, beside keeping its bytes; an event that may be new, beside
// splitting it into words; and thinking while nothing happens, beside a daemon
// that does not think.
func mulling(ctx context.Context, b bench) ([]Row, error) {
	text := []byte("tides ")
	token, err := b.perUnit("a token of a thought", "token", mulled, growOne, func() error {
		kept := make([]byte, 0, think.MostText)
		for range mulled {
			kept = append(kept, text...)
		}
		runtime.KeepAlive(kept)
		return nil
	})
	if err != nil {
		return nil, err
	}
	token[1] = token[1].goal("p50", token[1].Ours.P50, 0.05)
	token[1].Note = "those are what it takes to begin one"
	heard := make([]earshot.Text, mulled)
	for i := range heard {
		heard[i] = earshot.Text(babble(uint64(i), 12))
	}
	event, err := b.perUnit("an event for attention", "event", mulled, func() error { return notice(heard) }, func() error {
		for _, h := range heard {
			strings.Fields(string(h))
		}
		return nil
	})
	if err != nil {
		return token, err
	}
	quiet, err := b.soak(ctx)
	return append(append(token, event...), quiet...), err
}

// growOne lets a thought grow by so many tokens.
func growOne() error {
	n := 0
	s := think.State{NewID: func() earshot.EventID { n++; return earshot.EventID(fmt.Sprint(n)) }}
	at := time.Now()
	gen := 0
	for _, a := range s.Next(think.Event{Kind: think.Asked, Now: at, Question: think.Question{ID: "q", Cause: earshot.ByCommand, At: at}}) {
		gen = a.Gen
	}
	for range mulled {
		s.Next(think.Event{Kind: think.Token, Gen: gen, Text: "tides "})
	}
	if v := s.View(); len(v) != 1 || v[0].Tokens != mulled {
		return errors.New("the thought has not grown")
	}
	return nil
}

// notice lets attention weigh all that was heard, a second apart.
func notice(heard []earshot.Text) error {
	w := attention.Watch{Every: 5 * time.Second}
	at := time.Now()
	for _, h := range heard {
		at = at.Add(time.Second)
		w.Take(attention.Glimpse{At: at, Who: "ann", What: "message", Text: h})
		w.Weigh(at)
	}
	return nil
}

// soak measures what the daemon needs that thinks, while nothing happens, beside
// one that does not.
func (b bench) soak(ctx context.Context) (rows []Row, err error) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		return []Row{{Name: "idle thinking", Note: "not measured: this system has no /proc/self/schedstat"}}, nil
	}
	with, err := b.startDaemon(ctx, "thinking", "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, with.stop()) }()
	without, err := b.startDaemon(ctx, "thoughtless", "executive:\n  reasoning:\n    enabled: false\n")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, without.stop()) }()
	watch := time.Duration(min(b.rounds, idleRounds)) * time.Minute / idleRounds
	uses, err := with.watch(watch, without)
	if err != nil {
		return nil, err
	}
	same := func(v float64) Spread { return Spread{v, v, v} }
	note := fmt.Sprintf("after %v; of it RssAnon %s MB, bare %s MB; beside the daemon that does not think", watch, number(uses[0].anon), number(uses[1].anon))
	return []Row{
		row("idle thinking, memory (VmRSS)", "MB", same(uses[0].rss), same(uses[1].rss), note).goal("", uses[0].rss, 40),
		row("idle thinking, CPU", "% of a core", same(uses[0].cpu), same(uses[1].cpu), "").goal("", uses[0].cpu, 1),
	}, nil
}
