//go:build cgo

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"

	"earshot/internal/audio"
	"earshot/internal/codec"
)

// mostSamples is the longest accepted frame of sound: no codec has frames of more than some
// seconds.
const mostSamples = 1 << 20

// A mediaDecoder decodes the packets of one stream to samples of 16 kHz, mono. It does not know
// about files, so it can be given packets from a network.
type mediaDecoder struct {
	codec   *astiav.CodecContext
	frame   *astiav.Frame
	filter  *resampler
	changes int
}

// newMediaDecoder returns a decoder for a stream.
func newMediaDecoder(p *astiav.CodecParameters) (*mediaDecoder, error) {
	c := astiav.FindDecoder(p.CodecID())
	if c == nil {
		return nil, &sourceError{codec.NoDecoder, p.CodecID().Name()}
	}
	return openMediaDecoder(c, p.ToCodecContext)
}

// openMediaDecoder opens c for what set says about a stream.
func openMediaDecoder(c *astiav.Codec, set func(*astiav.CodecContext) error) (*mediaDecoder, error) {
	d := &mediaDecoder{codec: astiav.AllocCodecContext(c), frame: astiav.AllocFrame()}
	d.codec.SetThreadCount(1)
	err := set(d.codec)
	if err == nil {
		err = d.codec.Open(c, nil)
	}
	if err != nil {
		d.close()
		return nil, &sourceError{codec.NoDecoder, fmt.Sprintf("%s: %v", c.Name(), err)}
	}
	return d, nil
}

// decode calls take with each frame of packet p; nil stands for the end. The frame is valid until
// take returns. Damaged packets are counted and left out.
func (d *mediaDecoder) decode(p *astiav.Packet, take func(*astiav.Frame) error) (damaged int, err error) {
	if err := d.codec.SendPacket(p); err != nil && !errors.Is(err, astiav.ErrEof) {
		return 1, nil
	}
	for {
		err := d.codec.ReceiveFrame(d.frame)
		switch {
		case errors.Is(err, astiav.ErrEagain), errors.Is(err, astiav.ErrEof):
			return damaged, nil
		case err != nil:
			return damaged + 1, nil
		case d.frame.NbSamples() > mostSamples:
			damaged++
		default:
			err = take(d.frame)
		}
		d.frame.Unref()
		if err != nil {
			return damaged, err
		}
	}
}

// mostChanges is how often a stream may change its format.
const mostChanges = 1000

// convert hands the samples of f to take; nil stands for the end.
func (d *mediaDecoder) convert(f *astiav.Frame, take func([]int16) error) error {
	if d.filter != nil && (f == nil || d.filter.takes != kindOf(f)) {
		if err := d.filter.push(nil, take); err != nil {
			return err
		}
		d.filter.close()
		d.filter = nil
	}
	if f == nil {
		return nil
	}
	if d.filter == nil {
		if d.changes++; d.changes > mostChanges {
			return &sourceError{codec.TooMuch, "changes of its kind of sound"}
		}
		var err error
		if d.filter, err = newResampler(kindOf(f), audio.Rate); err != nil {
			return err
		}
	}
	return d.filter.push(f, take)
}

func (d *mediaDecoder) close() {
	if d.filter != nil {
		d.filter.close()
	}
	d.frame.Free()
	d.codec.Free()
}

// A soundKind is a format of sound.
type soundKind struct {
	rate     int
	format   astiav.SampleFormat
	channels int
	layout   string
}

// layouts name how so many channels usually are laid out.
var layouts = [...]string{1: "mono", 2: "stereo", 3: "2.1", 4: "4.0", 5: "5.0", 6: "5.1", 7: "6.1", codec.MaxChannels: "7.1"}

// kindOf returns the kind of f. If f does not say what each of its channels is, their number
// decides.
func kindOf(f *astiav.Frame) soundKind {
	l := f.ChannelLayout()
	k := soundKind{f.SampleRate(), f.SampleFormat(), l.NbChannels(), ""}
	if k.channels < 1 || k.channels > codec.MaxChannels {
		return k // refused later; its description may be longer than the binding has room for
	}
	k.layout = strings.TrimRight(l.String(), "\x00")
	if !l.Valid() || strings.Contains(k.layout, " ") { // "6 channels"
		k.layout = layouts[k.channels]
	}
	return k
}

// A resampler converts sound of one kind to mono samples at some rate. The only resampler of this
// version of the binding is the one in a filter graph.
type resampler struct {
	takes    soundKind
	graph    *astiav.FilterGraph
	from, to *astiav.FilterContext
	frame    *astiav.Frame
}

func newResampler(k soundKind, rate int) (_ *resampler, err error) {
	if err := tooMuch(k.rate, k.channels); err != nil {
		return nil, err
	}
	r := &resampler{takes: k, graph: astiav.AllocFilterGraph(), frame: astiav.AllocFrame()}
	defer func() {
		if err != nil {
			r.close()
			err = &sourceError{codec.NoDecoder, err.Error()}
		}
	}()
	r.graph.SetThreadCount(1)
	if r.from, err = r.graph.NewFilterContext(astiav.FindFilterByName("abuffer"), "in", k.args()); err != nil {
		return nil, err
	}
	if r.to, err = r.graph.NewFilterContext(astiav.FindFilterByName("abuffersink"), "out", nil); err != nil {
		return nil, err
	}
	return r, r.connect(rate)
}

// args describes k to a filter.
func (k soundKind) args() astiav.FilterArgs {
	rate := strconv.Itoa(k.rate)
	return astiav.FilterArgs{
		"sample_rate": rate, "time_base": "1/" + rate,
		"sample_fmt": k.format.Name(), "channel_layout": k.layout,
	}
}

func (r *resampler) connect(rate int) error {
	outs, ins := astiav.AllocFilterInOut(), astiav.AllocFilterInOut()
	defer outs.Free()
	defer ins.Free()
	outs.SetName("in")
	outs.SetFilterContext(r.from)
	ins.SetName("out")
	ins.SetFilterContext(r.to)
	const chain = "aformat=sample_fmts=s16:sample_rates=%d:channel_layouts=mono"
	if err := r.graph.Parse(fmt.Sprintf(chain, rate), ins, outs); err != nil {
		return err
	}
	return r.graph.Configure()
}

// push passes the samples made from f to take; nil stands for the end.
func (r *resampler) push(f *astiav.Frame, take func([]int16) error) error {
	if err := r.from.BuffersrcAddFrame(f, astiav.NewBuffersrcFlags(astiav.BuffersrcFlagKeepRef)); err != nil {
		return err
	}
	for {
		err := r.to.BuffersinkGetFrame(r.frame, 0)
		if errors.Is(err, astiav.ErrEagain) || errors.Is(err, astiav.ErrEof) {
			return nil
		}
		if err == nil {
			err = take(monoSamples(r.frame))
			r.frame.Unref()
		}
		if err != nil {
			return err
		}
	}
}

func (r *resampler) close() {
	r.frame.Free()
	r.graph.Free()
}

// frameHead is the beginning of every AVFrame, from FFmpeg 5 on: data, line sizes, extended data,
// width, height, number of samples. The binding does not expose sound.
type frameHead struct {
	data [8]unsafe.Pointer
}

// monoSamples returns those of a mono frame of 16 bits, valid as long as f.
func monoSamples(f *astiav.Frame) []int16 {
	n := f.NbSamples()
	data := (*frameHead)(f.UnsafePointer()).data[0]
	if n <= 0 || data == nil {
		return nil
	}
	return unsafe.Slice((*int16)(data), n)
}
