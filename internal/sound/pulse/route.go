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

	// Monitors is the sink whose sound this source repeats, if it does: then it is not a
	// microphone.
	Monitors string

	// Cleaned says that the server removes the loudspeaker's echo from this source.
	Cleaned bool
}

// suspended is the state of a device that neither captures nor plays.
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

// source describes a source. If it monitors a sink, it has the sink's number in the field in which
// a sink has its monitor's.
func source(in *proto.GetSourceInfoReply, byDefault string) Device {
	return Device{Name: in.SourceName, Description: in.Device, Default: in.SourceName == byDefault,
		Suspended: in.State == suspended, Monitors: in.MonitorSourceName,
		Cleaned: cleaned(in.SourceName, in.Driver, in.Properties["node.name"].String(), in.Properties["media.name"].String())}
}

// cleaned reports whether one of the names of a source says that it has no echo: PulseAudio has
// its driver module-echo-cancel, PipeWire gives the node that name, unless somebody has changed
// it.
func cleaned(names ...string) bool {
	for _, name := range names {
		if name = strings.ToLower(name); strings.Contains(name, "echo-cancel") || strings.Contains(name, "echo_cancel") {
			return true
		}
	}
	return false
}

// A Route says where the streams of a process end: at most one each way.
type Route struct {
	Source, Sink *Device // nil where there is no such stream

	// In and Out are how long sound is in the source before it reaches the stream, and in the sink
	// after it has left the stream.
	In, Out time.Duration
}

// Looped says that what is played comes back in what is captured, without a room in between.
func (r Route) Looped() bool {
	return r.Source != nil && r.Sink != nil && r.Source.Monitors == r.Sink.Name
}

// Route returns where the streams of a process end. A sink that sleeps under a paused stream is
// not reported as suspended: it wakes with the stream.
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

// source returns the source with a number; nil if it is gone by now.
func (s *Server) source(index uint32) (*Device, error) {
	var in proto.GetSourceInfoReply
	if err := s.ask(&proto.GetSourceInfo{SourceIndex: index}, &in); err != nil {
		return nil, ifGone(err)
	}
	d := source(&in, "")
	return &d, nil
}

// sink returns the sink with a number; nil if it is gone by now.
func (s *Server) sink(index uint32) (*Device, error) {
	var out proto.GetSinkInfoReply
	if err := s.ask(&proto.GetSinkInfo{SinkIndex: index}, &out); err != nil {
		return nil, ifGone(err)
	}
	return &Device{Name: out.SinkName, Description: out.Device, Suspended: out.State == suspended}, nil
}

// ifGone ignores the error that something has gone between two requests.
func ifGone(err error) error {
	if errors.Is(err, proto.ErrNoSuchEntity) {
		return nil
	}
	return err
}
