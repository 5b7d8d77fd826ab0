package tts

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

const (
	// away is how long a text waits for a helper. One that died is back within
	// two seconds.
	away = 5 * time.Second

	// load is how long a helper may take to load its voice.
	load = 20 * time.Second

	// slow is how long it may take to the next sound. A voice makes sound twenty times faster than
	// it is heard, but on a busy machine a long number takes it many seconds, and a new helper
	// would take longer.
	slow = 20 * time.Second

	// tries is how often a text may kill the helper at the same place.
	tries = 3
)

// Errors of [Synthesiser.Say].
var (
	ErrAway  = errors.New("there is no voice")
	ErrFatal = errors.New("the voice crashed on it repeatedly")
)

// A Config says how a [Synthesiser] speaks.
type Config struct {
	Dial  helper.Dialer // starts the helper
	Voice string        // slt, rms, awb or kal16; "" is slt
	Speed float64       // 1 is the voice's own, 2 twice as fast; 0 is 1
	Log   *slog.Logger
}

// A Synthesiser says one text after the other. It may be used from many
// goroutines, before it runs and between its runs; each waits for its turn.
type Synthesiser struct {
	config Config
	turn   chan struct{} // its holder is the one who speaks

	mu      sync.Mutex
	life    *helperSession // nil if there is no helper
	rate    int            // of the last helper's sound, samples a second
	changed chan struct{}  // closed, and made new, when life changes
}

// New returns a synthesiser that speaks once it runs.
func New(cfg Config) *Synthesiser {
	if cfg.Voice == "" {
		cfg.Voice = "slt"
	}
	if cfg.Speed == 0 {
		cfg.Speed = 1
	}
	return &Synthesiser{config: cfg, turn: make(chan struct{}, 1), rate: audio.Rate, changed: make(chan struct{})}
}

// Run starts a helper and lives as long as it does. It returns nil when ctx ends, and otherwise
// why the helper ended: a [*helper.DeathError], or a [*helper.FaultError] if the helper knows the cause.
// It may be called again after it has returned, never twice at a time.
func (s *Synthesiser) Run(ctx context.Context) error {
	for {
		if err := s.live(ctx); !errors.Is(err, helper.ErrReplaced) {
			return err
		}
	}
}

// live starts a helper and lives as long as it does.
func (s *Synthesiser) live(ctx context.Context) error {
	link, err := s.config.Dial()
	if err != nil {
		return fmt.Errorf("starting the voice: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l := &helperSession{link: link, kill: stop, dead: make(chan struct{})}
	var loading helper.LoadTimer
	defer loading.Stop()
	var opening sync.WaitGroup
	opening.Go(func() {
		// The helper's end explains why sending failed.
		if link.Send(wire.OpenName, wire.OpenSay{Voice: s.config.Voice, Speed: s.config.Speed}) == nil {
			loading.Start(load, func() { stop(errSilent) })
		}
	})
	err = link.Run(ctx, helper.Handler{
		Control: func(c helper.Control) error { return s.control(c, l, &loading) },
		Sound:   func(m helper.Sound) error { return l.sound(ctx, m) },
	})
	stop(nil)
	opening.Wait()
	s.set(nil)
	close(l.dead)
	if silent := context.Cause(ctx); errors.Is(silent, errSilent) {
		return silent
	}
	return err
}

// errSilent is the reason for killing a helper that lives and does not speak.
var errSilent = errors.New("the voice did not answer and was killed")

// control handles the helper's messages.
func (s *Synthesiser) control(c helper.Control, l *helperSession, loading *helper.LoadTimer) error {
	switch c.Name {
	case wire.ReadyName:
		if !loading.Stop() {
			return fmt.Errorf("%w: ready twice", helper.ErrProtocol)
		}
		var err error
		if l.says, err = wire.DecodeReadySay(c); err != nil {
			return err
		}
		s.set(l)
		return nil
	case wire.FaultName:
		return helper.DecodeFault(c)
	}
	return fmt.Errorf("%w: %q", helper.ErrProtocol, c.Name)
}

// Ready reports whether there is a helper that speaks, and returns a channel that is closed when
// that changes.
func (s *Synthesiser) Ready() (ready bool, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life != nil, s.changed
}

// Rate returns the rate of the sound that is made now, in samples a second: that of the last helper.
func (s *Synthesiser) Rate() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rate
}

// set sets the current helper.
func (s *Synthesiser) set(l *helperSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l == s.life {
		return
	}
	s.life = l
	if l != nil {
		s.rate = l.says.Rate
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// wait returns the helper, once it is ready.
func (s *Synthesiser) wait(ctx context.Context) (*helperSession, error) {
	patience := time.NewTimer(away)
	defer patience.Stop()
	for {
		s.mu.Lock()
		l, changed := s.life, s.changed
		s.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-changed:
		case <-patience.C:
			return nil, ErrAway
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
