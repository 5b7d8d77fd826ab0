//go:build cgo

// Command earshot-camera is the helper for what a camera sees, with OpenCV: one process per
// camera. It takes pictures from a device, a file or a stream, reports for each one that it
// examines what moves and what is new in it, and now and then who and what is in it; and it keeps
// the pictures of the last ten seconds, in memory, for requests to look.
//
// It decides nothing: the daemon says which camera and how, over the protocol of package helper;
// see the messages of earshot/models/see/wire. With check as its first argument it reports, as
// JSON, what works on this machine; with bare and a source, what OpenCV alone costs, for make
// bench.
//
// What happens when a reader is slow: an observation waits for its reader, and pictures are
// skipped meanwhile. One picture is sent at a time, and a request for another beyond
// wire.MaxRequests is answered that there is none.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"gocv.io/x/gocv"

	"earshot/internal/helper"
)

// name is that of this program.
const name = "earshot-camera"

func main() { os.Exit(run(context.Background(), os.Args[1:])) }

// run is the program; it returns the exit code. Standard output is reserved for the protocol
// before any library can print there.
func run(ctx context.Context, args []string) int {
	configure()
	switch {
	case len(args) == 1 && args[0] == "check":
		return check()
	case len(args) == 2 && args[0] == "bare":
		return bare(args[1])
	case len(args) > 0:
		fmt.Fprintf(os.Stderr, "%s: there is no %q; there is check\n", name, args[0])
		return 2
	}
	stdio := helper.Stdio(os.Stdin, os.Stdout)
	stderr, err := silenced()
	if err == nil {
		err = bound()
	}
	if err == nil {
		err = helper.Serve(ctx, name, stdio, serve)
	}
	if err != nil {
		fmt.Fprintf(cmp.Or(stderr, os.Stderr), "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// A finding is what check says.
type finding struct {
	Works bool   `json:"works"`
	Text  string `json:"text"`           // what works, with its version, or why it does not
	Cure  string `json:"cure,omitempty"` // what mends it
}

// check prints the findings.
func check() int {
	if err := json.NewEncoder(os.Stdout).Encode(find()); err != nil {
		return 1
	}
	return 0
}

func find() finding {
	d, err := openDetectors()
	if err != nil {
		return finding{Text: err.Error(), Cure: cureDetectors}
	}
	d.close()
	return finding{Works: true, Text: "OpenCV " + gocv.OpenCVVersion() + " sees people, faces and codes"}
}
