package cameras

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/admin"
	"earshot/internal/probe"
	"earshot/internal/redact"
	"earshot/providers/webcam"
)

const (
	// opening is how long a camera that is opened for one look may take until its first picture: a
	// network stream takes some seconds, and a silent one is not waited for.
	opening = 15 * time.Second

	// leastLook is how long it looks, since people who move are seen better than those who do not;
	// mostLook is the limit if it does not see clearly, since one picture does not make a room
	// dark.
	leastLook, mostLook = time.Second, 5 * time.Second
)

// Peek opens a camera, looks for a while, and closes it. S holds what is known beforehand.
func Peek(ctx context.Context, c webcam.Camera, s api.CameraView, want api.LookRequest) api.CameraView {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sees := make(chan struct{})
	var once sync.Once
	e, sense := New(c, redact.ForSources(c.Device), slog.New(slog.DiscardHandler), nil, nil, func() { once.Do(func() { close(sees) }) })
	ended := make(chan error, 1)
	go func() {
		ended <- sense.Run(ctx, e.Observe(func(context.Context, earshot.Event) error { return nil }))
	}()
	late := time.After(opening)
	over := false
	fault := errors.New("it gave no picture within " + opening.String())
	select {
	case <-sees:
		p, err := e.settled(ctx, want.Boxes)
		v := e.state()
		s.Eyes, s.Since, fault = v.eyes, v.since, err
		if err == nil {
			s.People, s.Faces, s.Brightness, s.Motion = v.glance.People, v.glance.Faces, v.glance.Brightness, v.glance.Motion
			SetPicture(&s, p, want.Picture)
		}
	case fault = <-ended:
		over = true
		if fault == nil {
			fault = errors.New("it stopped before its first picture")
		}
	case <-late:
	case <-ctx.Done():
		fault = context.Cause(ctx)
	}
	cancel()
	if !over {
		if err := <-ended; err != nil && fault != nil {
			fault = err // it has more detail
		}
	}
	if fault != nil {
		SetFault(&s, fault)
	}
	return s
}

// settled returns the picture after a while.
func (e *Camera) settled(ctx context.Context, boxes bool) (p earshot.Picture, err error) {
	for began := time.Now(); ; {
		next, bad := e.Look(ctx, time.Time{}, boxes)
		if bad != nil {
			if len(p.JPEG) > 0 { // for example, of a short recording
				return p, nil
			}
			return p, bad
		}
		p = next
		if took := time.Since(began); took >= mostLook || took >= leastLook && e.state().eyes == earshot.Clear {
			return p, nil
		}
	}
}

// Look looks through a camera that no earshot has open, by opening it.
func Look(ctx context.Context, cfg webcam.Config, want api.LookRequest) api.CameraView {
	c, known := chosen(cfg, want.Camera)
	if c == nil {
		return api.CameraView{Known: known, Eyes: earshot.Away}
	}
	s := seen(*c)
	if !cfg.Enabled {
		s.Closed = "providers.webcam.enabled is false"
		return s
	}
	f := probe.Camera(*c)
	if c.Device == "" && !f.Works {
		return api.CameraView{Eyes: earshot.Away}
	}
	if s.Closed = probe.Closed(earshot.Live, c.Hours, time.Now()); s.Closed != "" {
		return s
	}
	if !f.Works {
		s.Fault, s.Cure = f.Text, f.Cure
		return s
	}
	return Peek(ctx, *c, s, want)
}

// seen is what is known of a camera before anything is seen.
func seen(c webcam.Camera) api.CameraView {
	return api.CameraView{Camera: c.Name, Source: probe.CameraSource(c), Eyes: earshot.Away}
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

// Try takes a picture by each camera of the findings that works, which nobody keeps, and adds to the
// finding what came of it. Those of an earshot that runs are its own. So are closed those whose hours
// are over.
func Try(ctx context.Context, cfg webcam.Config, findings []api.CheckResult, running map[string]api.CameraInfo) {
	var g sync.WaitGroup
	for i, c := range cfg.List() {
		if i >= len(findings) || !findings[i].Works || probe.Closed(earshot.Live, c.Hours, time.Now()) != "" {
			continue
		}
		f := &findings[i]
		if l, ok := running[c.Name]; ok {
			f.Works, f.Text, f.Cure = l.Fault == "", f.Text+"; the running earshot has it: "+admin.CameraInfoText(l, time.Now()), l.Cure
			continue
		}
		g.Go(func() { tried(f, Peek(ctx, c, seen(c), api.LookRequest{})) })
	}
	g.Wait()
}

// tried notes what came of a try.
func tried(f *api.CheckResult, s api.CameraView) {
	switch {
	case s.Fault != "":
		f.Works, f.Text, f.Cure = false, s.Fault, s.Cure
	case Sees(s):
		f.Text += fmt.Sprintf("; it takes pictures of %d by %d pixels", s.Width, s.Height)
	default:
		f.Text += "; " + admin.CameraText(s, time.Now())
	}
}
