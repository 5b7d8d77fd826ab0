package stt

import (
	"slices"
	"sync"
	"time"

	"earshot/internal/audio"
)

// A Session is one utterance that is being recognised. Its methods may be called
// from many goroutines; after Cancel or the final result they do nothing.
type Session struct {
	r *Recogniser

	telling sync.Mutex // held while on is called
	on      func(Result)

	// Under the recogniser's mutex:
	pcm      []int16
	ended    time.Time   // when it was complete; zero while it is not
	died     int         // helpers, while they heard it
	over     bool        // its final result was reported, or nobody wants it
	busy     bool        // there were too many before it
	patience *time.Timer // calls late
	deadline time.Time   // when it does so; zero is never
}

// Begin begins an utterance. On receives interim results, and then exactly once the final result,
// from one goroutine at a time; never before Begin has returned. It may use the session.
func (r *Recogniser) Begin(on func(Result)) *Session {
	s := &Session{r: r, on: on, pcm: make([]int16, 0, samplesIn(Longest))}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions, r.used = append(r.sessions, s), time.Now()
	s.busy = len(r.sessions) > most
	s.patience = time.AfterFunc(slow, s.late)
	s.arm()
	return s
}

// Feed adds a frame to the utterance. It does not block.
func (s *Session) Feed(f *audio.Frame) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if !s.ended.IsZero() || s.over || len(s.pcm)+len(f.PCM) > cap(s.pcm) {
		return
	}
	s.pcm = append(s.pcm, f.PCM[:]...)
	s.r.poke()
}

// End says that the utterance is complete. The final result follows, within a tenth of a second on
// most machines. On any machine it follows within twenty seconds, and as many again while a helper
// loads.
func (s *Session) End() {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if !s.ended.IsZero() || s.over {
		return
	}
	s.ended = time.Now()
	s.arm()
	s.r.poke()
}

// Cancel says that no result is wanted any more. A call of on that is running still finishes.
func (s *Session) Cancel() {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.leave()
}

// arm sets when the session's patience ends: never while it listens, soon after that if there is
// no helper, late if there is one that has yet to load or to finish it. If there has been none for
// long, at once.
func (s *Session) arm() {
	now := time.Now()
	switch {
	case s.busy:
		s.deadline = now
	case s.ended.IsZero():
		s.deadline = time.Time{}
		s.patience.Stop()
		return
	case s.r.life != nil:
		s.deadline = now.Add(slow)
	case !s.r.loaded.IsZero():
		s.deadline = s.r.loaded
	default:
		s.deadline = slices.MinFunc([]time.Time{s.ended, s.r.since.Add(hopeless)}, time.Time.Compare).Add(away)
	}
	s.patience.Reset(max(0, s.deadline.Sub(now)))
}

// late ends the session when its patience does.
func (s *Session) late() {
	s.r.mu.Lock()
	if s.over || s.deadline.IsZero() || time.Now().Before(s.deadline) { // it was armed anew meanwhile
		s.r.mu.Unlock()
		return
	}
	err := ErrAway
	if s.busy || s.r.life != nil {
		err = ErrBusy
	}
	if l := s.r.life; l != nil && l.hears(s) {
		l.kill(errSilent)
	}
	s.r.mu.Unlock()
	s.finish(Result{Final: true, Err: err})
}

// tell reports an interim result.
func (s *Session) tell(res Result) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.r.mu.Lock()
	over := s.over
	s.r.mu.Unlock()
	if !over {
		s.on(res)
	}
}

// finish reports the final result, if there was none.
func (s *Session) finish(res Result) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.r.mu.Lock()
	over := s.over
	s.leave()
	s.r.mu.Unlock()
	if !over {
		s.on(res)
	}
}

// suspect reports whether the helper must not die on s once more. It is then heard alone, so that
// nobody else's words are given up with it.
func (s *Session) suspect() bool { return s.died == deadly-1 }

// leave ends the session.
func (s *Session) leave() {
	if s.over {
		return
	}
	s.over = true
	s.patience.Stop()
	s.unlist()
	s.r.poke()
}

// unlist makes room for the next session, and overwrites the sound.
func (s *Session) unlist() {
	r := s.r
	r.used = time.Now()
	r.sessions = slices.DeleteFunc(r.sessions, func(other *Session) bool { return other == s })
	clear(s.pcm)
	s.pcm = nil
}
