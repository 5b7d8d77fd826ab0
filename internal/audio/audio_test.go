package audio_test

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"earshot/internal/audio"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// frames draws any frame that may be sent.
var frames = rapid.Custom(func(t *rapid.T) audio.Frame {
	f := audio.Frame{
		At:        time.Unix(0, rapid.Int64().Draw(t, "at")),
		Voiced:    rapid.Bool().Draw(t, "voiced"),
		Own:       rapid.Bool().Draw(t, "own"),
		Beside:    rapid.Bool().Draw(t, "beside"),
		EchoRatio: rapid.Float32Range(0, 1).Draw(t, "echo"),
		Lost:      rapid.Uint16().Draw(t, "lost"),
	}
	copy(f.PCM[:], rapid.SliceOfN(rapid.Int16(), 0, audio.Samples).Draw(t, "pcm"))
	return f
})

func TestFrameComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := frames.Draw(t, "frame")
		b := want.Append([]byte("before"))
		if len(b) != len("before")+audio.Size {
			t.Fatalf("%d bytes, want %d", len(b)-len("before"), audio.Size)
		}
		got := audio.Frame{Lost: 7, Voiced: true}
		if err := got.Decode(b[len("before"):]); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	})
}

// encoded returns an encoded frame, changed by change.
func encoded(change func(b []byte) []byte) []byte {
	return change((&audio.Frame{At: time.Unix(1, 2), Lost: 3}).Append(nil))
}

func TestDecodeRefuses(t *testing.T) {
	echo := func(bits uint32) func([]byte) []byte {
		return func(b []byte) []byte {
			return append(append(b[:8:8], byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24)), b[12:]...)
		}
	}
	for _, tt := range []struct {
		name   string
		change func([]byte) []byte
	}{
		{"nothing", func([]byte) []byte { return nil }},
		{"a byte too few", func(b []byte) []byte { return b[1:] }},
		{"a byte too many", func(b []byte) []byte { return append(b, 0) }},
		{"an unknown flag", func(b []byte) []byte { b[14] |= 8; return b }},
		{"an echo below nothing", echo(math.Float32bits(-0.001))},
		{"an echo above all", echo(math.Float32bits(1.001))},
		{"an echo that is no number", echo(math.Float32bits(float32(math.NaN())))},
		{"an endless echo", echo(math.Float32bits(float32(math.Inf(1))))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := audio.Frame{Lost: 9}
			if err := f.Decode(encoded(tt.change)); !errors.Is(err, audio.ErrFrame) {
				t.Errorf("error %v, want ErrFrame", err)
			}
			if f != (audio.Frame{Lost: 9}) {
				t.Error("a refused frame was written over the old one")
			}
		})
	}
}

func FuzzFrame(f *testing.F) {
	f.Add((&audio.Frame{Voiced: true, EchoRatio: 0.5}).Append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var frame audio.Frame
		if frame.Decode(b) != nil {
			return
		}
		if got := frame.Append(nil); !bytes.Equal(got, b) {
			t.Errorf("%x came back as %x", b, got)
		}
	})
}

func TestDecodePCM(t *testing.T) {
	for _, tt := range []struct {
		name string
		room int
		b    []byte
		want []int16
	}{
		{"nothing", 2, nil, []int16{}},
		{"half a sample", 2, []byte{1}, []int16{}},
		{"one and a half", 2, []byte{1, 0, 2}, []int16{1}},
		{"more than fit", 1, []byte{255, 255, 2, 0}, []int16{-1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pcm := make([]int16, tt.room)
			got := pcm[:audio.DecodePCM(pcm, tt.b)]
			if !bytes.Equal(audio.AppendPCM(nil, got), audio.AppendPCM(nil, tt.want)) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestLevel(t *testing.T) {
	for _, tt := range []struct {
		name string
		pcm  []int16
		want float64
	}{
		{"no samples", nil, audio.Silence},
		{"zeros", make([]int16, 10), audio.Silence},
		{"the last bit", []int16{1, -1}, -90.3},
		{"half", []int16{1 << 14, -1 << 14}, -6},
		{"full scale", []int16{math.MinInt16}, 0},
		{"one of many", append([]int16{1}, make([]int16, 9)...), audio.Silence},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := audio.Level(tt.pcm); math.Abs(got-tt.want) > 0.05 {
				t.Errorf("%.2f dB, want %.2f", got, tt.want)
			}
		})
	}
}

// TestFrameAllocatesNothing: a frame costs no memory, since there are 50 a second from each source,
// for months.
func TestFrameAllocatesNothing(t *testing.T) {
	f := audio.Frame{At: time.Unix(1, 2), Voiced: true}
	b := make([]byte, 0, audio.Size)
	level := 0.0
	if n := testing.AllocsPerRun(100, func() {
		b = f.Append(b[:0])
		if err := f.Decode(b); err != nil {
			t.Error(err)
		}
		level += audio.Level(f.PCM[:])
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkFrame(b *testing.B) {
	f := audio.Frame{At: time.Unix(1, 2), Voiced: true}
	for i := range f.PCM {
		f.PCM[i] = int16(i * 101)
	}
	buf := make([]byte, 0, audio.Size)
	b.Run("Append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = f.Append(buf[:0])
		}
	})
	b.Run("Decode", func(b *testing.B) {
		b.ReportAllocs()
		buf = f.Append(buf[:0])
		for b.Loop() {
			if err := f.Decode(buf); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Level", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			audio.Level(f.PCM[:])
		}
	})
}
