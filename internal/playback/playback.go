// Package playback is what outlets that speak have in common: it has a voice make
// sound of a reply, clause by clause, hands it to a device, and tells from the
// position of the device what was heard of the text, to the word.
//
// What happens when a reader is slow, which a device always is: sound waits. What a
// [Player] takes in advance is its own affair, a fifth of a second as a rule; [ahead]
// of it and one clause wait here; whoever says a clause waits until it has been made
// into sound, which is not begun before. A control waits for nothing and overtakes
// all of it. Positions are told to whoever listens, from the goroutine that brings
// them.
package playback

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
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

	// Rate returns the rate of its sound while it is there, in samples a second. It may change with
	// the voice, in the middle of a text, too. A voice that is not fickle has [audio.Rate].
	Rate() int
}

var _ Fickle = (*tts.Synthesiser)(nil) // else it would count as always there

// A Player is a device that is open, such as a loudspeaker or a call.
type Player interface {
	// Play begins a speech of sound at a rate, in samples a second. It calls
	// moved, which does not block, with positions that never go back, from one
	// goroutine at a time; the last has End set, exactly once.
	Play(rate int, moved func(sound.Position)) (Playing, error)

	// Lost is closed when the device is gone.
	Lost() <-chan struct{}

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

// ErrClosed is a speech where nothing is open to speak on.
var ErrClosed = errors.New("no output is open")

// absence is how long a voice may be away before the outlet leaves the room. One
// whose helper died is back within two seconds, and goes on where it was.
const absence = 3 * time.Second

// An Outlet says replies on a player, while it has one and a voice. What is left of
// an [earshot.Outlet] for whoever has one is its name. Its methods may be called from
// any goroutine.
type Outlet struct {
	voice Voice

	opening  sync.Mutex // held while one speech takes the place of another
	mu       sync.Mutex
	player   Player // nil while there is none
	last     *speech
	speeches sync.WaitGroup // their goroutines
}

// New returns an outlet with that voice and no player.
func New(voice Voice) *Outlet { return &Outlet{voice: voice} }

// Audible implements [earshot.Audible].
func (o *Outlet) Audible() bool { return true }

// Run has the player, and is in the room while there is a voice, until the player
// is lost or ctx ends. It calls enter for that, and what that returns. When it returns
// every speech has ended, and the player is closed. It is not called twice at a time.
func (o *Outlet) Run(ctx context.Context, player Player, enter func() (leave func())) {
	o.mu.Lock()
	o.player = player
	o.mu.Unlock()
	o.attend(ctx, player.Lost(), enter)
	o.shut(player, ctx.Err() != nil)
}

// attend keeps the outlet in the room while there is a voice, until ctx ends or
// the device is lost: a reply should not wait for one that will not come.
func (o *Outlet) attend(ctx context.Context, lost <-chan struct{}, enter func() (leave func())) {
	var leave func() // nil outside
	for {
		ready, changed := o.ready()
		var away <-chan time.Time
		switch {
		case ready && leave == nil:
			leave = enter()
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
func (o *Outlet) ready() (bool, <-chan struct{}) {
	if v, ok := o.voice.(Fickle); ok {
		return v.Ready()
	}
	return true, nil
}

// shut closes the device, which cuts the speech on it unless the device is
// lost, and waits for the speeches.
func (o *Outlet) shut(player Player, cut bool) {
	o.mu.Lock()
	o.player = nil
	last := o.last
	o.mu.Unlock()
	if last != nil && cut {
		last.Do(earshot.Cut)
	}
	player.Close()
	if last != nil {
		last.lost()
	}
	o.speeches.Wait()
}

// Open implements [earshot.Outlet]. A speech that is still going on is cut, unless
// it is protected, and its end waited for.
func (o *Outlet) Open(ctx context.Context, opening earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	o.opening.Lock()
	defer o.opening.Unlock()
	if err := o.hush(ctx); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.player == nil {
		return nil, ErrClosed
	}
	rate := audio.Rate
	if v, ok := o.voice.(Fickle); ok {
		rate = v.Rate()
	}
	s, making, err := begin(ctx, o.player, rate, heard)
	if err != nil {
		return nil, fmt.Errorf("speaking: %w", err)
	}
	s.protected = opening.Protected
	o.last = s
	o.speeches.Go(func() { s.speak(making, o.voice) })
	o.speeches.Go(func() { s.write(making) })
	o.speeches.Go(func() {
		<-making.Done()
		s.Do(earshot.Cut)
	})
	return s, nil
}

// hush ends the last speech, or waits for its end.
func (o *Outlet) hush(ctx context.Context) error {
	o.mu.Lock()
	last := o.last
	o.mu.Unlock()
	if last == nil {
		return nil
	}
	if !last.protected {
		last.Do(earshot.Cut)
	}
	select {
	case <-last.over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
