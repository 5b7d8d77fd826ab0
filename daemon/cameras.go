package daemon

import (
	"context"
	"reflect"
	"slices"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/cameras"
	"earshot/daemon/section"
	"earshot/executive/room"
	"earshot/internal/probe"
	"earshot/internal/redact"
	"earshot/internal/supervise"
	"earshot/participants"
	"earshot/providers/webcam"
	"earshot/server"
)

// buildCameras returns the cameras that looks found. A missing one may still come; an unchanged
// one goes on.
func (d *Daemon) buildCameras(looks []api.CheckResult) section.Build {
	is := section.Build{Findings: looks}
	hidden := redact.ForSources(sources(d.Config().Providers.Webcam)...)
	var all []*cameras.Camera
	for i, c := range d.Config().Providers.Webcam.List() {
		if i == len(looks) {
			break // it is switched off
		}
		e, p := d.newCamera(c, hidden, !looks[i].Works)
		if was := d.cameras.Find(c.Name); was != nil && reflect.DeepEqual(was.Config, c) {
			e = was
		}
		all, is.Parts = append(all, e), append(is.Parts, p)
	}
	is.Started = func() { d.cameras.Replace(all) }
	return is
}

// InstallCameras looks for the configured cameras, and gives them to the daemon.
func (d *Daemon) InstallCameras(ctx context.Context) []api.CheckResult {
	return d.show(d.sections.Install(ctx, &section.Section{Name: camerasSection, AtDesk: true, Build: func(ctx context.Context) section.Build { return d.buildCameras(probe.Cameras(ctx, d.Config())) }}))
}

// ExpectCameras records which cameras are configured, before [Daemon.InstallCameras] has looked
// for them: none works yet, which is not the same as having none.
func (d *Daemon) ExpectCameras() { d.cameras.Expect(d.Config().Providers.Webcam) }

func sources(c webcam.Config) (all []string) {
	for _, one := range c.List() {
		all = append(all, one.Device)
	}
	return all
}

// newCamera returns a camera, and the part that watches through it.
func (d *Daemon) newCamera(c webcam.Camera, hidden redact.SourceRedactor, lost bool) (*cameras.Camera, section.Part) {
	there := new(supervise.Pulse)
	e, sense := cameras.New(c, hidden, d.log, d.report, d.countDrops("webcam"), there.Beat)
	e.AnnounceHours(func(text string) { d.deskRoom().Mention(text) }, probe.Closed(earshot.Live, c.Hours, time.Now()) != "")
	return e, section.Part{
		Name: earshot.CameraCalled(c.Name), Modes: earshot.Mode.Watches, Lost: lost, Pulse: there, Key: c,
		Run: func(ctx context.Context) error { return sense.Run(ctx, e.Observe(d.Admit)) },
	}
}

// Look implements [server.Backend].
func (h backend) Look(ctx context.Context, by server.Principal, l api.LookRequest) (api.CameraView, error) {
	all := h.cameras(by.Participant)
	i := slices.IndexFunc(all, func(e *cameras.Camera) bool { return l.Camera == "" || e.Name == l.Camera })
	if i < 0 {
		v := api.CameraView{Eyes: earshot.Away}
		for _, e := range all {
			v.Known = append(v.Known, e.Name)
		}
		return v, nil
	}
	e := all[i]
	s := h.cameraView(e)
	if s.Closed != "" || !e.Running() {
		return s, nil
	}
	ctx, cancel := context.WithTimeout(ctx, cameras.LookTimeout)
	defer cancel()
	p, err := e.Look(ctx, time.Time{}, l.Boxes)
	if err != nil {
		cameras.SetFault(&s, err)
		return s, nil
	}
	if s = h.cameraView(e); s.Closed != "" { // it may have closed; else its state may be known only now
		return s, nil
	}
	cameras.SetPicture(&s, p, l.Picture)
	h.daemon.log.Info("somebody looked through a camera", "participant", string(by.ID), "camera", e.Name, "picture", l.Picture)
	if l.Picture || e.ShouldTell(by.ID, time.Now()) {
		h.daemon.roomOf(e).Mention(cameras.LookedBy(by.Participant, e.Name, l.Picture))
	}
	return s, nil
}

// cameras returns those that somebody may know of: those of this machine, and those of rooms that they
// may enter.
func (h backend) cameras(who participants.Participant) []*cameras.Camera {
	return slices.DeleteFunc(h.daemon.cameras.List(), func(e *cameras.Camera) bool {
		return e.Room != "" && h.daemon.gate.MayEnter(who, e.Room) != nil
	})
}

// roomOf returns the room in which a camera looks.
func (d *Daemon) roomOf(e *cameras.Camera) *room.Room {
	if r, ok := d.rooms.Now().Find(e.Room); ok {
		return r.Room
	}
	return d.deskRoom()
}

// cameraView returns what is known of a camera without looking.
func (h backend) cameraView(e *cameras.Camera) api.CameraView {
	return e.View(h.daemon.closed(e, time.Now()))
}

// closed says why a camera is not to look at now.
func (d *Daemon) closed(e *cameras.Camera, now time.Time) string {
	if e.Away != nil {
		if why := e.Away(); why != "" {
			return why
		}
	}
	mode, _ := d.roomOf(e).Mode()
	return probe.Closed(mode, e.Config.Hours, now)
}
