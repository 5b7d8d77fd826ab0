package main

import (
	"context"
	"reflect"
	"time"

	"earshot"
	"earshot/daemon/cameras"
	"earshot/internal/probe"
	"earshot/internal/redact"
	"earshot/internal/supervise"
	"earshot/providers/webcam"
)

// look returns the cameras, of which looks was found out. One that is missing may still
// come; one that is as it was goes on.
func (d *daemon) look(looks []probe.Finding) sectionBuild {
	is := sectionBuild{findings: looks}
	hidden := redact.ForSources(sources(d.config().Providers.Webcam)...)
	var all []*cameras.Camera
	for i, c := range d.config().Providers.Webcam.List() {
		if i == len(looks) {
			break // it is switched off
		}
		e, p := d.watch(c, hidden, !looks[i].Works)
		if was := d.eyes.Find(c.Name); was != nil && reflect.DeepEqual(was.Config, c) {
			e = was
		}
		all, is.parts = append(all, e), append(is.parts, p)
	}
	is.begins = func() { d.eyes.Replace(all) }
	return is
}

// InstallCameras looks for the cameras that the house could see with, and gives it those.
func (d *daemon) InstallCameras(ctx context.Context) []probe.Finding {
	return d.show(d.install(ctx, &section{name: theCameras, make: func(ctx context.Context) sectionBuild { return d.look(probe.Cameras(ctx, d.config())) }}))
}

// ExpectCameras notes which cameras are configured, before [daemon.InstallCameras] has looked for
// any: none of them works yet, which is not the same as that there is none.
func (d *daemon) ExpectCameras() { d.eyes.Expect(d.config().Providers.Webcam) }

// sources returns where the pictures come from.
func sources(c webcam.Config) (all []string) {
	for _, one := range c.List() {
		all = append(all, one.Device)
	}
	return all
}

// watch returns a camera, and the part that sees through it.
func (d *daemon) watch(c webcam.Camera, hidden redact.SourceRedactor, lost bool) (*cameras.Camera, part) {
	there := new(supervise.Pulse)
	e, sense := cameras.New(c, hidden, d.log, d.report, d.drops("webcam"), there.Beat)
	e.AnnounceHours(d.desk.Mention, probe.Closed(earshot.Live, c.Hours, time.Now()) != "")
	return e, part{
		name: earshot.CameraCalled(c.Name), lets: earshot.Mode.Watches, lost: lost, pulse: there, as: c,
		run: func(ctx context.Context) error { return sense.Run(ctx, e.Observe(d.Admit)) },
	}
}
