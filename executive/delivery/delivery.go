// Package delivery delivers the events and replies of a room to its outlets. It knows who is around each
// outlet, and delivers nothing where anybody is who may not see it. Of several voices in the room only
// one says a reply: where whoever asked is, and if they go, it goes along. It knows no room.
package delivery

import (
	"context"
	"errors"
	"slices"
	"sync"

	"earshot"
	"earshot/internal/lockorder"
)

var (
	errLeft   = errors.New("the outlet has left the room")
	errOthers = errors.New("other people are at the outlet now, and they may not see it")
	errTaken  = errors.New("another daemon has the room now")
)

// A Voice opens an audible outlet for a speech.
type Voice func(context.Context, earshot.Outlet, earshot.Opening, func(earshot.Heard)) (earshot.Speaking, error)

// An Outlet is an outlet of a room, with the people around it. It is safe for concurrent use.
type Outlet struct {
	earshot.Outlet
	voice Voice // by which it speaks; nil if it is not audible

	mu       sync.RWMutex // held for writing while somebody leaves, or becomes somebody else
	audience earshot.Audience
	left     bool
}

// A Set is the outlets of a room. It is safe for concurrent use. The zero value is empty.
type Set struct {
	// Owned, if it is not nil, reports whether the room is still this daemon's, or else nothing is said. It is set
	// before the set is used.
	Owned func() bool

	mu   lockorder.Mutex[lockorder.Leaf]
	all  []*Outlet
	turn []*TurnOutlet // the outlets of the last turn

	last   string                           // the outlet beside which somebody was heard last
	where  map[earshot.ParticipantID]string // and those beside which people were
	follow func()                           // takes a speech to another outlet; nil if there is nothing to do
}

// Add adds an outlet with the people around it, which speaks by a voice if it is audible. leave
// removes it: from then on nothing is shown there, and no later turn opens it. A speech that has
// begun continues until it ends itself.
func (s *Set) Add(o earshot.Outlet, around earshot.Audience, voice Voice) (added *Outlet, leave func()) {
	p := &Outlet{Outlet: o, audience: around}
	if a, ok := o.(earshot.Audible); ok && a.Audible() {
		p.voice = voice
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(slices.Clip(s.all), p)
	return p, func() {
		s.mu.Lock()
		s.all = slices.DeleteFunc(slices.Clone(s.all), func(q *Outlet) bool { return q == p })
		s.mu.Unlock()
		p.mu.Lock()
		p.left = true
		p.mu.Unlock()
	}
}

// All returns all outlets. The caller does not change the slice.
func (s *Set) All() []*Outlet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// Around returns the outlets where something of visibility v may be delivered.
func (s *Set) Around(v earshot.Visibility) (some []*Outlet) {
	for _, p := range s.All() {
		if v.Allows(p.Around()) {
			some = append(some, p)
		}
	}
	return some
}

// Show puts e on the boards around which everybody may see it.
func (s *Set) Show(e earshot.Event) {
	for _, p := range s.Around(e.Visibility) {
		p.Show(e)
	}
}

// ShowAt puts e on the board with a name, if everybody around it may see e.
func (s *Set) ShowAt(name string, e earshot.Event) {
	for _, p := range s.Around(e.Visibility) {
		if p.Name() == name {
			p.Show(e)
		}
	}
}

// Readers returns who reads what is answered at an outlet to somebody, who is in a.
func (s *Set) Readers(name string, a earshot.Audience) earshot.Audience {
	for _, p := range s.All() {
		if p.Name() == name {
			a = union(p.Around(), a)
		}
	}
	return a
}

// Flows implements [earshot.Flowing].
func (p *Outlet) Flows() bool {
	f, ok := p.Outlet.(earshot.Flowing)
	return ok && f.Flows()
}

// Audible implements [earshot.Audible].
func (p *Outlet) Audible() bool { return p.voice != nil }

// Written implements [earshot.Written].
func (p *Outlet) Written() bool {
	w, ok := p.Outlet.(earshot.Written)
	return ok && w.Written()
}

// Open implements [earshot.Outlet].
func (p *Outlet) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	p.mu.RLock()
	left := p.left
	p.mu.RUnlock()
	if left {
		return nil, errLeft
	}
	if p.voice != nil {
		return p.voice(ctx, p.Outlet, o, heard)
	}
	return p.Outlet.Open(ctx, o, heard)
}

// Show shows e if the outlet is a board, and if everybody who is there now may see it.
func (p *Outlet) Show(e earshot.Event) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if b, ok := p.Outlet.(earshot.Board); ok && !p.left && e.Visibility.Allows(p.audience) {
		b.Show(e)
	}
}

// Around returns the people around the outlet.
func (p *Outlet) Around() earshot.Audience {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.audience
}

// replace makes one of the people around the outlet somebody else. From then on nothing is shown
// that they may not see.
func (p *Outlet) replace(old, now earshot.ParticipantID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	members := slices.DeleteFunc(slices.Clone(p.audience.Members), func(id earshot.ParticipantID) bool { return id == old || id == now })
	p.audience.Members = append(members, now)
}

// Near reports whether everybody in a is around p, or anybody may be.
func (p *Outlet) Near(a earshot.Audience) bool {
	here := p.Around()
	if here.Unknown || len(here.Members) == 0 {
		return true
	}
	return len(a.Members) > 0 && !slices.ContainsFunc(a.Members, func(id earshot.ParticipantID) bool {
		return !slices.Contains(here.Members, id)
	})
}

// A TurnOutlet is an outlet during one turn: it delivers the speech as long as everybody around may see
// it. What is said aloud can go on at another outlet; see [Set.Follow]. It is safe for concurrent use.
type TurnOutlet struct {
	*Outlet    // where the turn begins
	visibility earshot.Visibility
	heard      func() // called when something was heard
	relay      relay
}

// Fits reports whether everybody around may see what is said.
func (s *TurnOutlet) Fits() bool { return s.visibility.Allows(s.place().Around()) }

// Shut ends the speech here.
func (s *TurnOutlet) Shut() { s.relay.shut() }

// place returns the outlet at which the speech comes out now.
func (s *TurnOutlet) place() *Outlet {
	if p := s.relay.place(); p != nil {
		return p
	}
	return s.Outlet
}

// Open implements [earshot.Outlet].
func (s *TurnOutlet) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	if !s.Fits() {
		return nil, errOthers
	}
	s.relay.report = func(h earshot.Heard) {
		if h.Clause > 0 || h.Byte > 0 {
			s.heard()
		}
		heard(h)
	}
	s.relay.open = func(p *Outlet, heard func(earshot.Heard)) (earshot.Speaking, error) { return p.Open(ctx, o, heard) }
	if err := s.relay.begin(s.Outlet); err != nil {
		return nil, err
	}
	if !s.Fits() { // they changed while it was opened
		s.Shut()
	}
	return &s.relay, nil
}

// BeginTurn returns some outlets as those of a turn in which something of visibility v is said. receipt, if
// it is not nil, makes the receipts of what was heard at one; heard is called when something has come out of one.
func (s *Set) BeginTurn(outlets []*Outlet, v earshot.Visibility, receipt func(outlet string, heard earshot.Text) []byte, heard func()) (of []earshot.Outlet) {
	var all []*TurnOutlet
	for _, p := range outlets {
		t := &TurnOutlet{Outlet: p, visibility: v, heard: heard, relay: relay{receipt: receipt, owned: s.Owned}}
		all, of = append(all, t), append(of, t)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn, s.follow = all, nil
	return of
}

// DropReceipts says that nobody needs receipts of the last turn: it is on record.
func (s *Set) DropReceipts() {
	s.mu.Lock()
	turn := s.turn
	s.mu.Unlock()
	for _, t := range turn {
		if h, ok := t.place().Outlet.(earshot.ReceiptHolder); ok {
			h.KeepReceipt(nil)
		}
	}
}

// Replace replaces somebody around an outlet by somebody else. It returns the outlets with that name
// of the last turn at which its speech must end now, because it is not for everybody there, and
// whether it also comes out elsewhere.
func (s *Set) Replace(outlet string, old, now earshot.ParticipantID) (shut []*TurnOutlet, elsewhere bool) {
	for _, p := range s.All() {
		if p.Name() == outlet {
			p.replace(old, now)
		}
	}
	s.mu.Lock()
	turn := s.turn // not earlier: a turn that begins after this sees who is there now
	s.mu.Unlock()
	for _, t := range turn {
		switch {
		case t.Fits():
			elsewhere = true
		case t.place().Name() == outlet:
			shut = append(shut, t)
		}
	}
	return shut, elsewhere
}

// union returns everybody in two audiences of a room. Where nobody is known to be may be anybody.
func union(a, b earshot.Audience) earshot.Audience {
	all := earshot.Audience{Room: b.Room, Unknown: a.Unknown || b.Unknown || len(a.Members) == 0 || len(b.Members) == 0}
	for _, m := range slices.Concat(a.Members, b.Members) {
		if !slices.Contains(all.Members, m) {
			all.Members = append(all.Members, m)
		}
	}
	return all
}
