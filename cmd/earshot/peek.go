package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/cameras"
	"earshot/internal/probe"
	"earshot/providers/webcam"
	"earshot/server/client"
)

// peek looks through a camera while no earshot runs, by opening it.
func (a *app) peek(cfg *config.Config, want api.LookRequest) (api.CameraView, error) {
	c, known := chosen(cfg.Providers.Webcam, want.Camera)
	if c == nil {
		return api.CameraView{Known: known, Eyes: earshot.Away}, nil
	}
	s := api.CameraView{Camera: c.Name, Source: probe.CameraSource(*c), Eyes: earshot.Away}
	if !cfg.Providers.Webcam.Enabled {
		s.Closed = "providers.webcam.enabled is false"
		return s, nil
	}
	f := probe.Camera(*c)
	if c.Device == "" && !f.Works {
		return api.CameraView{Eyes: earshot.Away}, nil
	}
	if s.Closed = probe.Closed(earshot.Live, c.Hours, time.Now()); s.Closed != "" {
		return s, nil
	}
	if !f.Works {
		s.Fault, s.Cure = f.Text, f.Cure
		return s, nil
	}
	return cameras.Peek(a.ctx, *c, s, want), nil
}

// chosen returns the camera of that name, or nil and what they are called.
func chosen(c webcam.Config, name string) (*webcam.Camera, []string) {
	var names []string
	for _, one := range c.List() {
		if name == "" || name == one.Name {
			return &one, nil
		}
		names = append(names, one.Name)
	}
	return nil, names
}

// tryCameras looks at the cameras that are wanted, and takes a picture by each, which
// nobody keeps. Those of an earshot that runs are its own, also if it does not answer: it
// may have closed them. So are closed those whose hours are over.
func (a *app) tryCameras(cfg *config.Config) []probe.Finding {
	looks := probe.Cameras(a.ctx, cfg)
	running, err := a.lenses(cfg)
	if err != nil {
		return looks
	}
	var g sync.WaitGroup
	for i, c := range cfg.Providers.Webcam.List() {
		if i >= len(looks) || !looks[i].Works || probe.Closed(earshot.Live, c.Hours, time.Now()) != "" {
			continue
		}
		f := &looks[i]
		if l, ok := running[c.Name]; ok {
			f.Works, f.Text, f.Cure = l.Fault == "", f.Text+"; the running earshot has it: "+cameras.InfoText(l, time.Now()), l.Cure
			continue
		}
		g.Go(func() {
			tried(f, cameras.Peek(a.ctx, c, api.CameraView{Camera: c.Name, Source: probe.CameraSource(c), Eyes: earshot.Away}, api.LookRequest{}))
		})
	}
	g.Wait()
	return looks
}

// tried notes what came of a try.
func tried(f *probe.Finding, s api.CameraView) {
	switch {
	case s.Fault != "":
		f.Works, f.Text, f.Cure = false, s.Fault, s.Cure
	case cameras.Sees(s):
		f.Text += fmt.Sprintf("; it takes pictures of %d by %d pixels", s.Width, s.Height)
	default:
		f.Text += "; " + cameras.ViewText(s, time.Now())
	}
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
