package main

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"

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
)

type modelsTry struct {
	Name   string   `arg:"" help:"A speech model that is installed, or embedded for the recogniser that comes with earshot."`
	Files  []string `arg:"" optional:"" help:"Recordings, each with what is said in it in a file of the same name that ends in .txt; or folders with such." type:"path"`
	Report bool     `help:"Print what to send to the project: figures without any words or names."`
	JSON   bool     `help:"Print the figures as JSON."`
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
	library, report := neural.Open(quietly), trial.Report{Model: t.Name}
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
		fmt.Fprintln(a.printed(), report.Performance())
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
		return report.Print(a.printed(), version(), is)
	case len(recordings) > 0:
		fmt.Fprintln(a.printed(), report.Summary())
	}
	return nil
}

// hear has recordings heard, one after another, and prints how each went.
func (t modelsTry) hear(a *app, cfg *config.Config, dial helper.Dialer, all []trial.Recording) ([]trial.Result, error) {
	var senses *sense.Sensor
	if is, wanted := cfg.Speech.Sensing(neural.Open(quietly)); wanted {
		senses = sense.New(sense.Config{Dial: is.Dial, Sets: is.Sets, Log: quietly})
	}
	hears := stt.New(stt.Config{Dial: dial, Names: []string{cfg.Executive.Name}, Log: quietly})
	try := trial.Trial{Config: cfg.Providers.Microphone, Play: func(ctx context.Context, path string) iter.Seq2[*audio.Frame, error] {
		return file{codec.Source{Path: path, RealTime: true}}.Frames(ctx)
	}}
	return try.HearAll(a.ctx, hears, senses, all, func(i int, is trial.Result) {
		if t.Report || t.JSON {
			fmt.Fprintf(a.told(), "%d of %s\n", i+1, english.Count(len(all), "recording"))
			return
		}
		fmt.Fprintf(a.printed(), "%s: %d of %s wrong%s: %s\n", filepath.Base(all[i].Path), is.Wrong, english.Count(is.Words, "word"), inPieces(is), terminal.Safe(is.Text))
	})
}

// inPieces says that more than one utterance was made of a recording.
func inPieces(r trial.Result) string {
	if r.Utterances < 2 {
		return ""
	}
	return fmt.Sprintf(", in %d pieces", r.Utterances)
}
