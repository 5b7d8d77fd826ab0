package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version that this tree becomes. Tests have another.
var release = "0.1.0"

// version is the release and, where the build knows it, the commit.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				return release + " (" + s.Value[:12] + ")"
			}
		}
	}
	return release
}

type versionCommand struct {
	JSON bool `help:"Print it as JSON."`
}

// versionLine says which version this is, in one line.
func versionLine() string {
	return fmt.Sprintf("earshot %s, %s, %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Run says which version this is.
func (v versionCommand) Run(a *app) error {
	if v.JSON {
		return a.json(map[string]string{"version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintln(a.out, versionLine())
	return err
}
