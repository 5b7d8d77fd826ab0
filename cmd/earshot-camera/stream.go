//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"gocv.io/x/gocv"

	"earshot/models/see/mjpeg"
)

// errNoStream is an address that leads to something else than a stream of JPEG.
var errNoStream = errors.New("this is not a stream of JPEG pictures")

// jpegs are the accepted bounds of a stream of JPEG. A picture of 4096 by 4096 pixels usually has
// 4 MB; damaged ones that cameras send are smaller than the bound on waste.
var jpegs = mjpeg.Limits{Bytes: 16 << 20, Waste: 4 << 20, Side: largest}

// damages is how many pictures in sequence may be damaged before a stream is given up.
const damages = 50

// A stream is a source that sends one JPEG after another over HTTP, as most network cameras do. It
// is read here and not by FFmpeg: skipped pictures are not decoded, no memory is allocated for a
// picture before its size is known, and nothing hangs.
type stream struct {
	address  address
	body     io.ReadCloser
	pictures *mjpeg.Reader
	give     context.CancelCauseFunc
	patience *time.Timer // which ends the stream
	damaged  int         // in sequence
}

// errSilent is what ends a stream in which nothing comes.
var errSilent = errors.New("nothing arrives")

// openStream asks for the stream at an address.
func openStream(ctx context.Context, a address) (_ source, err error) {
	ctx, give := context.WithCancelCause(ctx)
	s := &stream{address: a, give: give}
	s.patience = time.AfterFunc(silence, func() { give(errSilent) })
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.path, nil)
	if err != nil {
		return nil, &fault{text: "the address of the camera is not valid", lasting: true}
	}
	answer, err := browser.Do(request)
	if err != nil {
		return nil, s.unreachable(ctx, err)
	}
	s.body = answer.Body
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case answer.StatusCode == http.StatusUnauthorized && strings.Contains(answer.Header.Get("WWW-Authenticate"), "Digest"):
		return nil, errNoStream // FFmpeg knows how
	case answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden:
		return nil, &fault{text: a.says + " does not accept the user or password", cure: "give them in its address: http://USER:PASSWORD@HOST/…"}
	case answer.StatusCode != http.StatusOK:
		return nil, &fault{text: fmt.Sprintf("%s answers %d where the camera should be", a.says, answer.StatusCode), cure: "check its address"}
	case kind == "text/html":
		return nil, &fault{text: a.says + " answers with a web page", cure: "give the address of its pictures, which the camera's manual has"}
	case strings.HasPrefix(kind, "image/"):
		return nil, &fault{text: a.says + " answers with a single picture", cure: "give the address of its stream, which the camera's manual has"}
	case kind != "multipart/x-mixed-replace":
		return nil, errNoStream
	}
	s.pictures = mjpeg.NewReader(answer.Body, jpegs)
	return s, nil
}

// unreachable says why there is no answer.
func (s *stream) unreachable(ctx context.Context, err error) error {
	f := &fault{text: s.address.says + " cannot be reached", cure: "check that the camera is on, and that its address is right"}
	var name *net.DNSError
	switch {
	case errors.Is(context.Cause(ctx), errSilent):
		f.text = s.address.says + " does not answer"
	case errors.As(err, &name):
		f.text = "nobody knows the host of " + s.address.says
	}
	return f
}

// take implements [source].
func (s *stream) take(m *gocv.Mat) error {
	for {
		s.patience.Reset(silence)
		p, err := s.pictures.Next()
		quiet := !s.patience.Stop()
		switch {
		case quiet:
			return &fault{text: s.address.says + " has fallen silent"}
		case errors.Is(err, mjpeg.ErrTooLarge):
			return &fault{text: err.Error(), cure: "have the camera send smaller pictures", lasting: true}
		case errors.Is(err, mjpeg.ErrNone):
			return &fault{text: s.address.says + " sends data that is not a picture"}
		case err != nil:
			return over(s.address, true)
		case m == nil:
			return nil
		}
		if s.decode(p, m) {
			s.damaged = 0
			return nil
		}
		if s.damaged++; s.damaged > damages {
			return &fault{text: s.address.says + " sends only damaged pictures"}
		}
	}
}

// decode puts a picture into m, if it can be.
func (s *stream) decode(p mjpeg.Picture, m *gocv.Mat) bool {
	decoded, err := gocv.IMDecode(p.JPEG, gocv.IMReadColor)
	if err != nil {
		return false
	}
	if decoded.Empty() {
		decoded.Close()
		return false
	}
	m.Close()
	*m = decoded
	return true
}

// rewind implements [source].
func (s *stream) rewind() error { return errors.New("a live stream cannot be rewound") }

func (s *stream) close() {
	s.patience.Stop()
	s.give(nil)
	if s.body != nil {
		s.body.Close()
	}
}

// browser requests streams. It follows a few redirections, to HTTP only.
var browser = &http.Client{
	Transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives:      true,
	},
	CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("it redirects in a circle")
		}
		return nil
	},
}
