package scenetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"earshot"
	"earshot/speakers"
)

// voices are the voices of a scene. A print is a single number, which distinguishes them; 0 is the
// agent's own voice.
type voices struct {
	mu    sync.Mutex
	heard []speakers.Speaker
}

// Whose implements [hearing.Voices].
func (v *voices) Whose(is *earshot.Voice, began time.Time) speakers.Judgement {
	j := v.Guess(is, began)
	v.mu.Lock()
	defer v.mu.Unlock()
	if j.Speaker.ID != "" && v.find(j.Speaker) == nil {
		v.heard = append(v.heard, speakers.Speaker{Handle: j.Speaker, Number: int(is.Print[0])})
	}
	return j
}

// Guess implements [hearing.Voices].
func (v *voices) Guess(is *earshot.Voice, _ time.Time) speakers.Judgement {
	if is == nil || len(is.Print) != 1 {
		return speakers.Judgement{}
	}
	if is.Print[0] == 0 {
		return speakers.Judgement{Own: true, Sure: 0.9}
	}
	return speakers.Judgement{Speaker: earshot.Handle{Provider: "voice", ID: strconv.Itoa(int(is.Print[0]))}, Sure: 0.9}
}

// Speaker implements [hearing.Voices].
func (v *voices) Speaker(h earshot.Handle) (speakers.Speaker, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.find(h); s != nil {
		return *s, true
	}
	return speakers.Speaker{}, false
}

func (v *voices) find(h earshot.Handle) *speakers.Speaker {
	i := slices.IndexFunc(v.heard, func(s speakers.Speaker) bool { return s.Handle == h })
	if i < 0 {
		return nil
	}
	return &v.heard[i]
}

// Known implements [room.VoiceBook].
func (v *voices) Known() []speakers.Speaker {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.heard)
}

// Name implements [room.VoiceBook].
func (v *voices) Name(h earshot.Handle, who earshot.ParticipantID, said speakers.Attestation) (speakers.Change, error) {
	return v.change(h, func(s *speakers.Speaker) { s.Who, s.Said = who, said })
}

// Enrol implements [room.VoiceBook].
func (v *voices) Enrol(who earshot.ParticipantID, consent speakers.Attestation, all ...earshot.Handle) (speakers.Change, error) {
	return v.change(all[0], func(s *speakers.Speaker) { s.Who, s.Said, s.Kept = who, consent, true })
}

// Forget implements [room.VoiceBook].
func (v *voices) Forget(h earshot.Handle, _ speakers.Attestation) (speakers.Change, error) {
	return v.change(h, func(s *speakers.Speaker) { s.Who, s.Kept = "", false })
}

// Teach implements [room.VoiceBook]. Nothing is learnt in a scene.
func (v *voices) Teach(time.Time, earshot.ParticipantID, speakers.Attestation) (speakers.Change, error) {
	return speakers.Change{}, errors.New("nothing is learnt in a scene")
}

func (v *voices) change(h earshot.Handle, do func(*speakers.Speaker)) (speakers.Change, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.find(h)
	if s == nil {
		return speakers.Change{}, fmt.Errorf("%w: %s", speakers.ErrUnknown, h)
	}
	do(s)
	return speakers.Change{Act: speakers.Named, Voice: h, Who: s.Who, Said: s.Said}, nil
}
