package speakers

import (
	"errors"
	"slices"

	"earshot"
)

// Forget erases a voice: in memory, and in the file with what was there before.
// It cannot be undone, and nothing before it can.
func (b *Book) Forget(h earshot.Handle, said Said) (Change, error) {
	c, err := b.change(func(s *state) (Change, error) {
		if err := said.check(); err != nil {
			return Change{}, err
		}
		v := s.find(h)
		if v == nil {
			return Change{}, ErrUnknown
		}
		s.drop(v)
		return Change{Act: Forgotten, Voice: v.handle(), Was: v.who, Said: said}, nil
	})
	if c.Act == "" {
		return c, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.past {
		for _, v := range p.before {
			if v.id == c.Voice.ID {
				v.erase()
			}
		}
	}
	b.past = nil
	if b.path != "" {
		err = errors.Join(err, eraseAside(b.path))
	}
	return c, err
}

// erase overwrites what is remembered of v, which is no other voice's.
func (v *voice) erase() {
	for _, p := range slices.Concat(v.kept, v.live) {
		clear(p.numbers)
	}
	for _, s := range v.recent {
		clear(s.numbers)
	}
}
