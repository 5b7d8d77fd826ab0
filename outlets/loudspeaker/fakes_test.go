package loudspeaker_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/sound"
	"earshot/models/tts"
	"earshot/outlets/loudspeaker"
)

const (
	perWord = audio.Rate / 10 // samples of a word, which lasts 100 ms
	credit  = audio.Rate / 5  // samples that the device takes ahead
)

// A voice says each word in 100 ms. The samples of a word are its number, counted from 1 over
// everything it ever said.
type voice struct {
	takes   time.Duration // before the first sound of a clause
	failsAt int           // the number of the word; 0 is never
	silent  bool          // it reports no words

	mu   sync.Mutex
	said []string // the words so far
	left int      // how often the caller left the loop early
}

var errVoice = errors.New("the voice broke")

func (v *voice) Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error] {
	return func(yield func(tts.Chunk, error) bool) {
		if v.takes > 0 {
			select {
			case <-time.After(v.takes):
			case <-ctx.Done():
			}
		}
		pcm := make([]int16, perWord/2)
		at := 0
		for i, word := range strings.Fields(spoken) {
			if ctx.Err() != nil {
				yield(tts.Chunk{}, ctx.Err())
				return
			}
			number := v.count(word)
			if number == v.failsAt {
				yield(tts.Chunk{}, errVoice)
				return
			}
			at += strings.Index(spoken[at:], word)
			chunk := tts.Chunk{PCM: pcm, Words: []tts.Word{{Byte: at, Sample: i * perWord}}}
			if v.silent {
				chunk.Words = nil
			}
			at += len(word)
			for range perWord / len(pcm) {
				for j := range pcm {
					pcm[j] = int16(number)
				}
				if !yield(chunk, nil) {
					v.leave()
					return
				}
				chunk.Words = nil
			}
		}
	}
}

// A fickle voice comes and goes.
type fickle struct {
	voice

	here    bool
	changed chan struct{}
}

func (v *fickle) Ready() (bool, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.here, v.changed
}

func (v *fickle) Rate() int { return audio.Rate }

func (v *fickle) set(here bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.changed)
	v.here, v.changed = here, make(chan struct{})
}

func (v *voice) count(word string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.said = append(v.said, word)
	return len(v.said)
}

func (v *voice) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.left++
}

// words returns how many words were made into sound so far.
func (v *voice) words() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.said)
}

// A player plays in real time, 20 ms at a time, and keeps what it played. It must be made in the
// bubble in which it is used.
type player struct {
	lost chan struct{}

	mu     sync.Mutex
	err    error
	play   *playing
	told   []earshot.Control
	played []int16
	opened int
	closed int
}

func newPlayer() *player { return &player{lost: make(chan struct{})} }

func (p *player) open(ctx context.Context, device string, volume float64) (loudspeaker.Player, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened++
	if p.err != nil {
		return nil, p.err
	}
	return p, ctx.Err()
}

func (p *player) Lost() <-chan struct{} { return p.lost }

func (p *player) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *player) Close() {
	p.mu.Lock()
	play := p.play
	p.closed++
	p.mu.Unlock()
	if play != nil {
		play.end()
		<-play.still
	}
}

var errUnplugged = errors.New("the loudspeaker was unplugged")

// unplug makes the player lose its device.
func (p *player) unplug() {
	p.mu.Lock()
	p.err = errUnplugged
	play := p.play
	p.mu.Unlock()
	close(p.lost)
	if play != nil {
		play.end()
	}
}

func (p *player) Play(_ int, moved func(sound.Position)) (loudspeaker.Playing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, p.err
	}
	if p.play != nil && !p.play.over() {
		return nil, sound.ErrBusy
	}
	p.play = &playing{of: p, moved: moved, changed: make(chan struct{}, 1), still: make(chan struct{}), ended: make(chan struct{})}
	go p.play.run()
	return p.play, nil
}

// heard returns how many samples of each word were played, by the number of the word.
func (p *player) heard() (samples map[int]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	samples = make(map[int]int)
	for _, s := range p.played {
		samples[int(s)]++
	}
	return samples
}

type playing struct {
	of      *player
	moved   func(sound.Position)
	changed chan struct{} // wakes Write; of capacity 1
	ended   chan struct{}
	once    sync.Once
	still   chan struct{} // closed when run has returned

	mu       sync.Mutex
	queue    []int16
	at       int64
	paused   bool
	finished bool
}

func (p *playing) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *playing) end() { p.once.Do(func() { close(p.ended) }) }

func (p *playing) run() {
	defer close(p.still)
	tick := time.NewTicker(audio.Time)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if p.step() {
				p.end()
			}
		case <-p.ended:
			p.mu.Lock()
			at := p.at
			p.mu.Unlock()
			p.moved(sound.Position{Samples: at, End: true})
			return
		}
	}
}

// step plays a block, and reports whether it was the last.
func (p *playing) step() (last bool) {
	p.mu.Lock()
	if p.paused || p.over() {
		p.mu.Unlock()
		return false
	}
	n := min(audio.Samples, len(p.queue))
	p.of.mu.Lock()
	p.of.played = append(p.of.played, p.queue[:n]...)
	p.of.mu.Unlock()
	p.queue = p.queue[n:]
	p.at += int64(n)
	at, last := p.at, p.finished && len(p.queue) == 0
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
	if n > 0 && !last {
		p.moved(sound.Position{Samples: at})
	}
	return last
}

func (p *playing) Write(ctx context.Context, pcm []int16) error {
	for {
		p.mu.Lock()
		n := min(len(pcm), credit-len(p.queue))
		p.queue = append(p.queue, pcm[:n]...)
		p.mu.Unlock()
		if pcm = pcm[n:]; len(pcm) == 0 {
			return nil
		}
		select {
		case <-p.changed:
		case <-p.ended:
			return sound.ErrOver
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *playing) Do(c earshot.Control) {
	p.of.mu.Lock()
	if !p.over() {
		p.of.told = append(p.of.told, c)
	}
	p.of.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch c {
	case earshot.Pause:
		p.paused = true
	case earshot.Resume, earshot.Duck:
		p.paused = false
	case earshot.Cut:
		p.end()
	}
}

func (p *playing) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
}
