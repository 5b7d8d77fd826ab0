package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	binary, err := b.daemon(ctx)
	if err != nil {
		return nil, err
	}
	start := func(name, journal string, end os.Signal) round {
		return func() ([]float64, error) {
			home := filepath.Join(b.dir, name)
			if err := os.MkdirAll(home, 0o700); err != nil {
				return nil, err
			}
			p := process{exec.Command(binary, "run", "--no-voice", "--no-camera")}
			p.Env = append(allowed(), []string{
				"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_RUNTIME_DIR=" + home,
				"EARSHOT_STORE_DIRECTORY=" + journal, "EARSHOT_EXECUTIVE_LLM_HOST=http://127.0.0.1:1",
			}...)
			began := time.Now()
			if err := p.Start(); err != nil {
				return nil, err
			}
			if err := p.answers(ctx, filepath.Join(home, "earshot", "earshot.sock")); err != nil {
				return nil, err
			}
			took := time.Since(began)
			err := p.Process.Signal(end)
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

// copying measures how fast a journal of 100,000 events is exported, imported and
// backed up, beside a plain copy of the file that comes of it; and how long somebody
// who writes waits meanwhile.
func copying(ctx context.Context, b bench) (rows []Row, err error) {
	b.rounds, b.repeats = min(b.rounds, 3), min(b.repeats, 3)
	directory, err := b.grown(ctx, b.lived())
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, store.Config{Directory: directory, Log: silent})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	archive, err := store.OpenReader(ctx, directory)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	export, backup, copied := filepath.Join(b.dir, "export"), filepath.Join(b.dir, "backup"), filepath.Join(b.dir, "copy")
	timed := func(do func() error) round {
		return func() ([]float64, error) {
			began := time.Now()
			err := do()
			return []float64{inMillis(time.Since(began))}, err
		}
	}
	plain := func(of string) round {
		return timed(func() error { return errors.Join(copyFile(of, copied), os.Remove(copied)) })
	}
	n := 0
	for _, what := range []struct {
		name, file string
		do         func() error
	}{
		{"exporting 100,000 events", export, func() error {
			f, err := os.Create(export)
			if err != nil {
				return err
			}
			_, err = store.WriteExport(f, store.Label{}, archive.Export(ctx))
			return errors.Join(err, f.Close())
		}},
		{"importing 100,000 events", export, func() error {
			n++
			return imports(ctx, export, filepath.Join(b.dir, fmt.Sprint("imported-", n)))
		}},
		{"backing up 100,000 events", backup, func() error {
			if err := os.Remove(backup); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			return archive.Backup(ctx, backup)
		}},
	} {
		if err := what.do(); err != nil { // so that there is something to copy
			return nil, err
		}
		o, p, err := b.compare(timed(what.do), plain(what.file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what.name, err)
		}
		info, err := os.Stat(what.file)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row(what.name, "ms", o, p, fmt.Sprintf("%.0f MB", float64(info.Size())/1e6)))
	}
	beside, err := b.besideBackup(ctx, s, archive)
	return append(rows, beside), err
}

// besideBackup measures how long a message takes to be kept while a backup is made,
// beside the same when none is.
func (b bench) besideBackup(ctx context.Context, s *store.Store, archive *store.Archive) (Row, error) {
	write := func(until <-chan error) (samples []float64, err error) {
		for {
			began := time.Now()
			if _, err := s.Append(ctx, earshot.Event{Room: earshot.Desk, From: ann, Author: "ann", Visibility: earshot.Visibility{Scope: earshot.Public},
				Body: earshot.Message{Text: earshot.Text(babble(uint64(len(samples)), 12))}}); err != nil {
				return nil, err
			}
			samples = append(samples, inMillis(time.Since(began)))
			select {
			case err := <-until:
				return samples, err
			default:
			}
		}
	}
	path := filepath.Join(b.dir, "beside")
	ours := func() ([]float64, error) {
		done := make(chan error, 1)
		go func() { done <- archive.Backup(ctx, path) }()
		samples, err := write(done)
		return samples, errors.Join(err, os.Remove(path))
	}
	alone := func() ([]float64, error) {
		done := make(chan error, 1)
		end := time.AfterFunc(200*time.Millisecond, func() { done <- nil })
		defer end.Stop()
		return write(done)
	}
	o, p, err := b.compare(ours, alone)
	return row("keeping a message while a backup is made", "ms", o, p, "the bare one: while none is"), err
}

// imports imports an export into a new journal, and removes it.
func imports(ctx context.Context, export, directory string) error {
	f, err := os.Open(export)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := store.Open(ctx, store.Config{Directory: directory, Log: silent})
	if err != nil {
		return err
	}
	_, err = s.Import(ctx, f, false)
	return errors.Join(err, s.Close(), os.RemoveAll(directory))
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
