package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/mls"
	clients "earshot/internal/discord/peers"
	"earshot/internal/discord/voice"
)

const (
	speaking = 8   // at once
	grouped  = 25  // members of a group
	opusSize = 160 // bytes of a frame: 20 ms at 64 kb/s
)

// discordCall measures what a call on Discord costs: to hear eight who speak at once,
// from a packet of the network to a frame of Opus in its order, without decoding it;
// and to write the commit by which somebody comes into a group of 25. The bare thing is
// discord.js in the same call, and its library's commit. Eight calls of ours speak, in
// this process, through a Discord on loopback; who hears is a process of its own.
func discordCall(ctx context.Context, b bench) (rows []Row, err error) {
	if slices.Contains(strings.FieldsFunc(os.Getenv("EARSHOT_WITHOUT"), func(r rune) bool { return r == ',' || r == ' ' }), "discord") {
		return []Row{{Name: "discord", Note: "not measured: EARSHOT_WITHOUT has discord"}}, nil
	}
	ours, theirs, err := b.listening(ctx)
	if errors.Is(err, clients.ErrMissing) {
		return []Row{{Name: "discord", Note: "not measured: " + err.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	commits, err := commits(b.rounds)
	if err != nil {
		return nil, err
	}
	bare, err := clients.Commits(ctx, grouped, b.rounds)
	if err != nil {
		return nil, err
	}
	const beside = "beside discord.js in the same call"
	of := func(samples []sample, f func(sample) float64) (all []float64) {
		for _, s := range samples {
			all = append(all, f(s))
		}
		return all
	}
	both := func(f func(sample) float64) (Spread, Spread) { return spread(of(ours, f)), spread(of(theirs, f)) }
	cpu, bareCPU := both(func(s sample) float64 { return 100 * float64(s.busy) / float64(s.took) })
	frame, bareFrame := both(func(s sample) float64 { return micros(s.busy) / float64(s.frames) })
	share := row("hearing 8 who speak, CPU", "% of a core", cpu, bareCPU, beside+"; neither decodes")
	return []Row{
		share.goal("p50", cpu.P50, 15),
		row("hearing 8 who speak, a frame", "µs", frame, bareFrame, "of CPU, from the socket to Opus in its order"),
		{Name: "hearing 8 who speak, allocations", Unit: "a frame", Ours: spread(of(ours, func(s sample) float64 { return float64(s.Mallocs) / float64(s.frames) }))},
		{Name: "delay that the jitter buffer adds", Unit: "ms", Ours: spread(of(ours, func(s sample) float64 { return s.Delay })), Note: "at the median of packets, up to 10 ms more"},
		row("a commit in a group of 25", "ms", spread(commits), spread(bare), "beside davey; somebody is added"),
	}, nil
}

// A sample is what a listener needed for some time.
type sample struct {
	busy, took time.Duration
	frames     int64
	reading
}

// listening has two listeners in a call with eight who speak, and returns what each
// needed in each repeat.
func (b bench) listening(ctx context.Context) (ours, theirs []sample, err error) {
	server, err := discordtest.Start(discordtest.Config{}, b.dir)
	if err != nil {
		return nil, nil, err
	}
	defer server.Close()
	user := server.Bot("theirs")
	peer, err := clients.Run(ctx, clients.Config{Base: server.Base(), CAFile: server.CAFile(), Token: user.Token, Guild: server.Guild().ID})
	if err != nil {
		return nil, nil, err
	}
	defer peer.Close()
	l, err := startListener(ctx, server)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, l.stop()) }()
	channel := server.Channel("voice").ID
	peer.Join(channel)
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for i := range speaking {
		all.Go(func() { speakOn(ctx, server, channel, i) })
	}
	if err := awaitThat(ctx, "all are in the call", func() bool { return len(server.Group(channel).Members) == speaking+2 }); err != nil {
		return nil, nil, err
	}
	lasts := min(5*time.Second, time.Duration(b.rounds)*100*time.Millisecond)
	for range b.repeats + 1 {
		one, other, err := b.hear(ctx, l, peer, lasts)
		if err != nil {
			return nil, nil, err
		}
		ours, theirs = append(ours, one), append(theirs, other)
	}
	if b.repeats > 1 {
		ours, theirs = ours[1:], theirs[1:] // the first is a warm-up
	}
	return ours, theirs, nil
}

// speakOn speaks in a call until ctx ends.
func speakOn(ctx context.Context, server *discordtest.Server, channel uint64, i int) {
	user := server.Bot(fmt.Sprint("speaker ", i))
	var call *voice.Call
	line := server.Line(user, func(channel uint64, session string) { call.State(channel, session) },
		func(token, endpoint string) { call.Server(token, endpoint) })
	call = voice.New(voice.Config{
		Place: voice.Place{Guild: server.Guild().ID, Channel: channel, Self: user.ID},
		Line:  line, HTTP: server.HTTP(),
	})
	var saying sync.WaitGroup
	saying.Go(func() {
		frame := make([]byte, opusSize)
		rand.Read(frame)
		frame[0] = 0xfc // 20 ms, as RFC 6716 §3.1 has it
		for n := uint64(0); ; n++ {
			binary.BigEndian.PutUint64(frame[1:], n)
			if call.Say(ctx, frame) != nil {
				return
			}
		}
	})
	_ = call.Run(ctx)
	saying.Wait()
}

// hear measures both listeners for as long as lasts.
func (b bench) hear(ctx context.Context, l *listener, p *clients.Peer, lasts time.Duration) (ours, theirs sample, err error) {
	at := func() (one, other sample, err error) {
		r, err := p.Report()
		if err != nil {
			return one, other, err
		}
		for _, h := range r.Heard {
			other.frames += int64(h.Other + h.Silence)
		}
		if one.reading, err = l.ask(); err != nil {
			return one, other, err
		}
		one.frames = one.Packets
		if one.busy, err = busyOf(l.command.Process.Pid); err == nil {
			other.busy, err = busyOf(p.PID())
		}
		return one, other, err
	}
	began := time.Now()
	first, firstOther, err := at()
	if err != nil {
		return ours, theirs, err
	}
	select {
	case <-ctx.Done():
		return ours, theirs, context.Cause(ctx)
	case <-time.After(lasts):
	}
	ours, theirs, err = at()
	took := time.Since(began)
	ours.took, ours.busy, ours.frames, ours.Mallocs = took, ours.busy-first.busy, ours.frames-first.frames, ours.Mallocs-first.Mallocs
	theirs.took, theirs.busy, theirs.frames = took, theirs.busy-firstOther.busy, theirs.frames-firstOther.frames
	if err == nil && (ours.frames == 0 || theirs.frames == 0) {
		err = fmt.Errorf("of the listeners one hears %d frames and the other %d", ours.frames, theirs.frames)
	}
	return ours, theirs, err
}

// commits returns how many milliseconds it takes us to add somebody to a group.
func commits(rounds int) (times []float64, err error) {
	gateway, err := mls.NewSigner(rand.Reader)
	if err != nil {
		return nil, err
	}
	id := binary.BigEndian.AppendUint64(nil, 1)
	invited := func(user uint64) *mls.KeyPackage {
		s, wrong := mls.NewSigner(rand.Reader)
		if wrong == nil {
			var k *mls.KeyPackage
			if k, wrong = mls.NewKeyPackage(rand.Reader, s, binary.BigEndian.AppendUint64(nil, user)); wrong == nil {
				return k
			}
		}
		err = errors.Join(err, wrong)
		return nil
	}
	first := invited(0)
	if err != nil {
		return nil, err
	}
	g, err := mls.New(rand.Reader, first, id, mls.ExternalSender{SignatureKey: gateway.Public(), Identity: []byte("here")})
	if err != nil {
		return nil, err
	}
	add := func(users ...uint64) (messages [][]byte) {
		for _, user := range users {
			k := invited(user)
			if err != nil {
				return nil
			}
			m, _, wrong := mls.ProposeAdd(gateway, id, g.Epoch(), k.Marshal())
			err = errors.Join(err, wrong)
			messages = append(messages, m)
		}
		return messages
	}
	commit := func(messages [][]byte) (*mls.Group, error) {
		var all []*mls.Proposal
		for _, m := range messages {
			p, err := g.Proposal(m)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
		_, _, next, err := g.Commit(rand.Reader, all)
		return next, err
	}
	var users []uint64
	for u := uint64(1); u < grouped; u++ {
		users = append(users, u)
	}
	messages := add(users...)
	if err != nil {
		return nil, err
	}
	if g, err = commit(messages); err != nil {
		return nil, err
	}
	one := add(grouped)
	if err != nil {
		return nil, err
	}
	for range rounds {
		began := time.Now()
		if _, err := commit(one); err != nil {
			return nil, err
		}
		times = append(times, micros(time.Since(began))/1000)
	}
	return times, nil
}
