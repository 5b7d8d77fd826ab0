package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot/config"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/english"
	"earshot/internal/helper"
	"earshot/internal/terminal"
	"earshot/internal/trial"
	"earshot/models/catalog"
	"earshot/models/engine"
	"earshot/models/neural"
	"earshot/models/sense"
	"earshot/models/stt"
	"earshot/providers/microphone"
)

type modelsTry struct {
	Name   string   `arg:"" help:"A speech model that is installed, or embedded for the recogniser that comes with earshot."`
	Files  []string `arg:"" optional:"" help:"Recordings, each with what is said in it in a file of the same name that ends in .txt; or folders with such." type:"path"`
	Report bool     `help:"Print what to send to the project: figures without any words or names."`
	JSON   bool     `help:"Print the figures as JSON."`
}

// A modelReport is what was found out about a model.
type modelReport struct {
	Model      string         `json:"model"`
	Runs       neural.Result  `json:"runs"` // zero for what comes with earshot
	Recordings []trial.Result `json:"recordings,omitempty"`
	Sum        trial.Result   `json:"sum"`
}

// Run tries a speech model on this machine, and on recordings.
func (t modelsTry) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	recordings, err := trial.Find(t.Files)
	if err != nil {
		return err
	}
	library, report := neural.Open(quietly), modelReport{Model: t.Name}
	var is catalog.Installed
	dial := helper.NewDialer(quietly, helper.SpeechProgram, "hear")
	if t.Name != engine.Embedded {
		if is, err = library.Find(t.Name); err != nil {
			return &verdict{notFound, err}
		}
		if report.Runs, err = library.Check(a.ctx, is); err != nil {
			return err
		}
		language := cfg.Speech.Hear.Language
		if !slices.Contains(is.Languages, language) && len(is.Languages) > 0 {
			language = is.Languages[0]
		}
		dial = library.Hear(is, catalog.Installed{}, language, func(context.Context) error { return nil })
		if len(recordings) > 0 && is.Role != catalog.Hear && is.Role != catalog.Correct {
			return &verdict{misused, fmt.Errorf("%s does not recognise speech, so recordings say nothing about it\n  → earshot models test %[1]s", t.Name)}
		}
	}
	if !t.Report && !t.JSON {
		fmt.Fprintln(a.printed(), report.runs())
	}
	if len(recordings) > 0 {
		if report.Recordings, err = t.hear(a, cfg, dial, recordings); err != nil {
			return err
		}
	}
	report.Sum = trial.Sum(report.Recordings)
	switch {
	case t.JSON:
		return a.json(report)
	case t.Report:
		return report.print(a.printed(), is)
	case len(recordings) > 0:
		fmt.Fprintln(a.printed(), report.sums())
	}
	return nil
}

// hear has recordings heard, one after another, and prints how each went.
func (t modelsTry) hear(a *app, cfg *config.Config, dial helper.Dialer, all []trial.Recording) (list []trial.Result, err error) {
	ctx, stop := context.WithCancel(a.ctx)
	var senses *sense.Sensor
	if is, wanted := cfg.Speech.Sensing(neural.Open(quietly)); wanted {
		senses = sense.New(sense.Config{Dial: is.Dial, Sets: is.Sets, Log: quietly})
	}
	hears := stt.New(stt.Config{Dial: dial, Names: []string{cfg.Executive.Name}, Log: quietly})
	var running sync.WaitGroup
	var died error
	running.Go(func() {
		died = hears.Run(ctx)
		stop()
	})
	if senses != nil {
		running.Go(func() { _ = senses.Run(ctx) }) // without it, the words alone tell when somebody has finished
	}
	defer running.Wait()
	defer stop()
	try := trial.Trial{Config: cfg.Providers.Microphone, Recogniser: microphone.UseSTT(hears), Sense: microphone.UseSense(senses), Play: func(ctx context.Context, path string) iter.Seq2[*audio.Frame, error] {
		return file{codec.Source{Path: path, RealTime: true}}.Frames(ctx)
	}}
	awaitLoaded(ctx, hears)
	for i, r := range all {
		is, err := try.Hear(ctx, r)
		if ctx.Err() != nil && a.ctx.Err() == nil {
			running.Wait()
			return nil, fmt.Errorf("the recogniser ended: %w", died)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, is)
		if !t.Report && !t.JSON {
			fmt.Fprintf(a.printed(), "%s: %d of %s wrong%s: %s\n", filepath.Base(r.Path), is.Wrong, english.Count(is.Words, "word"), inPieces(is), terminal.Safe(is.Text))
		} else {
			fmt.Fprintf(a.told(), "%d of %s\n", i+1, english.Count(len(all), "recording"))
		}
	}
	return list, nil
}

// awaitLoaded waits until a recogniser has understood something, even if it is nothing: loading its
// models is not part of how fast it is.
func awaitLoaded(ctx context.Context, r *stt.Recogniser) {
	for {
		done := make(chan error, 1)
		r.Begin(func(r stt.Result) {
			if r.Final {
				done <- r.Err
			}
		}).End()
		select {
		case err := <-done:
			if !errors.Is(err, stt.ErrAway) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// inPieces says that more than one utterance was made of a recording.
func inPieces(r trial.Result) string {
	if r.Utterances < 2 {
		return ""
	}
	return fmt.Sprintf(", in %d pieces", r.Utterances)
}

// runs says how a model runs here.
func (r modelReport) runs() string {
	is := r.Runs
	if is == (neural.Result{}) {
		return r.Model + " comes with earshot."
	}
	text := fmt.Sprintf("%s: a second of sound takes it %.2f s; it loads in %.1f s and takes %s", r.Model, is.Speed, is.Start, english.Size(is.Memory))
	if is.First > 0 {
		text += fmt.Sprintf("; a short sentence is heard after %.2f s", is.First)
	}
	if is.Chunk > 0 {
		text += fmt.Sprintf("; words come each %d ms, at the latest %d ms after they were said", ms(is.Chunk), ms(is.Tail))
	}
	return text + "."
}

// ms returns how long samples last, in milliseconds.
func ms(samples int) int { return samples * 1000 / audio.Rate }

// sums says what came of all recordings.
func (r modelReport) sums() string {
	pieces := 0
	for _, is := range r.Recordings {
		pieces += max(0, is.Utterances-1)
	}
	text := fmt.Sprintf("Of %s in %s, %d wrong (%.1f %%); %s", english.Count(r.Sum.Words, "word"), english.Count(len(r.Recordings), "recording"),
		r.Sum.Wrong, 100*float64(r.Sum.Wrong)/float64(max(1, r.Sum.Words)), english.Count(pieces, "false end"))
	if late := r.Sum.Late; len(late) > 0 {
		text += fmt.Sprintf("; the text came %v after the last sound (median; at most %v)", rounded(late[len(late)/2]), rounded(late[len(late)-1]))
	}
	return text + "."
}

func rounded(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }

// print prints the report, which has no words of anybody.
func (r modelReport) print(w io.Writer, is catalog.Installed) error {
	lines := []string{
		"earshot " + version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ", " + english.Count(runtime.NumCPU(), "processor"),
		r.runs(),
	}
	for _, f := range is.Files {
		lines = append(lines, fmt.Sprintf("%s %s %d bytes", cmp.Or(f.SHA256, "no checksum"), f.Path, f.Bytes))
	}
	slices.Sort(lines[2:])
	if len(r.Recordings) > 0 {
		lines = append(lines, r.sums())
	}
	for i := range lines {
		lines[i] = terminal.Safe(lines[i])
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}
