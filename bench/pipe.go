package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
)

// as is the variable that makes this program a helper of some kind.
const as = "EARSHOT_BENCH_AS"

// become makes this program the helper that it is asked to be, and reports
// whether it was.
func become(ctx context.Context) bool {
	if os.Getenv(as) == listens {
		if err := listenIn(ctx, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return true
	}
	work := peers[os.Getenv(as)]
	if work == nil {
		return false
	}
	err := helper.Serve(ctx, os.Getenv(as), helper.Stdio(os.Stdin, os.Stdout), func(_ context.Context, s *helper.Server) error { return work(s) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return true
}

// peers are the helpers that this program can be: one that answers control and
// reads no sound, and one that reads sound.
var peers = map[string]func(*helper.Server) error{
	"answers": func(s *helper.Server) error {
		return s.Controls(func(c helper.Control) error { return s.Send(c.Name, nil) })
	},
	"listens": func(s *helper.Server) error { return s.Sounds(func(helper.Sound) error { return nil }) },
}

const (
	asked = 20   // messages of a round
	sent  = 2000 // frames of a round: 40 seconds of sound
)

// pipe measures the protocol of the helpers: a message of control there and
// back, also while the pipe for sound is full, beside a byte through cat; and
// what a frame costs that is sent, beside a write of as many bytes into a pipe.
func pipe(ctx context.Context, b bench) (rows []Row, err error) {
	answers, err := newCorrespondent("answers")
	if err != nil {
		return nil, err
	}
	listens, err := newCorrespondent("listens")
	if err != nil {
		return nil, err
	}
	echo, err := startCat(false)
	if err != nil {
		return nil, err
	}
	drain, err := startCat(true)
	if err != nil {
		return nil, errors.Join(err, echo.stop())
	}
	_, stop := beside(ctx, answers.run, listens.run)
	var filling sync.WaitGroup
	defer func() {
		err = errors.Join(err, stop(), echo.stop(), drain.stop())
		filling.Wait()
	}()
	b.rounds = min(b.rounds, 20) // each is many messages already
	empty, bare, err := b.compare(answers.ask, echo.ask)
	if err != nil {
		return nil, err
	}
	filling.Go(func() { // until the helper ends
		for frame := make([]byte, audio.Size); answers.link.SendSound(0, frame) == nil; {
		}
	})
	full, again, err := b.compare(answers.ask, echo.ask)
	if err != nil {
		return nil, err
	}
	frames, err := b.perUnit("a frame to a helper", "frame", sent, listens.send, drain.send)
	if err == nil {
		frames[1] = frames[1].goal("p50", frames[1].Ours.P50, 0.01) // the runtime itself does sometimes
	}
	return append([]Row{
		row("control to a helper and back", "µs", empty, bare, "beside a byte through cat"),
		row("the same, with the pipe for sound full", "µs", full, again, ""),
	}, frames...), err
}

// A correspondent is a helper of this program.
type correspondent struct {
	link  helper.Link
	back  chan struct{}
	frame [audio.Size]byte
}

func newCorrespondent(kind string) (*correspondent, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	link, err := helper.Start(helper.Command{Name: kind, Path: self, Env: []string{as + "=" + kind}, Log: silent})
	return &correspondent{link: link, back: make(chan struct{}, 1)}, err
}

func (c *correspondent) run(ctx context.Context) error {
	return c.link.Run(ctx, helper.Handler{Control: func(helper.Control) error {
		c.back <- struct{}{}
		return nil
	}})
}

// ask is a round of messages there and back, in microseconds.
func (c *correspondent) ask() (samples []float64, err error) {
	for range asked {
		at := time.Now()
		if err := c.link.Send("cut", nil); err != nil {
			return nil, err
		}
		if _, err := await(c.back); err != nil {
			return nil, err
		}
		samples = append(samples, micros(time.Since(at)))
	}
	return samples, nil
}

// send sends frames.
func (c *correspondent) send() error {
	for range sent {
		if err := c.link.SendSound(1, c.frame[:]); err != nil {
			return err
		}
	}
	return nil
}

// A cat is the program that copies bytes, in place of a helper.
type cat struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	frame [audio.Size]byte
}

// startCat starts one that copies back, or away.
func startCat(away bool) (c *cat, err error) {
	c = &cat{cmd: exec.Command("cat")}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if !away {
		if c.out, err = c.cmd.StdoutPipe(); err != nil {
			return nil, err
		}
	}
	return c, c.cmd.Start()
}

// ask is a round of single bytes there and back, in microseconds.
func (c *cat) ask() (samples []float64, err error) {
	for range asked {
		at := time.Now()
		if _, err := c.in.Write(c.frame[:1]); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(c.out, c.frame[:1]); err != nil {
			return nil, err
		}
		samples = append(samples, micros(time.Since(at)))
	}
	return samples, nil
}

// send writes as many bytes as the frames have.
func (c *cat) send() error {
	for range sent {
		if _, err := c.in.Write(c.frame[:]); err != nil {
			return err
		}
	}
	return nil
}

// stop ends it.
func (c *cat) stop() error {
	return errors.Join(c.in.Close(), c.cmd.Wait())
}
