package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"earshot/internal/redact"
	"earshot/internal/terminal"
	"earshot/models/see"
	"earshot/providers/webcam"
)

// A device is a camera that is connected, or that the configuration names.
type device struct {
	see.Device
	Used   string `json:"used_as,omitempty"` // what the configuration calls it, if it is used
	Source string `json:"source,omitempty"`  // of one that is no device here, without secrets
}

// camerasOf returns the cameras that are connected, and those of the configuration that
// are not, such as addresses.
func camerasOf(c webcam.Config, connected []see.Device) []device {
	all := make([]device, len(connected))
	for i, d := range connected {
		all[i].Device = d
	}
	if !c.Enabled {
		return all
	}
	for _, one := range c.List() {
		at := slices.IndexFunc(all, func(d device) bool { return d.Path != "" && one.Uses(d.Device, connected) })
		switch {
		case at >= 0:
			all[at].Used = one.Name
		case one.Device != "":
			all = append(all, device{Used: one.Name, Source: redact.Source(one.Device)})
		}
	}
	return all
}

// listCameras prints cameras, with a star before those that are used.
func listCameras(w io.Writer, list []device) error {
	if len(list) == 0 {
		fmt.Fprintln(w, "  none")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range list {
		star, name, about := " ", d.Name, cmp.Or(d.Stable, d.Path)
		if d.Source != "" {
			name, about = d.Source, "by the configuration"
		}
		if d.Used != "" {
			star, about = "*", about+" (called "+d.Used+")"
		}
		fmt.Fprintf(t, "  %s %s\t%s\n", star, terminal.Safe(name), terminal.Safe(about))
	}
	return t.Flush()
}
