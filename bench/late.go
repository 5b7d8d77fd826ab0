package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/internal/terminal"
	"earshot/outlets/console"
)

// lateReplies is how many replies are cut for each round that was asked for:
// 10,000 with the usual 60.
const lateReplies = 167

// late counts what still comes out of a device after the outlet has said where
// it stopped. The console prints on a pipe, and when everything is over what
// came through the pipe is laid beside what was acknowledged, reply for reply:
// whatever is more, came late, however little later that was.
func late(ctx context.Context, b bench) ([]Row, error) {
	p, err := openPrinter()
	if err != nil {
		return nil, err
	}
	model := &engine{pieces: 1000, hang: true}
	h := open(ctx, furniture{model: ladder(model), journal: new(blank), outlet: p.Console, settings: executive.DefaultConfig()})
	var said []int // bytes that were acknowledged, of each reply of which there were some
	replies := b.rounds * lateReplies
	cut := 0
	for range replies {
		var n int
		var hit bool
		if n, hit, err = cutAndCount(ctx, h); err != nil {
			break
		}
		said = append(said, n)
		if hit {
			cut++
		}
	}
	h.leave()
	printed, err := p.finish(err)
	if err != nil {
		return nil, err
	}
	late, shown, err := excess(printed, said)
	if err != nil {
		return nil, err
	}
	kept := int(model.said.Load()) - shown/len(piece)
	r := Row{
		Name: "late pieces", Unit: "pieces", Ours: Spread{float64(late), float64(late), float64(late)},
		Note: fmt.Sprintf("%d replies cut; %d pieces were on their way and were held back", cut, kept),
	}
	return []Row{r.goal("", float64(late), 0)}, nil
}

// cutAndCount cuts one reply and returns how many bytes of it the console says
// it has printed.
func cutAndCount(ctx context.Context, h *house) (bytes int, hit bool, err error) {
	if _, err = h.say(ctx, "tell me about the tides"); err != nil {
		return 0, false, err
	}
	_, hit, err = cutOnce(h, func() (at time.Time, err error) { return h.stop(ctx) }, func(ended time.Time, r earshot.Reply) (time.Time, error) {
		bytes = len(r.Delivered())
		return ended, nil
	})
	return bytes, hit, err
}

// excess lays what was printed beside what was said to be, and returns how many
// pieces are too many, and how many bytes there are altogether. A console that
// claims to have printed more than it did is an error.
func excess(printed []byte, said []int) (late, shown int, err error) {
	lines := bytes.SplitAfter(printed, []byte("\n"))
	lines = lines[:len(lines)-1]
	if len(lines) != len(said) {
		return 0, 0, fmt.Errorf("%d replies were printed, not %d", len(lines), len(said))
	}
	for i, line := range lines {
		n := len(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte(" [cut off]")))
		shown += n
		switch {
		case n < said[i]:
			return 0, 0, fmt.Errorf("reply %d: %d bytes are called heard, %d came out", i, said[i], n)
		case n > said[i]:
			late += (n - said[i] + len(piece) - 1) / len(piece)
		}
	}
	return late, shown, nil
}

// A printer is the console on a pipe, and what came through that.
type printer struct {
	*console.Console
	term    *terminal.Terminal
	files   []*os.File
	reading sync.WaitGroup
	printed bytes.Buffer
}

// openPrinter returns a console on a pipe.
func openPrinter() (*printer, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, null.Close())
	}
	p := &printer{files: []*os.File{w, null}}
	p.reading.Go(func() { // until the pipe is closed
		io.Copy(&p.printed, r)
		r.Close()
	})
	if p.term, err = terminal.Open(null, w, null); err != nil {
		_, err = p.finish(err)
		return nil, err
	}
	p.Console = console.New(console.Config{Outlet: "console"}, p.term)
	return p, nil
}

// finish gives everything back and returns what was printed.
func (p *printer) finish(err error) ([]byte, error) {
	if p.term != nil {
		err = errors.Join(err, p.term.Close())
	}
	for _, f := range p.files {
		err = errors.Join(err, f.Close())
	}
	p.reading.Wait()
	return p.printed.Bytes(), err
}
