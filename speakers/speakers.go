// Package speakers knows whose voices are heard. One [Registry] serves all rooms: it holds the
// enrolled voices, and groups the unnamed ones.
//
// "Unknown" is a frequent and honest answer: a voice that is like two others, or of which too
// little was heard, is attributed to nobody. And a voice proves nothing. It is easily played back,
// so nobody gets a right, or sees anything, because of it.
//
// Prints of voices are as personal as fingerprints: they are in no log and no journal, and nothing
// that a registry returns about a voice contains one. Voices that nobody has agreed to keep live in
// memory until the program ends, at most [Config.MostUnknown] of them; beyond that, the one that
// was heard longest ago is dropped. With consent, the print at that time is kept in one file. What
// is learnt about the voice later lives in memory like the rest.
//
// A Registry has neither goroutine nor clock: times are arguments. Its methods are safe for
// concurrent use. No judgement waits for a file: while a change is being written, voices are
// judged, but nothing is learnt.
package speakers

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"earshot"
)

// provider is the provider in the handles of voices.
const provider = "voice"

// A Speaker is what is known about a voice, without its print.
type Speaker struct {
	Handle earshot.Handle   `json:"handle"`
	Also   []earshot.Handle `json:"also,omitempty"` // former handles of the same voice

	// Number is how people refer to a voice that was not known when the program began, as in "voice
	// 3". It is valid in this run only; 0 means none.
	Number int `json:"number,omitempty"`

	Who   earshot.ParticipantID `json:"who,omitempty"` // the owner; empty if nobody has said
	Kept  bool                  `json:"kept"`          // in the file, with consent
	Said  Attestation           `json:"said,omitzero"` // who named it, or agreed to keep it
	Heard time.Duration         `json:"heard"`         // the duration of the sound in its print

	// Spoken is how much of the voice was learnt from in this run, and Last is when that last
	// happened.
	Spoken time.Duration `json:"spoken,omitempty"`
	Last   time.Time     `json:"last,omitzero"`
}

// An Attestation records who says something, and when.
type Attestation struct {
	By earshot.ParticipantID `json:"by"`
	At time.Time             `json:"at"`
}

// check reports what is missing.
func (a Attestation) check() error {
	if a.By == "" || a.At.IsZero() {
		return errors.New("the change names nobody who confirms it; say who does, and when")
	}
	return nil
}

// ErrUnknown says that a voice is not known: it never was, was dropped in favour of others, or was
// forgotten.
var ErrUnknown = errors.New("no such voice is known; see: earshot speakers")

// A Registry holds the known voices.
type Registry struct {
	cfg  Config                 // except for what Set changes
	sets atomic.Pointer[Config] // see Set
	path string                 // of the file; if empty, nothing is kept

	changing sync.Mutex // held while one change is made and written
	telling  sync.Mutex // held while Changed is called

	mu      sync.Mutex
	is      *state
	frozen  bool // a change is being written, so nothing is learnt
	undoLog []undoRecord
	pending []Change // not announced yet
	recent  []sample // the latest sounds that were judged, to detect playback
	numbers int
}

// A state is all voices, in the order in which they came.
type state struct {
	voices []*voice
	own    voice // the agent's

	// added is what each channel adds to a voice. It stays the same until something is learnt; nil
	// means that it must be estimated again.
	added channelOffsets
}

// Open returns the registry whose file is in dir. If dir is empty, nothing is kept. A damaged file
// is set aside and reported. A file of a newer version is an error, because setting it aside would
// lose it. No other registry may have the file open.
func Open(dir string, c Config) (*Registry, error) {
	b := &Registry{cfg: c, is: new(state)}
	b.Set(c)
	if b.cfg.NewID == nil {
		b.cfg.NewID = func() string { return ulid.Make().String() }
	}
	if dir == "" {
		return b, nil
	}
	b.path = Path(dir)
	return b, b.load()
}

// Set replaces the settings. What is known already stays.
func (b *Registry) Set(c Config) { b.sets.Store(&c) }

// set returns the current settings.
func (b *Registry) set() *Config { return b.sets.Load() }

// Known returns the known voices: the kept ones first, then those heard last first.
func (b *Registry) Known() []Speaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]Speaker, 0, len(b.is.voices))
	for _, v := range b.is.voices {
		all = append(all, v.speaker())
	}
	slices.SortStableFunc(all, func(a, b Speaker) int {
		if a.Kept != b.Kept {
			return map[bool]int{true: -1, false: 1}[a.Kept]
		}
		return cmp.Or(b.Last.Compare(a.Last), strings.Compare(a.Handle.ID, b.Handle.ID))
	})
	return all
}

// Speaker returns the voice of h, even if it has been merged into another voice since h was issued.
func (b *Registry) Speaker(h earshot.Handle) (Speaker, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.is.find(h)
	if v == nil {
		return Speaker{}, false
	}
	return v.speaker(), true
}

// find returns the voice of h, or nil.
func (s *state) find(h earshot.Handle) *voice {
	if h.Provider != provider {
		return nil
	}
	for _, v := range s.voices {
		if v.id == h.ID || slices.Contains(v.also, h.ID) {
			return v
		}
	}
	return nil
}

// of returns somebody's voices.
func (s *state) of(who earshot.ParticipantID) (all []*voice) {
	for _, v := range s.voices {
		if v.who == who && who != "" {
			all = append(all, v)
		}
	}
	return all
}

// begin adds a new voice and returns it.
func (b *Registry) begin(s *state) *voice {
	b.numbers++
	v := &voice{id: b.cfg.NewID(), number: b.numbers}
	s.voices = append(s.voices, v)
	return v
}
