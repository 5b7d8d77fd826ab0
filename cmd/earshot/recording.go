package main

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"

	"earshot/daemon"
	"earshot/daemon/access"
	"earshot/daemon/console"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/sceneplayer"
	"earshot/internal/transcript"
	outlet "earshot/outlets/console"
	"earshot/providers"
	"earshot/providers/microphone"
)

// listen hears a file of sound as if it were said at this machine, with the
// configured model and a journal that is thrown away afterwards.
func (r replayCommand) listen(a *app) error {
	if r.Speed != 1 {
		return errors.New("a sound file is always heard at its own speed; --speed is for scenes")
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	place, err := os.MkdirTemp("", "earshot-sound-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(place)
	cfg.Store.Directory, cfg.Executive.Tools.Workspace = filepath.Join(place, "journal"), filepath.Join(place, "workspaces")
	handle, name := access.Self()
	d, err := daemon.Open(a.ctx, cfg, daemon.Options{Account: handle, Name: name, Version: version(), Restarts: restarts})
	if err != nil {
		return err
	}
	if !r.JSON {
		t, done, err := a.terminal(a.in, a.out)
		if err != nil {
			return errors.Join(err, d.Close())
		}
		defer done()
		defer d.AddOutlet(outlet.New(outlet.Config{Outlet: console.Name, Name: d.People().Name}, t))()
	}
	tape := &recording{daemon: d, mic: d.InstallMicrophone(a.ctx, file{codec.Source{Path: r.Scene, RealTime: true}})}
	err = d.Run(a.ctx, nil, tape)
	events, bad := d.Store().For(d.Audience()).Last(context.WithoutCancel(a.ctx), transcript.Spoken, sceneplayer.MaxEvents)
	if err = errors.Join(err, tape.err, bad, d.Close()); err != nil {
		return err
	}
	if len(events) == 0 {
		return &verdict{notFound, errors.New("nothing was understood in " + r.Scene)}
	}
	return r.print(a, events)
}

// A file is a capture of what was recorded.
type file struct{ source codec.Source }

// Frames implements [microphone.Capture].
func (f file) Frames(ctx context.Context) iter.Seq2[*audio.Frame, error] {
	return codec.Open(ctx, helper.NewDialer(quietly, helper.SpeechProgram, "media"), f.source)
}

// A recording is the sense that hears a file, and waits for the last reply.
type recording struct {
	daemon *daemon.Daemon
	mic    *microphone.Provider
	err    error // why it ended before its time
}

// Name implements [providers.Provider].
func (r *recording) Name() string { return r.mic.Name() }

// Run implements [providers.Provider]. It never fails, so that the file is heard
// once.
func (r *recording) Run(ctx context.Context, emit providers.Emit) error {
	err := r.mic.Run(ctx, emit)
	if ctx.Err() != nil {
		return nil
	}
	if r.err = err; err == nil {
		sceneplayer.AwaitSilence(ctx, r.daemon)
	}
	return nil
}
