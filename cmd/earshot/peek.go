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
	"earshot/internal/probe"
	"earshot/internal/redact"
	"earshot/providers/webcam"
	"earshot/server"
)

const (
	// opening is how long a camera may take until its first picture that is opened for
	// one look: a stream over the net takes some seconds, and one that is silent is not
	// waited for.
	opening = 15 * time.Second

	// leastLook is for how long it looks, since who moves is better seen than who does not, and
	// mostLook for how long if it does not see clearly: no room is dark by one picture.
	leastLook, mostLook = time.Second, 5 * time.Second
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
	return peep(a.ctx, *c, s, want), nil
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

// peep opens a camera, looks for a while, and closes it. S is what is known beforehand.
func peep(ctx context.Context, c webcam.Camera, s api.CameraView, want api.LookRequest) api.CameraView {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sees := make(chan struct{})
	var once sync.Once
	e, sense := newEye(c, redact.ForSources(c.Device), quietly, nil, nil, func() { once.Do(func() { close(sees) }) })
	ended := make(chan error, 1)
	go func() {
		ended <- sense.Run(ctx, e.notes(func(context.Context, earshot.Event) error { return nil }))
	}()
	late := time.NewTimer(opening)
	defer late.Stop()
	over := false
	fault := errors.New("it gave no picture within " + opening.String())
	select {
	case <-sees:
		p, err := e.settled(ctx, want.Boxes)
		v := e.sees()
		s.Eyes, s.Since, fault = v.eyes, v.since, err
		if err == nil {
			s.People, s.Faces, s.Brightness, s.Motion = v.glance.People, v.glance.Faces, v.glance.Brightness, v.glance.Motion
			fillView(&s, p, want.Picture)
		}
	case fault = <-ended:
		over = true
		if fault == nil {
			fault = errors.New("it stopped before its first picture")
		}
	case <-late.C:
	case <-ctx.Done():
		fault = context.Cause(ctx)
	}
	cancel()
	if !over {
		if err := <-ended; err != nil && fault != nil {
			fault = err // which knows more
		}
	}
	if fault != nil {
		failView(&s, fault)
	}
	return s
}

// settled returns the picture after a while.
func (e *camera) settled(ctx context.Context, boxes bool) (p earshot.Picture, err error) {
	for began := time.Now(); ; {
		next, bad := e.look(ctx, time.Time{}, boxes)
		if bad != nil {
			if len(p.JPEG) > 0 { // such as of a short recording
				return p, nil
			}
			return p, bad
		}
		p = next
		if took := time.Since(began); took >= mostLook || took >= leastLook && e.sees().eyes == earshot.Clear {
			return p, nil
		}
	}
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
			f.Works, f.Text, f.Cure = l.Fault == "", f.Text+"; the running earshot has it: "+cameraText(l, time.Now()), l.Cure
			continue
		}
		g.Go(func() {
			tried(f, peep(a.ctx, c, api.CameraView{Camera: c.Name, Source: probe.CameraSource(c), Eyes: earshot.Away}, api.LookRequest{}))
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
	case sees(s):
		f.Text += fmt.Sprintf("; it takes pictures of %d by %d pixels", s.Width, s.Height)
	default:
		f.Text += "; " + viewText(s, time.Now())
	}
}

// lenses returns how it stands with the cameras of the earshot that runs, if one does.
func (a *app) lenses(cfg *config.Config) (map[string]api.CameraInfo, error) {
	ctx, cancel := context.WithTimeout(a.ctx, probe.AnswerTimeout)
	defer cancel()
	s, err := (&server.Client{Socket: cfg.Server.Path()}).State(ctx)
	if errors.Is(err, server.ErrNotRunning) {
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
