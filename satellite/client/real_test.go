package client_test

import (
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"earshot/bus"
	"earshot/bus/nats"
	"earshot/bus/nats/natstest"
	"earshot/bus/natsserver"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/sound/soundtest"
	"earshot/internal/testkit"
	"earshot/satellite"
	"earshot/satellite/client"
)

// TestReal: by a real server of the bus, a real sound card and real Opus, what is said into the
// satellite's microphone comes to the hub, where it is decoded, and what the hub plays comes out of
// the satellite's loudspeaker to the sample. When the server of the bus is killed, the satellite says so.
func TestReal(t *testing.T) {
	dir := helpertest.Build(t, helper.SoundProgram, helper.SpeechProgram)
	room := soundtest.Start(t)
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	dialer := func(name string, args ...string) helper.Dialer {
		return func() (helper.Link, error) {
			return helper.Start(helper.Command{Name: name, Path: filepath.Join(dir, name), Args: args, Env: room.Env(), Log: log})
		}
	}
	seed, public := natstest.NewKey(t)
	server := natstest.Start(t, natsserver.Config{Users: []natsserver.User{{Key: public, Rights: satellite.RightsOf("kitchen")}}})
	var conns []*nats.Conn
	connect := func(ctx context.Context, cfg nats.Config) (bus.Bus, error) {
		c, err := nats.Connect(ctx, cfg)
		if err == nil {
			conns = append(conns, c)
		}
		return c, err
	}
	b, err := connect(t.Context(), server.Config())
	if err != nil {
		t.Fatal(err)
	}
	var h house
	stop := h.run(t, b, client.Config{
		Connect: func(ctx context.Context) (bus.Bus, error) {
			return connect(ctx, server.UserConfig(seed, satellite.RightsOf("kitchen")))
		},
		Sound: dialer(helper.SoundProgram), Media: dialer(helper.SpeechProgram, "media"),
	})
	defer func() {
		stop()
		for _, c := range conns {
			c.Close()
		}
	}()
	defer h.listen(t)()

	sentence := spoken(t)
	hear := func() {
		quiet, began := 0, 0
		h.hub.look(func() { quiet, began = len(h.hub.quiet), len(h.hub.packets) })
		testkit.Await(t, testkit.Patience, "it listens", func() bool { return h.quiets() > quiet })
		if err := room.Play(t.Context(), sentence); err != nil {
			t.Fatal(err)
		}
		quiet = h.quiets()
		testkit.Await(t, testkit.Patience, "the end of the sentence", func() bool { return h.quiets() > quiet+1 })
		var packets []satellite.Packet
		h.hub.look(func() { packets = slices.Clone(h.hub.packets[began:]) })
		if likeness := alike(levels(decoded(t, dialer(helper.SpeechProgram, "media"), packets)), levels(sentence)); likeness < 0.95 {
			t.Errorf("the %d packets are like the sentence by %.2f", len(packets), likeness)
		}
	}
	hear()

	record, err := room.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer record.Stop()
	s := h.say(t, 2*audio.Rate)
	if at := testkit.Receive(t, testkit.Patience, "the end of the speech", s.at); at.Samples != 2*audio.Rate {
		t.Errorf("%d samples were played", at.Samples)
	}
	testkit.Await(t, testkit.Patience, "all that was played is recorded", func() bool { return len(loud(record.PCM(0))) >= 2*audio.Rate })
	for i, s := range loud(record.PCM(0)) {
		if s != int16(i%30000+1) {
			t.Fatalf("sample %d is %d", i, s)
		}
	}

	if err := syscall.Kill(server.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testkit.Await(t, testkit.Patience, "it is not connected", func() bool { return !h.status().Connected })
}

// quiets returns how many quiet packets came.
func (h *house) quiets() (n int) {
	h.hub.look(func() { n = len(h.hub.quiet) })
	return n
}

// loud returns pcm without its silence.
func loud(pcm []int16) []int16 {
	return slices.DeleteFunc(slices.Clone(pcm), func(s int16) bool { return s == 0 })
}

// spoken returns a sentence, made by flite.
func spoken(t *testing.T) []int16 {
	t.Helper()
	out, err := testkit.Command(t, "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
		"flite=text='please tell me what the weather is like tomorrow':voice=slt", "-ar", "16000", "-ac", "1", "-f", "s16le", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, len(out)/2)
	audio.DecodePCM(pcm, out)
	return pcm
}

// decoded returns the sound of packets.
func decoded(t *testing.T, dial helper.Dialer, packets []satellite.Packet) []int16 {
	t.Helper()
	var mu sync.Mutex
	var pcm [2][]int16 // of somebody who shows that the decoder is there, and of the packets
	o := codec.NewOpus(codec.OpusConfig{Dial: dial, Heard: func(speaker uint32, f *audio.Frame) {
		mu.Lock()
		defer mu.Unlock()
		pcm[speaker] = append(pcm[speaker], f.PCM[:]...)
	}, Encoded: func(context.Context, []byte) {}})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = o.Run(ctx) })
	defer testkit.Finish(t, testkit.Patience, "the decoder ends", running.Wait)
	defer stop()
	has := func(speaker, frames int) func() bool {
		return func() bool {
			if speaker == 0 {
				o.Decode([]codec.Packet{{At: packets[0].At, Data: packets[0].Opus}})
			}
			mu.Lock()
			defer mu.Unlock()
			return len(pcm[speaker]) >= frames*audio.Samples
		}
	}
	testkit.Await(t, testkit.Patience, "the decoder", has(0, 1))
	for some := range slices.Chunk(packets, 100) {
		var batch []codec.Packet
		for _, p := range some {
			batch = append(batch, codec.Packet{Speaker: 1, At: p.At, Data: p.Opus})
		}
		o.Decode(batch)
	}
	testkit.Await(t, testkit.Patience, "the sound", has(1, len(packets)-1))
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(pcm[1])
}

// levels returns the levels of every 20 ms, above those of silence.
func levels(pcm []int16) (all []float64) {
	for frame := range slices.Chunk(pcm, audio.Samples) {
		all = append(all, max(0, audio.Level(frame)+60))
	}
	return all
}

// alike returns the correlation of two envelopes, where they fit best.
func alike(got, want []float64) (best float64) {
	for shift := range len(got) {
		var gg, ww, gw float64
		for i, w := range want {
			g := 0.0
			if i+shift < len(got) {
				g = got[i+shift]
			}
			gg, ww, gw = gg+g*g, ww+w*w, gw+g*w
		}
		best = max(best, gw/math.Sqrt(gg*ww+1))
	}
	return best
}
