package participants

import (
	"slices"

	"earshot"
)

// Forget forgets somebody and every identity that turned out to be theirs, unless the
// configuration, the account or a provider declares them: it forgets their names, and that they
// were one person. Somebody whom a provider knows can arrive again. Somebody with a session keeps
// their name as a guest until their last session ends. Forget records nothing: what was recorded
// about them must be erased first.
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

// configured reports whether somebody is in the configuration.
func (r *Registry) configured(id earshot.ParticipantID) bool {
	return slices.ContainsFunc(r.actors().Actors, func(a Actor) bool { return a.ID == id })
}

// Declared reports whether the configuration or the account declares somebody.
func (r *Registry) Declared(id earshot.ParticipantID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return id == Owner || r.predeclared(id)
}
