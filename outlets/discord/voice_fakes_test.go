package discord_test

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/codec"
	"earshot/internal/helper"
	"earshot/internal/helper/helpertest"
	"earshot/internal/playback"
	"earshot/outlets/discord"
)

// A plain is a media helper that encodes nothing: its frames are the samples, as late as libopus
// makes them. It takes a while for each message, and dies at the messages with the numbers in dies.
type plain struct {
	takes func() time.Duration
	dies  map[int]bool

	n int // number of messages over all lives
}

// lookahead is how many samples precede a run; kept is how many the resampler of a real helper
// keeps back.
const (
	lookahead = int(codec.OpusDelay * audio.Rate / time.Second)
	kept      = audio.Rate / 1000
)

var errDies = errors.New("it dies")

func (p *plain) dialer() helper.Dialer {
	return helpertest.Dialer("fake", func(_ context.Context, s *helper.Server) error {
		var sounds sync.WaitGroup
		var fault error
		err := s.Controls(func(helper.Control) error {
			sounds.Go(func() {
				run, pcm := uint32(0), []int16(nil)
				fault = s.Sounds(func(m helper.Sound) error {
					if m.Stream != run {
						run, pcm = m.Stream, make([]int16, lookahead)
					}
					return p.take(s, m, &pcm)
				})
			})
			return nil
		})
		sounds.Wait()
		if fault != nil {
			return fault
		}
		return err
	})
}

// take takes a message; pcm holds the samples of its run that are not encoded yet.
func (p *plain) take(s *helper.Server, m helper.Sound, pcm *[]int16) error {
	if p.takes != nil {
		time.Sleep(p.takes())
	}
	if p.n++; p.dies[p.n] {
		return errDies
	}
	keep := kept
	if len(m.Data) > 0 {
		_, more, err := codec.DecodeSpeech(*pcm, m.Data)
		if err != nil {
			return err
		}
		*pcm = more
	} else {
		keep = 0
		*pcm = append(*pcm, make([]int16, (audio.Samples-len(*pcm)%audio.Samples)%audio.Samples)...)
	}
	for len(*pcm) >= audio.Samples+keep {
		if err := s.SendSound(m.Stream, audio.AppendPCM(nil, (*pcm)[:audio.Samples])); err != nil {
			return err
		}
		*pcm = (*pcm)[audio.Samples:]
	}
	if len(m.Data) == 0 {
		return s.SendSound(m.Stream, nil)
	}
	return nil
}

// A call sends one of the waiting frames every 20 ms, unless it is held, and records them. It must
// be made in the bubble in which it is used.
type call struct {
	over chan struct{}

	mu       sync.Mutex
	held     bool
	queue    [][]byte
	moved    chan struct{}
	sent     int64
	recorded []int16
}

func newCall() *call { return &call{over: make(chan struct{}), moved: make(chan struct{})} }

// run runs the call until ctx ends.
func (c *call) run(ctx context.Context) {
	tick := time.NewTicker(audio.Time)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.step()
		case <-ctx.Done():
			return
		}
	}
}

func (c *call) step() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held {
		return
	}
	if len(c.queue) == 0 {
		c.recorded = append(c.recorded, make([]int16, audio.Samples)...)
		return
	}
	for b := c.queue[0]; len(b) > 0; b = b[2:] {
		c.recorded = append(c.recorded, int16(binary.LittleEndian.Uint16(b)))
	}
	c.queue, c.sent = c.queue[1:], c.sent+1
	c.stir()
}

func (c *call) stir() {
	close(c.moved)
	c.moved = make(chan struct{})
}

var errFull = errors.New("more than ten frames are ahead")

func (c *call) Say(_ context.Context, opus []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 10 {
		return errFull
	}
	c.queue = append(c.queue, append([]byte(nil), opus...))
	return nil
}

func (c *call) Hush() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.queue)
	c.queue = nil
	c.stir()
	return n
}

func (c *call) Sent() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}

func (c *call) Moved() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved
}

func (c *call) Over() <-chan struct{} { return c.over }

// record returns what was sent so far.
func (c *call) record() []int16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recorded[:len(c.recorded):len(c.recorded)]
}

func (c *call) hold(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = on
}

// A stage is a voice in a call, with a real codec client.
type stage struct {
	*discord.Voice
	coder *plain
	call  *call
	opus  *codec.Opus
	in    bool // whether it is in the room
	stop  context.CancelFunc
	all   sync.WaitGroup
}

// play opens a stage in a bubble.
func play(t *testing.T, v playback.Voice, p *plain) *stage {
	return (&stage{Voice: discord.NewVoice(v), coder: p}).again(t)
}

// again puts the same voice, which is in no call, into another one.
func (of *stage) again(t *testing.T) *stage {
	s := &stage{Voice: of.Voice, coder: of.coder, call: newCall()}
	s.opus = codec.NewOpus(codec.OpusConfig{Dial: s.coder.dialer(), Encoded: s.Encoded})
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	s.all.Go(func() { s.call.run(ctx) })
	s.all.Go(func() {
		for ctx.Err() == nil {
			s.opus.Run(ctx)
			time.Sleep(300 * time.Millisecond) // the supervisor waits before it restarts, too
		}
	})
	s.all.Go(func() {
		s.Run(ctx, s.call, s.opus, func(earshot.Outlet) func() {
			s.in = true
			return func() { s.in = false }
		})
	})
	synctest.Wait()
	return s
}

func (s *stage) close() {
	s.stop()
	s.all.Wait()
}
