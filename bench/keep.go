package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"earshot"
	"earshot/store"
)

// lived is how many sentences, with what is decided about them, make 100,000 events.
// With a single round, as in a test, there are fewer.
func (b bench) lived() int {
	if b.rounds == 1 {
		return 600
	}
	return 59_000
}

// starting measures how long it takes until a daemon with a past of 100,000 events
// answers, beside one without a past; and the journal alone, beside a plain read of the
// same rows, or of the file where it must be looked through.
func starting(ctx context.Context, b bench) (rows []Row, err error) {
	b.rounds, b.repeats = min(b.rounds, 6), min(b.repeats, 3) // each is a start
	directory, err := b.grown(ctx, b.lived())
	if err != nil {
		return nil, err
	}
	for _, state := range []struct{ name, lock string }{{"", "closed\n"}, {", after a kill", "1\n"}} {
		ours := func() ([]float64, error) {
			if err := os.WriteFile(filepath.Join(directory, "lock"), []byte(state.lock), 0o600); err != nil {
				return nil, err
			}
			began := time.Now()
			s, err := store.Open(ctx, store.Config{Directory: directory, Log: silent})
			if err != nil {
				return nil, err
			}
			got, err := s.For(around).Last(ctx, []earshot.Kind{earshot.KindMessage, earshot.KindReply}, 50)
			took := time.Since(began)
			if err == nil && len(got) == 0 {
				err = errors.New("there is no past")
			}
			return []float64{inMillis(took)}, errors.Join(err, s.Close())
		}
		plain := func() ([]float64, error) {
			began := time.Now()
			if state.lock != "closed\n" {
				_, err := readFile(filepath.Join(directory, "earshot.db"))
				return []float64{inMillis(time.Since(began))}, err
			}
			db, err := sql.Open("sqlite", "file:"+directory+"/earshot.db?mode=ro")
			if err == nil {
				err = errors.Join(readRows(ctx, db, 50), db.Close())
			}
			return []float64{inMillis(time.Since(began))}, err
		}
		o, p, err := b.compare(ours, plain)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row("opening a journal of 100,000 events"+state.name, "ms", o, p, ""))
	}
	daemon, err := b.startups(ctx, directory)
	return append(rows, daemon...), err
}

// startups measures how long a daemon takes from its first instruction to its first answer.
func (b bench) startups(ctx context.Context, directory string) (rows []Row, err error) {
	if _, err := b.daemon(ctx); err != nil { // not within the time
		return nil, err
	}
	start := func(name, journal string, end os.Signal) round {
		return func() ([]float64, error) {
			began := time.Now()
			p, err := b.runDaemon(ctx, filepath.Join(b.dir, name), []string{"EARSHOT_STORE_DIRECTORY=" + journal, "EARSHOT_EXECUTIVE_LLM_HOST=http://127.0.0.1:1"}, "run", "--no-voice", "--no-camera")
			if err != nil {
				return nil, err
			}
			took := time.Since(began)
			err = p.Process.Signal(end)
			if ended := p.Wait(); end != syscall.SIGKILL {
				err = errors.Join(err, ended)
			}
			return []float64{inMillis(took)}, err
		}
	}
	for _, state := range []struct {
		name string
		end  os.Signal
	}{{"", syscall.SIGTERM}, {", after a kill", syscall.SIGKILL}} {
		o, p, err := b.compare(start("start", directory, state.end), start("start-empty", filepath.Join(b.dir, "start-empty", "journal"), state.end))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row("starting with 100,000 events"+state.name, "ms", o, p, "until the socket answers; the bare one has no past").goal("p50", o.P50, 1000))
	}
	return rows, nil
}

// readFile reads a file to its end, as cat does.
func readFile(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(io.Discard, f)
}
