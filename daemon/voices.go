package daemon

import (
	"context"
	"fmt"

	"earshot/api"
	"earshot/daemon/admin"
	"earshot/participants"
	"earshot/speakers"
)

// openVoices opens the registry of voices.
func (d *Daemon) openVoices(ctx context.Context) error {
	d.voices = &admin.Voices{People: d.people, Account: d.options.Account, Owner: d.owner, Log: d.log, Changed: func(c speakers.Change) {
		for _, r := range d.rooms.now() {
			r.ApplyVoiceChange(c)
		}
	}}
	c := d.Config().Speakers
	c.Report = d.report
	return d.voices.Open(ctx, d.Config().Store.Directory, c)
}

// Voices implements [server.Admin].
func (h backend) Voices(context.Context) ([]api.VoiceInfo, error) {
	return h.daemon.voices.List(), nil
}

// Tell implements [server.Admin].
func (h backend) Tell(ctx context.Context, by participants.Participant, t api.VoiceRequest) (api.VoiceChange, error) {
	c, err := h.daemon.voices.Tell(ctx, by, t)
	if c.Act != "" {
		h.daemon.desk.Mention(fmt.Sprintf("%s (says %s).", c.Text, by.Name)) // where the microphone is
	}
	return c, err
}
