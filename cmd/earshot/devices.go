package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"earshot/internal/helper"
	"earshot/internal/probe"
	"earshot/internal/sound"
	"earshot/internal/terminal"
)

type devicesCommand struct {
	JSON bool `help:"Print the devices as JSON."`
}

// Run lists what earshot can hear, see and speak with. Cameras are listed also where
// there is no sound.
func (d devicesCommand) Run(a *app) error {
	cfg, err := a.asking()
	if err != nil {
		return err
	}
	cameras := camerasOf(cfg.Providers.Webcam, probe.ConnectedCameras())
	devices, err := sound.List(a.ctx, helper.NewDialer(quietly, helper.SoundProgram))
	if d.JSON {
		return errors.Join(a.json(struct {
			sound.Devices
			Cameras []device `json:"cameras"`
		}{devices, cameras}), err)
	}
	if err == nil {
		fmt.Fprintln(a.out, "Microphones:")
		err = listDevices(a.out, cfg.Providers.Microphone.Device, devices.Inputs)
		fmt.Fprintln(a.out, "Loudspeakers:")
		err = errors.Join(err, listDevices(a.out, cfg.Outlets.Loudspeaker.Device, devices.Outputs))
	}
	fmt.Fprintln(a.out, "Cameras:")
	err = errors.Join(err, listCameras(a.out, cameras))
	fmt.Fprintln(a.printed(), "\nearshot removes the echo of its own voice from what it hears, unless the sound server does.")
	fmt.Fprintln(a.printed(), "\n* is what earshot uses. To choose another, set providers.microphone.device or outlets.loudspeaker.device to its name.")
	fmt.Fprintln(a.printed(), "To choose a camera, list it in providers.webcam.cameras: its device is a name, a path, a file or an address.")
	return err
}

// listDevices prints devices, with a star before the one that is used: the
// chosen one, or else the system's.
func listDevices(w io.Writer, chosen string, list []sound.Device) error {
	if len(list) == 0 {
		fmt.Fprintln(w, "  none")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range list {
		star := " "
		if d.Name == chosen || chosen == "" && d.Default {
			star = "*"
		}
		about := d.Description
		if d.Monitors != "" {
			about += " (the sound of a loudspeaker, not a microphone)"
		}
		if d.Cleaned {
			about += " (the sound server removes the echo)"
		}
		fmt.Fprintf(t, "  %s %s\t%s\n", star, terminal.Safe(d.Name), terminal.Safe(about))
	}
	return t.Flush()
}
