package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/internal/discord"
	"earshot/internal/discord/discordtest"
	"earshot/internal/field"
	outlet "earshot/outlets/discord"
)

const (
	// posters is how many channels get a reply at once.
	posters = 10

	// postGoal is the goal in milliseconds: a small part of what Discord itself takes.
	postGoal = 20
)

// posting measures how long it takes from the last word of a reply's first paragraph to
// the message that Discord has acknowledged, in one channel and in ten at once. The bare
// thing is the same message, sent by the same client's own transport. Discord is one on
// loopback, which answers at once.
func posting(ctx context.Context, b bench) (rows []Row, err error) {
	server, err := discordtest.Start(discordtest.Config{}, b.dir)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	p := newPostbox(server)
	defer p.client.CloseIdleConnections()
	for _, n := range []int{1, posters} {
		ours, bare, err := alternate(b.rounds, func() ([]float64, error) { return p.replies(ctx, n) }, func() ([]float64, error) { return p.bare(ctx, n) })
		if err != nil {
			return nil, err
		}
		name := "D1 text → first part"
		if n > 1 {
			name += ", ten channels at once"
		}
		r := row(name, "ms", spread(ours), spread(bare), "acknowledged; beside a bare POST")
		if n == 1 {
			r = r.goal("p99", spread(ours).P99, postGoal)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// A postbox posts to a Discord.
type postbox struct {
	server  *discordtest.Server
	token   string
	client  *http.Client
	session *discord.Session
	rooms   []uint64
	turns   int
}

func newPostbox(server *discordtest.Server) *postbox {
	bot := server.Bot("bench")
	p := &postbox{server: server, token: bot.Token, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: posters}}}
	p.session = discord.New(discord.Config{Token: field.Secret(bot.Token), Base: server.Base(), HTTP: p.client})
	for i := range posters {
		p.rooms = append(p.rooms, server.AddChannel(discordtest.Channel{Name: fmt.Sprint("room-", i)}).ID)
	}
	return p
}

// tides is a paragraph of a usual length.
var tides = strings.TrimSpace(strings.Repeat("The tides follow the moon, a little later every day. ", 6))

// each does something for some channels at once, and returns how long each took, in
// milliseconds.
func (p *postbox) each(n int, do func(room uint64) (time.Duration, error)) ([]float64, error) {
	took, errs := make([]float64, n), make([]error, n)
	var works sync.WaitGroup
	for i, room := range p.rooms[:n] {
		works.Go(func() {
			d, err := do(room)
			took[i], errs[i] = d.Seconds()*1000, err
		})
	}
	works.Wait()
	return took, errors.Join(errs...)
}

// replies has a reply in some channels at once.
func (p *postbox) replies(ctx context.Context, n int) ([]float64, error) {
	p.turns++
	turn := earshot.TurnID(fmt.Sprint("turn-", p.turns))
	return p.each(n, func(room uint64) (time.Duration, error) {
		ctx, stop := context.WithCancel(ctx)
		posted, refused := make(chan time.Time, 1), make(chan error, 1)
		text := outlet.NewText(outlet.TextConfig{
			Channel: room, REST: p.session,
			Posted:  func(earshot.TurnID, uint64) { posted <- time.Now() },
			Refused: func(err error) { refused <- err },
		})
		in := make(chan struct{})
		var run sync.WaitGroup
		run.Go(func() {
			_ = text.Run(ctx, func(earshot.Outlet) func() {
				close(in)
				return func() {}
			})
		})
		defer run.Wait()
		defer stop()
		<-in
		s, err := text.Open(ctx, earshot.Opening{Turn: turn}, func(earshot.Heard) {})
		if err != nil {
			return 0, err
		}
		began := time.Now()
		if err := s.Say(earshot.Clause{Text: earshot.Text(tides + "\n\n")}); err != nil {
			return 0, err
		}
		select {
		case at := <-posted:
			s.Finish()
			return at.Sub(began), nil
		case err := <-refused:
			return 0, err
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	})
}

// bare posts a message in some channels at once.
func (p *postbox) bare(ctx context.Context, n int) ([]float64, error) {
	body, err := json.Marshal(map[string]any{"content": tides, "allowed_mentions": map[string]any{"parse": []string{}}})
	if err != nil {
		return nil, err
	}
	return p.each(n, func(room uint64) (time.Duration, error) {
		began := time.Now()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%sapi/v9/channels/%d/messages", p.server.Base(), room), bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		r.Header.Set("Authorization", "Bot "+p.token)
		r.Header.Set("Content-Type", "application/json")
		answer, err := p.client.Do(r)
		if err != nil {
			return 0, err
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			return 0, errors.Join(err, fmt.Errorf("posting was answered %d", answer.StatusCode))
		}
		return time.Since(began), nil
	})
}
