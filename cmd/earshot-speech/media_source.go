//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/asticode/go-astiav"

	"earshot/internal/audio"
	"earshot/internal/codec"
)

// mostFailures is how many packets in sequence may be unreadable before a source is given up: a
// demultiplexer may fail for ever on the same byte.
const mostFailures = 100

// A mediaSource is an open file or stream.
type mediaSource struct {
	info    codec.Info
	damaged int64 // packets

	interrupter *interrupter
	remote      bool
	input       *astiav.FormatContext
	stream      *astiav.Stream
	packet      *astiav.Packet
	decoder     *mediaDecoder
	line        timeline
}

// openMedia opens what r asks for, and finds its first sound stream. Only the protocols of that
// kind of source are allowed: a playlist cannot lead from the network to a file, nor from a file
// to the network.
func openMedia(ctx context.Context, r codec.Request) (_ *mediaSource, err error) {
	s := &mediaSource{remote: r.URL != "", input: astiav.AllocFormatContext(), packet: astiav.AllocPacket()}
	s.interrupter = newInterrupter(ctx, r.Patient, s.input.SetInterruptCallback())
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	options := astiav.NewDictionary()
	defer options.Free()
	for key, value := range mediaOptions(r) {
		if err := options.Set(key, value, 0); err != nil {
			return nil, err
		}
	}
	name := r.URL
	if !s.remote {
		name = "file:" + r.Path // whatever the path looks like
	}
	if err := s.interrupter.during(func() error { return s.input.OpenInput(name, nil, options) }); err != nil {
		s.input = nil // FFmpeg has freed it
		return nil, s.sourceError(err)
	}
	if err := s.interrupter.during(func() error { return s.input.FindStreamInfo(nil) }); err != nil {
		return nil, s.sourceError(err)
	}
	if err := s.choose(r.Longest); err != nil {
		return nil, err
	}
	return s, nil
}

func mediaOptions(r codec.Request) map[string]string {
	options := map[string]string{"max_streams": strconv.Itoa(codec.MaxStreams), "protocol_whitelist": "file"}
	switch {
	case r.URL == "":
	case strings.HasPrefix(r.URL, "rtsp"):
		options["protocol_whitelist"] = "rtsp,rtsps,rtp,srtp,udp,tcp,tls"
		options["rtsp_transport"] = "tcp" // passes every router, and loses nothing
	default:
		options["protocol_whitelist"] = "http,https,httpproxy,tcp,tls,crypto"
	}
	return options
}

// choose finds the first stream of sound.
func (s *mediaSource) choose(longest time.Duration) error {
	for _, stream := range s.input.Streams() {
		p := stream.CodecParameters()
		if p.MediaType() != astiav.MediaTypeAudio {
			continue
		}
		s.stream = stream
		s.info = codec.Info{
			Format: s.input.InputFormat().Name(), Codec: p.CodecID().Name(),
			Rate: p.SampleRate(), Channels: p.Channels(), Duration: s.duration(),
		}
		if s.info.Duration > longest {
			return &sourceError{codec.TooLong, fmt.Sprintf("%v; at most %v", s.info.Duration.Round(time.Second), longest)}
		}
		if err := tooMuch(s.info.Rate, s.info.Channels); err != nil {
			return err
		}
		var err error
		s.decoder, err = newMediaDecoder(p)
		return err
	}
	return &sourceError{codec.NoSound, ""}
}

// tooMuch says why a kind of sound is refused; 0 means not known yet.
func tooMuch(rate, channels int) error {
	switch {
	case channels > codec.MaxChannels:
		return &sourceError{codec.TooMuch, fmt.Sprintf("%d channels; at most %d", channels, codec.MaxChannels)}
	case rate != 0 && (rate < codec.MinRate || rate > codec.MaxRate):
		return &sourceError{codec.TooMuch, fmt.Sprintf("%d samples a second; from %d to %d", rate, codec.MinRate, codec.MaxRate)}
	}
	return nil
}

// duration returns the source's duration, if it is plausible.
func (s *mediaSource) duration() time.Duration {
	d := s.input.Duration() // in microseconds
	if d <= 0 || d > math.MaxInt64/1000 {
		return 0
	}
	return time.Duration(d) * time.Microsecond
}

// play passes all sound to out. What cannot be decoded is counted, and replaced by silence if the
// source says how long it was.
func (s *mediaSource) play(out *framer) error {
	for failed := 0; failed < mostFailures; {
		err := s.interrupter.during(func() error { return s.input.ReadFrame(s.packet) })
		switch {
		case errors.Is(err, astiav.ErrEof):
			return s.decode(nil, out)
		case errors.Is(err, astiav.ErrInvaliddata), errors.Is(err, astiav.ErrEagain):
			s.damaged++
			failed++
			continue
		case s.interrupter.late():
			return &sourceError{codec.Silent, ""}
		case err != nil:
			return &sourceError{codec.Broken, err.Error()}
		}
		failed = 0
		if s.packet.StreamIndex() == s.stream.Index() {
			err = s.decode(s.packet, out)
		}
		s.packet.Unref()
		if err != nil {
			return err
		}
	}
	return &sourceError{codec.Broken, "nothing behind this can be read"}
}

// decode hands the sound of a packet to out; nil stands for the end.
func (s *mediaSource) decode(p *astiav.Packet, out *framer) error {
	damaged, err := s.decoder.decode(p, func(f *astiav.Frame) error {
		if err := out.silence(s.line.gap(f, s.stream.TimeBase())); err != nil {
			return err
		}
		return s.decoder.convert(f, out.add)
	})
	s.damaged += int64(damaged)
	if err == nil && p == nil {
		err = s.decoder.convert(nil, out.add)
	}
	return err
}

// nothing says why a source has ended without any sound.
func (s *mediaSource) nothing() error {
	if s.damaged > 0 {
		return &sourceError{codec.Unreadable, ""}
	}
	return &sourceError{codec.NoSound, ""}
}

func (s *mediaSource) close() {
	if s.decoder != nil {
		s.decoder.close()
	}
	s.packet.Free()
	if s.input != nil {
		s.input.CloseInput()
	}
	s.interrupter.close() // not before: until then C looks at it
}

// sourceError describes an error of FFmpeg for people.
func (s *mediaSource) sourceError(err error) error {
	code := astiav.Error(0)
	errors.As(err, &code)
	problem := codec.Unreadable
	switch {
	case s.interrupter.late():
		return &sourceError{codec.Silent, ""}
	case code == astiav.Error(-int(syscall.ENOENT)):
		problem = codec.Missing
	case code == astiav.Error(-int(syscall.EACCES)):
		problem = codec.Forbidden
	case code == astiav.ErrInvaliddata:
		return &sourceError{codec.Unreadable, ""}
	case s.remote:
		problem = codec.Unreachable
	}
	return &sourceError{problem, err.Error()}
}

// A timeline finds gaps in a stream: places where the time stamps advance further than the sound
// does.
type timeline struct {
	began bool
	at    float64 // seconds; the position of the sound
}

const (
	// unsure is how far time stamps may be from the sound: containers round them, and encoders
	// begin before 0.
	unsure = 0.1

	// leap is the size from which on a gap counts as a change of the time base, as in a stream that
	// was joined together.
	leap = 10
)

// gap returns how many samples are missing before f.
func (t *timeline) gap(f *astiav.Frame, base astiav.Rational) (samples int) {
	lasts := float64(f.NbSamples()) / float64(max(1, f.SampleRate()))
	if f.Pts() != astiav.NoPtsValue {
		stamp := float64(f.Pts()) * base.Float64()
		missing := stamp - t.at
		if t.began && missing > unsure && missing < leap {
			samples = int(missing * audio.Rate)
		}
		if !t.began || math.Abs(missing) > unsure {
			t.at = stamp
		}
		t.began = true
	}
	t.at += lasts
	return samples
}

// An interrupter ends a call of FFmpeg that waits too long, or is no longer wanted. It works once:
// what it guards is given up.
type interrupter struct {
	patient   time.Duration
	guards    astiav.IOInterrupter // which C looks at; here it stays in memory
	interrupt func()
	timer     *time.Timer // which interrupts
	overtime  atomic.Bool
	close     func() bool // no longer interrupts at the end of the context
}

// newInterrupter returns one that interrupts by stop when something takes longer than patient, or
// when ctx ends.
func newInterrupter(ctx context.Context, patient time.Duration, stop astiav.IOInterrupter) *interrupter {
	f := &interrupter{patient: patient, guards: stop, interrupt: sync.OnceFunc(stop.Interrupt)}
	f.timer = time.AfterFunc(math.MaxInt64, func() {
		f.overtime.Store(true)
		f.interrupt()
	})
	f.close = context.AfterFunc(ctx, f.interrupt)
	return f
}

// during runs do, which must not take longer than the interrupter is patient.
func (f *interrupter) during(do func() error) error {
	f.timer.Reset(f.patient)
	defer f.timer.Stop()
	return do()
}

// late reports whether something took longer.
func (f *interrupter) late() bool { return f.overtime.Load() }
