package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/bus/nats"
	"earshot/bus/natsserver"
	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/internal/wait"
	"earshot/satellite"
	"earshot/satellite/hub"
	"earshot/satellite/pairing"
)

// onSatellite measures what it costs that a microphone and a loudspeaker are at another machine: the real
// satellite, with a sound card of its own and a real server of the bus, beside the same on a card of this
// process. The bare thing of a request is the same number of bytes there and back through TLS.
func onSatellite(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("satellite", []string{"speech", "pulse"}, "flite", "pulseaudio", "pactl", "parec", "pacat"); rows != nil {
		return rows, nil
	}
	var rooms [2]*soundtest.Server // there and here
	for i := range rooms {
		if rooms[i], err = soundtest.New(ctx); err != nil {
			return nil, err
		}
		defer rooms[i].Close()
	}
	d, err := b.dial(ctx, rooms[1].Env()...)
	if err == nil {
		_, err = b.build(ctx, "earshot-bus", "earshot/cmd/earshot-bus", "CGO_ENABLED=0")
	}
	if err != nil {
		return nil, err
	}
	f := &far{bench: b, id: "kitchen"}
	local := sound.New(d.to(soundHelper), silent)
	h := hub.New(hub.Config{Media: d.to(speechHelper, "media"), Log: silent, FollowUp: func() time.Duration { return 0 }})
	paired := h.Add(hub.SatelliteConfig{ID: f.id, Tell: func(string) {}, Welcome: func() satellite.Welcome { return satellite.Welcome{Room: "the kitchen"} }})
	server, conn, err := f.serve(ctx, d)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server()) }()
	defer conn.Close()
	ctx, stop := beside(ctx, func(ctx context.Context) error { return h.Run(ctx, conn) }, h.Decode, paired.Run, local.Run)
	defer func() { err = errors.Join(err, stop()) }()
	p, err := f.start(ctx, rooms[0])
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()

	t, err := b.tape(ctx, d, voices[0], "please tell me about the moon")
	if err != nil {
		return nil, err
	}
	there, here := &cardAt{room: rooms[0], card: paired.Card}, &cardAt{room: rooms[1], card: local}
	if rows, err = f.sounds(ctx, there, here, t); err != nil {
		return nil, err
	}
	asked, err := f.requests(ctx, conn)
	if err != nil {
		return nil, err
	}
	quiet, err := f.idle(ctx, p, there)
	return append(append(rows, asked), quiet...), err
}

// A far is what is needed for a satellite that runs as a process of its own.
type far struct {
	bench
	id            string
	code          pairing.Code
	certificate   natsserver.Certificate
	there, hither atomic.Int64 // bytes to the satellite, and from it
}

// serve runs the server of the bus and a relay in front of it, which counts, and connects as the hub.
func (f *far) serve(ctx context.Context, d dial) (end func() error, _ *nats.Conn, err error) {
	keys := pairing.In(f.dir)
	hub, hubSeed, err1 := keys.Pair("hub", earshot.Desk)
	paired, seed, err2 := keys.Pair(f.id, earshot.Desk)
	f.certificate, err = natsserver.LoadCertificate(filepath.Join(f.dir, "bus.pem"))
	if err := errors.Join(err, err1, err2); err != nil {
		return nil, nil, err
	}
	s := natsserver.New(d.to("earshot-bus"), natsserver.Config{
		Listen: "127.0.0.1:0", Certificate: f.certificate, Hub: hub.Key, Users: []natsserver.User{{Key: paired.Key, Rights: satellite.RightsOf(f.id)}},
	})
	ctx, end = beside(ctx, s.Run)
	started, err := s.Await(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	address, err := f.relay(ctx, started.Address)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	f.code = pairing.Code{ID: f.id, Addresses: []string{address}, Seed: seed, Certificate: f.certificate.Sum()}
	c, err := nats.Connect(ctx, nats.Config{Name: "bench", Servers: []string{started.Address}, Seed: hubSeed, Certificates: []string{f.certificate.SHA256()}})
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return end, c, nil
}

// relay passes on what comes at an address until ctx ends, and counts it.
func (f *far) relay(ctx context.Context, to string) (address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	pass := func(to, from net.Conn, count *atomic.Int64) {
		defer to.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			count.Add(int64(n))
			if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
				return
			}
		}
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			context.AfterFunc(ctx, func() { in.Close(); out.Close() })
			go pass(in, out, &f.there)
			go pass(out, in, &f.hither)
		}
	}()
	return l.Addr().String(), nil
}

// start starts the satellite, which has the sound of a room and is paired by a code.
func (f *far) start(ctx context.Context, room *soundtest.Server) (process, error) {
	binary, err := f.daemon(ctx)
	if err != nil {
		return process{}, err
	}
	home := filepath.Join(f.dir, "satellite")
	p := process{exec.Command(binary, "satellite")}
	p.Stdin = strings.NewReader(f.code.Encode().Reveal() + "\n")
	p.Env = append(room.Env(), "PATH="+f.bin()+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "XDG_RUNTIME_DIR="+home)
	return p, p.Start()
}

// A cardAt is a sound card in a room.
type cardAt struct {
	room *soundtest.Server
	card *sound.Card
	out  *sound.Output
	tape *recorder
}

// open opens the loudspeaker, and records what comes out of it.
func (c *cardAt) open(ctx context.Context) (err error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if c.out, err = c.card.Output(within, "", 1); err != nil {
		return err
	}
	c.tape, err = record(c.room, soundtest.Echo)
	return err
}

func (c *cardAt) close() error {
	c.out.Close()
	return c.tape.stop()
}

// cut has a drone played for a moment, cuts it, and returns after how many milliseconds it is silent in the
// room.
func (c *cardAt) cut(ctx context.Context) ([]float64, error) {
	ended := make(chan struct{})
	playing, err := c.out.Play(audio.Rate, func(p sound.Position) {
		if p.End {
			close(ended)
		}
	})
	if err != nil {
		return nil, err
	}
	writing, stop := context.WithCancel(ctx)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for playing.Write(writing, droned) == nil {
		}
	}()
	pause := time.NewTimer(700*time.Millisecond + rand.N(20*time.Millisecond)) // nothing is in step with a period of the card
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
	began := time.Now()
	playing.Do(earshot.Cut)
	_, err = await("the drone ends", ended)
	stop()
	<-written
	if err != nil {
		return nil, err
	}
	for range 100 { // what was played comes to the recording a moment later
		pcm, since := c.tape.sound()
		if after := inSamples(began.Sub(since)); after > 0 && after < len(pcm) {
			if _, still := yields(pcm[after:]); still >= 0 {
				return []float64{inMillis(inTime(still))}, nil
			}
		}
		if !wait.For(ctx, 20*time.Millisecond) {
			return nil, context.Cause(ctx)
		}
	}
	return nil, errors.New("after a cut it did not become silent")
}

// hear plays a tape into the microphone, and returns for each frame of the voice how long ago it was captured
// when it came, in milliseconds.
func (c *cardAt) hear(ctx context.Context, t *tape) (late []float64, err error) {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	in, err := c.card.Input(within, "")
	if err != nil {
		return nil, err
	}
	played := make(chan error, 1)
	frames := 0
	for f, err := range in.Frames(within) {
		if err != nil {
			return nil, err
		}
		if frames++; frames == 25 { // it is open, and at a satellite some quiet is known
			go func() { played <- c.room.Play(within, t.pcm) }()
		}
		if f.Voiced && frames > 25 {
			late = append(late, inMillis(time.Since(f.At)-audio.Time))
		}
		select {
		case err := <-played:
			if err == nil && len(late) == 0 {
				err = errors.New("a voice was not heard")
			}
			return late, err
		default:
		}
	}
	return nil, errors.New("a voice was not heard in time")
}

// sounds measures what is heard, and when it is silent after a cut.
func (f *far) sounds(ctx context.Context, there, here *cardAt, t *tape) (rows []Row, err error) {
	few := f.bench
	few.rounds = min(f.rounds, 20)
	for _, c := range []*cardAt{there, here} {
		if err := c.open(ctx); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, c.close()) }()
	}
	o, p, err := few.compare(func() ([]float64, error) { return there.cut(ctx) }, func() ([]float64, error) { return here.cut(ctx) })
	if err != nil {
		return nil, err
	}
	rows = append(rows, row("satellite: cut → silence", "ms", o, p, "in the recording of a virtual loudspeaker of PulseAudio, beside a sound card here").goal("p99", o.P99, p.P99+20))
	few.rounds = min(f.rounds, 3)
	o, p, err = few.compare(func() ([]float64, error) { return there.hear(ctx, t) }, func() ([]float64, error) { return here.hear(ctx, t) })
	return append(rows, row("satellite: a frame of a voice is captured → it is here", "ms", o, p, "beside a sound card here; what is more is Opus and the bus")), err
}

// question is how many bytes a request has, and its answer: a message with a sentence.
const question = 300

// requests measures a request through the bus while sound passes, both ways, beside the bare thing.
func (f *far) requests(ctx context.Context, conn *nats.Conn) (Row, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	data := bytes.Repeat([]byte("?"), question)
	stop, err := conn.Subscribe(ctx, "earshot.bench.question", func(m bus.Message) { _ = m.Respond(m.Data) })
	if err != nil {
		return Row{}, err
	}
	defer stop()
	heard, err := conn.Subscribe(ctx, "earshot.bench.sound", func(bus.Message) {})
	if err != nil {
		return Row{}, err
	}
	defer heard()
	go func() {
		tick := time.NewTicker(audio.Time)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				for range 10 { // as many as ten satellites whose people all talk
					_ = conn.Publish("earshot.bench.sound", data)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	echo, err := f.echo(ctx)
	if err != nil {
		return Row{}, err
	}
	defer echo.Close()
	timed := func(do func() error) round {
		return func() ([]float64, error) {
			began := time.Now()
			err := do()
			return []float64{inMillis(time.Since(began))}, err
		}
	}
	back := make([]byte, question)
	o, p, err := f.compare(timed(func() error {
		_, err := conn.Request(ctx, "earshot.bench.question", data)
		return err
	}), timed(func() error {
		if _, err := echo.Write(data); err != nil {
			return err
		}
		_, err := io.ReadFull(echo, back)
		return err
	}))
	return row("bus: request → answer, beside the sound of ten", "ms", o, p, fmt.Sprintf("%d bytes there and back; bare: one connection with TLS", question)).goal("p99", o.P99, p.P99+2), err
}

// echo returns a connection through TLS that sends back what it receives.
func (f *far) echo(ctx context.Context) (net.Conn, error) {
	own, err := tls.X509KeyPair(f.certificate.PEM, []byte(f.certificate.Key.Reveal()))
	if err != nil {
		return nil, err
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS13})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, _ = io.Copy(c, c)
			c.Close()
		}
	}()
	return tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true}) // it is our own
}

// idle measures what the satellite needs while nobody talks and its microphone is open.
func (f *far) idle(ctx context.Context, p process, at *cardAt) ([]Row, error) {
	listening, stop := context.WithCancel(ctx)
	defer stop()
	in, err := at.card.Input(listening, "")
	if err != nil {
		return nil, err
	}
	go func() {
		for range in.Frames(listening) {
		}
	}()
	watch := time.Duration(min(f.rounds, idleRounds)) * 20 * time.Second / idleRounds
	before, err := p.needs()
	if err != nil {
		return nil, err
	}
	there, hither, began := f.there.Load(), f.hither.Load(), time.Now()
	if !wait.For(ctx, watch) {
		return nil, context.Cause(ctx)
	}
	took := time.Since(began)
	bytes := float64(f.there.Load()-there+f.hither.Load()-hither) / took.Seconds()
	after, err := p.needs()
	if err != nil {
		return nil, err
	}
	rss, _, err := p.memory()
	cpu := 100 * float64(after.busy-before.busy) / float64(took)
	alone := func(name, unit string, v, most float64, note string) Row {
		return Row{Name: name, Unit: unit, Ours: Spread{v, v, v}, Note: note}.goal("", v, most)
	}
	return []Row{
		alone("satellite that is idle: bytes on the wire", "B/s", bytes, 2000, fmt.Sprintf("both ways, over %v, its microphone open", watch)),
		alone("satellite that is idle: CPU", "% of a core", cpu, 1, "with its helpers: "+strings.Join(after.since(before, took), ", ")),
		alone("satellite: memory of the program (VmRSS)", "MB", rss, 30, ""),
	}, err
}
