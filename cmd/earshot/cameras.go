package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"earshot/internal/terminal"
	"earshot/models/see"
	"earshot/providers/webcam"
)

// listCameras prints the cameras that are connected, with a star before each that is
// configured.
func listCameras(w io.Writer, cfg webcam.Config, devices []see.Device) error {
	if len(devices) == 0 {
		fmt.Fprintln(w, "  none")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, d := range devices {
		star := " "
		if slices.ContainsFunc(cfg.List(), func(c webcam.Camera) bool { return c.Uses(d, devices) }) {
			star = "*"
		}
		fmt.Fprintf(t, "  %s %s\t%s\n", star, d.Path, terminal.Safe(d.Name))
	}
	return t.Flush()
}
