//go:build cgo

package main

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gocv.io/x/gocv"
)

// A capture is a source that OpenCV reads: a device by V4L2, and files and streams by
// FFmpeg.
type capture struct {
	address    address
	sourceInfo sourceInfo
	video      *gocv.VideoCapture
	swift      int // pictures in sequence that were passed over in no time
}

// openDevice opens a camera of this machine.
func openDevice(a address, width, height int, most float64) (source, sourceInfo, error) {
	path := a.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a stable name is a link, and OpenCV looks at the name
	}
	n := sourceInfo{live: true, warm: true}
	video, err := gocv.VideoCaptureFileWithAPI(path, gocv.VideoCaptureV4L2)
	if err != nil {
		return nil, n, &fault{
			text: a.says + " cannot be opened as a camera",
			cure: "make sure that no other program uses it (fuser " + a.says + ") and that it is a capture device: v4l2-ctl --list-devices",
		}
	}
	if width > 0 && height > 0 {
		video.Set(gocv.VideoCaptureFrameWidth, float64(width))
		video.Set(gocv.VideoCaptureFrameHeight, float64(height))
	}
	if most > 0 { // a camera that delivers few pictures costs little
		video.Set(gocv.VideoCaptureFPS, math.Ceil(max(most, 5)))
	}
	n.rate = rate(video)
	return &capture{address: a, sourceInfo: n, video: video}, n, nil
}

// openCapture opens a file or a stream.
func openCapture(a address, n sourceInfo) (source, sourceInfo, error) {
	c := &capture{address: a, sourceInfo: n}
	if err := c.open(); err != nil {
		return nil, n, err
	}
	c.sourceInfo.rate = rate(c.video)
	return c, c.sourceInfo, nil
}

// options restrict FFmpeg: a playlist from the network must not lead to a file, nor one in a file
// to the network; and nothing waits for ever. Times are in microseconds.
func (a address) options() string {
	wait := silence
	options := []string{"protocol_whitelist;file"}
	switch a.kind {
	case rtsp:
		wait = silence / 2 // FFmpeg waits three times that long for RTP
		options = []string{"protocol_whitelist;rtsp,rtsps,rtp,srtp,udp,tcp,tls", "rtsp_transport;tcp"}
	case web:
		options = []string{"protocol_whitelist;http,https,httpproxy,tcp,tls,crypto"}
	}
	if a.kind != file {
		us := strconv.FormatInt(wait.Microseconds(), 10)
		options = append(options, "timeout;"+us, "rw_timeout;"+us)
	}
	return strings.Join(append(options, "max_streams;16"), "|")
}

func (c *capture) open() (err error) {
	os.Setenv("OPENCV_FFMPEG_CAPTURE_OPTIONS", c.address.options())
	path := c.address.path
	if c.address.kind == file {
		path = "file:" + path // whatever it looks like
	}
	c.video, err = gocv.VideoCaptureFileWithAPI(path, gocv.VideoCaptureFFmpeg)
	switch {
	case err == nil:
		return nil
	case c.sourceInfo.live:
		return &fault{text: "no pictures come from " + c.address.says, cure: "check that the camera is on, and that its address, user and password are right"}
	}
	return &fault{text: c.address.says + " is not a video that FFmpeg can read", cure: "give another file", lasting: true}
}

// rate returns a source's own rate, or 0.
func rate(v *gocv.VideoCapture) float64 {
	if r := v.Get(gocv.VideoCaptureFPS); r > 0.01 && r <= 1000 {
		return r
	}
	return 0
}

const (
	// swiftly is faster than any picture comes, and tooSwift how many in sequence may be skipped
	// like that: gocv does not report that there was none.
	swiftly  = 50 * time.Microsecond
	tooSwift = 100
)

// take implements [source].
func (c *capture) take(m *gocv.Mat) error {
	if m == nil {
		began := time.Now()
		c.video.Grab(1)
		if c.swift++; time.Since(began) > swiftly {
			c.swift = 0
		}
		if c.swift < tooSwift {
			return nil
		}
		return over(c.address, c.sourceInfo.live)
	}
	c.swift = 0
	if !c.video.Read(m) || m.Empty() {
		return over(c.address, c.sourceInfo.live)
	}
	return nil
}

// rewind implements [source]. It opens the file again, since not every file can be rewound.
func (c *capture) rewind() error {
	if c.sourceInfo.live {
		return errors.New("a live stream cannot be rewound")
	}
	c.video.Close()
	c.video = nil
	return c.open()
}

func (c *capture) close() {
	if c.video != nil {
		c.video.Close()
	}
}
