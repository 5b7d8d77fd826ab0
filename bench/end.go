package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"earshot/server/client"
)

// ending measures how long a daemon takes to end after SIGTERM, with everything stored,
// beside a program that does nothing: when nobody talks, and in the middle of a reply.
func ending(ctx context.Context, b bench) (rows []Row, err error) {
	b.rounds, b.repeats = max(b.rounds/10, 1), min(b.repeats, 3)
	script := filepath.Join(b.dir, "teller.yaml")
	text := fmt.Sprintf("every_seconds: 0.05\nreply: %s\n", strings.TrimSpace(strings.Repeat("word ", 1000)))
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return nil, err
	}
	for _, state := range []struct {
		name  string
		talks bool
	}{{"nobody talks", false}, {"in the middle of a reply", true}} {
		n := 0
		ours := func() ([]float64, error) {
			n++
			name := fmt.Sprintf("end-%v-%d", state.talks, n)
			d, err := b.startDaemon(ctx, name, "providers: {webcam: {enabled: false}}\n"+scriptSection(script)+"}\n")
			if err != nil {
				return nil, err
			}
			if state.talks {
				err = starts(ctx, &client.Client{Socket: socketIn(filepath.Join(b.dir, name))})
			}
			took, ended := d.ends()
			return []float64{milliseconds(took)}, errors.Join(err, ended)
		}
		bare := func() ([]float64, error) {
			p, err := b.startEmpty(ctx)
			if err != nil {
				return nil, err
			}
			took, err := p.ends()
			return []float64{milliseconds(took)}, err
		}
		o, p, err := b.compare(ours, bare)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row("SIGTERM → the end, "+state.name, "ms", o, p, "bare: a program that does nothing").goal("p99", o.P99, 5000))
	}
	return rows, nil
}

// starts has the agent say something, and returns when it has begun to.
func starts(ctx context.Context, c *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := c.Post(ctx, "", "tell me a story"); err != nil {
		return err
	}
	for now, err := range c.Live(ctx) {
		if err != nil {
			return err
		}
		if len(now.Replies) > 0 && now.Replies[0].Text != "" {
			return nil
		}
	}
	return errors.New("it does not begin to talk")
}

// ends stops p, and returns how long that took.
func (p process) ends() (time.Duration, error) {
	began := time.Now()
	err := p.stop()
	return time.Since(began), err
}
