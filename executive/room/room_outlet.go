package room

import (
	"context"
	"errors"
	"slices"
	"sync"

	"earshot"
	"earshot/participants"
)

var (
	errLeft   = errors.New("the outlet has left the room")
	errOthers = errors.New("other people are at the outlet now, and they may not see it")
)

// roomOutlet is an outlet of the room, with the people around it.
type roomOutlet struct {
	earshot.Outlet
	voiceOf *Room // the room for which it speaks; nil if it is no voice

	mu       sync.RWMutex // held for writing while somebody leaves, or becomes somebody else
	audience earshot.Audience
	left     bool
}

// Enter adds an outlet to the room: from the next turn on, replies are delivered to it, as far as
// everybody around it may perceive them. The returned function removes it: from then on nothing is
// shown there, and no later turn opens it. A speech that has begun continues until it ends itself.
func (r *Room) Enter(o earshot.Outlet, around earshot.Audience) (leave func()) {
	around.Room = r.cfg.ID
	p := &roomOutlet{Outlet: o, audience: around}
	if a, ok := o.(earshot.Audible); ok && a.Audible() {
		p.voiceOf = r
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode != earshot.Live {
		p.show(r.event(earshot.Visibility{Scope: earshot.System}, earshot.Notice{Text: "The room is " + string(r.mode) + ": " + r.mode.Means() + "."}))
	}
	r.places = append(r.places, p)
	r.nudge() // somebody may have waited to be reminded
	return func() {
		r.mu.Lock()
		r.places = slices.DeleteFunc(slices.Clone(r.places), func(q *roomOutlet) bool { return q == p })
		r.mu.Unlock()
		p.mu.Lock()
		p.left = true
		p.mu.Unlock()
		r.pulse.beat()
	}
}

// Flows implements [earshot.Flowing].
func (p *roomOutlet) Flows() bool {
	f, ok := p.Outlet.(earshot.Flowing)
	return ok && f.Flows()
}

// Audible implements [earshot.Audible].
func (p *roomOutlet) Audible() bool { return p.voiceOf != nil }

// Written implements [earshot.Written].
func (p *roomOutlet) Written() bool {
	w, ok := p.Outlet.(earshot.Written)
	return ok && w.Written()
}

// Open implements [earshot.Outlet].
func (p *roomOutlet) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	p.mu.RLock()
	left := p.left
	p.mu.RUnlock()
	if left {
		return nil, errLeft
	}
	if r := p.voiceOf; r != nil {
		return r.echoReference.Open(ctx, p.Outlet, o, r.voiceFor(false), heard)
	}
	return p.Outlet.Open(ctx, o, heard)
}

// show shows e if the outlet is a board, and if everybody who is there now may see it.
func (p *roomOutlet) show(e earshot.Event) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if b, ok := p.Outlet.(earshot.Board); ok && !p.left && e.Visibility.Allows(p.audience) {
		b.Show(e)
	}
}

// around returns the people around the outlet.
func (p *roomOutlet) around() earshot.Audience {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.audience
}

// replace makes one of the people around the outlet somebody else. From then on nothing is shown
// that they may not see.
func (p *roomOutlet) replace(old, now earshot.ParticipantID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	members := slices.DeleteFunc(slices.Clone(p.audience.Members), func(id earshot.ParticipantID) bool { return id == old || id == now })
	p.audience.Members = append(members, now)
}

// A turnOutlet is a room outlet during one turn: it delivers the speech as long as everybody around
// may see it.
type turnOutlet struct {
	*roomOutlet
	visibility earshot.Visibility
	heard      func() // called when something was heard

	speech   sync.Mutex
	speaking earshot.Speaking
	over     bool
}

// fits reports whether everybody around may see what is said.
func (s *turnOutlet) fits() bool { return s.visibility.Allows(s.around()) }

// Open implements [earshot.Outlet].
func (s *turnOutlet) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	if !s.fits() {
		return nil, errOthers
	}
	speaking, err := s.roomOutlet.Open(ctx, o, func(h earshot.Heard) {
		if h.Clause > 0 || h.Byte > 0 {
			s.heard()
		}
		heard(h)
	})
	if err != nil {
		return nil, err
	}
	s.speech.Lock()
	defer s.speech.Unlock()
	s.speaking = speaking
	if s.over || !s.fits() { // they changed while it was opened
		speaking.Do(earshot.Cut)
	}
	return speaking, nil
}

// shut ends the speech here.
func (s *turnOutlet) shut() {
	s.speech.Lock()
	defer s.speech.Unlock()
	s.over = true
	if s.speaking != nil {
		s.speaking.Do(earshot.Cut)
	}
}

// show puts e on the boards around which everybody may see it.
func (r *Room) show(e earshot.Event) {
	for _, p := range r.around(e.Visibility) {
		p.show(e)
	}
}

// tell shows a notice at one outlet, without keeping it.
func (r *Room) tell(outlet string, n earshot.Notice) {
	e := r.event(earshot.Visibility{Scope: earshot.System}, n)
	for _, p := range r.around(e.Visibility) {
		if p.Name() == outlet {
			p.show(e)
		}
	}
}

// Report tells the people in the room about a fault of the program, or about its end, and remembers
// it until it is over. Faults that come and go are reported as [supervise.Outages] says. Report
// does not wait for the journal, which may be at fault.
func (r *Room) Report(n earshot.Notice) {
	r.mu.Lock()
	if n.Over {
		delete(r.faults, n.Key)
	} else {
		r.faults[n.Key] = n
	}
	told := r.outages.Change(r.cfg.Now(), n)
	r.mu.Unlock()
	r.pulse.beat()
	if told {
		r.warn(n)
		return
	}
	r.nudge()
}

// warn reports a fault or its end to the people in the room, and to the log.
func (r *Room) warn(n earshot.Notice) {
	r.cfg.Log.Warn("reported", "fault", n.Key, "text", n.Text, "over", n.Over)
	r.show(r.event(earshot.Visibility{Scope: earshot.System}, n))
}

// Mention shows a line to everybody in the room, without keeping it.
func (r *Room) Mention(text string) {
	r.show(r.event(earshot.Visibility{Scope: earshot.System}, earshot.Notice{Text: text}))
}

// Know remembers a fault that people have been told already, or forgets one that is over, and tells
// nobody.
func (r *Room) Know(n earshot.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n.Over {
		delete(r.faults, n.Key)
		r.outages.Forget(n.Key)
		return
	}
	r.faults[n.Key] = n
	r.outages.Change(r.cfg.Now(), n)
	r.pulse.beat()
}

// once reports a fault unless people have been told already.
func (r *Room) once(n earshot.Notice) {
	r.mu.Lock()
	_, known := r.faults[n.Key]
	r.mu.Unlock()
	if !known {
		r.Report(n)
	}
}

// around returns the outlets where something of visibility v may be delivered.
func (r *Room) around(v earshot.Visibility) []*roomOutlet {
	r.mu.Lock()
	defer r.mu.Unlock()
	var places []*roomOutlet
	for _, p := range r.places {
		if v.Allows(p.around()) {
			places = append(places, p)
		}
	}
	return places
}

// readers returns who reads what is answered to somebody at an outlet.
func (r *Room) readers(via string, who participants.Participant) earshot.Audience {
	a := earshot.Audience{Room: r.cfg.ID, Members: []earshot.ParticipantID{who.Reader()}}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.places {
		if p.Name() == via {
			a = union(r.cfg.ID, []*roomOutlet{p, {audience: a}})
		}
	}
	return a
}

// union returns everybody who is around some outlets. Around an outlet where nobody is known to be
// may be anybody.
func union(room earshot.RoomID, places []*roomOutlet) earshot.Audience {
	a := earshot.Audience{Room: room}
	for _, p := range places {
		here := p.around()
		a.Unknown = a.Unknown || here.Unknown || len(here.Members) == 0
		for _, m := range here.Members {
			if !slices.Contains(a.Members, m) {
				a.Members = append(a.Members, m)
			}
		}
	}
	return a
}
