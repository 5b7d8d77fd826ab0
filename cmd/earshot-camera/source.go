//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"

	"gocv.io/x/gocv"
	"golang.org/x/sys/unix"

	"earshot/internal/helper"
	"earshot/models/see/wire"
)

// largest is the side of the largest accepted picture, in pixels.
const largest = wire.MaxSide

// A kind is what a source is.
type kind int

const (
	device kind = iota
	file
	rtsp
	web
)

// An address is where pictures come from.
type address struct {
	kind kind
	path string // of a device or file, or the whole address of a stream
	says string // the form for reports: without anything that might be secret
}

// parse parses the daemon's source, or returns what is wrong with it.
func parse(source string) (address, error) {
	remote := strings.Contains(source, "://")
	if n, err := strconv.Atoi(source); err == nil && n >= 0 && n < 256 {
		path := "/dev/video" + strconv.Itoa(n)
		return address{device, path, path}, nil
	}
	switch {
	case source == "" || len(source) > wire.MaxSource || strings.ContainsAny(source, "\x00\n\r"):
		return address{}, &fault{text: "this is not the name of a camera", lasting: true}
	case !remote && strings.HasPrefix(source, "/dev/"):
		return address{device, source, source}, nil
	case !remote:
		return address{file, source, source}, nil
	}
	u, err := url.Parse(source)
	if err != nil {
		return address{}, &fault{text: "the address of the camera is not valid", lasting: true} // the error repeats it
	}
	a := address{path: source, says: u.Scheme + "://" + u.Host}
	switch u.Scheme { // which is in small letters
	case "rtsp", "rtsps":
		a.kind = rtsp
	case "http", "https":
		a.kind = web
	default:
		return address{}, &fault{
			text: fmt.Sprintf("a camera cannot be opened by %q", u.Scheme), lasting: true,
			cure: "give a device, a file, or an address that begins with rtsp://, rtsps://, http:// or https://",
		}
	}
	if u.Host == "" {
		return address{}, &fault{text: "the address of the camera has no host", lasting: true}
	}
	return a, nil
}

// A fault is why there are no pictures.
type fault struct {
	text, cure string
	lasting    bool
}

func (f *fault) Error() string { return f.text }

// wire returns it in the form for the daemon.
func (f *fault) wire() helper.Fault {
	return helper.Fault{Text: f.text, Cure: f.cure, Lasting: f.lasting}
}

// A source is where pictures are taken from. It is used by one goroutine at a time.
type source interface {
	// take waits for the next picture and puts it into m, if m is not nil: skipping one may cost
	// less. It returns io.EOF at the end of a recording, and a [fault] when there will be no more.
	take(m *gocv.Mat) error

	// rewind goes back to the beginning of a recording.
	rewind() error

	close()
}

// A sourceInfo is what is known of an open source.
type sourceInfo struct {
	live bool    // its pictures come when they do; those of a recording when they are taken
	rate float64 // pictures a second, 0 if it does not say
	warm bool    // a camera of our own, which has just been switched on
}

// open opens a source; width and height are used if they can be chosen, and most is how many
// pictures per second are examined at most.
func open(ctx context.Context, a address, width, height int, most float64) (source, sourceInfo, error) {
	switch a.kind {
	case device:
		if why := missing(a, "plug it in, or choose another: earshot devices lists them"); why != nil {
			return nil, sourceInfo{}, why
		}
		return openDevice(a, width, height, most)
	case file:
		if why := missing(a, "name a file that is there"); why != nil {
			return nil, sourceInfo{}, why
		}
		return openCapture(a, sourceInfo{})
	case web:
		s, err := openStream(ctx, a)
		if !errors.Is(err, errNoStream) {
			return s, sourceInfo{live: true}, err
		}
	}
	return openCapture(a, sourceInfo{live: true})
}

// missing says why the file of a cannot be opened, as far as the system knows. It does not open
// it: the writer of a pipe would take us for the reader.
func missing(a address, cure string) error {
	about, err := os.Stat(a.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &fault{text: "there is no " + a.says, cure: cure}
	case errors.Is(err, fs.ErrPermission) || err == nil && errors.Is(unix.Access(a.path, unix.R_OK), fs.ErrPermission):
		cure := "give the user permission to read it"
		if a.kind == device {
			cure = "add the user to the group that may use it: sudo usermod -aG video $USER, and log in again"
		}
		return &fault{text: a.says + " may not be read", cure: cure}
	case err == nil && about.IsDir():
		return &fault{text: a.says + " is a folder", cure: cure, lasting: true}
	}
	return nil // the library knows better
}

// over says that a source has no more pictures.
func over(a address, live bool) error {
	if !live {
		return io.EOF
	}
	return &fault{text: "no more pictures come from " + a.says}
}
