package room

import (
	"sync"
	"time"

	"earshot"
)

const (
	// fades is how long a voice is taken to last of which nothing more comes: a sense
	// that dies says no goodbye.
	fades = 10 * time.Second

	// maxStirring bounds who is known to type or speak: more than that is a fault.
	maxStirring = 256
)

// A stir is who is about to say something: who types, and whose voice can be heard.
// It is told by the senses, at once. The zero value is still.
type stir struct {
	mu     sync.Mutex
	typing map[terminal]bool
	voices map[earshot.Handle]time.Time // when each was heard last
	last   time.Time                    // when anybody was
}

// A terminal is one of somebody's.
type terminal struct {
	who earshot.Handle
	via string
}

// note takes in what happened at now, and reports whether somebody is still who was
// not.
func (s *stir) note(e earshot.Event, now time.Time) (stills bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := terminal{e.From, e.Via}
	switch body := e.Body.(type) {
	case earshot.Typing:
		stills = s.typing[at] && !body.Began
		s.types(at, body.Began)
	case earshot.Message:
		s.types(at, false)
		if e.Visibility.Scope != earshot.Private { // which is nobody else's business
			s.last = now
		}
	case earshot.Presence:
		stills = s.typing[at]
		s.types(at, false)
	case earshot.Speech:
		stills = body.Stage == earshot.VoiceOver
		s.sounds(e.From, now, !stills)
	case earshot.Utterance:
		s.sounds(e.From, now, false)
		s.last = now
	}
	return stills
}

func (s *stir) types(at terminal, does bool) {
	if s.typing == nil {
		s.typing = make(map[terminal]bool)
	}
	if !does {
		delete(s.typing, at)
	} else if len(s.typing) < maxStirring {
		s.typing[at] = true
	}
}

func (s *stir) sounds(who earshot.Handle, now time.Time, does bool) {
	if s.voices == nil {
		s.voices = make(map[earshot.Handle]time.Time)
	}
	if !does {
		delete(s.voices, who)
	} else if len(s.voices) < maxStirring {
		s.voices[who] = now
	}
}

// is returns whether somebody types at now, and when somebody was last heard: now,
// if somebody is.
func (s *stir) is(now time.Time) (types bool, heard time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	heard = s.last
	for who, at := range s.voices {
		if now.Sub(at) >= fades {
			delete(s.voices, who)
			continue
		}
		heard = now
	}
	return len(s.typing) > 0, heard
}
