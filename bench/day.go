package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"earshot"
	"earshot/participants"
	"earshot/replay"
	"earshot/store"
)

// events is of how many a day is that is performed again: a lively one. With a single round,
// as in a test, it is a short one.
func (b bench) events() int {
	if b.rounds == 1 {
		return 50
	}
	return 5_000
}

// performing measures how long it takes to perform a recorded day again, beside reading it,
// and fails if not the same is decided.
func performing(ctx context.Context, b bench) ([]Row, error) {
	helper, err := b.build(ctx, "earshot-replay", "earshot/cmd/earshot-replay", "CGO_ENABLED=0")
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, store.Config{Directory: filepath.Join(b.dir, "day")})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	began := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
	n := 0
	for batch := range lively(began, b.events()) {
		if _, err := s.Append(ctx, batch...); err != nil {
			return nil, err
		}
		n += len(batch)
	}
	config := filepath.Join(b.dir, "day.yaml")
	if err := os.WriteFile(config, []byte("executive: {parallel: {reasoning_continuous: false}}\n"), 0o600); err != nil {
		return nil, err
	}
	read := func() (*replay.Day, error) {
		archive, err := store.OpenReader(ctx, filepath.Join(b.dir, "day"))
		if err != nil {
			return nil, err
		}
		defer archive.Close()
		d := replay.Between(began, began.AddDate(1, 0, 0), "")
		for e, err := range archive.Export(ctx) {
			if err != nil {
				return nil, err
			}
			if _, err := d.Add(e); err != nil {
				return nil, err
			}
		}
		d.Close()
		return d, nil
	}
	var res replay.Result
	again := func() ([]float64, error) {
		began := time.Now()
		d, err := read()
		if err != nil {
			return nil, err
		}
		var in, out, bad bytes.Buffer
		if err := (replay.Job{Config: config}).Send(&in, d); err != nil {
			return nil, err
		}
		c := exec.CommandContext(ctx, helper)
		c.Stdin, c.Stdout, c.Stderr = &in, &out, &bad
		if err := c.Run(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, bad.String())
		}
		took := time.Since(began)
		res = replay.Result{}
		if err := json.Unmarshal(out.Bytes(), &res); err != nil {
			return nil, err
		}
		if len(res.Differences) > 0 {
			return nil, fmt.Errorf("%d of %d decisions are others", len(res.Differences), res.Decisions)
		}
		return []float64{took.Seconds()}, nil
	}
	bare := func() ([]float64, error) {
		began := time.Now()
		_, err := read()
		return []float64{time.Since(began).Seconds()}, err
	}
	o, p, err := b.compare(again, bare)
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("%d events with %d decisions, all taken again; bare is reading them", n, res.Decisions)
	return []Row{row(fmt.Sprintf("a day of %d events, performed again", b.events()), "s", o, p, note).goal("p50", o.P50, 60)}, nil
}

// lively yields a day of about so many events: somebody asks something all day, and is
// answered.
func lively(began time.Time, events int) func(func([]earshot.Event) bool) {
	p := newPast(1)
	ann := earshot.Handle{Provider: "console", ID: "uid0"}
	public := earshot.Visibility{Scope: earshot.Public}
	event := func(at time.Time, from earshot.Handle, by earshot.ParticipantID, body earshot.Body) earshot.Event {
		return earshot.Event{ID: p.id(), At: at, Room: earshot.Desk, From: from, Author: by, Visibility: public, Body: body}
	}
	house := func(k earshot.Kind) earshot.Handle { return earshot.Handle{Provider: "earshot", ID: string(k)} }
	return func(yield func([]earshot.Event) bool) {
		comes := event(began, ann, participants.Owner, earshot.Presence{Session: "s", Here: true})
		comes.Via, comes.Visibility = "console", earshot.Visibility{Scope: earshot.System}
		if !yield([]earshot.Event{comes}) {
			return
		}
		for i := 1; i < events; i += 3 {
			at := began.Add(time.Duration(i) * 6 * time.Second)
			asks := event(at, ann, participants.Owner, earshot.Message{Text: "tell me about " + p.sentence()})
			asks.Via, asks.To = "console", []earshot.ParticipantID{participants.Agent}
			turn := earshot.TurnID(p.id())
			speaks := event(at, house(earshot.KindDecision), participants.Agent, earshot.Decision{
				About: asks.ID, Agent: participants.Agent, Verdict: earshot.Speak, Reasons: []string{"text, and only one person is here"}, Turn: turn,
			})
			speaks.Sources = []earshot.EventID{asks.ID}
			text := p.sentence()
			reply := event(at, house(earshot.KindReply), participants.Agent, earshot.Reply{
				Turn: turn, About: asks.ID, Outcome: earshot.Completed, Offered: text, Took: 4 * time.Second,
				Heard: []earshot.Delivery{{Outlet: "console", Bytes: len(text)}},
			})
			reply.To, reply.Sources = []earshot.ParticipantID{participants.Owner}, []earshot.EventID{asks.ID}
			if !yield([]earshot.Event{asks, speaks, reply}) {
				return
			}
		}
	}
}
