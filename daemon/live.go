package daemon

import (
	"context"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/access"
	"earshot/daemon/cameras"
	"earshot/server"
)

// Live implements [server.Backend].
func (h backend) Live(_ context.Context, p server.Principal) (api.LiveView, <-chan struct{}, error) {
	r, ok := h.daemon.rooms.find(p.Audience.Room)
	if !ok {
		return api.LiveView{}, nil, access.NoRoom(p.Audience.Room, nil)
	}
	changed := r.Changed() // before looking, so that no change is missed in between
	v := api.LiveView{Snapshot: r.Snapshot(p.Audience), You: p.Participant}
	v.At = time.Time{} // the server sets the time
	for _, e := range h.daemon.cameras.List() {
		v.Cameras = append(v.Cameras, cameras.InfoOf(h.cameraView(e), e.Running()))
	}
	return v, changed, nil
}

// Interim implements [server.Journal].
func (h backend) Interim(a earshot.Audience) ([]earshot.Event, <-chan struct{}) {
	r, ok := h.daemon.rooms.find(a.Room)
	if !ok {
		return nil, nil
	}
	return r.Interim(a)
}
