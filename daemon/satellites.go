package daemon

import (
	"context"
	"errors"

	"earshot"
	"earshot/api"
	"earshot/daemon/cameras"
	"earshot/daemon/devices"
	"earshot/daemon/section"
	"earshot/internal/sound"
	"earshot/internal/supervise"
	"earshot/participants"
	"earshot/satellite"
	"earshot/satellite/hub"
	"earshot/satellite/pairing"
	"earshot/server"
)

// openSatellites makes the devices of other machines.
func (d *Daemon) openSatellites() {
	c := devices.SatelliteConfig{
		Restarts: d.options.Restarts, Bus: d.bus, Find: d.satelliteRoom, Note: d.health.NoteNotice, Console: d.server.ServeTerminals,
		Exists: func(id earshot.RoomID) bool { _, is := d.findRoom(id); return is },
		Watch:  d.newSatelliteCamera, Kept: d.cameras.KeepFar, Changed: func() { d.sections.Rebuild(satellitesSection) },
	}
	if d.cluster != nil {
		c.Fence = func(id earshot.RoomID) (int64, bool) {
			lease := d.cluster.Lease(string(id))
			if lease == nil {
				return 0, false
			}
			return lease.Fence, true
		}
	}
	d.satellites = devices.NewSatellites(d.devices, c)
}

// InstallSatellites gives the daemon its satellites, if there is to be a bus, and reports the result. Without
// voice they are told that none of them is let in.
func (d *Daemon) InstallSatellites(ctx context.Context, voice bool) []api.CheckResult {
	d.satellites.Silent = !voice
	return d.show(d.sections.Install(ctx, &section.Section{Name: satellitesSection, Build: d.satellites.Build}))
}

// satelliteRoom implements [devices.SatelliteConfig.Find].
func (d *Daemon) satelliteRoom(id earshot.RoomID) (devices.SatelliteRoom, bool) {
	r, here := d.rooms.Now().Find(id)
	if !here {
		return devices.SatelliteRoom{}, false
	}
	is := devices.SatelliteRoom{Room: r.Room, Name: r.Is.Name, Run: r.Number()}
	for _, a := range d.agents.In(id) {
		is.Agents = append(is.Agents, a.Name)
	}
	return is, true
}

// newSatelliteCamera implements [devices.SatelliteConfig.Watch].
func (d *Daemon) newSatelliteCamera(p pairing.Satellite, far *hub.Satellite, mode section.Mode, report func(earshot.Notice)) section.Part {
	seen := new(supervise.Pulse)
	away := func() string {
		switch is := far.State(); {
		case !is.Camera:
			return cameras.NoCamera
		case !is.Connected:
			return "its satellite is not connected"
		case is.Muted:
			return "somebody has muted its satellite there"
		}
		return ""
	}
	camera, sense := cameras.NewFar(p.ID, p.Room, away, far.Camera, d.log, report, d.countDrops("webcam"), seen.Beat)
	d.cameras.AddFar(p.ID, camera)
	watch := devices.RetryOnCard(func(ctx context.Context) error {
		err := sense.Run(ctx, camera.Observe(func(ctx context.Context, e earshot.Event) error {
			e.Room = p.Room
			return d.Admit(ctx, e)
		}))
		if away() != "" { // which is told of by itself
			return sound.ErrCard
		}
		return err
	})
	return section.Part{
		Name: earshot.CameraCalled(camera.Name), Pulse: seen, Report: report,
		Run: section.RunInMode(mode, earshot.Mode.Watches, section.RunInMode(far.CameraMode, earshot.Mode.Listens, watch)),
	}
}

// identifyAtSatellite returns whoever writes at the console of a satellite. It is in the satellite's room, where
// anybody may read it, as anybody hears the loudspeaker.
func (d *Daemon) identifyAtSatellite(account earshot.Handle, c server.Claim) (server.Principal, error) {
	p, paired := d.satellites.Paired(account.ID)
	switch {
	case !paired:
		return server.Principal{}, errors.New("this satellite is not paired any more; " + satellite.PairAgain(account.ID))
	case c.Name != "" || c.Token != "" || c.Room != "" && c.Room != p.Room:
		return server.Principal{}, errors.New("at a satellite nobody has a name, a token or another room than that of the satellite")
	}
	who, _ := d.people.Get(participants.AtSatellite(account.ID))
	return server.Principal{Participant: who, Account: account, Audience: earshot.Audience{Room: p.Room, Unknown: true}}, nil
}
