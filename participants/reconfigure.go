package participants

import (
	"context"
	"maps"
	"slices"

	"earshot"
)

// Reconfigure replaces the registry by the one that build returns: opened for another
// configuration, with everything that was recorded. People who are present stay, and so do guests
// and the voices that were met. Somebody who is no longer in the configuration nor on record is no
// longer known; what still comes from their sessions is from somebody unknown. Nothing is recorded
// while build runs. If it fails, nothing has changed.
func (r *Registry) Reconfigure(ctx context.Context, build func(context.Context) (*Registry, error)) error {
	done, err := r.hold(ctx) // it decides nothing
	if err != nil {
		return err
	}
	defer done()
	next, err := build(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(r.people)) {
		next.keep(r, id)
	}
	for h, id := range r.byHandle {
		if _, known := next.byHandle[h]; !known && OfVoice(id) {
			next.know(h, id)
		}
	}
	for id, into := range r.into {
		if _, known := next.into[id]; !known && OfVoice(id) && next.people[into].ID != "" {
			next.into[id] = into
		}
	}
	for id, was := range r.arrivals {
		if is := next.arrivals[id]; is != nil {
			is.renamed, is.seen = was.renamed, was.seen
			p := next.people[id]
			p.Description = r.people[id].Description // a provider gives it again only when it changes
			next.people[id] = p
		}
	}
	for id, was := range r.visitRecords {
		if is := next.visitRecords[id]; is != nil {
			is.first, is.last = was.first, was.last
		}
	}
	for name, n := range r.numbered {
		next.numbered[name] = max(n, next.numbered[name])
	}
	r.external.Store(next.external.Load())
	r.setup.Operators = next.setup.Operators
	r.people, r.dormant, r.into, r.names = next.people, next.dormant, next.into, next.names
	r.byHandle, r.arrivals, r.visitRecords, r.numbered = next.byHandle, next.arrivals, next.visitRecords, next.numbered
	r.changed()
	return nil
}

// keep copies a participant from was if they are neither in the configuration nor on record.
func (r *Registry) keep(was *Registry, id earshot.ParticipantID) {
	if _, known := r.people[id]; known {
		return
	}
	p := was.people[id]
	_, guest := was.guests[id]
	_, near := r.names.same(p.Name, id)
	switch {
	case p.Type == Internal && !near:
		r.dormant[id] = true // old lines keep its name
	case !guest && !OfVoice(id):
		return
	}
	p.Name = r.names.free(p.Name, id)
	if _, taken := r.names.same(p.Username, id); taken {
		p.Username = ""
	}
	r.people[id] = p
	r.names.enter(p)
}
