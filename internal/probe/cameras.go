package probe

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
	"earshot/api"
	"earshot/config"
	"earshot/internal/field"
	"earshot/internal/helper"
	"earshot/internal/redact"
	"earshot/models/see"
	"earshot/providers/webcam"
)

// Cameras looks for the cameras that are wanted and for what finds people in their
// pictures, without opening any.
func Cameras(ctx context.Context, cfg *config.Config) (looks []api.CheckResult) {
	if !cfg.Providers.Webcam.Enabled {
		return nil
	}
	var detects api.CheckResult
	var g sync.WaitGroup
	g.Go(func() { detects = detector(ctx) })
	for _, c := range cfg.Providers.Webcam.List() {
		looks = append(looks, thisMachine().lookAt(c))
	}
	g.Wait()
	for i, f := range looks {
		if closed := Closed(earshot.Live, cfg.Providers.Webcam.List()[i].Hours, time.Now()); f.Works && closed != "" {
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

// Camera looks for a camera, without opening it. Whether an address answers is found out when
// it is opened.
func Camera(c webcam.Camera) api.CheckResult { return thisMachine().lookAt(c) }

// ConnectedCameras returns the cameras that are connected to this machine.
func ConnectedCameras() []see.Device { return thisMachine().devices() }

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
func (m machine) lookAt(c webcam.Camera) api.CheckResult {
	f := api.CheckResult{Thing: earshot.CameraCalled(c.Name)}
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
		f.Absent, f.Text, f.Cure = true, "there is none", "connect one, then check: earshot devices; if you have none, set providers.webcam.enabled to false"
	case errors.Is(err, fs.ErrNotExist):
		f.Text, f.Cure = fmt.Sprintf("%q is not there", redact.Source(c.Device)), "connect it, or choose another: earshot devices"
	case err != nil:
		f.Text, f.Cure = redact.ForSources(c.Device).Text(err.Error()), "choose another: earshot devices"
	case about.IsDir():
		f.Text, f.Cure = fmt.Sprintf("%q is a folder", redact.Source(c.Device)), "choose another: earshot devices"
	case about.Mode().IsRegular() && m.may(path, unix.R_OK) != nil:
		f.Text, f.Cure = fmt.Sprintf("you are not allowed to read %q", redact.Source(c.Device)), "chmod u+r it, or choose another: earshot devices"
	case about.Mode()&fs.ModeCharDevice != 0 && m.may(path, unix.R_OK|unix.W_OK) != nil:
		f.Text, f.Cure = path+" cannot be opened by your user", "sudo usermod -aG video $USER, then log in again"
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

// detector asks the helper for cameras whether it works here.
func detector(ctx context.Context) api.CheckResult {
	f := api.CheckResult{Thing: "camera"}
	path, err := helper.Find(helper.CameraProgram)
	if err != nil {
		f.Text, f.Cure = err.Error(), earshot.Cure(err)
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	said := f
	if err := askHelper(ctx, path, &said); said.Text == "" {
		return broken(ctx, f, helper.CameraProgram, err)
	}
	return said
}

// Closed says why a camera is closed in a mode, with its hours; nothing if it is not.
func Closed(mode earshot.Mode, hours field.Hours, now time.Time) string {
	switch {
	case !mode.Watches():
		return fmt.Sprintf("the room is %s; /resume ends that", mode)
	case hours != "" && !hours.Has(now):
		return "its hours are " + string(hours)
	}
	return ""
}

// CameraSource is where the pictures of a camera come from, as anybody may see it.
func CameraSource(c webcam.Camera) string {
	return redact.Source(c.Open(thisMachine().devices()).Source)
}
