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
	"os"

	"earshot/internal/helper"
)

// roles are all of them.
var roles = helper.Roles{Program: helper.SpeechProgram, All: map[string]helper.Role{
	"hear":  {Work: hear, Check: checkHear},
	"media": {Work: media, Check: checkMedia},
	"say":   {Work: say, Check: checkSay},
}}

func main() { os.Exit(roles.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
