package speakers

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"earshot"
)

// Name records whose voice it is, until the program ends. Nothing is kept. An empty who removes the
// name of a voice that is not kept.
func (b *Registry) Name(h earshot.Handle, who earshot.ParticipantID, said Attestation) (Change, error) {
	return b.change(said, func(s *state) (Change, error) {
		v, err := s.edit(h)
		if err != nil {
			return Change{}, err
		}
		if v.agreed && v.who != who {
			return Change{}, errOthers
		}
		c := Change{Act: Named, Voice: v.handle(), Who: who, Was: v.who, Said: said}
		v.who = who
		if !v.agreed {
			v.said = said
		}
		return c, nil
	})
}

// Enrol keeps the print of somebody's voices, as one voice, with that person's consent. The
// attestation records who has given the consent, or attests to it, and when. Enrol refuses voices
// of which too little was heard, and a voice like the agent's own. What was kept of the person
// before stays, and counts too.
func (b *Registry) Enrol(who earshot.ParticipantID, consent Attestation, voices ...earshot.Handle) (Change, error) {
	return b.change(consent, func(s *state) (Change, error) {
		if who == "" || len(voices) == 0 {
			return Change{}, errors.New("name the person and the voice to keep; see: earshot speakers")
		}
		if len(who) > whoBytes || len(consent.By) > whoBytes {
			return Change{}, errors.New("the name of the participant is too long")
		}
		v, err := s.gather(who, voices)
		if err != nil {
			return Change{}, err
		}
		if v.heard() > 0 && s.own.heard() > 0 && s.estimateOffsets().both(v, &s.own) >= one {
			return Change{}, errOwn
		}
		if missing := b.set().Enrol.Duration() - v.heard(); missing > 0 {
			return Change{}, fmt.Errorf("too little of this voice was heard; let them talk for %.0f more seconds", max(1, missing.Seconds()))
		}
		c := Change{Act: Enrolled, Voice: v.handle(), Who: who, Was: v.who, Said: consent}
		v.who, v.said, v.agreed = who, consent, true
		v.kept, v.live = v.prints(), nil
		return c, nil
	})
}

// gather makes one voice from the given ones and from what is kept of somebody.
func (s *state) gather(who earshot.ParticipantID, voices []earshot.Handle) (*voice, error) {
	for _, v := range s.of(who) {
		if v.agreed {
			voices = append([]earshot.Handle{v.handle()}, voices...)
		}
	}
	var into *voice
	for _, h := range voices {
		v, err := s.edit(h)
		switch {
		case err != nil:
			return nil, err
		case v.who != "" && v.who != who:
			return nil, errOthers
		case into == nil:
			into = v
		case into.id != v.id:
			into, err = s.edit(into.handle())
			if err != nil {
				return nil, err
			}
			s.merge(into, v)
		}
	}
	return into, nil
}

// Teach records that the utterance that began at a time was somebody's, as they or others say. What
// was learnt from the utterance moves to that person's voice, in memory. Nobody's voice learns from
// sound that was like the agent's own.
func (b *Registry) Teach(began time.Time, who earshot.ParticipantID, said Attestation) (Change, error) {
	return b.change(said, func(s *state) (Change, error) {
		heard := b.sample(began)
		if heard == nil || who == "" {
			return Change{}, errors.New("the sound of that is no longer remembered; say whose voice it was soon after you hear it")
		}
		if s.matchVoices(heard.print, began).best == &s.own {
			return Change{}, errOwn
		}
		v, i := s.learnt(began)
		switch {
		case v != nil && v.who == who:
			return Change{Act: Named, Voice: v.handle(), Who: who, Was: who, Said: said}, nil
		case v != nil && v.who == "" && len(s.of(who)) == 0:
			v, _ = s.edit(v.handle())
			v.who, v.said = who, said
			return Change{Act: Named, Voice: v.handle(), Who: who, Said: said}, nil
		}
		c := Change{Act: Taught, Who: who, Said: said, Moved: []time.Time{began}}
		if v != nil {
			v, _ = s.edit(v.handle())
			v.unlearn(i)
			c.Other, c.Was = v.handle(), v.who
		}
		to := b.belongs(s, who, said)
		to.learn(*heard)
		c.Voice = to.handle()
		return c, nil
	})
}

// errOwn says that a voice is taken for the agent's own.
var errOwn = errors.New("that sounds like the agent's own voice, which belongs to nobody")

// sample returns what was heard at a time, or nil.
func (b *Registry) sample(began time.Time) *sample {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.recent, func(s sample) bool { return s.at.Equal(began) })
	if i < 0 {
		return nil
	}
	s := b.recent[i]
	return &s
}

// learnt returns the voice that has learnt from the utterance at a time, and the index of that
// sample.
func (s *state) learnt(began time.Time) (*voice, int) {
	for _, v := range s.voices {
		if i := slices.IndexFunc(v.recent, func(s sample) bool { return s.at.Equal(began) }); i >= 0 {
			return v, i
		}
	}
	return nil, -1
}

// belongs returns a voice of somebody that may be changed. If there is none, it begins one.
func (b *Registry) belongs(s *state, who earshot.ParticipantID, said Attestation) *voice {
	if all := s.of(who); len(all) > 0 {
		v, _ := s.edit(all[0].handle())
		return v
	}
	v := b.begin(s)
	v.who, v.said = who, said
	return v
}

// unlearn removes what v has learnt from one sample, by learning the other samples anew.
func (v *voice) unlearn(i int) {
	rest := slices.Delete(slices.Clone(v.recent), i, i+1)
	v.live, v.recent, v.spoken = nil, nil, 0
	for _, s := range rest {
		v.learn(s)
	}
}
