package cameras

import (
	"context"
	"fmt"
	"sync"
	"time"

	"earshot"
	"earshot/api"
	"earshot/internal/probe"
	"earshot/providers/webcam"
)

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
func Try(ctx context.Context, cfg webcam.Config, findings []probe.Finding, running map[string]api.CameraInfo) {
	var g sync.WaitGroup
	for i, c := range cfg.List() {
		if i >= len(findings) || !findings[i].Works || probe.Closed(earshot.Live, c.Hours, time.Now()) != "" {
			continue
		}
		f := &findings[i]
		if l, ok := running[c.Name]; ok {
			f.Works, f.Text, f.Cure = l.Fault == "", f.Text+"; the running earshot has it: "+InfoText(l, time.Now()), l.Cure
			continue
		}
		g.Go(func() { tried(f, Peek(ctx, c, seen(c), api.LookRequest{})) })
	}
	g.Wait()
}

// tried notes what came of a try.
func tried(f *probe.Finding, s api.CameraView) {
	switch {
	case s.Fault != "":
		f.Works, f.Text, f.Cure = false, s.Fault, s.Cure
	case Sees(s):
		f.Text += fmt.Sprintf("; it takes pictures of %d by %d pixels", s.Width, s.Height)
	default:
		f.Text += "; " + ViewText(s, time.Now())
	}
}
