//go:build cgo

package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gordonklaus/portaudio"
	"golang.org/x/sys/unix"

	"earshot/internal/sound"
)

// What the devices are asked for. PortAudio makes 60 ms of the 40 for output,
// in three periods: that much is played after a cut. With less, a machine under
// load stutters. Input comes every 10 ms, and may be read much later.
const (
	outputLatency = 40 * time.Millisecond
	outputPeriods = 4
	inputLatency  = 240 * time.Millisecond
	inputPeriods  = 24
)

// pa guards what PortAudio cannot do concurrently: open and close streams, and start and end
// itself.
var pa sync.Mutex

// initialize starts PortAudio, or starts it again, so that its list of devices
// is new. No stream may be open.
func initialize(again bool) error {
	pa.Lock()
	defer pa.Unlock()
	if again {
		portaudio.Terminate() // an error only says that it was not started
	}
	defer hush()()
	return portaudio.Initialize()
}

// hush suppresses the libraries' messages about missing sound systems, until the function that it
// returns is called.
func hush() (speak func()) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return func() {}
	}
	defer null.Close()
	fd := int(os.Stderr.Fd())
	kept, err := unix.Dup(fd)
	if err != nil {
		return func() {}
	}
	unix.CloseOnExec(kept)
	unix.Dup3(int(null.Fd()), fd, 0)
	return func() {
		unix.Dup3(kept, fd, 0)
		unix.Close(kept)
	}
}

// open opens a stream at a rate on the device with a name, or the default one, and starts it. Input
// goes to buf, output comes from it.
func open(device string, output bool, rate int, buf []int16) (*portaudio.Stream, error) {
	pa.Lock()
	defer pa.Unlock()
	d, err := find(device, output)
	if err != nil {
		return nil, err
	}
	p := portaudio.StreamParameters{SampleRate: float64(rate), FramesPerBuffer: len(buf)}
	if output {
		setPeriods(outputPeriods)
		p.Output = portaudio.StreamDeviceParameters{Device: d, Channels: 1, Latency: outputLatency}
	} else {
		setPeriods(inputPeriods)
		p.Input = portaudio.StreamDeviceParameters{Device: d, Channels: 1, Latency: inputLatency}
	}
	s, err := portaudio.OpenStream(p, buf)
	if err != nil {
		return nil, err
	}
	if err := s.Start(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// closeStream ends a stream at once.
func closeStream(s *portaudio.Stream) {
	pa.Lock()
	defer pa.Unlock()
	s.Abort() // for a device that is gone, both return errors that say so
	s.Close()
}

// viaPulse is the device that leads to PulseAudio. Where PipeWire is used without that name, the
// default device does.
const viaPulse = "pulse"

// errNoDevice is the error of a name that PortAudio does not have.
var errNoDevice = errors.New("no such device")

// find returns the device with a stable name, or the default one for "".
func find(device string, output bool) (*portaudio.DeviceInfo, error) {
	all, err := portaudio.Devices()
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if sound.StableName(d.Name) == device && channels(d, output) > 0 {
			return d, nil
		}
	}
	switch {
	case device != "" && device != viaPulse:
		return nil, errNoDevice
	case output:
		return portaudio.DefaultOutputDevice()
	}
	return portaudio.DefaultInputDevice()
}

func channels(d *portaudio.DeviceInfo, output bool) int {
	if output {
		return d.MaxOutputChannels
	}
	return d.MaxInputChannels
}

// list returns PortAudio's own devices, for a machine without a sound server.
func list() (d sound.Devices, err error) {
	pa.Lock()
	defer pa.Unlock()
	all, err := portaudio.Devices()
	if err != nil {
		return d, err
	}
	in, _ := portaudio.DefaultInputDevice() // there may be none
	out, _ := portaudio.DefaultOutputDevice()
	d.Server = "PortAudio"
	for _, dev := range all {
		named := sound.Device{Name: sound.StableName(dev.Name), Description: dev.Name}
		if dev.MaxInputChannels > 0 {
			named.Default = dev == in
			d.Inputs = append(d.Inputs, named)
		}
		if dev.MaxOutputChannels > 0 {
			named.Default = dev == out
			d.Outputs = append(d.Outputs, named)
		}
	}
	return d, nil
}

// describe describes an error of PortAudio, whose text is sometimes empty.
func describe(err error) string {
	if text := err.Error(); text != "" {
		return text
	}
	return fmt.Sprintf("%T", err)
}
