package daemon

import (
	"context"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/cameras"
	"earshot/internal/probe"
	"earshot/server"
)

// Look implements [server.Backend].
func (h backend) Look(ctx context.Context, by server.Principal, l api.LookRequest) (api.CameraView, error) {
	e := h.daemon.cameras.Find(l.Camera)
	if e == nil {
		return api.CameraView{Known: h.daemon.cameras.Names(), Eyes: earshot.Away}, nil
	}
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
		h.daemon.desk.Mention(cameras.LookedBy(by.Participant, e.Name, l.Picture))
	}
	return s, nil
}

// cameraView returns what is known of a camera without looking.
func (h backend) cameraView(e *cameras.Camera) api.CameraView {
	return e.View(h.daemon.closed(e, time.Now()))
}

// closed says why a camera is not to look at now.
func (d *Daemon) closed(e *cameras.Camera, now time.Time) string {
	mode, _ := d.desk.Mode()
	return probe.Closed(mode, e.Config.Hours, now)
}
