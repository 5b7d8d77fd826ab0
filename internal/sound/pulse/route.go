package pulse

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jfreymuth/pulse/proto"
)

// A Device is a source or a sink.
type Device struct {
	Name        string // stays the same, such as "alsa_input.usb-…"
	Description string // for people
	Default     bool
	Suspended   bool

	// Monitors is the sink whose sound this source repeats, if it does: it is no
	// microphone.
	Monitors string

	// Cleaned says of a source that the server removes from it what comes back of
	// the loudspeaker.
	Cleaned bool
}

// suspended is the state of a device that takes and gives no sound.
const suspended = 2

// Devices returns the sources and the sinks, each sorted by name.
func (s *Server) Devices() (sources, sinks []Device, err error) {
	var about proto.GetServerInfoReply
	if err := s.ask(&proto.GetServerInfo{}, &about); err != nil {
		return nil, nil, err
	}
	var ins proto.GetSourceInfoListReply
	if err := s.ask(&proto.GetSourceInfoList{}, &ins); err != nil {
		return nil, nil, err
	}
	var outs proto.GetSinkInfoListReply
	if err := s.ask(&proto.GetSinkInfoList{}, &outs); err != nil {
		return nil, nil, err
	}
	for _, in := range ins {
		sources = append(sources, source(in, about.DefaultSourceName))
	}
	for _, out := range outs {
		sinks = append(sinks, Device{Name: out.SinkName, Description: out.Device,
			Default: out.SinkName == about.DefaultSinkName, Suspended: out.State == suspended})
	}
	byName := func(a, b Device) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(sources, byName)
	slices.SortFunc(sinks, byName)
	return sources, sinks, nil
}

// source describes a source. One that monitors a sink has the sink's number
// where a sink has its monitor's.
func source(in *proto.GetSourceInfoReply, byDefault string) Device {
	return Device{Name: in.SourceName, Description: in.Device, Default: in.SourceName == byDefault,
		Suspended: in.State == suspended, Monitors: in.MonitorSourceName,
		Cleaned: cleaned(in.SourceName, in.Driver, in.Properties["node.name"].String(), in.Properties["media.name"].String())}
}

// cleaned reports whether one of the names of a source says that it is one
// without echo: PulseAudio has its driver module-echo-cancel, PipeWire calls the
// node so, unless somebody has called it otherwise.
func cleaned(names ...string) bool {
	for _, name := range names {
		if name = strings.ToLower(name); strings.Contains(name, "echo-cancel") || strings.Contains(name, "echo_cancel") {
			return true
		}
	}
	return false
}

// A Route is where the streams of a process end: at most one each way.
type Route struct {
	Source, Sink *Device // nil where there is no such stream

	// In and Out are how long sound is in the source before it comes to the
	// stream, and in the sink after it has left it.
	In, Out time.Duration
}

// Looped reports that what is played comes back in what is captured, without a
// room between them.
func (r Route) Looped() bool {
	return r.Source != nil && r.Sink != nil && r.Source.Monitors == r.Sink.Name
}

// Route returns where the streams of the process with that number end. A sink
// that sleeps under a stream that rests is not told to be suspended: it wakes
// with the stream.
func (s *Server) Route(pid int) (r Route, err error) {
	var ins proto.GetSourceOutputInfoListReply
	if err := s.ask(&proto.GetSourceOutputInfoList{}, &ins); err != nil {
		return r, err
	}
	for _, in := range ins {
		if of(in.Properties, pid) {
			r.In = time.Duration(in.SourceLatency) * time.Microsecond
			if r.Source, err = s.source(in.SourceIndex); err != nil {
				return r, err
			}
		}
	}
	var outs proto.GetSinkInputInfoListReply
	if err := s.ask(&proto.GetSinkInputInfoList{}, &outs); err != nil {
		return r, err
	}
	for _, out := range outs {
		if of(out.Properties, pid) {
			r.Out = time.Duration(out.SinkLatency) * time.Microsecond
			if r.Sink, err = s.sink(out.SinkIndex); err != nil {
				return r, err
			}
			if r.Sink != nil && out.Corked {
				r.Sink.Suspended = false
			}
		}
	}
	return r, nil
}

// of reports whether the stream with these properties belongs to the process.
func of(p proto.PropList, pid int) bool {
	return p["application.process.id"].String() == strconv.Itoa(pid)
}

// source returns the source of that number; nil if it is gone by now.
func (s *Server) source(index uint32) (*Device, error) {
	var in proto.GetSourceInfoReply
	if err := s.ask(&proto.GetSourceInfo{SourceIndex: index}, &in); err != nil {
		return nil, ifGone(err)
	}
	d := source(&in, "")
	return &d, nil
}

// sink returns the sink of that number; nil if it is gone by now.
func (s *Server) sink(index uint32) (*Device, error) {
	var out proto.GetSinkInfoReply
	if err := s.ask(&proto.GetSinkInfo{SinkIndex: index}, &out); err != nil {
		return nil, ifGone(err)
	}
	return &Device{Name: out.SinkName, Description: out.Device, Suspended: out.State == suspended}, nil
}

// ifGone forgives that something has gone between two questions.
func ifGone(err error) error {
	if errors.Is(err, proto.ErrNoSuchEntity) {
		return nil
	}
	return err
}
