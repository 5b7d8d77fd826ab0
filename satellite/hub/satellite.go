package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/internal/helper"
	"earshot/internal/mailbox"
	"earshot/internal/sound"
	"earshot/satellite"
)

// Why a session ends, besides what a helper dies of.
var (
	errAgain   = errors.New("it joined again")
	errRemoved = errors.New("it was removed")
)

// A SatelliteConfig is what a satellite is made of. Its functions must not wait.
type SatelliteConfig struct {
	ID string

	// Welcome returns what it is told when it asks to join: its room, or why it is refused; or nothing, if
	// another hub is to answer. The session is filled in.
	Welcome func() satellite.Welcome

	Tell   func(text string) // tells the people in its room something
	Joined func()            // it is there; may be nil
}

// A Satellite is one that may join. Its methods may be called from many goroutines.
type Satellite struct {
	Card *sound.Card // its microphone and loudspeaker

	cfg     SatelliteConfig
	hub     *Hub
	speaker uint32       // its number in the decoder
	joins   chan request // the last that is not served yet

	old, repeated, forged, lost atomic.Int64 // counts; see State

	muted  mailbox.Notifier // of what Mode returns
	camera mailbox.Notifier // of what CameraMode returns

	mu     sync.Mutex
	link   *link // while it is there
	state  State
	unable bool            // people were told, in this session, that it does not recognise speech any more
	told   time.Time       // of how it is, if that had been every [stateEvery]
	taken  clockReading    // of the last packet that was taken, in any session
	kept   *satellite.Keep // that it joined with; nil if it keeps none

	process, replaced string // that asked last, and whose session it ended
	duplicate         bool   // two processes of it run, and people were told
}

// A satellite may say how it is mostStates times in a row, as somebody who plays with a key does, and once each
// stateEvery in the long run, since people in its room are told.
const (
	mostStates = 30
	stateEvery = 10 * time.Second
)

// A request is one to join.
type request struct {
	satellite.Join
	respond func([]byte) error
	came    time.Time
}

// outdated is after how long nobody waits for the answer to a request any more.
const outdated = 4 * time.Second

// A State is how a satellite is, for people.
type State struct {
	Connected bool
	Since     time.Time // of that; zero if it was never there
	Muted     bool      // at its own machine
	Build     string    // of its program
	Camera    bool      // it has one

	Recognises bool // speech is recognised there

	Offset time.Duration // by which its clock is ahead
	Within time.Duration // by how much that may be wrong

	Old      int64 // messages of other sessions, or of utterances that were over
	Repeated int64 // packets that were not after the one before
	Forged   int64 // packets with an impossible time, and impossible words
	Lost     int64 // sessions that ended
}

// Remove ends the session, and the satellite cannot join any more.
func (s *Satellite) Remove() {
	s.hub.mu.Lock()
	if s.hub.all[s.cfg.ID] == s {
		delete(s.hub.all, s.cfg.ID)
	}
	s.hub.mu.Unlock()
	if l := s.current(); l != nil {
		l.end(errRemoved)
	}
	s.hub.opus.Forget(s.speaker)
}

// State returns how the satellite is.
func (s *Satellite) State() State {
	s.mu.Lock()
	is, l := s.state, s.link
	s.mu.Unlock()
	is.Old, is.Repeated, is.Forged, is.Lost = s.old.Load(), s.repeated.Load(), s.forged.Load(), s.lost.Load()
	if l != nil {
		is.Offset, is.Within = l.offset()
	}
	return is
}

// Mode returns [earshot.Muted] while the satellite is muted at its own machine, else [earshot.Live],
// and a channel that is closed when that changes, as [room.Room.Mode] does.
func (s *Satellite) Mode() (earshot.Mode, <-chan struct{}) {
	changed := s.muted.Changed()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.Muted {
		return earshot.Muted, changed
	}
	return earshot.Live, changed
}

// Run is one session: it waits until the satellite joins, and returns why the session ended, or nil when
// ctx has ended. It must not be called twice at a time. Inputs and outputs of Card wait for it.
func (s *Satellite) Run(ctx context.Context) error {
	err := s.Card.Run(ctx)
	if death, ok := errors.AsType[*helper.DeathError](err); ok { // it sends nothing, or plays nothing
		return &sessionError{s.cfg.ID, fmt.Errorf("%w: %w", helper.ErrHung, death.Err)}
	}
	return err
}

// offer takes a request to join. One that waits is outdated, and so is the session that runs; unless that has
// taken the place of the process that now asks again, so that two machines would do so by turns.
func (s *Satellite) offer(r request) {
	s.mu.Lock()
	old := s.link // before r is offered, or it might be the session of r
	twice := old != nil && r.Process != "" && r.Process == s.replaced
	news := twice && !s.duplicate
	switch {
	case twice:
		s.duplicate = true
	case old == nil:
		s.process, s.replaced, s.duplicate = r.Process, "", false
	case r.Process != s.process:
		s.process, s.replaced, s.duplicate = r.Process, s.process, false
	}
	s.mu.Unlock()
	if news {
		s.say("The satellite %s runs twice by the same code, and only the newer one is connected. End one, or pair one of the two machines by another name.", s.cfg.ID)
	}
	if twice {
		answer(r.respond, satellite.Welcome{Problem: "another earshot satellite has the same code, and is connected", Cure: "end one of the two; of two machines, pair one anew: earshot satellite forget there, and earshot pair ANOTHER-NAME on the hub"})
		return
	}
	select {
	case <-s.joins:
	default:
	}
	select {
	case s.joins <- r:
	default: // another one came at this moment
	}
	if old != nil {
		old.end(errAgain)
	}
}

// current returns the link while the satellite is there, or nil.
func (s *Satellite) current() *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link
}

// await returns the next request to join that is not refused, or false when ctx ends.
func (s *Satellite) await(ctx context.Context) (request, satellite.Welcome, bool) {
	for {
		select {
		case r := <-s.joins:
			if time.Since(r.came) > outdated || !s.hub.connected(ctx, r.came.Add(outdated)) {
				continue
			}
			if w := s.cfg.Welcome(); w.Room != "" { // or it asks again, and is told
				return r, w, true
			}
		case <-ctx.Done():
			return request{}, satellite.Welcome{}, false
		}
	}
}

// connect records that the satellite is there by l, as it has said, or, if l is nil, that it is not.
func (s *Satellite) connect(l *link, as satellite.Join) {
	defer s.camera.Notify()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link = l
	s.state.Connected, s.state.Since, s.state.Recognises, s.unable = l != nil, time.Now(), false, false
	if l != nil {
		s.state.Build, s.state.Camera, s.kept = as.Build, as.Camera, as.Keep
		return
	}
	s.lost.Add(1)
}

// KeepReceipt implements [earshot.ReceiptHolder].
func (s *Satellite) KeepReceipt(r []byte) {
	s.mu.Lock()
	l, keeps := s.link, s.kept != nil
	s.mu.Unlock()
	if l != nil && keeps {
		_ = l.Send(satellite.SayKeep, satellite.Keep{Receipt: r}) // an error ends the session
	}
}

// TakeReceipt implements [earshot.ReceiptHolder].
func (s *Satellite) TakeReceipt() (had []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept != nil {
		had, s.kept.Receipt = s.kept.Receipt, nil
	}
	return had
}

// take takes in how the satellite says that it is.
func (s *Satellite) take(is satellite.State) error {
	now := time.Now()
	s.mu.Lock()
	if first := now.Add(-mostStates * stateEvery); s.told.Before(first) {
		s.told = first
	}
	s.told = s.told.Add(stateEvery)
	flood := s.told.After(now)
	s.mu.Unlock()
	if flood {
		return fmt.Errorf("%w: it says too often how it is", helper.ErrProtocol)
	}
	s.mute(is.Muted)
	s.recognise(is.Recognises)
	return nil
}

// mute records whether the satellite is muted at its machine, and tells people if that is news.
func (s *Satellite) mute(is bool) {
	s.mu.Lock()
	news := s.state.Muted != is
	s.state.Muted = is
	s.mu.Unlock()
	if !news {
		return
	}
	s.muted.Notify()
	s.camera.Notify()
	if is {
		s.say("The satellite %s was muted at its machine: it hears nothing.", s.cfg.ID)
	} else {
		s.say("The satellite %s is not muted any more.", s.cfg.ID)
	}
}

// recognise records whether the satellite can recognise speech, and tells people once that it fails.
func (s *Satellite) recognise(can bool) {
	s.mu.Lock()
	fails := s.state.Recognises && !can && !s.unable
	s.state.Recognises, s.unable = can, s.unable || fails
	s.mu.Unlock()
	if fails {
		s.say("The satellite %s cannot recognise speech at present: what it hears is recognised here.", s.cfg.ID)
	}
}

// say tells the people in its room something.
func (s *Satellite) say(format string, args ...any) { s.cfg.Tell(fmt.Sprintf(format, args...)) }
