package participants

import (
	"slices"

	"earshot"
)

// Forget forgets somebody, with all who turned out to be them, as far as neither the
// configuration nor the account nor a provider says that they are there: what they are
// called, and that they were taken for one. Whoever a provider knows arrives there anew.
// Whoever has a session still has their name until the last of them is gone, as a guest.
// It records nothing: what was recorded of them is to be erased first.
func (r *Registry) Forget(id earshot.ParticipantID) {
	all := r.Identities(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range all {
		delete(r.into, id)
	}
	for _, id := range all {
		p, known := r.people[id]
		switch {
		case !known:
		case id == Owner && !r.configured(id):
			r.names.remove(p.Name, id)
			r.introduceOwner()
		case id == Owner || r.predeclared(id):
		case r.somewhere(id):
			r.guests[id] = r.now()
		default:
			r.forget(id)
			for h, who := range r.byHandle {
				if who == id {
					delete(r.byHandle, h)
				}
			}
		}
	}
	r.changed()
}

// configured reports whether somebody stands in the configuration.
func (r *Registry) configured(id earshot.ParticipantID) bool {
	return slices.ContainsFunc(r.actors().Actors, func(a Actor) bool { return a.ID == id })
}

// Declared reports whether the configuration or the account says that somebody is there.
func (r *Registry) Declared(id earshot.ParticipantID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return id == Owner || r.predeclared(id)
}
