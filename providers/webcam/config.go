package webcam

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/internal/field"
	"earshot/models/see"
	"earshot/models/see/wire"
)

// Config is the section providers.webcam of the configuration. The zero value looks nowhere; see
// [DefaultConfig].
type Config struct {
	// Enabled lets the agent see what is in front of its cameras. It is off by default.
	Enabled bool `yaml:"enabled"`

	// Cameras are the cameras to use. If none is listed, it is the first that is connected, if
	// there is one.
	Cameras []Camera `yaml:"cameras"`
}

// A Camera is one entry of the configuration. Its zero value is the first camera that is
// connected, with the defaults.
type Camera struct {
	Name   string        `yaml:"name"`   // unique; the default is "camera"
	Device string        `yaml:"device"` // its name, its path, a file or an address; empty means the first
	Masks  []earshot.Box `yaml:"masks"`  // areas that are blackened before anything looks
	Hours  field.Hours   `yaml:"hours"`  // when it looks, by the clock of this machine; empty means always

	Width  int `yaml:"width"`  // of its pictures, in pixels; 0 means 640
	Height int `yaml:"height"` // likewise; 0 means 480

	Idle   float64 `yaml:"idle_rate"`   // pictures per second while nothing moves; 0 means 2
	Active float64 `yaml:"active_rate"` // and while something moves; 0 means 5

	Loop bool `yaml:"loop"` // a file starts over at its end
}

const (
	mostCameras = 8 // of one machine: each takes a process and some per cent of a core

	// The allowed rates: below, a picture is seconds old; above, nothing more is seen.
	leastRate, mostRate = 0.2, 30

	// leastSide is the least width and height: smaller ones show nobody.
	leastSide = 64
)

// DefaultConfig returns the configuration of a user who wrote none.
func DefaultConfig() Config { return Config{} }

// List returns the configured cameras, with the defaults where nothing is set, or the single
// default camera.
func (c Config) List() []Camera {
	list := c.Cameras
	if len(list) == 0 {
		list = []Camera{{}}
	}
	all := make([]Camera, len(list))
	for i, one := range list {
		all[i] = one.withDefaults()
	}
	return all
}

func (c Camera) withDefaults() Camera {
	c.Name = cmp.Or(c.Name, "camera")
	c.Width, c.Height = cmp.Or(c.Width, 640), cmp.Or(c.Height, 480)
	c.Active = cmp.Or(c.Active, max(5, c.Idle))
	c.Idle = cmp.Or(c.Idle, min(2, c.Active))
	return c
}

// Open returns what the camera's helper is told, given the connected devices.
func (c Camera) Open(devices []see.Device) wire.Open {
	c = c.withDefaults()
	return wire.Open{
		Source: c.source(devices), Width: c.Width, Height: c.Height,
		Idle: c.Idle, Active: c.Active, Masks: c.Masks, Loop: c.Loop,
	}
}

// Uses reports whether the camera uses c, given the connected devices.
func (c Camera) Uses(d see.Device, devices []see.Device) bool {
	return c.source(devices) == cmp.Or(d.Stable, d.Path)
}

// source returns the source of pictures: a path that stays the same when other devices are
// connected, if there is one.
func (c Camera) source(devices []see.Device) string {
	for _, d := range devices {
		if c.Device == "" || c.Device == d.Name || c.Device == d.Path || c.Device == fmt.Sprint(d.Index) {
			return cmp.Or(d.Stable, d.Path)
		}
	}
	return cmp.Or(c.Device, "0")
}

// Validate reports every fault in c, not only the first. Whether the device exists is found out
// when it is opened.
func (c Config) Validate() error {
	var faults []error
	if len(c.Cameras) > mostCameras {
		faults = append(faults, field.Errorf("cameras", "has %d entries; must have at most %d", len(c.Cameras), mostCameras))
	}
	names := make(map[string]int)
	for i, one := range c.List() {
		if i >= len(c.Cameras) {
			break
		}
		key := fmt.Sprintf("cameras[%d]", i)
		if first, ok := names[one.Name]; ok {
			faults = append(faults, field.Errorf(key+".name", "is %q, which is also that of cameras[%d]; each needs its own", one.Name, first))
		} else {
			names[one.Name] = i
		}
		faults = append(faults, field.Under(key, c.Cameras[i].validate()))
	}
	return errors.Join(faults...)
}

func (c Camera) validate() error {
	var faults []error
	add := func(key, format string, args ...any) { faults = append(faults, field.Errorf(key, format, args...)) }
	full := c.withDefaults()
	if strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || len(c.Name) > 32 {
		add("name", "is %q; must be at most 32 small letters, digits, - and _", c.Name)
	}
	if strings.ContainsFunc(c.Device, func(r rune) bool { return r < ' ' || r == 0x7f }) || len(c.Device) > wire.MaxSource {
		add("device", "has a control character in it, or more than %d bytes", wire.MaxSource)
	}
	if len(c.Masks) > wire.MaxMasks {
		add("masks", "has %d entries; must have at most %d", len(c.Masks), wire.MaxMasks)
	}
	for i, m := range c.Masks {
		if !m.Valid() {
			add(fmt.Sprintf("masks[%d]", i), "is not within the picture; x, y, width and height are shares of it, from 0 to 1")
		}
	}
	if !c.Hours.Valid() {
		add("hours", "is %q; must be two times of day, such as 08:00-20:00, or empty for always", string(c.Hours))
	}
	for _, side := range []struct {
		key  string
		long int
	}{{"width", full.Width}, {"height", full.Height}} {
		if side.long < leastSide || side.long > wire.MaxSide {
			add(side.key, "is %d; must be from %d to %d", side.long, leastSide, wire.MaxSide)
		}
	}
	for _, rate := range []struct {
		key  string
		much float64
	}{{"idle_rate", full.Idle}, {"active_rate", full.Active}} {
		if !(rate.much >= leastRate && rate.much <= mostRate) {
			add(rate.key, "is %v; must be from %v to %v pictures a second", rate.much, leastRate, mostRate)
		}
	}
	if full.Idle > full.Active {
		add("idle_rate", "is %v, which is more than active_rate, %v", full.Idle, full.Active)
	}
	return errors.Join(faults...)
}

// Deaf is how long an open camera may give no picture before it counts as failed: longer than
// opening a stream takes, and than the time between two pictures.
const Deaf = 45 * time.Second
