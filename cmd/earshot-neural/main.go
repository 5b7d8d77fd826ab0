//go:build cgo

// Command earshot-neural is the helper that runs neural models, by sherpa-onnx and ONNX Runtime. It
// has one role a process, named by its first argument:
//
//	hear   recognition
//	say    synthesis
//	sense  whether there is a voice, and whether its speaker has finished
//	wake   names and phrases
//
// It decides nothing: the daemon says which set of models to run, and what to do, over the protocol
// of package helper. With probe and the folder of a set, instead of a role, it tries the set and
// prints how well it runs here, as JSON; with check it reports, as JSON, what works on this machine.
//
// A file that is not what it should be can end the process from within the libraries: by exit(255)
// if it is of another kind, by a signal if it is damaged. So a set is probed before it is used.
//
// What happens when a reader is slow is described with each role.
package main

import (
	"context"
	"os"

	"earshot/internal/helper"
)

// roles are all of them.
var roles = helper.Roles{Program: helper.NeuralProgram, All: map[string]helper.Role{
	"hear":  {Work: hear, Check: checkRuntime},
	"say":   {Work: say, Check: checkRuntime},
	"sense": {Work: sense, Check: checkRuntime},
	"wake":  {Work: wake, Check: checkRuntime},
}}

func main() {
	if args := os.Args[1:]; len(args) == 2 && args[0] == "probe" {
		os.Exit(probe(args[1]))
	}
	os.Exit(roles.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
