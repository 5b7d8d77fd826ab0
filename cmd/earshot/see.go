package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"earshot/api"
	"earshot/config"
	"earshot/daemon/admin"
	"earshot/daemon/cameras"
	"earshot/internal/terminal"
	"earshot/server/client"
)

type seeCommand struct {
	identityFlags
	Camera string `help:"The camera; the first by default." placeholder:"NAME"`
	Save   string `help:"Save the picture to FILE, as a JPEG." placeholder:"FILE" type:"path"`
	Boxes  bool   `default:"true" negatable:"" help:"Draw boxes around what is seen in the saved picture."`
	Force  bool   `help:"Overwrite FILE if it is there."`
	JSON   bool   `help:"Print what is seen as JSON, without the picture."`
}

// Run looks once through a camera: that of the earshot that runs or, where none does,
// by opening it.
func (c seeCommand) Run(a *app) error {
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	if c.Save != "" {
		err := cameras.MayKeep(c.Save, c.Force)
		if _, broken := errors.AsType[*fs.PathError](err); broken {
			return err
		}
		if err != nil {
			return &verdict{misused, err}
		}
	}
	want := api.LookRequest{Camera: c.Camera, Picture: c.Save != "", Boxes: c.Save != "" && c.Boxes}
	s, err := c.look(a, cfg, want)
	if err != nil {
		return err
	}
	picture := s.JPEG
	s.JPEG = nil
	if c.JSON {
		err = a.json(s)
	} else {
		_, err = fmt.Fprintln(a.out, terminal.Safe(admin.CameraText(s, time.Now())))
	}
	if err == nil && c.Save != "" && len(picture) > 0 {
		if err = cameras.Keep(c.Save, picture, c.Force); err == nil {
			fmt.Fprintf(a.err, "The picture is in %s, which only you can read.\n", terminal.Safe(config.ShortPath(c.Save)))
		}
	}
	return errors.Join(err, c.verdict(s, picture))
}

// look returns what the camera sees.
func (c seeCommand) look(a *app, cfg *config.Config, want api.LookRequest) (s api.CameraView, err error) {
	running, _, err := a.visit(cfg, c.identityFlags, "")
	if errors.Is(err, client.ErrNotRunning) {
		if cfg, err = a.config(); err != nil {
			return s, err
		}
		return cameras.Look(a.ctx, cfg.Providers.Webcam, want), nil
	}
	if err != nil {
		return s, err
	}
	return running.Look(a.ctx, want)
}

// verdict is how the command ends, after all has been said but what mends it.
func (c seeCommand) verdict(s api.CameraView, picture []byte) error {
	switch {
	case s.Camera == "":
		return &verdict{code: notFound, err: mend("earshot devices")}
	case cameras.Sees(s) && (c.Save == "" || len(picture) > 0):
		return nil
	case cameras.Sees(s):
		return errors.New("there is no picture to save")
	}
	return &verdict{code: unsighted, err: mend(s.Cure)}
}

// A mending is an error of which all has been said but what mends it.
type mending struct{ cure string }

// mend returns what says only that, or nothing if nothing does.
func mend(cure string) error {
	if cure == "" {
		return nil
	}
	return mending{cure}
}

func (m mending) Error() string { return "" }
func (m mending) Cure() string  { return m.cure }
