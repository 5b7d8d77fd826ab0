//go:build cgo

// Command earshot-speech is the helper for speech. It has one role a process,
// named by its first argument:
//
//	hear   recognition, by pocketsphinx
//	say    synthesis, by flite
//	media  sound files and streams, and the Opus of calls, by FFmpeg
//
// It decides nothing: the daemon says what to do, over the protocol of package helper. With check
// instead of a role it reports, as JSON, what works on this machine.
//
// What happens when a reader is slow is described with each role.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"earshot/internal/helper"
)

// A role is one job of this program.
type role struct {
	// work does the job until the input closes. Args follow the role on the command line.
	work func(ctx context.Context, s *helper.Server, args []string) error

	// check reports whether the job could be done here, with the args that work would have.
	check func(args []string) roleCheck
}

// roles are all of them.
var roles = map[string]role{
	"hear":  {hear, checkHear},
	"media": {media, checkMedia},
	"say":   {say, checkSay},
}

// A roleCheck is what check says about one role.
type roleCheck struct {
	Role  string `json:"role"`
	Works bool   `json:"works"`
	Text  string `json:"text"`           // what works, with its version, or why it does not
	Cure  string `json:"cure,omitempty"` // what mends it
}

func main() { os.Exit(run(context.Background(), os.Args[1:])) }

// run is the program; it returns the exit code. Standard output is reserved for the protocol
// before any library can print there.
func run(ctx context.Context, args []string) int {
	names := slices.Sorted(maps.Keys(roles))
	if len(args) > 0 && args[0] == "check" {
		return check(names, args[1:])
	}
	if len(args) == 0 || roles[args[0]].work == nil {
		fmt.Fprintf(os.Stderr, "earshot-speech: say which role: %s; or check\n", strings.Join(names, ", "))
		return 2
	}
	work := roles[args[0]].work
	err := helper.Serve(ctx, "earshot-speech "+args[0], helper.Stdio(os.Stdin, os.Stdout),
		func(ctx context.Context, s *helper.Server) error { return work(ctx, s, args[1:]) })
	if err != nil {
		fmt.Fprintf(os.Stderr, "earshot-speech %s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// check prints the findings.
func check(names, args []string) int {
	findings := []roleCheck{}
	for _, name := range names {
		f := roles[name].check(args)
		f.Role = name
		findings = append(findings, f)
	}
	if err := json.NewEncoder(os.Stdout).Encode(findings); err != nil {
		return 1
	}
	return 0
}
