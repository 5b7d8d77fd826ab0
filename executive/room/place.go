package room

import (
	"context"
	"errors"
	"slices"
	"sync"

	"earshot"
	"earshot/participants"
)

var errLeft = errors.New("the outlet has left the room")

// place is an outlet of the room and who is around it. To a turn it is the
// outlet itself, until it leaves.
type place struct {
	earshot.Outlet
	audience earshot.Audience
	aloud    func(context.Context, earshot.Outlet, earshot.Opening, func(earshot.Heard)) (earshot.Speaking, error) // opens a voice; else nil

	mu   sync.RWMutex // held for writing by who leaves
	left bool
}

// Enter lets an outlet into the room: from the next turn on replies come out
// of it, as far as everybody around it may perceive them. The function that it
// returns takes it out again; from then on it is not shown anything, and no turn
// that begins later opens it. A speech goes on until it ends itself.
func (r *Room) Enter(o earshot.Outlet, around earshot.Audience) (leave func()) {
	around.Room = r.cfg.ID
	p := &place{Outlet: o, audience: around}
	if a, ok := o.(earshot.Audible); ok && a.Audible() {
		p.aloud = r.openAloud
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mode != earshot.Live {
		p.show(r.event(earshot.Visibility{Scope: earshot.System}, earshot.Notice{Text: "The room is " + string(r.mode) + ": " + r.mode.Means() + "."}))
	}
	r.places = append(r.places, p)
	return func() {
		r.mu.Lock()
		r.places = slices.DeleteFunc(slices.Clone(r.places), func(q *place) bool { return q == p })
		r.mu.Unlock()
		p.mu.Lock()
		p.left = true
		p.mu.Unlock()
	}
}

// Flows implements [earshot.Flowing].
func (p *place) Flows() bool {
	f, ok := p.Outlet.(earshot.Flowing)
	return ok && f.Flows()
}

// Audible implements [earshot.Audible].
func (p *place) Audible() bool { return p.aloud != nil }

// Open implements [earshot.Outlet].
func (p *place) Open(ctx context.Context, o earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	p.mu.RLock()
	left := p.left
	p.mu.RUnlock()
	if left {
		return nil, errLeft
	}
	if p.aloud != nil {
		return p.aloud(ctx, p.Outlet, o, heard)
	}
	return p.Outlet.Open(ctx, o, heard)
}

// show shows e if the outlet is a board.
func (p *place) show(e earshot.Event) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if b, ok := p.Outlet.(earshot.Board); ok && !p.left {
		b.Show(e)
	}
}

// show puts e on the boards around which everybody may see it.
func (r *Room) show(e earshot.Event) {
	for _, p := range r.around(e.Visibility) {
		p.show(e)
	}
}

// tell shows a notice at one outlet and keeps it nowhere.
func (r *Room) tell(outlet string, n earshot.Notice) {
	e := r.event(earshot.Visibility{Scope: earshot.System}, n)
	for _, p := range r.around(e.Visibility) {
		if p.Name() == outlet {
			p.show(e)
		}
	}
}

// Report tells the people in the room of a fault of the house, or of its end,
// and keeps it in mind until it is over. It does not wait for the journal,
// which may be what is at fault.
func (r *Room) Report(n earshot.Notice) {
	r.mu.Lock()
	if n.Over {
		delete(r.faults, n.Key)
	} else {
		r.faults[n.Key] = n
	}
	r.mu.Unlock()
	r.cfg.Log.Warn("reported", "fault", n.Key, "text", n.Text, "over", n.Over)
	r.show(r.event(earshot.Visibility{Scope: earshot.System}, n))
}

// Know keeps a fault in mind that people have been told of already.
func (r *Room) Know(n earshot.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults[n.Key] = n
}

// once reports a fault that nobody has been told of.
func (r *Room) once(n earshot.Notice) {
	r.mu.Lock()
	_, known := r.faults[n.Key]
	r.mu.Unlock()
	if !known {
		r.Report(n)
	}
}

// around returns the places where something of visibility v may come out.
func (r *Room) around(v earshot.Visibility) []*place {
	r.mu.Lock()
	defer r.mu.Unlock()
	var places []*place
	for _, p := range r.places {
		if v.Allows(p.audience) {
			places = append(places, p)
		}
	}
	return places
}

// readers returns who reads what is answered to somebody at an outlet.
func (r *Room) readers(via string, who participants.Participant) earshot.Audience {
	a := earshot.Audience{Room: r.cfg.ID, Members: []earshot.ParticipantID{who.ID}}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.places {
		if p.Name() == via {
			a = union(r.cfg.ID, []*place{p, {audience: a}})
		}
	}
	return a
}

// union returns everybody who is around some places. Around one where nobody is
// known to be may be anybody.
func union(room earshot.RoomID, places []*place) earshot.Audience {
	a := earshot.Audience{Room: room}
	for _, p := range places {
		a.Unknown = a.Unknown || p.audience.Unknown || len(p.audience.Members) == 0
		for _, m := range p.audience.Members {
			if !slices.Contains(a.Members, m) {
				a.Members = append(a.Members, m)
			}
		}
	}
	return a
}
