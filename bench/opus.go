package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
)

const (
	// opusSpeakers talk at once, which is more than anybody understands.
	opusSpeakers = 8

	// opusRounds is how many rounds make the ten seconds for which they talk.
	opusRounds = 60

	// opusShare is the goal, in percent of a core.
	opusShare = 15
)

// callCodec measures G, what it costs to decode eight people of a call who talk at
// once, packet by packet in real time, into annotated frames; in this process, which
// does what the daemon does, and in the helper. The bare thing is ffmpeg decoding
// and resampling as much Opus from a file, in one go.
func callCodec(ctx context.Context, b bench) (rows []Row, err error) {
	if rows := withoutVoice("opus", []string{"speech"}, "flite", "ffmpeg"); rows != nil {
		return rows, nil
	}
	if err := b.helpers(ctx); err != nil {
		return nil, err
	}
	speech, err := b.chatter(ctx)
	if err != nil {
		return nil, err
	}
	bare, err := b.decodeBare(ctx, speech)
	if err != nil {
		return nil, err
	}
	c := &conference{b: b}
	c.opus = codec.NewOpus(codec.OpusConfig{
		Dial:  c.dial,
		Heard: func(uint32, *audio.Frame) { c.heard.Add(1) },
		Encoded: func(_ context.Context, opus []byte) {
			c.packets = append(c.packets, slices.Clone(opus))
		},
	})
	during, stop := beside(ctx, c.opus.Run)
	defer func() { err = errors.Join(err, stop()) }()
	if err := c.say(during, speech); err != nil {
		return nil, err
	}
	if err := c.talk(during); err != nil {
		return nil, err
	}
	return c.rows(bare), nil
}

// A conference is some people who talk at once.
type conference struct {
	b    bench
	opus *codec.Opus
	pid  int // of the helper

	packets [][]byte
	encoded [2]time.Duration // CPU of encoding a second, here and in the helper
	decoded [2]time.Duration // and of decoding a second of all speakers
	heard   atomic.Int64
	lasted  time.Duration
}

func (c *conference) dial() (helper.Link, error) {
	link, err := dial{dir: c.b.bin()}.to(speechHelper, "media")()
	if p, ok := link.(*helper.Process); ok {
		c.pid = p.Pid()
	}
	return link, err
}

// say encodes what is said.
func (c *conference) say(ctx context.Context, pcm []int16) error {
	if err := c.opus.Encode(ctx, audio.Rate, pcm[:audio.Rate/2]); err != nil { // waits for the helper
		return err
	}
	busy, err := c.busy(func() error {
		return errors.Join(c.opus.Encode(ctx, audio.Rate, pcm[audio.Rate/2:]), c.opus.Flush(ctx))
	})
	for i := range busy {
		c.encoded[i] = perSecond(busy[i], time.Duration(len(pcm)-audio.Rate/2)*time.Second/audio.Rate)
	}
	return err
}

// talk decodes it for each speaker, in real time, who are at different places of it.
func (c *conference) talk(ctx context.Context) error {
	ticks := min(c.b.rounds, opusRounds) * int(10*time.Second/audio.Time) / opusRounds
	began := time.Now()
	busy, err := c.busy(func() error {
		for tick := range ticks {
			at := began.Add(time.Duration(tick) * audio.Time)
			select {
			case <-time.After(time.Until(at)):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			batch := make([]codec.Packet, opusSpeakers)
			for s := range batch {
				place := (tick + s*len(c.packets)/opusSpeakers) % len(c.packets)
				batch[s] = codec.Packet{Speaker: uint32(s), At: at, Data: c.packets[place]}
			}
			c.opus.Decode(batch)
		}
		return eventually(ctx, func() (bool, error) { return c.heard.Load() >= int64(ticks*opusSpeakers), nil })
	})
	for i := range busy {
		c.decoded[i] = perSecond(busy[i], time.Duration(ticks)*audio.Time)
	}
	c.lasted = time.Duration(ticks) * audio.Time
	return err
}

// busy returns for how long this process and the helper ran while something was done.
func (c *conference) busy(do func() error) (busy [2]time.Duration, err error) {
	pids := [2]int{os.Getpid(), c.pid}
	for i, pid := range pids {
		before, err := busyOf(pid)
		if err != nil {
			return busy, err
		}
		busy[i] = -before
	}
	if err := do(); err != nil {
		return busy, err
	}
	for i, pid := range pids {
		after, err := busyOf(pid)
		if err != nil {
			return busy, err
		}
		busy[i] += after
	}
	return busy, nil
}

func perSecond(busy, of time.Duration) time.Duration {
	return time.Duration(float64(busy) * float64(time.Second) / float64(of))
}

func (c *conference) rows(bare time.Duration) []Row {
	share := func(d time.Duration) float64 { return 100 * d.Seconds() }
	millis := func(d time.Duration) Spread { return same(1000 * d.Seconds()) }
	all := share(c.decoded[0] + c.decoded[1])
	name := fmt.Sprintf("G: %d speakers, decoding", opusSpeakers)
	counts := c.opus.Counts()
	return []Row{
		row(name, "% of a core", same(all), same(share(bare*opusSpeakers)),
			fmt.Sprintf("for %v, %d frames, %d packets dropped; beside ffmpeg, which detects no voice and is in no hurry", c.lasted, c.heard.Load(), counts.Dropped)).goal("p50", all, opusShare),
		{Name: name + ", in the daemon", Unit: "ms a second", Ours: millis(c.decoded[0])},
		{Name: name + ", in the helper", Unit: "ms a second", Ours: millis(c.decoded[1])},
		{Name: "G: encoding, in the daemon", Unit: "ms a second", Ours: millis(c.encoded[0])},
		{Name: "G: encoding, in the helper", Unit: "ms a second", Ours: millis(c.encoded[1])},
	}
}

// decodeBare returns for how long ffmpeg runs to decode a second of speech.
func (b bench) decodeBare(ctx context.Context, pcm []int16) (time.Duration, error) {
	path := filepath.Join(b.dir, "chatter.opus")
	if _, err := ffmpeg(ctx, pcm, "-f s16le -ar 16000 -ac 1 -i pipe:0 -c:a libopus -b:a 64k -application voip -fec 1 -packet_loss 10 -y "+path); err != nil {
		return 0, err
	}
	busy, err := ffmpeg(ctx, nil, "-c:a libopus -i "+path+" -ac 1 -ar 16000 -f null -")
	return perSecond(busy, time.Duration(len(pcm))*time.Second/audio.Rate), err
}

// ffmpeg runs it, and returns for how long it was busy.
func ffmpeg(ctx context.Context, pcm []int16, args string) (time.Duration, error) {
	c := exec.CommandContext(ctx, "ffmpeg", append(strings.Fields("-nostdin -v error -threads 1"), strings.Fields(args)...)...)
	c.Stdin = bytes.NewReader(audio.AppendPCM(nil, pcm))
	if out, err := c.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("ffmpeg: %w: %s", err, out)
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), nil
}
