package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"earshot/internal/helper"
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
	cameras := camerasOf(cfg.Providers.Webcam, thisMachine().devices())
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
	fmt.Fprintln(a.printed(), "\nearshot removes from what it hears what comes back of its own voice, unless the sound server does.")
	fmt.Fprintln(a.printed(), "\n* is what earshot uses. To choose another, set providers.microphone.device or outlets.loudspeaker.device to its name.")
	fmt.Fprintln(a.printed(), "A camera is chosen by the list providers.webcam.cameras: its device is a name, a path, a file or an address.")
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
			about += " (what comes out of a loudspeaker, not a microphone)"
		}
		if d.Cleaned {
			about += " (without echo, by the sound server)"
		}
		fmt.Fprintf(t, "  %s %s\t%s\n", star, terminal.Safe(d.Name), terminal.Safe(about))
	}
	return t.Flush()
}

// patienceWithSound is how long the opening screen waits for the sound card and
// the helpers: loading their libraries from a cold disk takes seconds.
const patienceWithSound = 5 * time.Second

// curable is an error that knows what mends it.
type curable interface {
	error
	Cure() string
}

// cureOf returns what mends err, or nothing.
func cureOf(err error) string {
	if c, ok := errors.AsType[curable](err); ok {
		return c.Cure()
	}
	return ""
}

// lookAtSound looks for the devices that are to be used. The error is why there
// are none at all.
func lookAtSound(ctx context.Context, microphone, loudspeaker string) (ears, mouth finding, err error) {
	ears, mouth = finding{Thing: "microphone"}, finding{Thing: "loudspeaker"}
	ctx, cancel := context.WithTimeout(ctx, patienceWithSound)
	defer cancel()
	devices, err := sound.List(ctx, helper.NewDialer(quietly, helper.SoundProgram))
	if err != nil {
		if ctx.Err() != nil {
			return unanswered(ears, helper.SoundProgram), unanswered(mouth, helper.SoundProgram), err
		}
		ears.Text, mouth.Text = err.Error(), err.Error()
		if f, ok := errors.AsType[*sound.Fault](err); ok {
			ears.Absent, mouth.Absent = f.Absent, f.Absent
		}
		if c, ok := errors.AsType[curable](err); ok {
			ears.Cure, mouth.Cure = c.Cure(), c.Cure()
		}
		return ears, mouth, err
	}
	return found(ears, microphone, devices.Inputs), found(mouth, loudspeaker, devices.Outputs), nil
}

// unanswered says of f that its helper has said nothing yet. It may be well: a
// machine that has just started has other things to do.
func unanswered(f finding, program string) finding {
	f.Text, f.Cure = program+" has not answered yet: the machine is busy", "wait; earshot doctor looks again"
	return f
}

// found looks for a device by its name, or for the default one.
func found(f finding, name string, list []sound.Device) finding {
	for _, d := range list {
		if d.Name == name || name == "" && d.Default {
			f.Works, f.Text = true, d.Description
			if d.Description == "" {
				f.Text = d.Name
			}
			if d.Monitors != "" && f.Thing == "microphone" {
				f.Text += " (this is no microphone: it hears what a loudspeaker plays)"
			}
			if d.Cleaned {
				f.Text += " (without echo, by the sound server)"
			}
			return f
		}
	}
	f.Absent, f.Text, f.Cure = true, "there is none", "connect one, then: earshot devices"
	if name != "" {
		f.Absent, f.Text = false, fmt.Sprintf("%q is not there", name)
		f.Cure = "connect it, or choose another: earshot devices"
	}
	return f
}
