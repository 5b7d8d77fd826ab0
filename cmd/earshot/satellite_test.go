package main

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/bus/stream"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
	"earshot/models/see/seetest"
	"earshot/satellite"
	"earshot/satellite/hub"
	"earshot/satellite/pairing"
	"earshot/server/wire"
)

// startHub starts the server of a bus and a hub with the satellite kitchen, and returns that and its
// code, and what has the server know its key or not.
func startHub(t *testing.T) (_ *hub.Satellite, code string, pair func(is bool)) {
	t.Helper()
	seed, public := natstest.NewKey(t)
	users := []natsserver.User{{Key: public, Rights: satellite.RightsOf("kitchen")}}
	server := natstest.Start(t, natsserver.Config{Users: users})
	pair = func(is bool) {
		t.Helper()
		known := users
		if !is {
			known = nil
		}
		if err := server.SetUsers(known); err != nil {
			t.Fatal(err)
		}
	}
	pin, err := hex.DecodeString(server.Certificate.SHA256())
	if err != nil {
		t.Fatal(err)
	}
	b := natstest.Connect(t, server.Config())
	h := hub.New(hub.Config{
		Media: func() (helper.Link, error) { return nil, &helper.MissingError{Name: helper.SpeechProgram} },
		Log:   slog.New(slog.DiscardHandler), FollowUp: func() time.Duration { return 0 },
	})
	s := h.Add(hub.SatelliteConfig{ID: "kitchen", Tell: func(string) {}, Welcome: func() satellite.Welcome { return satellite.Welcome{Room: "Lounge"} }})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{func(ctx context.Context) error { return h.Run(ctx, b) }, s.Run} {
		running.Go(func() {
			for ctx.Err() == nil {
				_ = run(ctx)
			}
		})
	}
	t.Cleanup(func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the hub ends", running.Wait)
	})
	return s, pairing.Code{ID: "kitchen", Addresses: []string{server.Address}, Seed: seed, Certificate: pin}.Encode().Reveal(), pair
}

// TestSatellite: at a terminal the satellite asks for the code, which is not shown, and keeps it; it
// says how it is, and mutes and quits by a key.
func TestSatellite(t *testing.T) {
	t.Parallel()
	kitchen, code, _ := startHub(t)
	h := newHome(t)
	w := h.begin("satellite")
	w.await("The code that", 1)
	w.types(code + "\r")
	w.await("kitchen: connected, room Lounge · not listening", 1)
	w.await("earshot-sound is not installed", 1)
	if strings.Contains(w.text(), code[:40]) {
		t.Error("the code is shown")
	}
	w.types("m")
	w.await("room Lounge · muted", 1)
	testkit.Await(t, soon, "the hub knows that it is muted", func() bool { return kitchen.State().Muted })
	w.types("m")
	testkit.Await(t, soon, "the hub knows that it is not", func() bool { return !kitchen.State().Muted })
	w.types("q")
	if code := w.ended(); code != success {
		t.Errorf("q ends it with %d", code)
	}
	about, err := os.Stat(h.dir + "/config/earshot/satellite")
	if err != nil || about.Mode().Perm() != 0o600 {
		t.Errorf("the code is kept as %v, %v", about, err)
	}
	if r := h.earshot(nil, "satellite", "--api", "http://127.0.0.1:1"); r.code != misused {
		t.Errorf("with --api: %+v", r)
	}
	if r := h.earshot(nil, "satellite", "forget"); r.code != success {
		t.Errorf("forgetting: %+v", r)
	}
	if r := h.earshot(nil, "satellite"); r.code != failed || !strings.Contains(r.err, "not paired") {
		t.Errorf("after that: %+v", r)
	}
}

// TestSatelliteRemoved: a satellite whose key is not known, or no longer, says so, and what to do, as long as that
// is so; it is let in when it is known.
func TestSatelliteRemoved(t *testing.T) {
	t.Parallel()
	_, code, pair := startHub(t)
	pair(false)
	h := newHome(t)
	w := h.begin("satellite")
	w.await("The code that", 1)
	w.types(code + "\r")
	shows := func(is string) {
		t.Helper()
		testkit.Await(t, soon, "the last line to show "+is, func() bool {
			text := w.text()
			return strings.Contains(text[max(0, strings.LastIndex(text, "kitchen: ")):], is)
		})
	}
	for n := range 2 {
		shows("the hub does not know the key of the satellite kitchen")
		w.await("→ earshot satellite forget, at its machine; then earshot pair kitchen", n+1)
		pair(true)
		shows("connected, room Lounge")
		pair(false)
	}
	w.types("q")
	w.ended()
	if r := h.earshot(nil, "satellite", "chat"); r.code != failed || !strings.Contains(r.err, "earshot satellite forget") {
		t.Errorf("its terminal: %+v", r)
	}
}

// TestSatelliteWithoutTerminal: the code comes by standard input, the state is a line whenever it
// changes, a signal mutes, and a code that is damaged or that others can change is refused.
func TestSatelliteWithoutTerminal(t *testing.T) {
	t.Parallel()
	kitchen, code, _ := startHub(t)
	h := newHome(t)
	if r := h.earshot(strings.NewReader(code[:len(code)-7]+"\n"), "satellite"); r.code != misused || strings.Contains(r.err, code[:40]) {
		t.Errorf("half a code: %+v", r)
	}
	var file = h.dir + "/config/earshot/satellite"
	for i, args := range [][]string{{"satellite", "--json", "--muted"}, {"satellite"}} {
		c := h.command(args...)
		out, far := io.Pipe()
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(code+"\n"), far, io.Discard
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer c.Process.Kill()
		lines := make(chan string, 100)
		go func() {
			var line strings.Builder
			b := make([]byte, 1)
			for _, err := out.Read(b); err == nil; _, err = out.Read(b) {
				if line.Write(b); b[0] == '\n' {
					lines <- line.String()
					line.Reset()
				}
			}
		}()
		await := func(part string) {
			t.Helper()
			for !strings.Contains(testkit.Receive(t, soon, part, lines), part) {
			}
		}
		await([]string{`"connected":true`, "connected, room Lounge"}[i])
		testkit.Await(t, soon, "the hub knows whether it is muted", func() bool { return kitchen.State().Muted == (i == 0) })
		c.Process.Signal(syscall.SIGUSR1)
		await([]string{`"microphone":"missing"`, "muted"}[i])
		c.Process.Signal(syscall.SIGTERM)
		testkit.Finish(t, soon, "its end", func() { _ = c.Wait() })
		out.Close()
		if c.ProcessState.ExitCode() != success {
			t.Errorf("%v ends with %v", args, c.ProcessState)
		}
	}
	for _, spoil := range []func() error{
		func() error { return os.WriteFile(file, []byte(code[:30]), 0o600) },
		func() error { return os.WriteFile(file, []byte(code), 0o600) },
		func() error { return os.Chmod(file, 0o644) }, // it holds a key
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		r := h.earshot(nil, "satellite")
		if r.code != failed || !strings.Contains(r.err, "→") || strings.Contains(r.err, code[:30]) {
			t.Errorf("%+v", r)
		}
		if err := os.Chmod(file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSatelliteWithoutVoice: a satellite of a hub that was started without voice is told so, although it was
// paired since, and so are people at the hub.
func TestSatelliteWithoutVoice(t *testing.T) {
	t.Parallel()
	h := newHome(t, "PATH="+helpertest.Build(t, helper.BusProgram), "EARSHOT_BUS_LISTEN="+freeAddress(t))
	h.daemon("--no-voice")
	code := h.earshot(nil, "pair", "kitchen").out
	c := newHome(t).command("satellite")
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	c.Stdin, c.Stdout = strings.NewReader(strings.TrimSpace(code)), said // without a line break
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Process.Kill()
		testkit.Finish(t, soon, "its end", func() { _ = c.Wait() })
	}()
	testkit.Await(t, soon, "it is told why it is not let in", func() bool {
		text, err := os.ReadFile(said.Name())
		return err == nil && strings.Contains(string(text), "without --no-voice")
	})
	if s, err := h.client().State(t.Context()); err != nil || !slices.ContainsFunc(s.Faults, func(n earshot.Notice) bool {
		return n.Absent && strings.Contains(n.Text, "1 satellite paired, and none")
	}) {
		t.Errorf("at the hub: %v, %v", s.Faults, err)
	}
}

// TestSatelliteWithoutRoom: that the room of a satellite is missing is a fault, which is over when it is mended.
func TestSatelliteWithoutRoom(t *testing.T) {
	t.Parallel()
	h := newHome(t, "PATH="+helpertest.Build(t, helper.BusProgram), "EARSHOT_BUS_LISTEN="+freeAddress(t))
	h.write("config/earshot/config.yaml", "rooms:\n  - {id: attic, name: The Attic}\n")
	if r := h.earshot(nil, "pair", "kitchen", "--room", "attic"); r.code != success {
		t.Fatalf("%+v", r)
	}
	h.write("config/earshot/config.yaml", "rooms: []\n")
	h.daemon()
	faulty := func() bool {
		s, err := h.client().State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(s.Faults, func(n earshot.Notice) bool { return strings.Contains(n.Text, "its room attic does not exist") })
	}
	testkit.Await(t, soon, "the fault is shown", faulty)
	if r := h.earshot(nil, "pair", "remove", "kitchen"); r.code != success {
		t.Errorf("%+v", r)
	}
	testkit.Await(t, soon, "it is over", func() bool { return !faulty() })
}

// TestSatelliteChat: at the machine of a satellite, people write and read in its room, by its code alone. They
// are nobody in particular, are not counted as being there, and see nothing private. A code lets nobody reach
// another satellite's room, or anything but that; a frame that is too long ends the connection; and what is
// not paired any more is cut off.
func TestSatelliteChat(t *testing.T) {
	t.Parallel()
	h := newHome(t, "PATH="+helpertest.Build(t, helper.BusProgram), "EARSHOT_BUS_LISTEN="+freeAddress(t))
	h.write("config/earshot/config.yaml", "rooms:\n  - {id: den, name: The Den}\n  - {id: lab, name: The Lab}\n")
	h.scripted(teller)
	d := h.daemon()
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(h.dir, "state/earshot/earshot.log"))
			t.Logf("the daemon said:\n%s%s", d.out.String(), log)
		}
	})
	codes := make(map[string]pairing.Code)
	hasty := newHome(t).begin("satellite", "chat") // it is let in as soon as the code is there
	hasty.await("The code that", 1)
	hasty.types(h.earshot(nil, "pair", "hall", "--room", "lab").out)
	hasty.await(">", 1)
	hasty.says("/exit")
	hasty.ended()
	for id, room := range map[string]string{"kitchen": "den", "bath": "lab"} {
		var err error
		if codes[id], err = pairing.Decode(h.earshot(nil, "pair", id, "--room", room).out); err != nil {
			t.Fatal(err)
		}
		testkit.Await(t, soon, "the bus to know "+id, func() bool {
			c, err := connects(t, codes[id])
			if err != nil {
				return false
			}
			defer c.Close()
			conn, err := stream.Dial(t.Context(), c, satellite.ConsoleSubject(id))
			if err != nil {
				return false
			}
			return conn.Close() == nil
		})
	}
	ann, lab := h.open("chat", "--room", "den"), h.open("chat", "--room", "lab")
	ann.await(">", 1)
	lab.await(">", 1)

	w := newHome(t).begin("satellite", "chat")
	w.await("The code that", 1)
	w.types(codes["kitchen"].Encode().Reveal() + "\r")
	w.await(">", 1)
	w.says("Earshot, what is your name?")
	w.await("My name is Earshot.", 1)
	ann.await("satellite kitchen: Earshot, what is your name?", 1)
	ann.await("My name is Earshot.", 1)
	ann.says("Ann is here") // for the agent: nobody else counts
	ann.await("word003", 1)
	w.await("word003", 1)
	ann.says("stop")
	ann.await("[cut off]", 1)
	w.await("Ann is here", 1)
	ann.says("/msg Earshot what is your name, in secret?")
	ann.await("My name is Earshot.", 2)
	ann.says("/msg \"satellite kitchen\" hello")
	ann.await("nobody has that name", 1)
	ann.types("\x15")
	ann.says("/who")
	ann.await("The room is live", 1)
	for _, tt := range []struct{ line, answer string }{
		{"/identity owner", "nobody is known by their name there"},
		{"/identity Newcomer", "nobody is known by their name there"},
		{"/msg owner hello", "say who you are"},
		{"/note hello", "say who you are"},
		{"/mute", "only somebody in the room"},
		{"/reload", "for operators of this earshot"},
		{"/identity", "You are satellite kitchen"},
	} {
		before := strings.Count(w.text(), tt.answer)
		w.types("\x15") // a line that was refused is back
		w.says(tt.line)
		w.await(tt.answer, before+1)
	}
	w.types("\x15")
	w.says("Earshot, tell me a story, and then what is your name?")
	w.await("My name is Earshot.", 2)
	if text := w.text(); strings.Contains(text, "in secret") || strings.Count(text, "My name is Earshot.") != 2 {
		t.Errorf("what was private is shown:\n%s", text)
	}
	if text := ann.text(); strings.Contains(text, "satellite kitchen (") || strings.Contains(text, "satellite kitchen has") {
		t.Errorf("the satellite counts as somebody who is there:\n%s", text)
	}
	if text := lab.text(); strings.Contains(text, "kitchen") || strings.Contains(text, "Earshot.") {
		t.Errorf("another room shows\n%s", text)
	}

	bath, err := connects(t, codes["bath"])
	if err != nil {
		t.Fatal(err)
	}
	defer bath.Close()
	dial := func(id string) (net.Conn, error) {
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
		defer stop()
		return stream.Dial(ctx, bath, satellite.ConsoleSubject(id))
	}
	if c, err := dial("kitchen"); err == nil {
		c.Close()
		t.Error("one satellite reaches the room of another")
	}
	if stop, err := bath.Subscribe(t.Context(), satellite.ConsoleSubject("kitchen")+".*.down", func(bus.Message) {}); !errors.Is(err, bus.ErrRefused) {
		stop()
		t.Errorf("one satellite may read what is shown at another: %v", err)
	}
	for _, path := range []string{"/v1/reload", "/v1/state", "/v1/events", "/livez", "/v1/commands"} {
		c, err := dial("bath")
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(soon))
		io.WriteString(c, "POST "+path+" HTTP/1.1\r\nHost: earshot\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		if answer, _ := io.ReadAll(c); !strings.HasPrefix(string(answer), "HTTP/1.1 403") {
			t.Errorf("%s: %.60q", path, answer)
		}
		c.Close()
	}
	for _, tt := range []struct{ header, want string }{
		{wire.RoomHeader + ": den", "HTTP/1.1 403"},
		{wire.IdentityHeader + ": owner", "HTTP/1.1 403"},
		{"X: y", "HTTP/1.1 101"},
	} {
		c, err := dial("bath")
		if err != nil {
			t.Fatal(err)
		}
		c.SetDeadline(time.Now().Add(soon))
		io.WriteString(c, "POST "+wire.AttachPath+" HTTP/1.1\r\nHost: earshot\r\nConnection: Upgrade\r\nUpgrade: "+wire.Protocol+"\r\n"+tt.header+"\r\n\r\n{\"hello\":{}}\n")
		var long sync.WaitGroup
		long.Go(func() { io.WriteString(c, strings.Repeat("x", wire.MaxUp+1)) })
		if answer, _ := io.ReadAll(c); !strings.HasPrefix(string(answer), tt.want) {
			t.Errorf("%s: %.60q", tt.header, answer)
		}
		c.Close()
		testkit.Finish(t, testkit.Patience, "what was too long", long.Wait)
	}
	var many []net.Conn
	for range 3 {
		testkit.Await(t, soon, "a connection", func() bool { // when those before have ended
			c, err := dial("bath")
			if err == nil {
				many = append(many, c)
			}
			return err == nil
		})
	}
	if c, err := dial("bath"); err == nil {
		c.Close()
		t.Error("there is no bound for the connections of a satellite")
	}
	for _, c := range many {
		c.Close()
	}

	if r := h.earshot(nil, "pair", "remove", "kitchen"); r.code != success {
		t.Fatal(r.err)
	}
	w.await("the connection to earshot was lost", 1)
	ann.says("Earshot, what is your name, after all?")
	ann.await("My name is Earshot.", 4)
	if strings.Contains(w.text(), "after all") {
		t.Errorf("what is removed still reads:\n%s", w.text())
	}
	w.await("does not know the key", 1)
	w.await("earshot satellite forget, at its machine", 1)
	w.says("\x15/exit")
	w.ended()
}

// TestSatelliteOnARM: the program for small ARM machines hears and speaks.
func TestSatelliteOnARM(t *testing.T) {
	t.Parallel()
	dir := helpertest.Build(t, helper.SoundProgram, helper.SpeechProgram)
	program := filepath.Join(dir, "earshot-arm64")
	build := testkit.Command(t, "go", "build", "-o", program, ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	kitchen, code, _ := startHub(t)
	h := newHome(t)
	c := testkit.Command(t, "qemu-aarch64-static", program, "satellite")
	c.Env, c.Stdin = slices.Concat(h.env, soundtest.Start(t).Env()), strings.NewReader(code+"\n")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer testkit.Finish(t, soon, "its end", func() { _ = c.Wait() })
	defer c.Process.Signal(syscall.SIGTERM)
	ctx, stop := context.WithTimeout(t.Context(), soon)
	defer stop()
	in, err := kitchen.Card.Input(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	frames := 0
	for _, err := range in.Frames(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if frames++; frames == 100 {
			break
		}
	}
	out, err := kitchen.Card.Output(ctx, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan int64, 1)
	p, err := out.Play(16000, func(at sound.Position) {
		if at.End {
			over <- at.Samples
		}
	})
	if err == nil {
		err = p.Write(ctx, make([]int16, 16000))
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Finish()
	if n := testkit.Receive(t, soon, "the end of the speech", over); n != 16000 || frames != 100 {
		t.Errorf("%d frames were heard and %d samples played", frames, n)
	}
}

// TestRealSatelliteCamera: by a real bus and the real helper, the room of a satellite sees through its
// camera, which is known to status, doctor and see; muted at its machine, the camera is closed, and the
// helper of it has ended; so it is when the room is paused or the machine is gone.
func TestRealSatelliteCamera(t *testing.T) {
	t.Parallel()
	dir := helpertest.Build(t, helper.BusProgram, helper.CameraProgram)
	film := seetest.NewCamera(5)
	defer film.Close()
	h := newHome(t, "PATH="+dir, "EARSHOT_BUS_LISTEN="+freeAddress(t))
	h.write("config/earshot/config.yaml", "rooms:\n  - {id: den, name: The Den}\n")
	h.scripted(talker)
	h.daemon()
	code := h.earshot(nil, "pair", "kitchen", "--room", "den").out
	far := h.satellite(code, "--camera="+film.URL())
	camera := func(what string, watched bool, want string) {
		t.Helper()
		testkit.Await(t, soon, what, func() bool {
			_, viewers := film.Sent()
			return (viewers > 0) == watched && strings.Contains(h.earshot(nil, "status").out, want)
		})
	}
	camera("that it is open", true, "● The camera satellite-kitchen is open (satellite kitchen)")
	testkit.Await(t, soon, "a picture", func() bool { // a camera that has just been opened sees nothing for a moment
		r := h.earshot(nil, "see", "--camera=satellite-kitchen", "--save="+filepath.Join(h.dir, "seen.jpg"))
		about, err := os.Stat(filepath.Join(h.dir, "seen.jpg"))
		return r.code == success && strings.Contains(r.out, "640 by 480 pixels") && err == nil && about.Size() > 1000
	})
	if out := h.earshot(nil, "doctor").out; !strings.Contains(out, "The camera satellite-kitchen is open") {
		t.Errorf("doctor says\n%s", out)
	}
	for _, step := range []struct {
		what  string
		close func()
		why   string
		open  func()
	}{
		{"muted there", func() { far.Process.Signal(syscall.SIGUSR1) }, "somebody has muted its satellite there", func() { far.Process.Signal(syscall.SIGUSR1) }},
		{"paused", func() { h.earshot(nil, "pause", "--room", "den") }, "the room is paused", func() { h.earshot(nil, "resume", "--room", "den") }},
		{"gone", func() { far.Process.Kill() }, "its satellite is not connected", func() { h.satellite(code, "--camera="+film.URL()) }},
	} {
		step.close()
		camera(step.what, false, step.why)
		step.open()
		camera("not "+step.what, true, "satellite-kitchen is open")
	}
}
