package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/adrg/xdg"
	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"earshot"
	"earshot/bus"
	"earshot/bus/nats"
	"earshot/bus/stream"
	"earshot/internal/atomicfile"
	"earshot/internal/helper"
	"earshot/internal/keyfile"
	"earshot/internal/login"
	"earshot/internal/probe"
	"earshot/internal/redact"
	"earshot/internal/terminal"
	"earshot/models/engine"
	"earshot/models/neural"
	"earshot/models/stt"
	"earshot/participants"
	"earshot/providers/webcam"
	"earshot/satellite"
	"earshot/satellite/client"
	"earshot/satellite/pairing"
	"earshot/server/attach"
	apiclient "earshot/server/client"
)

type satelliteCommand struct {
	Start  satelliteStart  `cmd:"" default:"withargs" help:"Listen and speak for the earshot that has paired this machine. SIGUSR1 mutes and unmutes."`
	Chat   satelliteChat   `cmd:"" help:"Write and read in the room of this satellite."`
	Forget satelliteForget `cmd:"" help:"Forget the earshot that has paired this machine."`
}

// pairedFile keeps the code by which this machine is paired.
func pairedFile() keyfile.File {
	return keyfile.File{
		Path: filepath.Join(xdg.ConfigHome, "earshot", "satellite"), What: "keys of this satellite", Most: login.MaxAnswer, Secret: true,
		Create: "earshot satellite forget; then earshot pair NAME on the other machine", Review: "earshot satellite forget",
	}
}

type satelliteForget struct{}

// Run removes the code.
func (satelliteForget) Run(a *app) error {
	switch err := os.Remove(pairedFile().Path); {
	case errors.Is(err, fs.ErrNotExist):
		return &verdict{notFound, errors.New("this machine is not paired")}
	case err != nil:
		return fmt.Errorf("forgetting the code: %w", err)
	}
	_, err := fmt.Fprintln(a.out, "Forgotten. The other machine still knows this one: earshot pair remove NAME, there.")
	return err
}

// paired returns the code that is kept, or asks for one and keeps it.
func (a *app) paired() (pairing.Code, error) {
	file := pairedFile()
	data, _, err := file.Read()
	if err == nil {
		code, err := pairing.Decode(string(data))
		if err != nil {
			err = file.Damaged(err)
		}
		return code, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return pairing.Code{}, err
	}
	var text string
	if term.IsTerminal(int(a.in.Fd())) {
		text, err = login.ReadSecret(a.ctx, a.in, a.err, "The code that \"earshot pair NAME\" prints on the other machine: ")
		fmt.Fprintln(a.err)
	} else if text, err = login.ReadLine(a.ctx, a.in); err != nil {
		err = errors.New("this machine is not paired\n  → earshot pair NAME on the other machine, and then here: earshot satellite, which asks for the code")
	}
	if err != nil {
		return pairing.Code{}, err
	}
	code, err := pairing.Decode(text)
	if err != nil {
		return code, &verdict{misused, err}
	}
	if err := os.MkdirAll(filepath.Dir(file.Path), 0o700); err != nil {
		return code, fmt.Errorf("keeping the code: %w", err)
	}
	return code, atomicfile.Write(file.Path, []byte(code.Encode().Reveal()))
}

type satelliteStart struct {
	Microphone  string     `help:"Its name, as earshot devices lists it; otherwise the system's default." placeholder:"DEVICE"`
	Loudspeaker string     `help:"Its name, likewise." placeholder:"DEVICE"`
	Camera      cameraFlag `help:"Let the hub watch through a camera of this machine: the first one, or --camera=DEVICE, as earshot devices lists it."`
	Muted       bool       `help:"Start with the microphone and the camera closed."`
	Wake        bool       `help:"Send no sound until somebody here says an agent's name."`
	Recognise   bool       `help:"Recognise speech here, by the engine of this machine's configuration, instead of at the other machine."`
	JSON        bool       `help:"Print the state as JSON, a line whenever it changes."`
}

// A cameraFlag is a flag that may have a value. It implements [kong.BoolMapperValue].
type cameraFlag struct {
	wanted bool
	device string
}

// Decode implements [kong.MapperValue].
func (f *cameraFlag) Decode(c *kong.DecodeContext) error {
	f.wanted = true
	if c.Scan.Peek().Type == kong.FlagValueToken {
		f.device = c.Scan.Pop().String()
	}
	return nil
}

// IsBool says that the flag needs no value.
func (*cameraFlag) IsBool() bool { return true }

// camera returns the camera that the hub may watch through, or nil.
func (f *cameraFlag) camera(log *slog.Logger, at nats.Config) *client.Camera {
	if !f.wanted {
		return nil
	}
	return &client.Camera{
		Dial:   helper.NewDialer(redact.ForSources(f.device).Log(log), helper.CameraProgram),
		Source: func() string { return webcam.Camera{Device: f.device}.Open(probe.ConnectedCameras()).Source },
		Connect: func(ctx context.Context) (bus.Bus, func(), error) {
			b, err := nats.Connect(ctx, at)
			if err != nil {
				return nil, nil, err
			}
			return b, b.Close, nil
		},
	}
}

// Run listens and speaks until it is ended.
func (c satelliteStart) Run(a *app) (err error) {
	code, err := a.paired()
	if err != nil {
		return err
	}
	debug.SetGCPercent(thrift)
	ctx, stop := context.WithCancel(a.ctx)
	defer stop()
	v := &satelliteView{a: a, id: code.ID, began: time.Now(), json: c.JSON}
	log := slog.New(redact.Handler{Next: slog.NewTextHandler(a.err, nil)})
	if !c.JSON && a.person() {
		var done func() error
		log = quietly
		if v.screen, done, err = a.terminal(a.in, a.out); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
	}
	var conn *nats.Conn
	var s *client.Client
	cfg := client.Config{
		ID: code.ID, Build: version(), Microphone: c.Microphone, Loudspeaker: c.Loudspeaker, Muted: c.Muted, Wake: c.Wake,
		Sound: helper.NewDialer(log, helper.SoundProgram), Media: helper.NewDialer(log, helper.SpeechProgram, "media"),
		Camera: c.Camera.camera(log, v.bus(code)), Notice: v.notice, Changed: v.changed,
		Connect: func(ctx context.Context) (bus.Bus, error) {
			at := v.bus(code)
			at.Problem = func(err error) {
				if errors.Is(err, nats.ErrKey) {
					s.Away(v.explain(err))
				} else {
					v.problem(err)
				}
			}
			b, err := v.connect(ctx, at)
			conn = b
			return b, err
		},
	}
	if c.Wake || c.Recognise {
		if err := c.recognition(a, &cfg, log); err != nil {
			return err
		}
	}
	s = client.New(cfg)
	var keys sync.WaitGroup
	keys.Go(func() { v.keys(ctx, s, stop) })
	s.Run(ctx)
	stop()
	keys.Wait()
	if conn != nil {
		conn.Close()
	}
	return nil
}

type satelliteChat struct{}

// Run attaches this terminal to the room of the satellite. Whoever sits there has no name.
func (satelliteChat) Run(a *app) (err error) {
	code, err := a.paired()
	if err != nil {
		return err
	}
	t, done, err := a.terminal(a.in, a.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	v := &satelliteView{a: a, id: code.ID, began: time.Now(), screen: t}
	at := v.bus(code)
	at.Problem = v.problem
	b, err := v.connect(a.ctx, at)
	if err != nil {
		return err
	}
	defer b.Close()
	c := &apiclient.Client{Dial: func(ctx context.Context) (conn net.Conn, err error) {
		v.whenKnown(ctx, bus.ErrNobody, func() error {
			conn, err = stream.Dial(ctx, b, satellite.ConsoleSubject(code.ID))
			return err
		})
		if errors.Is(err, bus.ErrNobody) {
			err = errors.New("no earshot on the bus has the room of this satellite now; see that it runs there, and is not older than this one")
		}
		return conn, err
	}}
	return a.converse(t, c, participants.AtSatellite(code.ID), new(attach.Names), nil)
}

// recognition adds to cfg what recognises speech and notices names here: one engine if that does both.
func (c satelliteStart) recognition(a *app, cfg *client.Config, log *slog.Logger) error {
	is, err := a.config()
	if err != nil {
		return err
	}
	embedded, models := helper.NewDialer(log, helper.SpeechProgram, "hear"), neural.Open(log)
	hear := func(string) []engine.Engine { return is.Speech.Recognisers(embedded, models) }
	seek := func(name string) []engine.Engine { return is.Speech.Spotters(embedded, models, name) }
	by := func(does string, engines func(string) []engine.Engine) func([]string, func()) client.Recogniser {
		return func(names []string, called func()) client.Recogniser {
			return stt.New(stt.Config{
				Dial:  engine.New(does, engines(names[0]), cfg.Notice).Dial,
				Names: names, Log: log, On: func(stt.Phrase) { called() },
			})
		}
	}
	if c.Recognise {
		cfg.Recogniser = by("hears", hear)
	}
	if c.Wake && !(c.Recognise && hear("")[0].IsEmbedded() && seek("")[0].IsEmbedded()) {
		cfg.Spotter = by("listens for the name", seek)
	}
	return nil
}

// A satelliteView shows people how a satellite is: on a terminal in one line, which changes.
type satelliteView struct {
	a      *app
	id     string
	began  time.Time
	json   bool
	screen *terminal.Terminal // nil if nobody sits there
	joined sync.Once
	cure   string // that was shown last
}

// bus returns how the bus is reached.
func (v *satelliteView) bus(c pairing.Code) nats.Config {
	cfg := nats.Config{
		Servers: c.Addresses, Seed: c.Seed, Inbox: satellite.RightsOf(c.ID).Inbox, Name: "satellite " + c.ID,
		Renew: satellite.PairAgain(c.ID),
	}
	if len(c.Certificate) > 0 {
		cfg.Certificates = []string{hex.EncodeToString(c.Certificate)}
	}
	return cfg
}

// learning is how long a hub may take to let in whom it has paired just now: it looks every half second.
const learning = 5 * time.Second

// whenKnown calls do, and at first again while its error is one that ends when the hub has learned who is paired.
func (v *satelliteView) whenKnown(ctx context.Context, unknown error, do func() error) {
	for errors.Is(do(), unknown) && time.Since(v.began) < learning {
		select {
		case <-time.After(learning / 20):
		case <-ctx.Done():
			return
		}
	}
}

// connect connects with the bus.
func (v *satelliteView) connect(ctx context.Context, at nats.Config) (b *nats.Conn, err error) {
	v.whenKnown(ctx, nats.ErrKey, func() error {
		b, err = nats.Connect(ctx, at)
		return err
	})
	return b, v.explain(err)
}

// explain says of a key that is not known what is to be done here.
func (v *satelliteView) explain(err error) error {
	if errors.Is(err, nats.ErrKey) {
		return unknownKeyError(v.id)
	}
	return err
}

// An unknownKeyError is the error of a satellite, by its name, whose key the hub does not know.
type unknownKeyError string

// Error says what happened, and Cure what to do.
func (id unknownKeyError) Error() string {
	return fmt.Sprintf("the hub does not know the key of the satellite %s, or no longer: it was removed there", string(id))
}

func (id unknownKeyError) Cure() string { return satellite.PairAgain(string(id)) }

// problem shows what is wrong with the bus.
func (v *satelliteView) problem(err error) {
	text, cure := earshot.Explain(v.explain(err))
	v.notice(earshot.Notice{Text: text, Cure: cure})
}

// notice shows what fails, and what is mended.
func (v *satelliteView) notice(n earshot.Notice) {
	text := n.Text
	if n.Cure != "" {
		text += "\n  → " + n.Cure
	}
	if v.screen != nil {
		v.screen.Note(terminal.Line{Text: text})
		return
	}
	fmt.Fprintln(v.a.err, terminal.Safe(text))
}

// settled is when a satellite that has joined gives back what starting needed; by itself Go would keep it
// for minutes.
const settled = 2 * time.Second

// thrift is by how many per cent its heap may grow before garbage is collected: it has two megabytes, and
// throws little away.
const thrift = 25

// changed shows how the satellite is.
func (v *satelliteView) changed(s client.Status) {
	if s.Connected {
		v.joined.Do(func() { time.AfterFunc(settled, debug.FreeOSMemory) })
	}
	switch {
	case v.screen != nil:
		v.screen.Hear(v.id, terminal.Line{Head: v.id + ": ", Text: statusText(s) + " (m: mute, q: quit)"})
		if s.Cure != "" && s.Cure != v.cure { // which that line may have no room for
			v.notice(earshot.Notice{Text: s.Why, Cure: s.Cure})
		}
		v.cure = s.Cure
	case v.json:
		_ = json.NewEncoder(v.a.out).Encode(s) // the output remembers it
	default:
		fmt.Fprintln(v.a.out, terminal.Safe(statusText(s)))
	}
}

// statusText says how a satellite is.
func statusText(s client.Status) string {
	text := "connected"
	if s.Room != "" {
		text += ", room " + s.Room
	}
	if !s.Connected {
		text = "not connected since " + s.Since.Local().Format("15:04:05")
		if s.Why != "" {
			text += ": " + s.Why
		}
		if s.Cure != "" {
			text += " → " + s.Cure
		}
	}
	microphone := map[client.Microphone]string{
		client.Listening: "listening", client.Waiting: "listening for a name only", client.Muted: "muted",
		client.Paused: "not listening (the hub has paused)", client.Missing: "not listening (there is no microphone)",
	}[s.Microphone]
	if !s.Connected && s.Microphone == client.Paused {
		microphone = "not listening"
	}
	if s.Camera != "" {
		microphone += " · camera " + string(s.Camera)
	}
	return text + " · " + microphone
}

// keys mutes and quits by the keys of the terminal and by SIGUSR1, until ctx ends.
func (v *satelliteView) keys(ctx context.Context, s *client.Client, quit func()) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	defer signal.Stop(told)
	var typing sync.WaitGroup
	defer typing.Wait()
	if v.screen != nil {
		typing.Go(func() {
			for key, err := range v.screen.Keys(ctx) {
				switch {
				case err != nil, key.Does == terminal.Interrupt, key.Does == terminal.EOF, key.Text == "q":
					quit()
				case key.Does == terminal.Suspend:
					v.screen.Sleep()
				case key.Text == "m":
					s.Mute(!s.Muted())
				}
			}
		})
	}
	for {
		select {
		case <-told:
			s.Mute(!s.Muted())
		case <-ctx.Done():
			return
		}
	}
}
