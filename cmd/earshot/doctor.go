package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/admin"
	"earshot/daemon/cameras"
	"earshot/internal/probe"
	"earshot/server/client"
)

type doctorCommand struct {
	JSON bool `help:"Print the findings as JSON."`
}

// Run looks at everything that earshot needs.
func (d doctorCommand) Run(a *app) error {
	cfg, err := config.Salvage(a.file)
	config.Place(cfg)
	findings := slices.Concat(
		probe.Configuration(cfg, err),
		[]api.CheckResult{probe.Journal(a.ctx, cfg), probe.Disk(cfg), probe.Log(cfg), probe.Daemon(a.ctx, cfg)},
		probe.API(a.ctx, cfg), probe.Satellites(a.ctx, cfg), probe.Cluster(a.ctx, cfg), probe.Tokens(cfg), probe.KnownVoices(cfg), probe.Agents(a.ctx, cfg),
		probe.Senses(a.ctx, cfg), a.tryCameras(cfg), probe.Discord(a.ctx, cfg), probe.Models(a.ctx, cfg, err),
	)
	err = nil
	if d.JSON {
		err = a.json(findings)
	} else {
		probe.PrintFindings(a.printed(), findings)
	}
	if slices.ContainsFunc(findings, func(f api.CheckResult) bool { return !f.Works }) {
		return errors.Join(err, &verdict{code: failed})
	}
	return err
}

// tryCameras looks at the cameras that are wanted, and takes a picture by each, which
// nobody keeps. Those of an earshot that runs are its own, also if it does not answer: it
// may have closed them.
func (a *app) tryCameras(cfg *config.Config) []api.CheckResult {
	looks := probe.Cameras(a.ctx, cfg)
	if running, err := a.lenses(cfg); err == nil {
		cameras.Try(a.ctx, cfg.Providers.Webcam, looks, running)
		for _, name := range slices.Sorted(maps.Keys(running)) { // those of satellites
			if l := running[name]; !slices.ContainsFunc(looks, func(f api.CheckResult) bool { return f.Thing == earshot.CameraCalled(name) }) {
				looks = append(looks, api.CheckResult{Thing: earshot.CameraCalled(name), Works: l.Fault == "", Text: admin.CameraInfoText(l, time.Now()), Cure: l.Cure})
			}
		}
	}
	return looks
}

// lenses returns how it stands with the cameras of the earshot that runs, if one does.
func (a *app) lenses(cfg *config.Config) (map[string]api.CameraInfo, error) {
	ctx, cancel := context.WithTimeout(a.ctx, probe.AnswerTimeout)
	defer cancel()
	s, err := (&client.Client{Socket: cfg.Server.Path()}).State(ctx)
	if errors.Is(err, client.ErrNotRunning) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := make(map[string]api.CameraInfo)
	for _, l := range s.Cameras {
		all[l.Camera] = l
	}
	return all, nil
}
