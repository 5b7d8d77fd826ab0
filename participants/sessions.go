package participants

import (
	"cmp"
	"slices"
	"time"

	"earshot"
)

// A Session is one connection of somebody present, such as a terminal.
type Session struct {
	ID          string // unique for ever
	Room        earshot.RoomID
	Participant earshot.ParticipantID // as returned by [Registry.Claim]
	Account     earshot.Handle        // as known to the kernel or the provider
	Outlet      string                // where an answer to them alone goes; may be empty
	Connection  string                // what kind of connection it is, such as "terminal"
	Address     string                // of a remote connection
	Since       time.Time
}

// A sessionEntry is a session, with the handle by which it is resolved. The handle stays the same
// while the session belongs to the same person.
type sessionEntry struct {
	Session
	handle earshot.Handle
}

// A claimedIdentity is the person that sessions of one account claim to be, by their common handle.
type claimedIdentity struct {
	who      earshot.ParticipantID
	proven   bool // a token of theirs had been shown when one of the sessions began
	sessions int
}

// Attach registers a session, and returns the handle by which its messages are resolved. This is
// the account's handle, or another one if the session belongs to somebody other than the account's
// own person. That other handle is known until the last session that has it ends. Attach does not
// make anybody present; see [Registry.Come].
func (r *Registry) Attach(s Session) earshot.Handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.attach(s)
}

func (r *Registry) attach(s Session) earshot.Handle {
	before, again := r.sessions[s.ID]
	now := sessionEntry{s, r.handle(s)}
	r.sessions[s.ID] = now
	if now.handle != s.Account {
		is := r.said[now.handle]
		at, shown := r.shown[tokenProof{s.Account, s.Participant}]
		proven := is.proven || shown && r.now().Sub(at) <= vacant
		r.said[now.handle] = claimedIdentity{s.Participant, proven, is.sessions + 1}
	}
	if again {
		r.release(before)
	}
	return now.handle
}

// handle returns the handle of s. No provider's own handles contain a slash.
func (r *Registry) handle(s Session) earshot.Handle {
	if own, ok := r.byHandle[s.Account]; ok && (own == s.Participant || r.root(own) == s.Participant) {
		return s.Account
	}
	return earshot.Handle{Provider: s.Account.Provider, ID: s.Account.ID + "/" + string(s.Participant)}
}

// Handle returns the handle of a session; see [Registry.Attach]. It changes when the session passes
// to somebody else.
func (r *Registry) Handle(session string) earshot.Handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[session].handle
}

// Become passes a session to somebody else, whom [Registry.Claim] has returned.
func (r *Registry) Become(session string, who earshot.ParticipantID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.sessions[session]; ok {
		s.Participant = who
		r.attach(s.Session)
	}
}

// Detach removes a session. A guest is removed with their last session. Messages that still come
// from the session are from somebody unknown.
func (r *Registry) Detach(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.sessions[session]; ok {
		delete(r.sessions, session)
		r.release(s)
	}
}

// release removes what only s needed.
func (r *Registry) release(s sessionEntry) {
	r.saw(s.Participant)
	if s.handle != s.Account {
		is := r.said[s.handle]
		is.sessions--
		r.said[s.handle] = is
		if is.sessions <= 0 {
			delete(r.said, s.handle)
		}
	}
	if _, guest := r.guests[s.Participant]; guest && !r.somewhere(s.Participant) {
		r.forget(s.Participant)
	}
}

func (r *Registry) somewhere(who earshot.ParticipantID) bool {
	for _, s := range r.sessions {
		if s.Participant == who {
			return true
		}
	}
	return false
}

// At returns the session whose outlet has this name.
func (r *Registry) At(outlet string) (Session, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		if s.Outlet == outlet && outlet != "" {
			return r.show(s), true
		}
	}
	return Session{}, false
}

// Sessions returns the sessions of somebody, oldest first.
func (r *Registry) Sessions(id earshot.ParticipantID) (theirs []Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		if shown := r.show(s); shown.Participant == r.root(id) {
			theirs = append(theirs, shown)
		}
	}
	slices.SortFunc(theirs, func(a, b Session) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	})
	return theirs
}

// show returns s with its participant as known after mergers.
func (r *Registry) show(s sessionEntry) Session {
	s.Participant = r.resolve(s.handle).ID
	return s.Session
}
