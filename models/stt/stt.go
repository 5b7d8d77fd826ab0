// Package stt turns speech into words. It is the daemon's side of the role hear
// of earshot-speech; recognition itself happens in that process, which may die
// at any time without a word being lost.
//
// What happens when a reader is slow: callers that bring sound never wait. An open utterance is
// kept here, up to [Longest], and sent as fast as the helper takes it, again from its beginning if
// the helper died; the excess is cut off. Sound in which only phrases are sought is kept for a
// second and then dropped, the oldest first, counted and logged. The receiver of a result must
// return soon, since the next one waits.
package stt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/wire"
)

// Longest is how much of an utterance is recognised: the longest utterance of an ear, 30 s, and
// the second before it that it may add.
const Longest = 31 * time.Second

const (
	// away is how long an utterance waits for a helper to be started. One that
	// died is back within two seconds.
	away = 5 * time.Second

	// hopeless is how long there may be no helper before nobody waits for one any more: as long as
	// a supervisor waits at most.
	hopeless = 30 * time.Second

	// deadly is how many helpers may die while they hear one utterance. Then it
	// is the utterance that kills them.
	deadly = 3

	// slow is how long a helper may take to load its models, and how long to finish an utterance.
	// Thirty seconds of sound, sent again to a new helper on a slow machine, take it half of that.
	slow = 20 * time.Second

	// most is how many utterances may wait. They come one after another, so more than two mean a
	// helper that cannot keep up.
	most = 8
)

// Errors that end a session.
var (
	ErrAway = errors.New("there is no recogniser")
	ErrBusy = errors.New("the recogniser is too slow")
	ErrKill = errors.New("the recogniser crashed on it repeatedly")
)

// A Config says how a [Recogniser] hears.
type Config struct {
	Dial    helper.Dialer // starts the helper
	Names   []string      // that people may call, to be recognised better; also sought
	Phrases []string      // to be sought by [Recogniser.Spot]
	Log     *slog.Logger

	// On receives each phrase that was found, from one goroutine. It may be nil, and should return
	// soon.
	On func(Phrase)
}

// seeks reports whether phrase is one of those that are sought, in whatever
// letters.
func (c Config) seeks(phrase earshot.Text) bool {
	is := func(s string) bool { return strings.EqualFold(s, string(phrase)) }
	return slices.ContainsFunc(c.Names, is) || slices.ContainsFunc(c.Phrases, is)
}

// A Phrase is one that was sought and found.
type Phrase struct {
	Text earshot.Text // as in the Config
	At   time.Time    // when it had been said
}

// A Result is what was recognised in an utterance.
type Result struct {
	Text       earshot.Text  // from its beginning; the next may revise it
	Heard      time.Duration // how much of the utterance it is based on; 0 is unknown
	Lag        time.Duration // how long after they were said words may come; 0 is at once
	Confidence float64       // in the words, 0 to 1; only if Final
	Final      bool          // it is the last of its session
	Err        error         // why there is none; only if Final
}

// A Recogniser recognises one utterance after another. It may be used from many goroutines, before
// it runs and between its runs.
type Recogniser struct {
	config Config

	mu       sync.Mutex
	sessions []*Session     // in the order in which they began; the first is being heard, or several are
	life     *helperSession // of the helper; nil if there is none
	since    time.Time      // when there was none
	loaded   time.Time      // deadline of the one that is loading; zero if none is
	used     time.Time      // when a session began or was over
	means    []float32      // what the last helper had learned about the microphone
	ready    wire.ReadyHear // how the last helper heard
	spots    phraseFrames
}

// New returns a recogniser that hears once it runs.
func New(cfg Config) *Recogniser {
	if cfg.On == nil {
		cfg.On = func(Phrase) {}
	}
	return &Recogniser{config: cfg, since: time.Now(), spots: phraseFrames{frames: make([]spot, 0, mostSpots)}}
}

// Run starts a helper and lives as long as it does. It returns nil when ctx ends, and otherwise
// why the helper ended: a [*helper.DeathError], or a [*helper.FaultError] if the helper knows the cause.
// It may be called again after it has returned, never twice at a time.
func (r *Recogniser) Run(ctx context.Context) error {
	for {
		if err := r.live(ctx); !errors.Is(err, helper.ErrReplaced) {
			return err
		}
	}
}

// live starts a helper and lives as long as it does.
func (r *Recogniser) live(ctx context.Context) error {
	link, err := r.config.Dial()
	if err != nil {
		return fmt.Errorf("starting the recogniser: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l := &helperSession{r: r, link: link, kill: stop, more: make(chan struct{}, 1)}
	defer l.load.Stop()
	var sending sync.WaitGroup
	sending.Go(func() { l.send(ctx) })
	err = link.Run(ctx, helper.Handler{
		Control: func(c helper.Control) error { return l.control(c) },
		Sound:   func(helper.Sound) error { return fmt.Errorf("%w: it sent sound", helper.ErrProtocol) },
	})
	stop(nil)
	sending.Wait()
	for _, s := range r.lost() {
		s.finish(Result{Final: true, Err: ErrKill})
	}
	if silent := context.Cause(ctx); errors.Is(silent, errSilent) {
		return silent
	}
	return err
}

// errSilent is what a helper is killed for that lives and does not answer.
var errSilent = errors.New("the recogniser did not answer and was killed")

// loading notes that the helper l has been told what to load.
func (r *Recogniser) loading(l *helperSession) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life != nil { // it is ready
		return
	}
	l.load.Start(slow, func() { l.kill(errSilent) })
	r.loaded = time.Now().Add(slow)
	r.arm()
}

// found notes that the helper l is ready.
func (r *Recogniser) found(l *helperSession, ready wire.ReadyHear) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.life, r.ready, r.loaded = l, ready, time.Time{}
	r.arm()
	l.poke()
}

// lost notes that there is no helper any more, and returns the sessions that it may have died of,
// if it was one too many.
func (r *Recogniser) lost() (killers []*Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life != nil {
		r.since = time.Now()
		for _, h := range r.life.active {
			if h.of.over {
				continue
			}
			if h.of.died++; h.of.died >= deadly {
				killers = append(killers, h.of)
			}
		}
	}
	r.life, r.loaded = nil, time.Time{}
	r.spots.clear()
	r.arm()
	return killers
}

// Ready returns how the helper hears that there is, or the last one heard.
func (r *Recogniser) Ready() wire.ReadyHear {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ready
}

// Loaded reports whether there is a helper that is ready.
func (r *Recogniser) Loaded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life != nil
}

// arm sets when the patience of all sessions ends.
func (r *Recogniser) arm() {
	for _, s := range r.sessions {
		s.arm()
	}
}

// poke tells the helper, if there is one, that there is something to send.
func (r *Recogniser) poke() {
	if r.life != nil {
		r.life.poke()
	}
}

// samplesIn is how many samples d holds.
func samplesIn(d time.Duration) int { return int(d * audio.Rate / time.Second) }

// lasts is how long n samples last.
func lasts(n int) time.Duration { return time.Duration(n) * time.Second / audio.Rate }
