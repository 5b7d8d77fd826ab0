// Package activity tracks who is about to say something in a room: who is typing, and whose voice
// can be heard.
package activity

import (
	"maps"
	"time"

	"earshot"
	"earshot/internal/lockorder"
)

const (
	// VoiceExpiry is how long a voice counts as speaking without further reports: a sense that dies
	// reports no end.
	VoiceExpiry = 10 * time.Second

	// leaves is how long somebody counts as typing after their last key. After that, they have
	// abandoned the line. A terminal reports further keys within ten seconds.
	leaves = 2 * time.Minute

	// MaxPeople is how many people may be known to type or speak; more would be a fault.
	MaxPeople = 256
)

// A Tracker knows who is about to say something: who is typing, and whose voice can be heard. The
// senses report that to it at once. Its zero value knows of nobody.
type Tracker struct {
	mu     lockorder.Mutex[lockorder.Leaf]
	typing map[Terminal]time.Time       // when a key was last reported
	voices map[earshot.Handle]time.Time // when each was last heard
	last   map[earshot.Handle]time.Time // when each recently said something
	silent time.Time                    // since when nobody had spoken, before the present speakers
	over   chan struct{}                // closed when nobody speaks any more; nil if nobody waits for that
}

// A Terminal is one person's terminal.
type Terminal struct {
	Who earshot.Handle
	Via string
}

// Note takes in an event at now, and reports whether the owner must check it: somebody has begun to
// type, or has stopped speaking or typing.
func (s *Tracker) Note(e earshot.Event, now time.Time) (turns bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := Terminal{e.From, e.Via}
	_, typed := s.typing[at]
	switch body := e.Body.(type) {
	case earshot.Typing:
		turns = typed != body.Began
		s.types(at, now, body.Began)
	case earshot.Message:
		s.types(at, now, false)
		if e.Visibility.Scope != earshot.Private { // a private line concerns nobody else
			s.said(e.From, now)
		}
	case earshot.Presence:
		turns = typed
		s.types(at, now, false)
	case earshot.Speech:
		turns = body.Stage == earshot.VoiceOver
		if body.Stage != earshot.VoiceCalls { // a phrase such as "stop talking" is over when it is heard, and no end is reported
			s.sounds(e.From, now, !turns)
		}
	case earshot.Utterance:
		s.silent = Later(s.silent, e.At.Add(body.Lasted))
		s.sounds(e.From, now, false)
		s.said(e.From, now)
	}
	return turns
}

// said notes that somebody has said something, and forgets those who last did so long ago.
func (s *Tracker) said(who earshot.Handle, now time.Time) {
	maps.DeleteFunc(s.last, func(_ earshot.Handle, at time.Time) bool { return now.Sub(at) >= VoiceExpiry })
	if s.last == nil {
		s.last = make(map[earshot.Handle]time.Time)
	}
	if len(s.last) < MaxPeople {
		s.last[who] = now
	}
}

func (s *Tracker) types(at Terminal, now time.Time, does bool) {
	if s.typing == nil {
		s.typing = make(map[Terminal]time.Time)
	}
	if !does {
		delete(s.typing, at)
	} else if _, known := s.typing[at]; known || len(s.typing) < MaxPeople {
		s.typing[at] = now
	}
}

func (s *Tracker) sounds(who earshot.Handle, now time.Time, does bool) {
	if s.voices == nil {
		s.voices = make(map[earshot.Handle]time.Time)
	}
	if !does {
		delete(s.voices, who)
		s.hush()
	} else if len(s.voices) < MaxPeople {
		s.voices[who] = now
	}
}

// hush tells the waiting callers if nobody speaks any more. The caller holds s.mu.
func (s *Tracker) hush() {
	if len(s.voices) == 0 && s.over != nil {
		close(s.over)
		s.over = nil
	}
}

// Speaks reports whether anybody is speaking at now, and returns a channel that is closed when
// nobody is any more.
func (s *Tracker) Speaks(now time.Time) (over <-chan struct{}, speaks bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.voices, func(_ earshot.Handle, at time.Time) bool { return now.Sub(at) >= VoiceExpiry })
	s.hush()
	if len(s.voices) == 0 {
		return nil, false
	}
	if s.over == nil {
		s.over = make(chan struct{})
	}
	return s.over, true
}

// rests is how long a silence must be for the next words to count as a new beginning: pauses within
// what somebody has to say are shorter.
const rests = time.Second

// Rested reports whether no understood speech ended shortly before a voice began at a time.
func (s *Tracker) Rested(at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return at.Sub(s.silent) >= rests
}

// Says reports whether somebody's voice can be heard at now.
func (s *Tracker) Says(who earshot.Handle, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, heard := s.voices[who]
	return heard && now.Sub(at) < VoiceExpiry
}

// Recent returns whether somebody is typing at now, and when somebody was last heard: now, if
// somebody still is being heard. others is the same without those who match among.
func (s *Tracker) Recent(now time.Time, among func(earshot.Handle) bool) (types bool, heard, others time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.voices, func(_ earshot.Handle, at time.Time) bool { return now.Sub(at) >= VoiceExpiry })
	was := func(who earshot.Handle, at time.Time) {
		heard = Later(heard, at)
		if !among(who) {
			others = Later(others, at)
		}
	}
	for who, at := range s.last {
		was(who, at)
	}
	for who := range s.voices {
		was(who, now)
	}
	return s.typed(now), heard, others
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// typed reports whether somebody types at now. The caller holds s.mu.
func (s *Tracker) typed(now time.Time) bool {
	for _, at := range s.typing {
		if now.Sub(at) < leaves {
			return true
		}
	}
	return false
}

// ExpireTyping forgets those who have abandoned their line by now, and calls do with each.
// Meanwhile no key is taken in.
func (s *Tracker) ExpireTyping(now time.Time, do func(Terminal)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for where, at := range s.typing {
		if now.Sub(at) >= leaves {
			delete(s.typing, where)
			do(where)
		}
	}
}

// NextTypingExpiry returns when the first of those who are typing will count as having abandoned
// their line, if no further key comes; the zero time if nobody is typing.
func (s *Tracker) NextTypingExpiry() (first time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.typing {
		if end := at.Add(leaves); first.IsZero() || end.Before(first) {
			first = end
		}
	}
	return first
}

// About reports whether somebody types at now, and whether somebody speaks.
func (s *Tracker) About(now time.Time) (types, voice bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.voices {
		voice = voice || now.Sub(at) < VoiceExpiry
	}
	return s.typed(now), voice
}
