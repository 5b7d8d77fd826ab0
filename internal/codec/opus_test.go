package codec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
)

// calls returns the dialer of a helper that is the codec of a call; take gets the sound.
func calls(take func(*helper.Server, helper.Sound) error) helper.Dialer {
	return helpertest.Dialer("fake", func(_ context.Context, s *helper.Server) error {
		var sounds sync.WaitGroup
		defer sounds.Wait()
		var fault error
		err := s.Controls(func(c helper.Control) error {
			if c.Name != codec.MsgCall {
				return helper.ErrProtocol
			}
			sounds.Go(func() { fault = s.Sounds(func(m helper.Sound) error { return take(s, m) }) })
			return nil
		})
		sounds.Wait()
		if fault != nil {
			return fault
		}
		return err
	})
}

// plain behaves as a helper that codes nothing: a packet holds the first sample of its frame, and a
// piece of speech becomes the first byte of its Opus.
func plain(s *helper.Server, m helper.Sound) error {
	if m.Stream > 0 {
		if len(m.Data) == 0 {
			return s.SendSound(m.Stream, nil)
		}
		_, pcm, err := codec.DecodeSpeech(nil, m.Data)
		if err != nil {
			return err
		}
		return s.SendSound(m.Stream, []byte{byte(pcm[0])})
	}
	var b []byte
	err := codec.EachPacket(m.Data, func(p codec.Packet) error {
		if len(p.Data) > 0 {
			f := audio.Frame{At: p.At}
			f.PCM[0] = int16(p.Data[0])
			b = codec.AppendFrame(b, p.Speaker, 0, f.Append(nil))
		}
		return nil
	})
	if err != nil || len(b) == 0 {
		return err
	}
	return s.SendSound(0, b)
}

// A fakeCall is an Opus in a bubble.
type fakeCall struct {
	*codec.Opus
	heard []string // each as speaker, first sample, lost
	said  []byte   // the first bytes
	slow  time.Duration
	died  chan error
	stop  context.CancelFunc
}

// begins runs an Opus with a helper.
func begins(t *testing.T, dial helper.Dialer) *fakeCall {
	c := &fakeCall{died: make(chan error, 1)}
	c.Opus = codec.NewOpus(codec.OpusConfig{
		Dial: dial,
		Heard: func(speaker uint32, f *audio.Frame) {
			c.heard = append(c.heard, strings.TrimSuffix(fmt.Sprintf("%d:%d-%d", speaker, f.PCM[0], f.Lost), "-0"))
		},
		Encoded: func(ctx context.Context, opus []byte) {
			select {
			case <-time.After(c.slow):
				c.said = append(c.said, opus...)
			case <-ctx.Done():
			}
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	c.stop = stop
	go func() { c.died <- c.Run(ctx) }()
	synctest.Wait()
	return c
}

// ends ends the call, and fails t on an error.
func (c *fakeCall) ends(t *testing.T) {
	t.Helper()
	c.stop()
	if err := <-c.died; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// packet returns packet n of a speaker.
func packet(speaker uint32, n int) codec.Packet {
	return codec.Packet{Speaker: speaker, At: base.Add(time.Duration(n) * audio.Time), Data: []byte{byte(n), 1}}
}

// count returns n pieces of 20 ms that begin with from, from+1 and so on.
func count(from, n int) (pcm []int16) {
	for i := range n {
		pcm = append(append(pcm, int16(from+i)), make([]int16, audio.Samples-1)...)
	}
	return pcm
}

func TestOpusForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone []uint32
		c := begins(t, calls(func(s *helper.Server, m helper.Sound) error {
			codec.EachPacket(m.Data, func(p codec.Packet) error {
				if p.Lost == 0 && len(p.Data) == 0 {
					gone = append(gone, p.Speaker)
				}
				return nil
			})
			time.Sleep(time.Second) // busy
			return plain(s, m)
		}))
		c.Decode([]codec.Packet{packet(1, 0), packet(2, 0)})
		synctest.Wait()
		c.Forget(1)
		c.Forget(3)
		c.Decode([]codec.Packet{packet(2, 1)})
		time.Sleep(time.Minute)
		c.Decode([]codec.Packet{packet(1, 9)})
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := strings.Join(c.heard, " "); got != "2:0 2:1 1:9" {
			t.Errorf("heard %s", got)
		}
		if !slices.Equal(gone, []uint32{1}) {
			t.Errorf("given up: %v", gone)
		}
		c.ends(t)
	})
}

// TestOpusForgetsWhatWaits: when a speaker is given up, their waiting packets are neither decoded
// nor kept in memory.
func TestOpusForgetsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		c := begins(t, calls(func(s *helper.Server, m helper.Sound) error {
			codec.EachPacket(m.Data, func(p codec.Packet) error {
				sent = append(sent, fmt.Sprintf("%d:%d", p.Speaker, p.Data))
				return nil
			})
			time.Sleep(time.Second) // busy
			return plain(s, m)
		}))
		for n := range 3 {
			c.Decode([]codec.Packet{packet(1, n), packet(2, n)})
		}
		synctest.Wait()
		c.Forget(1)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := strings.Join(sent, " "); strings.Contains(got, "1:[2 1]") || !strings.Contains(got, "1:[]") { // the batch before it was on its way
			t.Errorf("sent %s", got)
		}
		if got := strings.Join(c.heard, " "); got != "2:0 2:1 2:2" {
			t.Errorf("heard %s", got)
		}
		c.ends(t)
	})
}

// TestOpusBusy: a helper that is busy for three seconds gets the last two; nobody waits.
func TestOpusBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := true
		c := begins(t, calls(func(s *helper.Server, m helper.Sound) error {
			if busy {
				time.Sleep(3 * time.Second)
				busy = false
			}
			return plain(s, m)
		}))
		for n := range 150 {
			c.Decode([]codec.Packet{packet(1, n), packet(2, n)})
			time.Sleep(audio.Time)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		// One was being worked on and one was in the pipe, which buffers nothing in memory.
		if got := strings.Join(c.heard[:6], " "); got != "1:0 2:0 1:1 2:1 1:50-48 2:50-48" || len(c.heard) != 204 {
			t.Errorf("heard %d frames, first %s", len(c.heard), got)
		}
		if got := c.Counts(); got != (codec.Counts{Packets: 300, Dropped: 96}) {
			t.Errorf("%+v", got)
		}
		c.ends(t)
	})
}

// TestOpusLead: what comes while the helper starts is heard, up to the lead; the first frame says how
// many are missing before it.
func TestOpusLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard, lost := 0, 0
		c := codec.NewOpus(codec.OpusConfig{
			Dial: calls(plain), Lead: time.Second,
			Heard: func(_ uint32, f *audio.Frame) { heard, lost = heard+1, lost+int(f.Lost) },
		})
		for n := range 90 {
			c.Decode([]codec.Packet{packet(1, n)})
			time.Sleep(audio.Time)
		}
		ctx, stop := context.WithCancel(t.Context())
		died := make(chan error, 1)
		go func() { died <- c.Run(ctx) }()
		synctest.Wait()
		if heard != 50 || lost != 40 || c.Counts().Dropped != 40 {
			t.Errorf("%d frames were heard, %d said to be missing; %+v", heard, lost, c.Counts())
		}
		stop()
		if err := <-died; err != nil {
			t.Error(err)
		}
	})
}

// TestOpusAway: without a helper nothing is kept. The next helper is told what is missing; lost
// packets count like dropped ones there.
func TestOpusAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crash := false
		c := begins(t, calls(func(s *helper.Server, m helper.Sound) error {
			if crash {
				return errCrash
			}
			return plain(s, m)
		}))
		c.Decode([]codec.Packet{packet(1, 0)})
		synctest.Wait()
		crash = true
		c.Decode([]codec.Packet{packet(1, 1)}) // is lost with the helper
		if err := <-c.died; !errors.Is(err, errCrash) {
			t.Errorf("Run: %v", err)
		}
		late := packet(1, 4)
		late.Lost = 2
		c.Decode([]codec.Packet{late})
		crash = false
		go func() { c.died <- c.Run(t.Context()) }()
		synctest.Wait()
		c.Decode([]codec.Packet{packet(1, 5), packet(1, 6)})
		synctest.Wait()
		if got := strings.Join(c.heard, " "); got != "1:0 1:5-3 1:6" {
			t.Errorf("heard %s", got)
		}
		if got := c.Counts(); got != (codec.Counts{Packets: 5, Lost: 2, Dropped: 1}) {
			t.Errorf("%+v", got)
		}
	})
}

// TestOpusPace: the encoder is at most 400 ms ahead of whoever takes its packets.
func TestOpusPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begins(t, calls(plain))
		c.slow = audio.Time
		began := time.Now()
		if err := c.Encode(t.Context(), 16000, count(0, 100)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 1580*time.Millisecond { // the last 20 ms fit as well
			t.Errorf("two seconds were taken in %v", took)
		}
		if err := c.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 2*time.Second || len(c.said) != 100 || !slices.IsSorted(c.said) {
			t.Errorf("flushed after %v, %v", took, c.said)
		}
		if err := c.Flush(t.Context()); err != nil {
			t.Errorf("nothing to flush: %v", err)
		}
		c.ends(t)
	})
}

// TestOpusDrop: what was said before a Drop is not heard after it, wherever it is at that time.
func TestOpusDrop(t *testing.T) {
	for _, after := range []time.Duration{0, 1, 30 * time.Millisecond, 400 * time.Millisecond, 1990 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			c := begins(t, calls(plain))
			c.slow = audio.Time
			said := make(chan error)
			go func() {
				err := c.Encode(t.Context(), 16000, count(0, 100))
				if err == nil {
					err = c.Flush(t.Context())
				}
				said <- err
			}()
			time.Sleep(after)
			synctest.Wait()
			c.Drop()
			heard := len(c.said)
			if want := int(after / audio.Time); heard != want {
				t.Errorf("%d frames after %v, want %d", heard, after, want)
			}
			if err := <-said; !errors.Is(err, codec.ErrDropped) {
				t.Errorf("what was dropped ends with %v", err)
			}
			if err := c.Encode(t.Context(), 16000, count(200, 3)); err != nil {
				t.Fatal(err)
			}
			if err := c.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := c.said[heard:]; !slices.Equal(got, []byte{200, 201, 202}) {
				t.Errorf("after the drop: %v", got)
			}
			c.Drop() // nothing to drop
			c.ends(t)
		})
	}
}

// TestOpusNoHelper: Encode waits for a helper, and Flush reports one that died on the way.
func TestOpusNoHelper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		none := codec.NewOpus(codec.OpusConfig{Dial: func() (helper.Link, error) { return nil, errCrash }})
		if err := none.Run(t.Context()); !errors.Is(err, errCrash) {
			t.Errorf("Run: %v", err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := none.Encode(ctx, 16000, count(0, 1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Encode: %v", err)
		}
		for _, rate := range []int{-1, 0, 7999, 48001} {
			if none.Encode(t.Context(), rate, count(0, 1)) == nil {
				t.Errorf("%d samples a second were taken", rate)
			}
		}
		c := begins(t, calls(func(s *helper.Server, m helper.Sound) error {
			if len(m.Data) == 0 {
				return errCrash
			}
			return plain(s, m)
		}))
		if err := c.Encode(t.Context(), 16000, count(0, 3)); err != nil {
			t.Fatal(err)
		}
		if err := c.Flush(t.Context()); !errors.Is(err, helper.ErrGone) {
			t.Errorf("Flush: %v", err)
		}
		<-c.died
		c.stop()
	})
}

func TestOpusUnable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begins(t, fake(func(_ context.Context, s *helper.Server) error { return s.Send(codec.MsgUnable, nil) }))
		err := <-c.died
		cure, ok := errors.AsType[interface {
			error
			Cure() string
		}](err)
		if !errors.Is(err, errors.ErrUnsupported) || !ok || !strings.Contains(err.Error(), "libopus") || cure.Cure() == "" {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestOpusBadHelpers(t *testing.T) {
	for _, tt := range []struct {
		name string
		take func(*helper.Server, helper.Sound) error
		want error // nil: what it sends is ignored
	}{
		{"says something else", func(s *helper.Server, _ helper.Sound) error { return s.Send("hello", nil) }, helper.ErrProtocol},
		{"half a frame", func(s *helper.Server, _ helper.Sound) error { return s.SendSound(0, make([]byte, 400)) }, helper.ErrProtocol},
		{"a frame that is none", func(s *helper.Server, _ helper.Sound) error {
			return s.SendSound(0, bytes.Repeat([]byte{0xff}, 6+audio.Size))
		}, helper.ErrProtocol},
		{"somebody that nobody knows", func(s *helper.Server, _ helper.Sound) error {
			return s.SendSound(0, codec.AppendFrame(nil, 77, 0, frame(0)))
		}, nil},
		{"an utterance that was never begun", func(s *helper.Server, _ helper.Sound) error { return s.SendSound(9, []byte{1}) }, helper.ErrProtocol},
		{"an end that is none", func(s *helper.Server, m helper.Sound) error { return s.SendSound(1, nil) }, helper.ErrProtocol},
		{"too much", func(s *helper.Server, m helper.Sound) error { return s.SendSound(1, make([]byte, 1276)) }, helper.ErrProtocol},
		{"too many", func(s *helper.Server, m helper.Sound) error {
			for s.SendSound(1, []byte{1}) == nil {
			}
			return nil
		}, helper.ErrProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := begins(t, calls(tt.take))
				c.slow = time.Hour
				c.Encode(t.Context(), 16000, count(0, 1))
				if tt.want == nil {
					time.Sleep(time.Second)
					c.ends(t)
				} else if err := <-c.died; !errors.Is(err, tt.want) {
					t.Errorf("Run: %v", err)
				}
				c.stop()
				if len(c.heard) > 0 || len(c.said) > 0 {
					t.Errorf("heard %v, said %v", c.heard, c.said)
				}
			})
		})
	}
}

// TestOpusBatches: batches of any size arrive whole, in messages that are not too long.
func TestOpusBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begins(t, calls(plain))
		var all []codec.Packet
		for s := range 2 * codec.MaxSpeakers {
			p := packet(uint32(s%codec.MaxSpeakers), s)
			p.Data = append(p.Data, make([]byte, codec.MaxOpus-2)...)
			all = append(all, p)
		}
		c.Decode(append(all, all...))
		synctest.Wait()
		if got := c.Counts(); got != (codec.Counts{Packets: 256, Dropped: 128}) || len(c.heard) != 128 {
			t.Errorf("%+v, %d frames", got, len(c.heard))
		}
		c.ends(t)
	})
}

func TestPackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) codec.Packet {
			return codec.Packet{
				Speaker: rapid.Uint32().Draw(t, "speaker"), At: time.Unix(0, rapid.Int64().Draw(t, "at")),
				Lost: rapid.IntRange(0, codec.MaxLost).Draw(t, "lost"),
				Data: rapid.SliceOfN(rapid.Byte(), 0, codec.MaxOpus).Draw(t, "data"),
			}
		}), 0, 5).Draw(t, "packets")
		var b []byte
		for i := range want {
			b = codec.AppendPacket(b, &want[i])
		}
		n := 0
		err := codec.EachPacket(b, func(p codec.Packet) error {
			if w := want[n]; p.Speaker != w.Speaker || !p.At.Equal(w.At) || p.Lost != w.Lost || !bytes.Equal(p.Data, w.Data) {
				t.Errorf("packet %d is %+v, want %+v", n, p, w)
			}
			n++
			return nil
		})
		if err != nil || n != len(want) {
			t.Errorf("%d packets of %d, %v", n, len(want), err)
		}
	})
}

// FuzzPackets: whatever is decoded, packets are within the limits.
func FuzzPackets(f *testing.F) {
	p := packet(1, 2)
	f.Add(codec.AppendPacket(codec.AppendPacket(nil, &p), &p))
	f.Add(codec.AppendSpeech(nil, 16000, count(0, 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		err := codec.EachPacket(b, func(p codec.Packet) error {
			if p.Lost > codec.MaxLost || len(p.Data) > codec.MaxOpus {
				t.Errorf("%+v", p)
			}
			return nil
		})
		if err != nil && !errors.Is(err, helper.ErrProtocol) {
			t.Error(err)
		}
		rate, pcm, err := codec.DecodeSpeech(nil, b)
		if err == nil && (rate < codec.MinSpeech || rate > codec.MaxSpeech || !bytes.Equal(codec.AppendSpeech(nil, rate, pcm), b)) {
			t.Errorf("%d samples at %d", len(pcm), rate)
		}
	})
}

// FuzzOpusHelper lets a helper answer anything: the client must neither panic nor wait for ever,
// and yields nothing that was not asked for.
func FuzzOpusHelper(f *testing.F) {
	f.Add(uint32(0), codec.AppendFrame(nil, 1, 3, frame(1)), uint32(1), []byte{1, 2})
	f.Add(uint32(1), []byte{}, uint32(0), frame(0))
	f.Fuzz(func(t *testing.T, one uint32, first []byte, two uint32, second []byte) {
		synctest.Test(t, func(t *testing.T) {
			c := begins(t, calls(func(s *helper.Server, m helper.Sound) error {
				s.SendSound(one, first)
				s.SendSound(two, second)
				return nil
			}))
			c.Decode([]codec.Packet{packet(1, 0)})
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			c.Encode(ctx, 16000, count(0, 1)) // waits for the next helper if this one is dead
			c.Flush(ctx)
			c.Drop()
			c.stop()
			<-c.died
			for _, h := range c.heard {
				if !strings.HasPrefix(h, "1:") {
					t.Errorf("heard %s", h)
				}
			}
		})
	})
}
