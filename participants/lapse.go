package participants

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"earshot"
)

const (
	// again is how long after a visit another one counts as new rather than as part of the same
	// visit. Somebody who comes again stays known. A name whose owner has not come again in that
	// time does not prevent a similar name from being taken.
	again = time.Hour

	// crowd is how many people may have been here once and still stay known, however long they are
	// away: more than visit any household. Beyond that, those who have not been here for gone
	// lapse.
	crowd = 100
	gone  = 24 * time.Hour

	// mostLapses is how many people lapse at once, so that a newcomer does not wait for a thousand
	// changes to be recorded.
	mostLapses = 16
)

// A visitRecord decides how long somebody who only gave a name stays known.
type visitRecord struct {
	once  bool // they have not come again
	named bool // the operator of the daemon has set their name here

	first, last time.Time // times of visits in this run
}

// saw notes that somebody is here, or claims to be.
func (r *Registry) saw(id earshot.ParticipantID) {
	if s := r.visitRecords[id]; s != nil {
		s.last = r.now()
	}
}

// stays records that somebody who was here once has come again. If recording fails, it is tried
// again at the next visit.
func (r *Registry) stays(ctx context.Context, id earshot.ParticipantID) {
	due := func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		s := r.visitRecords[id]
		return s != nil && s.once && r.now().Sub(s.first) >= again
	}
	if !due() {
		return
	}
	done, err := r.begin(ctx)
	if err != nil {
		return
	}
	defer done()
	if due() {
		_ = r.record(ctx, id, earshot.Actor{Act: earshot.Stayed, Participant: id})
	}
}

// held returns the people who are here, or are known by more than the name they gave.
func (r *Registry) held() map[earshot.ParticipantID]bool {
	held := make(map[earshot.ParticipantID]bool)
	for id, into := range r.into {
		held[id], held[into] = true, true
	}
	for h, id := range r.byHandle {
		if ArrivedAs(h) != id {
			held[id] = true
		}
	}
	for _, s := range r.sessions {
		held[s.Participant] = true
	}
	for _, sessions := range r.here {
		for _, id := range sessions {
			held[id] = true
		}
	}
	return held
}

// keeps reports whether somebody has anything else, such as a token.
func (r *Registry) keeps(id earshot.ParticipantID) bool {
	return r.setup.Keeps != nil && r.setup.Keeps(id)
}

// givesWay reports whether somebody lapses in favour of a person with a similar name.
func (r *Registry) givesWay(id earshot.ParticipantID) bool {
	s := r.visitRecords[id]
	return s != nil && s.once && !s.named && r.now().Sub(s.last) >= again && !r.held()[id] && !r.keeps(id)
}

// lapsing returns who lapses when one more person comes in. If more than a crowd of people were
// here only once, those who have been away for long lapse; if there is no room, the person least
// worth keeping lapses. The newest go first, except those who came a moment ago and may be about to
// say something. Those who have come again, and the oldest of the others, go last. So nobody who
// was known before a flood of names lapses because of it.
func (r *Registry) lapsing() (all []earshot.ParticipantID) {
	full := len(r.visitRecords) >= mostActors
	var once []earshot.ParticipantID
	for id, s := range r.visitRecords {
		if s.once {
			once = append(once, id)
		}
	}
	if len(once) <= crowd && !full {
		return nil
	}
	slices.Sort(once) // by time, because IDs sort by time
	newest := once[min(crowd, len(once)):]
	held, now := r.held(), r.now()
	if full {
		if id := r.least(held, newest); id != "" {
			all = append(all, id)
		}
	}
	for _, id := range slices.Backward(newest) {
		if s := r.visitRecords[id]; len(all) < mostLapses && now.Sub(s.last) >= gone && !s.named && !held[id] && !slices.Contains(all, id) && !r.keeps(id) {
			all = append(all, id)
		}
	}
	return all
}

// least returns the person who is least worth keeping.
func (r *Registry) least(held map[earshot.ParticipantID]bool, newest []earshot.ParticipantID) (least earshot.ParticipantID) {
	now := r.now()
	lately := func(id earshot.ParticipantID) bool { return now.Sub(r.visitRecords[id].last) < vacant }
	before := func(a, b earshot.ParticipantID) bool {
		_, newA := slices.BinarySearch(newest, a)
		_, newB := slices.BinarySearch(newest, b)
		order := cmp.Or(yesLast(!newA, !newB), yesLast(lately(a), lately(b)))
		if order == 0 && lately(a) {
			order = r.visitRecords[a].last.Compare(r.visitRecords[b].last)
		}
		return cmp.Or(order, strings.Compare(string(b), string(a))) < 0
	}
	for id, s := range r.visitRecords {
		if !s.named && !held[id] && (least == "" || before(id, least)) && !r.keeps(id) {
			least = id
		}
	}
	return least
}

// yesLast compares two booleans, and orders true after false.
func yesLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// longestAway returns who lapses when one more person arrives through a provider. They arrive anew
// when they come again. It is empty if nobody may lapse.
func (r *Registry) longestAway() (who earshot.ParticipantID) {
	held := r.held()
	for id, is := range r.arrivals {
		if is.named || held[id] || r.keeps(id) {
			continue
		}
		if who == "" || cmp.Or(is.seen.Compare(r.arrivals[who].seen), strings.Compare(string(id), string(who))) < 0 {
			who = id
		}
	}
	return who
}

// lapse records that somebody is no longer known.
func (r *Registry) lapse(ctx context.Context, id earshot.ParticipantID) error {
	return r.record(ctx, "", earshot.Actor{Act: earshot.Lapsed, Participant: id})
}

// applyLapsed forgets somebody who has lapsed.
func (r *Registry) applyLapsed(id earshot.ParticipantID) {
	if r.visitRecords[id] == nil && r.arrivals[id] == nil {
		return
	}
	delete(r.byHandle, arrivedBy(id))
	r.forget(id)
}

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
