package speakers

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"earshot"
)

// An Act is a kind of change.
type Act string

// The acts.
const (
	Named     Act = "named"     // Voice is Who's, or, if Who is empty, nobody's again
	Enrolled  Act = "enrolled"  // likewise, and it is kept
	Merged    Act = "merged"    // the former Other is now Voice
	Divided   Act = "split"     // part of the former Voice is now Other
	Taught    Act = "taught"    // an utterance is Voice's that was Other's; an empty one is nobody
	Forgotten Act = "forgotten" // Voice is no longer known
)

// A Change is a change of the owner of a voice.
type Change struct {
	Act   Act                   `json:"act"`
	Voice earshot.Handle        `json:"voice"`
	Other earshot.Handle        `json:"other,omitzero"`
	Who   earshot.ParticipantID `json:"who,omitempty"`   // the new owner of Voice, or for [Divided] of Other
	Was   earshot.ParticipantID `json:"was,omitempty"`   // the former owner of Voice
	Said  Attestation           `json:"said"`            // who says so; empty if the voices themselves showed it
	Moved []time.Time           `json:"moved,omitempty"` // the start times of the utterances that are now Other's; for [Taught], Voice's
	Undo  bool                  `json:"undo,omitempty"`  // it undoes another change
}

// mostPast is how many changes can be undone.
const mostPast = 16

// An undoRecord is what is needed to undo a change.
type undoRecord struct {
	change  Change
	before  []*voice // in their former state
	touched []string // IDs of the voices that have changed since
}

// change makes a change that somebody confirms to a copy of the state, writes what must be kept, and
// then replaces the state by the copy. If it returns both a change and an error, the change was made, but old content
// could not be erased.
func (b *Registry) change(said Attestation, make func(*state) (Change, error)) (Change, error) {
	b.changing.Lock()
	defer b.changing.Unlock()
	return b.alter(said, make)
}

// alter is change for callers that hold b.changing.
func (b *Registry) alter(said Attestation, make func(*state) (Change, error)) (Change, error) {
	if err := said.check(); err != nil {
		return Change{}, err
	}
	was, next := b.freeze()
	defer b.thaw()
	c, err := make(next)
	if err != nil {
		return Change{}, err
	}
	remains, err := b.keep(was, next)
	if err != nil {
		return Change{}, err
	}
	next.added = nil
	b.mu.Lock()
	next.own = b.is.own // it continues to be learnt meanwhile
	b.is = next
	b.remember(c, was)
	b.pending = append(b.pending, c)
	b.mu.Unlock()
	b.tell()
	return c, remains
}

// freeze stops learning about people until thaw, and returns the state with a copy of it.
func (b *Registry) freeze() (is, next *state) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.frozen = true
	return b.is, &state{voices: slices.Clone(b.is.voices), own: b.is.own}
}

// thaw ends what freeze began.
func (b *Registry) thaw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.frozen = false
}

// tell announces the changes that were not announced yet, in order.
func (b *Registry) tell() {
	b.telling.Lock()
	defer b.telling.Unlock()
	for {
		b.mu.Lock()
		if len(b.pending) == 0 {
			b.mu.Unlock()
			return
		}
		c := b.pending[0]
		b.pending = b.pending[1:]
		b.mu.Unlock()
		if b.cfg.Changed != nil {
			b.cfg.Changed(c)
		}
	}
}

// keep writes what must be kept, if that has changed. Once it is written, the change holds, even if
// the old content could not be erased; remains then says so.
func (b *Registry) keep(was, is *state) (remains, err error) {
	before, _ := format(was.voices)
	after, err := format(is.voices)
	if err != nil || bytes.Equal(before, after) {
		return nil, err
	}
	if b.path == "" {
		return nil, errors.New("voices cannot be kept now; see: earshot doctor")
	}
	if err := replace(b.path, after); err != nil {
		return nil, fmt.Errorf("writing the file of voices: %w", err)
	}
	if err := erase(b.path + oldEnd); err != nil {
		return fmt.Errorf("the change is made, but the old content of the file could not be overwritten; the next change tries again: %w", err), nil
	}
	return nil, nil
}

// remember makes a change undoable, or forgets the change that was undone.
func (b *Registry) remember(c Change, was *state) {
	if c.Undo {
		b.undoLog = b.undoLog[:len(b.undoLog)-1]
		return
	}
	p := undoRecord{change: c}
	for _, v := range was.voices {
		if !slices.Contains(b.is.voices, v) {
			p.before = append(p.before, v)
		}
	}
	for _, v := range b.is.voices {
		if !slices.Contains(was.voices, v) {
			p.touched = append(p.touched, v.id)
		}
	}
	if p.before == nil && p.touched == nil {
		return
	}
	b.undoLog = append(b.undoLog, p)
	if len(b.undoLog) > mostPast {
		b.undoLog = slices.Delete(b.undoLog, 0, 1)
	}
}

// edit returns a copy of a voice in s that may be changed without changing the original.
func (s *state) edit(h earshot.Handle) (*voice, error) {
	v := s.find(h)
	if v == nil {
		return nil, ErrUnknown
	}
	i := slices.Index(s.voices, v)
	s.voices[i] = v.clone()
	return s.voices[i], nil
}

// drop removes a voice.
func (s *state) drop(v *voice) {
	s.voices = slices.DeleteFunc(s.voices, func(o *voice) bool { return o == v })
}

// merge makes one voice part of another.
func (s *state) merge(into, from *voice) {
	for _, p := range from.prints() {
		into.live = add(into.live, p)
	}
	into.recent = append(into.recent, from.recent...)
	slices.SortStableFunc(into.recent, func(a, b sample) int { return a.at.Compare(b.at) })
	into.recent = into.recent[max(0, len(into.recent)-mostSamples):]
	into.known(append(slices.Clone(from.also), from.id)...)
	into.spoken += from.spoken
	if from.last.After(into.last) {
		into.last = from.last
	}
	s.drop(from)
}

// errOthers says that a voice already belongs to somebody else.
var errOthers = errors.New("that voice is somebody else's already; if that is wrong, undo it or forget that voice first: earshot speakers undo")
