package codec

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Source is where sound comes from: a file or an address, exactly one.
type Source struct {
	Path string // of a file
	URL  string // http, https, rtsp or rtsps

	// RealTime yields each frame when it is due, as a microphone would; a
	// reader that was slow gets what it is behind at once. Otherwise a source
	// is read as fast as it can be, up to 1000 times as fast as it plays.
	RealTime bool

	// Base is when the source begins: the At of its first frame. If zero, it is
	// when that is yielded first.
	Base time.Time

	// Longest is how much may be heard of the source; more is an error. If 0,
	// it is 12 hours.
	Longest time.Duration

	// Opened is called with what the source is, before the first frame, and Ended with the
	// outcome, after the last one, unless the loop was left before. Both are called from where the
	// loop runs, and may be nil.
	Opened func(Info)
	Ended  func(Ended)
}

// longest is what a Source may have unless it says otherwise: a day's meeting.
const longest = 12 * time.Hour

// schemes are the addresses that may be opened. There are more that FFmpeg
// knows, such as file and concat, and a source must not lead there.
var schemes = []string{"http", "https", "rtsp", "rtsps"}

// maxName is the longest path or address, in bytes.
const maxName = 4096

// request checks what can be checked here, and returns what to ask the helper
// for.
func (s *Source) request() (Request, error) {
	r := Request{Longest: s.Longest, Patient: patient}
	if s.Longest <= 0 {
		r.Longest = longest
	}
	if s.URL != "" {
		u, err := url.Parse(s.URL)
		if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) || len(s.URL) > maxName {
			return r, s.wrong(NoAddress, "")
		}
		r.URL = s.URL
		return r, nil
	}
	if err := s.file(); err != nil {
		return r, err
	}
	path, err := filepath.Abs(s.Path)
	if err != nil || len(path) > maxName {
		return r, s.wrong(Missing, "")
	}
	r.Path = path
	return r, nil
}

// file says why the file cannot be one. A pipe would be waited for, a device
// would be read for ever.
func (s *Source) file() error {
	about, err := os.Stat(s.Path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return s.wrong(Forbidden, "")
	case err != nil:
		return s.wrong(Missing, "")
	case !about.Mode().IsRegular():
		return s.wrong(NoFile, "")
	case about.Size() == 0:
		return s.wrong(Empty, "")
	}
	return nil
}

// name is the source as errors call it: an address without its password and
// its query, where keys are.
func (s *Source) name() string {
	if s.URL == "" {
		return s.Path
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "the address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func (s *Source) wrong(p Problem, detail string) error {
	return &Error{Source: s.name(), Problem: p, Detail: detail}
}
