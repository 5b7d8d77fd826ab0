// Package loudspeaker is the outlet that says replies aloud. What was heard is
// what the device has played, to the word.
//
// What happens when a reader is slow, which the device always is: sound waits.
// At most 200 ms of it are ahead in the helper, and [ahead] and one clause here;
// whoever says a clause waits until it has been made into sound, which is not
// begun before. A control waits for nothing and overtakes all of it. Positions
// are told to whoever listens, from the goroutine that brings them.
package loudspeaker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"earshot"
	"earshot/internal/sound"
	"earshot/models/tts"
)

// A Voice makes sound of words. [tts.Synthesiser] is one.
type Voice interface {
	// Say yields the sound of what is said, printable ASCII, as it is made.
	// Ending ctx or leaving the loop ends it. An error comes once, last. It is
	// called from one goroutine at a time.
	Say(ctx context.Context, spoken string) iter.Seq2[tts.Chunk, error]
}

// A Fickle voice is not always there. It is optional; one that is not fickle
// is. [tts.Synthesiser] is one.
type Fickle interface {
	Voice

	// Ready reports whether it could speak now, and returns what is closed when
	// that changes. It does not block, and may be called from any goroutine.
	Ready() (ready bool, changed <-chan struct{})
}

// A Player is an open loudspeaker. [sound.Output] is one behind [OnCard].
type Player interface {
	// Play begins a speech. It calls moved, which does not block, with
	// positions that never go back, from one goroutine at a time; the last
	// has End set, exactly once.
	Play(moved func(sound.Position)) (Playing, error)

	// Lost is closed when the device is gone, and Err then says why.
	Lost() <-chan struct{}
	Err() error

	// Close returns when nothing is played any more.
	Close()
}

// A Playing is one speech on a [Player].
type Playing interface {
	// Write waits until pcm has been taken, the speech is over or ctx ends.
	Write(ctx context.Context, pcm []int16) error

	// Do neither blocks nor waits for what was written. It may be called from
	// any goroutine at any time.
	Do(earshot.Control)

	// Finish says that nothing more is written.
	Finish()
}

// An Open opens the loudspeaker of that name, or for "" the default one. It
// waits for one until ctx ends.
type Open func(ctx context.Context, device string, volume float64) (Player, error)

// OnCard returns how to open the loudspeakers of a card.
func OnCard(c *sound.Card) Open {
	return func(ctx context.Context, device string, volume float64) (Player, error) {
		o, err := c.Output(ctx, device, volume)
		if err != nil {
			return nil, err
		}
		return output{o}, nil
	}
}

type output struct{ *sound.Output }

func (o output) Play(moved func(sound.Position)) (Playing, error) {
	p, err := o.Output.Play(moved)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// ErrClosed is a speech where no loudspeaker is open.
var ErrClosed = errors.New("no loudspeaker is open")

// absence is how long a voice may be away before the loudspeaker leaves the room.
// One whose helper died is back within two seconds, and goes on where it was.
const absence = 3 * time.Second

// A Loudspeaker is the outlet. It is in the room while its device is open and it
// has a voice. Its methods may be called from any goroutine.
type Loudspeaker struct {
	cfg   Config
	open  Open
	voice Voice

	opening  sync.Mutex // held while one speech takes the place of another
	mu       sync.Mutex
	player   Player // nil while none is open
	last     *speech
	speeches sync.WaitGroup // their goroutines
}

// New returns the loudspeaker that cfg names. It opens nothing until it runs.
func New(cfg Config, open Open, voice Voice) *Loudspeaker {
	return &Loudspeaker{cfg: cfg, open: open, voice: voice}
}

// Name implements [earshot.Outlet].
func (l *Loudspeaker) Name() string { return "loudspeaker" }

// Audible implements [earshot.Audible].
func (l *Loudspeaker) Audible() bool { return true }

// Run opens the device and keeps the outlet in the room, while there is a voice,
// until the device is lost, which is the error, or ctx ends, which is none. It neither retries nor
// reports: a supervisor does both. When it returns, every speech has ended.
func (l *Loudspeaker) Run(ctx context.Context, enter func(earshot.Outlet) (leave func())) error {
	player, err := l.open(ctx, l.cfg.Device, l.cfg.Volume)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	l.mu.Lock()
	l.player = player
	l.mu.Unlock()
	l.attend(ctx, player.Lost(), enter)
	if ctx.Err() != nil {
		l.shut(player, true)
		return nil
	}
	l.shut(player, false)
	return cmp.Or(player.Err(), ErrClosed)
}

// attend keeps the outlet in the room while there is a voice, until ctx ends or
// the device is lost: a reply should not wait for one that will not come.
func (l *Loudspeaker) attend(ctx context.Context, lost <-chan struct{}, enter func(earshot.Outlet) (leave func())) {
	var leave func() // nil outside
	for {
		ready, changed := l.ready()
		var away <-chan time.Time
		switch {
		case ready && leave == nil:
			leave = enter(l)
		case !ready && leave != nil:
			away = time.After(absence)
		}
		select {
		case <-changed:
			continue
		case <-away:
			leave()
			leave = nil
			continue
		case <-ctx.Done():
		case <-lost:
		}
		if leave != nil {
			leave()
		}
		return
	}
}

// ready reports whether there is a voice, and returns what is closed when that
// changes.
func (l *Loudspeaker) ready() (bool, <-chan struct{}) {
	if v, ok := l.voice.(Fickle); ok {
		return v.Ready()
	}
	return true, nil
}

// shut closes the device, which cuts the speech on it unless the device is
// lost, and waits for the speeches.
func (l *Loudspeaker) shut(player Player, cut bool) {
	l.mu.Lock()
	l.player = nil
	last := l.last
	l.mu.Unlock()
	if last != nil && cut {
		last.Do(earshot.Cut)
	}
	player.Close()
	if last != nil {
		last.lost()
	}
	l.speeches.Wait()
}

// Open implements [earshot.Outlet]. A speech that is still going on is cut, and
// its end waited for.
func (l *Loudspeaker) Open(ctx context.Context, _ earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	l.opening.Lock()
	defer l.opening.Unlock()
	if err := l.hush(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.player == nil {
		return nil, ErrClosed
	}
	s, making, err := begin(ctx, l.player, heard)
	if err != nil {
		return nil, fmt.Errorf("speaking: %w", err)
	}
	l.last = s
	l.speeches.Go(func() { s.speak(making, l.voice) })
	l.speeches.Go(func() { s.write(making) })
	l.speeches.Go(func() {
		<-making.Done()
		s.Do(earshot.Cut)
	})
	return s, nil
}

// hush ends the last speech.
func (l *Loudspeaker) hush(ctx context.Context) error {
	l.mu.Lock()
	last := l.last
	l.mu.Unlock()
	if last == nil {
		return nil
	}
	last.Do(earshot.Cut)
	select {
	case <-last.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
