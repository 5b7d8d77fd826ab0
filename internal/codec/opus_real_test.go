package codec_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/testkit"
)

// A coder is an Opus and what came out of it.
type coder struct {
	*codec.Opus
	mu      sync.Mutex
	heard   map[uint32][]audio.Frame
	encoded [][]byte
}

// newCoder returns a coder that does not run yet.
func newCoder(t testing.TB, dial helper.Dialer) *coder {
	c := &coder{heard: make(map[uint32][]audio.Frame)}
	c.Opus = codec.NewOpus(codec.OpusConfig{
		Dial: dial,
		Heard: func(speaker uint32, f *audio.Frame) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.heard[speaker] = append(c.heard[speaker], *f)
		},
		Encoded: func(_ context.Context, opus []byte) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.encoded = append(c.encoded, slices.Clone(opus))
		},
	})
	return c
}

// runCoder runs the real helper until the test ends.
func runCoder(t testing.TB) *coder {
	c := newCoder(t, real(t))
	ctx, stop := context.WithCancel(t.Context())
	var life sync.WaitGroup
	life.Go(func() {
		if err := c.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() {
		stop()
		testkit.Finish(t, testkit.Patience, "the end of the coder", life.Wait)
	})
	c.encode(t, 48000, make([]int16, 1)) // unlike Decode, this waits for the helper
	return c
}

// encode returns the packets of an utterance.
func (c *coder) encode(t testing.TB, rate int, pcm []int16) [][]byte {
	t.Helper()
	if err := c.Encode(t.Context(), rate, pcm); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	made := c.encoded
	c.encoded = nil
	return made
}

// frames waits for n frames of a speaker, and returns them.
func (c *coder) frames(t testing.TB, speaker uint32, n int) []audio.Frame {
	t.Helper()
	testkit.Await(t, 10*time.Second, "the frames", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.heard[speaker]) >= n
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.heard[speaker])
}

// base is when somebody begins to speak.
var base = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// spoken returns the samples of a sentence at a given rate, made by flite.
func spoken(t testing.TB, rate int) []int16 {
	t.Helper()
	testkit.Need(t, "voice")
	out, err := testkit.Command(t, "ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
		"flite=text='please tell me what the weather is like tomorrow':voice=slt", "-ar", strconv.Itoa(rate), "-ac", "1", "-f", "s16le", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, len(out)/2)
	audio.DecodePCM(pcm, out)
	return pcm
}

// alike returns by how many samples, below most, got lags behind want, and their correlation there,
// from 0 to 1.
func alike(got, want []int16, most int) (late int, correlation float64) {
	for shift := range most {
		var gg, ww, gw float64
		for i := shift; i < len(got) && i-shift < len(want); i++ {
			g, w := float64(got[i]), float64(want[i-shift])
			gg, ww, gw = gg+g*g, ww+w*w, gw+g*w
		}
		if r := gw / math.Sqrt(gg*ww+1); r > correlation {
			late, correlation = shift, r
		}
	}
	return late, correlation
}

// packets returns the packets of a speaker who begins at base, 20 ms apart.
func packets(speaker uint32, opus [][]byte) (all []codec.Packet) {
	for i, data := range opus {
		all = append(all, codec.Packet{Speaker: speaker, At: base.Add(time.Duration(i) * audio.Time), Data: data})
	}
	return all
}

// decode hands over packets as fast as possible, and returns the n frames of the speaker that they
// make.
func (c *coder) decode(t testing.TB, n int, all []codec.Packet) []audio.Frame {
	t.Helper()
	for some := range slices.Chunk(all, 100) {
		c.Decode(some)
	}
	return c.frames(t, all[0].Speaker, n)
}

// copies counts the packets with a copy of the one before them: RFC 6716, section 4.2.4, for 20 ms.
func copies(packets [][]byte) (n int) {
	for _, p := range packets {
		if config := p[0] >> 3; config < 16 && len(p) > 1 && p[1]&0x40 != 0 {
			n++
		}
	}
	return n
}

// TestOpusThereAndBack: speech at any rate, encoded and decoded again, has the same length and
// level, and always the same small delay.
func TestOpusThereAndBack(t *testing.T) {
	c := runCoder(t)
	want := spoken(t, 16000)
	for i, rate := range []int{8000, 11025, 16000, 22050, 44100, 48000} {
		t.Run(strconv.Itoa(rate), func(t *testing.T) {
			pcm := spoken(t, rate)
			opus := c.encode(t, rate, pcm)
			length := float64(len(pcm)) / float64(rate)
			if n := int(math.Ceil((length + 0.0065) / 0.02)); len(opus) != n { // the encoder looks 6.5 ms ahead
				t.Errorf("%d packets of %.4f s, want %d", len(opus), length, n)
			}
			bits := float64(len(bytes.Join(opus, nil))*8) / length
			if bits < 45_000 || bits > 70_000 {
				t.Errorf("%.0f bits a second", bits)
			}
			if n := copies(opus); n < len(opus)/2 {
				t.Errorf("%d of %d packets have a copy of the one before", n, len(opus))
			}
			got := samples(c.decode(t, len(opus), packets(uint32(i), opus)))
			if len(got) != len(opus)*audio.Samples {
				t.Errorf("%d samples of %d packets", len(got), len(opus))
			}
			late, r := alike(got, want, 200)
			t.Logf("%d samples late, correlation %.4f, level %.1f dB of %.1f dB, %.0f bits a second", late, r, audio.Level(got), audio.Level(want), bits)
			if late < 112 || late > 122 || r < 0.92 || math.Abs(audio.Level(got)-audio.Level(want)) > 0.5 {
				t.Errorf("%d samples late, correlation %.4f, level %.1f dB of %.1f dB", late, r, audio.Level(got), audio.Level(want))
			}
		})
	}
	if counts := c.Counts(); counts.Damaged+counts.Dropped+counts.Refused+counts.Lost > 0 {
		t.Errorf("%+v", counts)
	}
}

// TestOpusManyAtOnce: each of eight speakers at a time is decoded as if alone.
func TestOpusManyAtOnce(t *testing.T) {
	c := runCoder(t)
	opus := c.encode(t, 16000, spoken(t, 16000))
	alone := c.decode(t, len(opus), packets(100, opus))
	const speakers = 8
	for i := range len(opus) + speakers {
		var batch []codec.Packet
		for s := range speakers {
			if n := i - s; n >= 0 && n < len(opus) { // the speakers begin one after the other
				batch = append(batch, codec.Packet{Speaker: uint32(s), At: base.Add(time.Duration(i) * audio.Time), Data: opus[n]})
			}
		}
		c.Decode(batch)
		if i%50 == 49 {
			c.frames(t, 0, min(i+1, len(opus))) // only two seconds are kept
		}
	}
	for s := range speakers {
		got := c.frames(t, uint32(s), len(opus))
		for i, f := range got {
			want := alone[i]
			want.At = base.Add(time.Duration(i+s) * audio.Time)
			if !f.At.Equal(want.At) || f.PCM != want.PCM || f.Voiced != want.Voiced || f.Lost != 0 {
				t.Fatalf("speaker %d: frame %d at %v is another than at %v alone", s, i, f.At.Sub(base), want.At.Sub(base))
			}
		}
	}
}

// TestOpusLoss: lost packets become silence, and what follows keeps its time.
func TestOpusLoss(t *testing.T) {
	c := runCoder(t)
	opus := c.encode(t, 16000, spoken(t, 16000))
	whole := samples(c.decode(t, len(opus), packets(100, opus)))
	for i, tt := range []struct {
		name string
		lost func(int) bool
	}{
		{"one in ten", func(i int) bool { return i%10 == 3 }},
		{"every second", func(i int) bool { return i%2 == 1 }},
		{"the first", func(i int) bool { return i < 3 }},
		{"half a second", func(i int) bool { return i >= 40 && i < 65 }},
		{"bursts", func(i int) bool { return i%20 >= 16 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var come []codec.Packet
			lost := 0
			for n, p := range packets(uint32(i), opus) {
				switch p.Lost = lost; {
				case tt.lost(n):
					lost++
				case n%7 == 2 && lost > 0: // or the two are told apart
					come = append(come, codec.Packet{Speaker: p.Speaker, At: p.At, Lost: lost}, p)
					come[len(come)-1].Lost, lost = 0, 0
				default:
					come, lost = append(come, p), 0
				}
			}
			frames := c.decode(t, len(opus)-lost, come)
			for n, f := range frames {
				if want := base.Add(time.Duration(n) * audio.Time); !f.At.Equal(want) || f.Lost != 0 {
					t.Fatalf("frame %d is at %v, %d lost", n, f.At.Sub(base), f.Lost)
				}
				if silent := f.PCM == [audio.Samples]int16{}; tt.lost(n) && !silent {
					t.Fatalf("frame %d was lost and has a sound", n)
				}
			}
			if late, r := alike(samples(frames), whole, 10); late != 0 || r < 0.4 {
				t.Errorf("%d samples late, correlation %.3f with the whole", late, r)
			}
		})
	}
}

// TestOpusBadPackets: whatever a packet contains, it stands for its time, and the next good one is
// decoded.
func TestOpusBadPackets(t *testing.T) {
	c := runCoder(t)
	opus := c.encode(t, 16000, spoken(t, 16000))[40:60]
	for i, tt := range []struct {
		name string
		data []byte
		want codec.Counts // the counts that matter
		n    int          // number of frames
	}{
		{"Discord's silence", []byte{0xf8, 0xff, 0xfe}, codec.Counts{}, 1},
		{"nothing to say", []byte{0xf8}, codec.Counts{}, 1},
		{"the first half", opus[3][:len(opus[3])/2], codec.Counts{}, 1}, // any beginning of a packet is a packet
		{"encrypted", append(slices.Clone(opus[3]), 1, 2, 3, 4, 5, 6, 7, 8, 0, 0xfa, 0xfa), codec.Counts{Refused: 1}, 1},
		{"too long", make([]byte, 1276), codec.Counts{Refused: 1}, 1},
		{"frames without a number", []byte{0xff}, codec.Counts{Damaged: 1}, 1},
		{"more than 120 ms", []byte{0xff, 0x3f, 1, 2, 3}, codec.Counts{Damaged: 1}, 1},
		{"two of different length", []byte{0xf9, 1, 2, 3}, codec.Counts{Damaged: 1}, 1},
		{"a length that is not there", []byte{0xfa, 0xfc}, codec.Counts{Damaged: 1}, 1},
		{"60 ms", []byte{0xfb, 0x03, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xfe}, codec.Counts{}, 3},
		{"10 ms", []byte{0xf0, 0xff, 0xfe}, codec.Counts{}, 1}, // it is filled up, since the next one is late
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := c.Counts()
			odd := packets(uint32(i), opus)
			odd[10].Data = tt.data
			for n := range odd[11:] {
				odd[11+n].At = odd[11+n].At.Add(time.Duration(tt.n-1) * audio.Time)
			}
			frames := c.decode(t, len(opus)+tt.n-1, odd)
			for n, f := range frames {
				if want := base.Add(time.Duration(n) * audio.Time); !f.At.Equal(want) {
					t.Fatalf("frame %d is at %v", n, f.At.Sub(base))
				}
			}
			if l := audio.Level(samples(frames[15+tt.n:])); l < -40 {
				t.Errorf("a level of %.0f dB afterwards", l)
			}
			after := c.Counts()
			got := codec.Counts{Damaged: after.Damaged - before.Damaged, Refused: after.Refused - before.Refused}
			if got != tt.want || after.Packets-before.Packets != int64(len(opus)) {
				t.Errorf("counted %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestOpusShortPackets: each two packets of ten milliseconds make one frame.
func TestOpusShortPackets(t *testing.T) {
	c := runCoder(t)
	var short []codec.Packet
	for i := range 40 {
		short = append(short, codec.Packet{Speaker: 1, At: base.Add(time.Duration(i) * audio.Time / 2), Data: []byte{0xf0, 0xff, 0xfe}})
	}
	for i, f := range c.decode(t, 20, short) {
		if want := base.Add(time.Duration(i) * audio.Time); !f.At.Equal(want) {
			t.Fatalf("frame %d is at %v", i, f.At.Sub(base))
		}
	}
}

// TestOpusManySpeakers: the speaker who was silent the longest loses their decoder, and gets a new
// one when they speak again. Somebody who begins again after a pause has the right time.
func TestOpusManySpeakers(t *testing.T) {
	c := runCoder(t)
	opus := c.encode(t, 16000, spoken(t, 16000))
	const speakers = 3 * codec.MaxSpeakers
	for round := range 2 {
		for s := range speakers {
			at := base.Add(time.Duration(round)*time.Hour + 7*time.Millisecond)
			c.Decode([]codec.Packet{{Speaker: uint32(s), At: at, Data: opus[50]}})
			frames := c.frames(t, uint32(s), round+1)
			if !frames[round].At.Equal(at) {
				t.Fatalf("frame %d of speaker %d is at %v", round, s, frames[round].At)
			}
		}
	}
}

// TestOpusHelperDies: when a helper dies, another takes over. What is dropped meanwhile is counted,
// and reported as lost in the next frame.
func TestOpusHelperDies(t *testing.T) {
	var mu sync.Mutex
	var pid int
	c := newCoder(t, func() (helper.Link, error) {
		link, err := real(t)()
		if p, ok := link.(*helper.Process); ok {
			mu.Lock()
			pid = p.Pid()
			mu.Unlock()
		}
		return link, err
	})
	died := make(chan error, 1)
	life := func(ctx context.Context) { died <- c.Run(ctx) }
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go life(ctx)
	opus := c.encode(t, 16000, spoken(t, 16000))
	all := packets(1, opus)
	c.decode(t, 50, all[:50])
	if err := c.Encode(ctx, 16000, make([]int16, 320)); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	syscall.Kill(pid, syscall.SIGKILL)
	mu.Unlock()
	if err := testkit.Receive(t, testkit.Patience, "the end of the helper that was killed", died); !errors.Is(err, helper.ErrDied) {
		t.Errorf("Run: %v", err)
	}
	if err := c.Flush(ctx); !errors.Is(err, helper.ErrGone) {
		t.Errorf("Flush of what has died: %v", err)
	}
	c.Decode(all[50:60])
	if n := c.Counts().Dropped; n != 10 {
		t.Errorf("%d dropped, want 10", n)
	}
	go life(ctx)
	if again := c.encode(t, 16000, spoken(t, 16000)); !slices.EqualFunc(again, opus, slices.Equal) {
		t.Error("a new helper encodes otherwise")
	}
	f := c.decode(t, 60, all[60:70])[50]
	if !f.At.Equal(all[60].At) || f.Lost != 10 {
		t.Errorf("the next frame is at %v, %d lost", f.At.Sub(base), f.Lost)
	}
	stop()
	if err := testkit.Receive(t, testkit.Patience, "the end of the helper", died); err != nil {
		t.Errorf("Run: %v", err)
	}
}
