package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"earshot"
	"earshot/config"
	"earshot/internal/helper"
	"earshot/internal/redact"
	"earshot/models/see"
	"earshot/providers/webcam"
)

// sight looks for the cameras that the house could see with, and gives it those.
func (a *app) sight(d *daemon, wanted bool) []finding {
	if !wanted {
		return nil
	}
	looks := d.install(a.ctx, &section{name: theCameras, make: func(ctx context.Context) sectionBuild { return d.look(lookAtCameras(ctx, d.config())) }})
	for _, f := range looks {
		if !f.Works {
			d.shows(f.notice())
		}
	}
	return looks
}

// lookAtCameras looks for the cameras that are wanted and for what finds people in their
// pictures, without opening any.
func lookAtCameras(ctx context.Context, cfg *config.Config) (looks []finding) {
	if !cfg.Providers.Webcam.Enabled {
		return nil
	}
	var detects finding
	var g sync.WaitGroup
	g.Go(func() { detects = lookAtDetectors(ctx) })
	for _, c := range cfg.Providers.Webcam.List() {
		looks = append(looks, thisMachine().lookAt(c))
	}
	g.Wait()
	for i, f := range looks {
		if closed := shut(earshot.Live, cfg.Providers.Webcam.List()[i].Hours, time.Now()); f.Works && closed != "" {
			looks[i].Text += "; now it is closed: " + closed
		}
		if f.Works && !detects.Works {
			looks[i].Works, looks[i].Text, looks[i].Cure = false, detects.Text, detects.Cure
		}
	}
	return looks
}

// memoryOnly says what becomes of pictures.
const memoryOnly = "pictures stay in memory; /pause closes it"

// A machine is what cameras are connected to.
type machine struct {
	root fs.FS
	may  func(path string, mode uint32) error // whether it can be opened so
}

// thisMachine is the one that this program runs on.
func thisMachine() machine { return machine{os.DirFS("/"), unix.Access} }

// devices are those that are connected.
func (m machine) devices() []see.Device { return see.Devices(m.root) }

// lookAt looks for a camera. Whether an address answers is found out when it is opened.
func (m machine) lookAt(c webcam.Camera) finding {
	f := finding{Thing: thing(c)}
	source := c.Open(m.devices()).Source
	if strings.Contains(source, "://") {
		f.Works, f.Text = true, redact.Source(source)+": "+memoryOnly
		return f
	}
	path := source
	if isNumber(source) {
		path = "/dev/video" + source
	}
	about, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Device == "":
		f.Absent, f.Text, f.Cure = true, "there is none", "connect one, then: earshot devices; without one: set providers.webcam.enabled to false"
	case errors.Is(err, fs.ErrNotExist):
		f.Text, f.Cure = fmt.Sprintf("%q is not there", redact.Source(c.Device)), "connect it, or choose another: earshot devices"
	case err != nil:
		f.Text, f.Cure = redact.ForSources(c.Device).Text(err.Error()), "choose another: earshot devices"
	case about.IsDir():
		f.Text, f.Cure = fmt.Sprintf("%q is a folder", redact.Source(c.Device)), "choose another: earshot devices"
	case about.Mode().IsRegular() && m.may(path, unix.R_OK) != nil:
		f.Text, f.Cure = fmt.Sprintf("%q may not be read by you", redact.Source(c.Device)), "chmod u+r it, or choose another: earshot devices"
	case about.Mode()&fs.ModeCharDevice != 0 && m.may(path, unix.R_OK|unix.W_OK) != nil:
		f.Text, f.Cure = path+" may not be opened by you", "sudo usermod -aG video $USER, then log in again"
	default:
		f.Works, f.Text = true, m.called(path, c)+": "+memoryOnly
	}
	return f
}

// called returns what the device at path calls itself.
func (m machine) called(path string, c webcam.Camera) string {
	for _, d := range m.devices() {
		if d.Path == path || d.Stable == path {
			return d.Name + " (" + d.Path + ")"
		}
	}
	return c.Device
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// lookAtDetectors asks the helper for cameras whether it works here.
func lookAtDetectors(ctx context.Context) finding {
	f := finding{Thing: "camera"}
	path, err := helper.Find(helper.CameraProgram)
	if err != nil {
		f.Text, f.Cure = err.Error(), cureOf(err)
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, patienceWithSound)
	defer cancel()
	said := f
	if err := check(ctx, path, &said); said.Text == "" {
		return broken(ctx, f, helper.CameraProgram, err)
	}
	return said
}
