package main

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/voice"
	outlet "earshot/outlets/discord"
)

// aloud measures what it is like to be answered in a call on Discord: how soon what is
// said arrives, how soon it is silent when it is paused or cut, and how soon it goes on.
// The voice takes no time, encoder and call are real, end to end encrypted, through a
// Discord on loopback; the ear is another call of ours. The bare thing is a call that is
// told to say frames which were encoded before.
func aloud(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("aloud", []string{"speech", "discord"}); rows != nil {
		return rows, nil
	}
	d, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	server, err := discordtest.Start(discordtest.Config{}, b.dir)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	a := &callee{came: make(chan struct{}, 1), entered: make(chan struct{})}
	a.Voice = outlet.NewVoice(drone{})
	opus := codec.NewOpus(codec.OpusConfig{Dial: d.to(speechHelper, "media"), Encoded: a.encoded})
	a.call = attend(server, "agent", nil)
	guest := attend(server, "guest", a.hear)
	ctx, stop := beside(ctx, opus.Run, a.call.Run, guest.Run, func(ctx context.Context) error {
		a.Run(ctx, a.call, opus, func(earshot.Outlet) func() { close(a.entered); return func() {} })
		return nil
	})
	defer func() { err = errors.Join(err, stop()) }()
	if _, err := await("the outlet has entered the call", a.entered); err != nil {
		return nil, err
	}
	if err := awaitThat(ctx, "both have keys", func() bool {
		one, other := a.call.Status(), guest.Status()
		return one.Encrypted && one.Code != "" && one.Code == other.Code
	}); err != nil {
		return nil, err
	}
	return a.measure(ctx, min(b.rounds, 10), min(b.repeats, 3))
}

// attend returns the call of a bot.
func attend(server *discordtest.Server, name string, heard func([]voice.Packet)) *voice.Call {
	return attendAs(server, server.Bot(name), heard)
}

// attendAs returns the call of somebody.
func attendAs(server *discordtest.Server, user discordtest.User, heard func([]voice.Packet)) *voice.Call {
	var call *voice.Call
	line := server.Line(user, func(channel uint64, session string) { call.State(channel, session) },
		func(token, endpoint string) { call.Server(token, endpoint) })
	call = voice.New(voice.Config{
		Place: voice.Place{Guild: server.Guild().ID, Channel: server.Channel("voice").ID, Self: user.ID},
		Line:  line, HTTP: server.HTTP(), Heard: heard,
	})
	return call
}

// A callee is somebody in a call to whom the agent speaks.
type callee struct {
	*outlet.Voice
	call    *voice.Call
	entered chan struct{}
	came    chan struct{} // holds a token when something has come

	mu     sync.Mutex
	frames [][]byte  // some that were encoded
	sounds int       // frames with sound that came
	last   time.Time // when the last of them did
	silent bool      // what came last is silence
}

// encoded keeps some frames for the bare thing.
func (a *callee) encoded(ctx context.Context, opus []byte) {
	a.mu.Lock()
	if len(a.frames) < 100 {
		a.frames = append(a.frames, bytes.Clone(opus))
	}
	a.mu.Unlock()
	a.Encoded(ctx, opus)
}

// hear notes what comes.
func (a *callee) hear(batch []voice.Packet) {
	now := time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range batch {
		switch {
		case len(p.Opus) == 0:
		case bytes.Equal(p.Opus, silentFrame):
			a.silent = true
		default:
			a.silent = false
			a.sounds++
			a.last = now
		}
	}
	select {
	case a.came <- struct{}{}:
	default:
	}
}

// heard returns how many frames with sound have come, when the last one did, and
// whether it has been silent since.
func (a *callee) heard() (sounds int, last time.Time, silent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sounds, a.last, a.silent
}

// sound waits for n more frames with sound, and returns after how many milliseconds
// the last of them came.
func (a *callee) sound(ctx context.Context, since time.Time, n int) (float64, error) {
	from, _, _ := a.heard()
	for {
		sounds, last, _ := a.heard()
		if sounds >= from+n {
			return micros(last.Sub(since)) / 1000, nil
		}
		if err := a.wait(ctx); err != nil {
			return 0, err
		}
	}
}

// silence waits for silence, and returns how many milliseconds after since the last
// sound came; 0 if that was before.
func (a *callee) silence(ctx context.Context, since time.Time) (float64, error) {
	onWay := time.After(3 * audio.Time) // after it, what is on its way has come
	select {
	case <-onWay:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	for {
		_, last, silent := a.heard()
		if silent {
			return max(0, micros(last.Sub(since))/1000), nil
		}
		if err := a.wait(ctx); err != nil {
			return 0, err
		}
	}
}

func (a *callee) wait(ctx context.Context) error {
	ctx, stop := context.WithTimeoutCause(ctx, patience, errPatience)
	defer stop()
	select {
	case <-a.came:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Reactions are how many milliseconds it took.
type reactions struct{ first, paused, resumed, cut float64 }

// clause is what the agent says: twelve words.
const clause = "i think we should go to the store after lunch and rest"

// ours has the agent say something, pauses it, lets it go on and cuts it.
func (a *callee) ours(ctx context.Context) (r reactions, err error) {
	ended := make(chan struct{})
	began := time.Now()
	s, err := a.Open(ctx, earshot.Opening{}, func(h earshot.Heard) {
		if h.End {
			close(ended)
		}
	})
	if err != nil {
		return r, err
	}
	err = s.Say(earshot.Clause{Text: clause})
	return r, errors.Join(err, a.react(ctx, &r, began, func(c earshot.Control) { s.Do(c) }), func() error {
		_, err := await("the speech has ended", ended)
		return err
	}())
}

// bare says frames that are there, and hushes them.
func (a *callee) bare(ctx context.Context) (r reactions, err error) {
	a.mu.Lock()
	frames := a.frames
	a.mu.Unlock()
	var saying sync.WaitGroup
	defer saying.Wait()
	var stop context.CancelFunc
	say := func() {
		var inner context.Context
		inner, stop = context.WithCancel(ctx)
		saying.Go(func() {
			for _, f := range frames {
				if a.call.Say(inner, f) != nil {
					return
				}
			}
		})
	}
	began := time.Now()
	say()
	err = a.react(ctx, &r, began, func(c earshot.Control) {
		if c == earshot.Resume {
			say()
			return
		}
		stop()
		saying.Wait()
		a.call.Hush()
	})
	stop()
	return r, err
}

// react tells a speech that began what to do, and notes when it does.
func (a *callee) react(ctx context.Context, r *reactions, began time.Time, do func(earshot.Control)) (err error) {
	note := func(to *float64, after func() (float64, error)) {
		if err == nil {
			*to, err = after()
		}
	}
	now := func(c earshot.Control) time.Time {
		at := time.Now()
		do(c)
		return at
	}
	var rest float64
	note(&r.first, func() (float64, error) { return a.sound(ctx, began, 1) })
	note(&rest, func() (float64, error) { return a.sound(ctx, began, 15) })
	at := now(earshot.Pause)
	note(&r.paused, func() (float64, error) { return a.silence(ctx, at) })
	at = now(earshot.Resume)
	note(&r.resumed, func() (float64, error) { return a.sound(ctx, at, 1) })
	note(&rest, func() (float64, error) { return a.sound(ctx, at, 15) })
	at = now(earshot.Cut)
	note(&r.cut, func() (float64, error) { return a.silence(ctx, at) })
	return err
}

// measure returns the table.
func (a *callee) measure(ctx context.Context, rounds, repeats int) ([]Row, error) {
	if _, err := a.ours(ctx); err != nil { // for frames
		return nil, err
	}
	var ours, bare [4][]Spread
	for range repeats {
		var one, other [4][]float64
		for range rounds {
			for _, side := range []struct {
				do func(context.Context) (reactions, error)
				to *[4][]float64
			}{{a.ours, &one}, {a.bare, &other}} {
				r, err := side.do(ctx)
				if err != nil {
					return nil, err
				}
				for i, ms := range []float64{r.first, r.paused, r.resumed, r.cut} {
					side.to[i] = append(side.to[i], ms)
				}
			}
		}
		for i := range one {
			ours[i], bare[i] = append(ours[i], spread(one[i])), append(bare[i], spread(other[i]))
		}
	}
	const note = "beside a call that says frames which were encoded before; the ear takes what has come every 20 ms"
	of := func(i int, name string) Row { return row(name, "ms", median(ours[i]), median(bare[i]), note) }
	paused, cut := of(1, "in a call: pause → last sound that comes"), of(3, "in a call: cut → last sound that comes")
	return []Row{
		of(0, "in a call: clause → first sound that comes"),
		paused.goal("p99", paused.Ours.P99, 60),
		of(2, "in a call: goes on → first sound that comes"),
		cut.goal("p99", cut.Ours.P99, 60),
	}, nil
}
