package speakers

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"earshot"
)

// Forget erases a voice in memory, and in the file together with its old content. Neither Forget
// nor any change before it can then be undone.
func (b *Registry) Forget(h earshot.Handle, said Attestation) (Change, error) {
	b.changing.Lock()
	defer b.changing.Unlock() // until nothing is left that could be undone
	var ids []string
	c, err := b.alter(said, func(s *state) (Change, error) {
		v := s.find(h)
		if v == nil {
			return Change{}, ErrUnknown
		}
		ids = v.ids()
		s.drop(v)
		return Change{Act: Forgotten, Voice: v.handle(), Was: v.who, Said: said}, nil
	})
	if c.Act == "" {
		return c, err
	}
	if b.path != "" {
		err = errors.Join(err, eraseAside(b.path))
	}
	b.wipe(ids)
	return c, err
}

// ForgetAside erases the files that were set aside because they were damaged: it is not known whose
// voices they contain.
func (b *Registry) ForgetAside() error {
	b.changing.Lock()
	defer b.changing.Unlock()
	if b.path == "" {
		return nil
	}
	return eraseAside(b.path)
}

// Aside returns the files of voices that were set aside in a directory.
func Aside(dir string) []string {
	there, _ := os.ReadDir(dir) // what could be read, even if there is an error
	var all []string
	for _, f := range there {
		if setAside(f.Name()) {
			all = append(all, filepath.Join(dir, f.Name()))
		}
	}
	return all
}

// wipe overwrites what is remembered of a voice outside the list of voices.
func (b *Registry) wipe(ids []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.undoLog {
		p.erase(ids)
	}
	b.undoLog = nil
	for _, s := range b.recent { // it is not remembered to whom each of these belonged
		clear(s.numbers)
	}
	b.recent = nil
}

// erase overwrites what the undo record holds of a voice.
func (p undoRecord) erase(ids []string) {
	for _, v := range p.before {
		if slices.Contains(ids, v.id) {
			v.erase()
		}
	}
}

// erase overwrites what is remembered of v and is not shared with another voice.
func (v *voice) erase() {
	for _, p := range slices.Concat(v.kept, v.live) {
		clear(p.numbers)
	}
	for _, s := range v.recent {
		clear(s.numbers)
	}
}
