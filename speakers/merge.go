package speakers

import (
	"errors"
	"slices"
	"time"

	"earshot"
	"earshot/models/voiceprint"
)

// Merge records that two voices are one. They must not belong to two different people. A kept voice
// stays kept; Merge does not make a voice kept that is not.
func (b *Registry) Merge(into, from earshot.Handle, said Attestation) (Change, error) {
	return b.change(said, func(s *state) (Change, error) {
		v, err := s.edit(into)
		if err != nil {
			return Change{}, err
		}
		other, err := s.edit(from)
		switch {
		case err != nil:
			return Change{}, err
		case v.id == other.id:
			return Change{}, errors.New("these are one voice already")
		case v.who != "" && other.who != "" && v.who != other.who:
			return Change{}, errOthers
		}
		if other.agreed && !v.agreed {
			v, other = other, v
		}
		c := Change{Act: Merged, Voice: v.handle(), Other: other.handle(), Was: v.who, Said: said}
		v.take(other)
		s.merge(v, other)
		c.Who = v.who
		return c, nil
	})
}

// take gives v the owner of another voice, and what is kept of that voice.
func (v *voice) take(other *voice) {
	if v.who == "" {
		v.who, v.said = other.who, other.said
	}
	for _, p := range other.kept {
		v.kept = add(v.kept, p)
	}
	other.kept = nil
}

// Split records that a voice belongs to two people, and begins a new voice for the part that is
// less like the rest. The name stays with the original voice.
func (b *Registry) Split(h earshot.Handle, said Attestation) (Change, error) {
	return b.change(said, func(s *state) (Change, error) {
		v, err := s.edit(h)
		if err != nil {
			return Change{}, err
		}
		stays, goes := v.halves(s.estimateOffsets())
		if len(goes) == 0 {
			return Change{}, errors.New("too little of this voice is remembered to tell two apart; let them talk, and try again")
		}
		other := b.begin(s)
		c := Change{Act: Divided, Voice: v.handle(), Other: other.handle(), Was: v.who, Said: said}
		v.live, v.recent, v.spoken = nil, nil, 0
		for _, one := range stays {
			v.learn(one)
		}
		for _, one := range goes {
			other.learn(one)
			c.Moved = append(c.Moved, one.at)
		}
		return c, nil
	})
}

// halves divides what was heard of v in two. It begins with the two samples that are least alike,
// and adds every other sample to the nearer of these.
func (v *voice) halves(all channelOffsets) (stays, goes []sample) {
	a, b, least := 0, 0, 2.0
	for i, x := range v.recent {
		for j, y := range v.recent[:i] {
			if score := voiceprint.Score(all.centred(x.print), all.centred(y.print)); score < least {
				a, b, least = j, i, score
			}
		}
	}
	if a == b {
		return nil, nil
	}
	for _, x := range v.recent {
		c := all.centred(x.print)
		if voiceprint.Score(c, all.centred(v.recent[a].print)) >= voiceprint.Score(c, all.centred(v.recent[b].print)) {
			stays = append(stays, x)
		} else {
			goes = append(goes, x)
		}
	}
	if v.fits(all, stays) < v.fits(all, goes) {
		stays, goes = goes, stays
	}
	return stays, goes
}

// fits says how well samples match v: by comparing them with what is kept of v or, if nothing is,
// by how much sound they have.
func (v *voice) fits(all channelOffsets, samples []sample) float64 {
	var heard time.Duration
	var mean float64
	for _, s := range samples {
		heard += s.heard
		if len(v.kept) > 0 {
			kept := voice{kept: v.kept}
			mean += all.alike(s.print, all.centred(s.print), &kept) / float64(len(samples))
		}
	}
	if len(v.kept) > 0 {
		return mean
	}
	return heard.Seconds()
}

// Undo undoes the last change that can be undone. The forgetting of a voice cannot.
func (b *Registry) Undo(said Attestation) (Change, error) {
	return b.change(said, func(s *state) (Change, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.undoLog) == 0 {
			return Change{}, errors.New("there is nothing to undo")
		}
		return s.undo(b.undoLog[len(b.undoLog)-1], said), nil
	})
}

// undo restores what a change has replaced. Every voice gets its IDs back; IDs that were issued
// since then go to the first restored voice.
func (s *state) undo(p undoRecord, said Attestation) Change {
	var since []string
	s.voices = slices.DeleteFunc(s.voices, func(v *voice) bool {
		gone := slices.Contains(p.touched, v.id)
		if gone {
			since = append(since, v.ids()...)
		}
		return gone
	})
	for i, old := range p.before {
		v := old.clone()
		s.release(v.ids())
		since = slices.DeleteFunc(since, func(id string) bool { return slices.Contains(v.ids(), id) })
		s.voices = append(s.voices, v)
		if i == len(p.before)-1 {
			s.find(handleOf(p.before[0].id)).known(since...)
		}
	}
	return p.change.undone(said)
}

// release removes IDs from the voices that got them from a merger.
func (s *state) release(ids []string) {
	for i, v := range s.voices {
		if slices.ContainsFunc(v.also, func(id string) bool { return slices.Contains(ids, id) }) {
			s.voices[i] = v.clone()
			s.voices[i].also = slices.DeleteFunc(s.voices[i].also, func(id string) bool { return slices.Contains(ids, id) })
		}
	}
}

// undone returns the change that undoes c.
func (c Change) undone(said Attestation) Change {
	c.Said, c.Undo = said, true
	switch c.Act {
	case Merged:
		c.Act, c.Who, c.Was = Divided, "", c.Who
	case Divided:
		c.Act, c.Who = Merged, c.Was
	case Taught:
		c.Voice, c.Other, c.Who, c.Was = c.Other, c.Voice, c.Was, c.Who
	default:
		c.Act, c.Who, c.Was = Named, c.Was, c.Who
	}
	return c
}
