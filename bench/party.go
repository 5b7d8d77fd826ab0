package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/executive"
	"earshot/internal/audio"
	"earshot/internal/codec"
	ringing "earshot/internal/discord/calls"
	"earshot/internal/discord/discordtest"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/voice"
	"earshot/internal/field"
	hearing "earshot/models/hear"
	"earshot/models/stt"
	outlet "earshot/outlets/discord"
	"earshot/participants"
	"earshot/providers/microphone"
)

// A party is a call on Discord in which are the agent, put together as the daemon does
// it, somebody who speaks to it, and two bots that throw each other frames.
type party struct {
	server *discordtest.Server
	calls  *ringing.Calls
	pool   *stt.Pool
	opus   *codec.Opus // of the caller
	voice  *hiss
	out    *outlet.Voice
	caller *caller
	bots   [2]*thrower
	people *participants.Registry

	there  chan struct{} // closed by enters when the agent has a voice in the call
	enters func()
	house  atomic.Pointer[house] // in which it is; nil between two scenes
	words  atomic.Value          // the last that were understood, a string
	heard  atomic.Int64          // how many times somebody had spoken, and was understood or not
}

// newParty returns one to which nobody has come, with what has to run for it.
func (b bench) newParty(d dial) (p *party, parts []func(context.Context) error, err error) {
	p = &party{voice: newHiss(), people: participants.New(ann, "Ann", executive.DefaultConfig().Name), there: make(chan struct{})}
	p.enters = sync.OnceFunc(func() { close(p.there) }) // it may lose the call and come again
	if p.server, err = discordtest.Start(discordtest.Config{}, b.dir); err != nil {
		return nil, nil, err
	}
	p.out = outlet.NewVoice(p.voice)
	p.pool = stt.NewPool(stt.PoolConfig{Most: 1, Each: stt.Config{Dial: d.to(speechHelper, "hear"), Names: []string{executive.DefaultConfig().Name}, Log: silent}})
	self := p.server.Bot("agent")
	p.caller = &caller{party: p, agent: self.ID, came: make(chan struct{}, 1)}
	p.opus = codec.NewOpus(codec.OpusConfig{Dial: d.to(speechHelper, "media"), Heard: p.caller.decoded, Encoded: p.caller.encoded})
	p.caller.user = p.server.AddUser(discordtest.User{Name: "guest", Human: true})
	p.caller.call = attendAs(p.server, p.caller.user, p.caller.hear)
	for i := range p.bots {
		p.bots[i] = &thrower{came: make(chan time.Time, 1)}
		p.bots[i].call = attend(p.server, fmt.Sprint("bot ", i), p.bots[i].hear)
	}
	session := p.answer(d, self)
	return p, []func(context.Context) error{
		session.Run, p.pool.Run, p.opus.Run, p.caller.call.Run, p.bots[0].call.Run, p.bots[1].call.Run, p.bots[1].run,
		func(ctx context.Context) error { return p.calls.Run(ctx, p.admit) },
	}, nil
}

// answer makes the agent's calls, and returns its session.
func (p *party) answer(d dial, self discordtest.User) (session *gateway.Session) {
	p.calls = ringing.New(ringing.Config{ByItself: true, EncryptedCalls: true, IgnoreBots: true}, ringing.Parts{
		Call: func(ctx context.Context, cfg voice.Config, use func(ringing.Call)) error {
			return ringing.RunCall(ctx, session, cfg, func(c *voice.Call) { use(c) })
		},
		Ear: p.ear,
		Decoder: func(heard func(uint32, *audio.Frame)) ringing.Decoder {
			return codec.NewOpus(codec.OpusConfig{Dial: d.to(speechHelper, "media"), Heard: heard})
		},
		Room:    func(context.Context, uint64, uint64) (earshot.RoomID, error) { return earshot.Desk, nil },
		Listens: func(earshot.RoomID) (bool, <-chan struct{}) { return true, nil },
		Arrive: func(ctx context.Context, _, user uint64) error {
			_, err := p.people.Arrive(ctx, gateway.HandleOf(user), participants.Newcomer{Names: []string{"Guest"}})
			return err
		},
		Tell: func(context.Context, uint64, string) error { return nil },
		Enter: func(ctx context.Context, call ringing.Call, _ earshot.RoomID) (ringing.RoomVoice, error) {
			return p.speaks(ctx, d, call.(ringing.Sender)), nil
		},
		OptOuts: nobody{}, Log: silent,
	})
	session = gateway.New(gateway.Config{
		Token: field.Secret(self.Token), Base: p.server.Base(), HTTP: p.server.HTTP(), Events: p.calls.Take,
		Intents: discordgo.IntentGuilds | discordgo.IntentGuildVoiceStates,
	})
	return session
}

// nobody has opted out.
type nobody struct{}

func (nobody) Out(uint64) bool        { return false }
func (nobody) Set(uint64, bool) error { return nil }

// ear listens to one person in the call.
func (p *party) ear(from earshot.Handle, _ earshot.RoomID, c ringing.Capture) ringing.Ear {
	set := microphone.DefaultConfig()
	set.Deaf = 0
	return microphone.New(set, microphone.Parts{
		Capture: c, Recogniser: microphone.UseSTT(p.pool.Listener()), Name: p.out.Name(), From: from, Via: p.out.Name(),
		Talk: func() hearing.Talk { return hearing.Talk{Name: executive.DefaultConfig().Name} },
	})
}

// A tongue is the agent's voice in the call.
type tongue struct {
	*outlet.Voice
	leave func()
}

// Leave implements [ringing.RoomVoice].
func (t tongue) Leave() { t.leave() }

// speaks gives the agent a voice in the call.
func (p *party) speaks(ctx context.Context, d dial, call ringing.Sender) tongue {
	coder := codec.NewOpus(codec.OpusConfig{Dial: d.to(speechHelper, "media"), Encoded: p.out.Encoded})
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var life sync.WaitGroup
	life.Go(func() { _ = coder.Run(ctx) }) // without it nothing is said, and what waits for that says so
	life.Go(func() {
		p.out.Run(ctx, call, coder, func(earshot.Outlet) func() { p.enters(); return func() {} })
	})
	return tongue{p.out, func() { stop(); life.Wait() }}
}

// admit brings what is heard into the house of the scene.
func (p *party) admit(ctx context.Context, e earshot.Event) error {
	switch body := e.Body.(type) {
	case earshot.Utterance:
		p.words.Store(string(body.Text))
	case earshot.Speech:
		if body.Stage == earshot.VoiceWords {
			p.words.Store(string(body.Words))
		}
	}
	if spoke(e.Body) {
		defer p.heard.Add(1)
	}
	if h := p.house.Load(); h != nil {
		return h.Admit(ctx, e)
	}
	return nil
}

// spoke reports whether somebody has spoken, and nothing more will come of it.
func spoke(b earshot.Body) bool {
	s, ok := b.(earshot.Speech)
	return b.Kind() == earshot.KindUtterance || ok && s.Stage == earshot.VoiceOver
}

// ready waits until everybody is there, with keys, and hears what the others say.
func (p *party) ready(ctx context.Context) error {
	if _, err := await("the agent's voice is in the call", p.there); err != nil {
		return err
	}
	return awaitThat(ctx, "all have keys", func() bool {
		own := p.calls.Status()
		if len(own) != 1 || !own[0].Listens {
			return false
		}
		all := []voice.Status{own[0].Voice, p.caller.call.Status(), p.bots[0].call.Status(), p.bots[1].call.Status()}
		return !slices.ContainsFunc(all, func(s voice.Status) bool {
			return !s.Encrypted || s.Code == "" || s.Code != all[0].Code || len(s.People) != len(all)-1
		})
	})
}

// silentFrame is the frame that a call ends speech with, five times.
var silentFrame = []byte{0xF8, 0xFF, 0xFE}

// A caller is who speaks to the agent.
type caller struct {
	party *party
	user  discordtest.User
	agent uint64
	call  *voice.Call
	came  chan struct{} // of capacity 1: something has

	mu     sync.Mutex
	spoken [][]byte // frames that were encoded and not taken
	frames []framed // of the agent
	pcm    []int16  // the same, as far as it is decoded
}

// hear notes what comes of the agent, and has it decoded, 20 ms after 20 ms.
func (g *caller) hear(batch []voice.Packet) {
	now := time.Now()
	for _, p := range batch {
		if p.User != g.agent || len(p.Opus) == 0 {
			continue
		}
		g.mu.Lock()
		at := time.Unix(0, 0).Add(time.Duration(len(g.frames)) * audio.Time)
		for range p.Lost {
			g.frames = append(g.frames, framed{now, true})
		}
		g.frames = append(g.frames, framed{now, bytes.Equal(p.Opus, silentFrame)})
		g.mu.Unlock()
		g.party.opus.Decode([]codec.Packet{{Speaker: 1, At: at.Add(time.Duration(p.Lost) * audio.Time), Lost: p.Lost, Data: p.Opus}})
	}
	g.stir()
}

func (g *caller) stir() {
	select {
	case g.came <- struct{}{}:
	default:
	}
}

// decoded takes sound of the agent.
func (g *caller) decoded(_ uint32, f *audio.Frame) {
	g.mu.Lock()
	g.pcm = append(g.pcm, f.PCM[:]...)
	g.mu.Unlock()
	g.stir()
}

// encoded takes a frame that the caller will say.
func (g *caller) encoded(_ context.Context, opus []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spoken = append(g.spoken, bytes.Clone(opus))
}

// encodes returns sound as frames.
func (g *caller) encodes(ctx context.Context, pcm []int16) ([][]byte, error) {
	err := errors.Join(g.party.opus.Encode(ctx, audio.Rate, pcm), g.party.opus.Flush(ctx))
	g.mu.Lock()
	defer g.mu.Unlock()
	frames := g.spoken
	g.spoken = nil
	return frames, err
}

// says says frames, and returns when one of them has left.
func (g *caller) says(ctx context.Context, frames [][]byte, which int) (at time.Time, err error) {
	return sends(ctx, g.call, frames, which)
}

func sends(ctx context.Context, call *voice.Call, frames [][]byte, which int) (at time.Time, err error) {
	before := call.Sent()
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() {
		for {
			moved := call.Moved()
			if call.Sent() > before+int64(which) {
				at = time.Now()
				return
			}
			select {
			case <-moved:
			case <-ctx.Done():
				return
			}
		}
	})
	for _, f := range frames {
		if err := call.Say(ctx, f); err != nil {
			return at, err
		}
	}
	return at, nil
}

// mark returns how many frames of the agent have come, when all of them are decoded.
func (g *caller) mark(ctx context.Context) (n int, err error) {
	return n, g.until(ctx, func() bool {
		n = len(g.frames)
		return len(g.pcm) >= n*audio.Samples
	})
}

// heard returns what was heard from one frame to another, all of which are decoded.
func (g *caller) heard(from, to int) recording {
	g.mu.Lock()
	defer g.mu.Unlock()
	return recording{slices.Clone(g.frames[from:to]), slices.Clone(g.pcm[from*audio.Samples : to*audio.Samples])}
}

// until waits until ok, which is asked with the lock held.
func (g *caller) until(ctx context.Context, ok func() bool) error {
	ctx, stop := context.WithTimeoutCause(ctx, patience, errPatience)
	defer stop()
	for {
		g.mu.Lock()
		is := ok()
		g.mu.Unlock()
		if is {
			return nil
		}
		select {
		case <-g.came:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A thrower is a bot that throws a frame, or throws back what comes.
type thrower struct {
	call *voice.Call
	came chan time.Time // of capacity 1: when a frame of the other one did
}

// ball is the frame that is thrown, which nobody says.
var ball = []byte{0xFC, 1, 2, 3, 4, 5, 6, 7}

func (t *thrower) hear(batch []voice.Packet) {
	for _, p := range batch {
		if bytes.Equal(p.Opus, ball) {
			select {
			case t.came <- time.Now():
			default:
			}
		}
	}
}

// run throws back what comes.
func (t *thrower) run(ctx context.Context) error {
	for {
		select {
		case <-t.came:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := t.call.Say(ctx, ball); err != nil {
			return err
		}
	}
}

// throw returns how long it takes a frame to another call and back, in milliseconds.
func (p *party) throw(ctx context.Context) (float64, error) {
	left, err := sends(ctx, p.bots[0].call, [][]byte{ball}, 0)
	if err != nil {
		return 0, err
	}
	came, err := await("the sound has come to the other call", p.bots[0].came)
	return micros(came.Sub(left)) / 1000, err
}
