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
	// again is how much later somebody comes again who was here, rather than going on:
	// then they are somebody. A name that nobody came again by in that time keeps no other
	// from one that is like it.
	again = time.Hour

	// crowd is how many people may have been here once, and stay known however long they
	// are away: more than come into any house. Of more, those lapse who were not here for
	// gone.
	crowd = 100
	gone  = 24 * time.Hour

	// mostLapses is how many lapse at once, so that who comes in does not wait for a
	// thousand changes to be written down.
	mostLapses = 16
)

// A visitRecord is what keeps somebody known who came to be known by saying a name.
type visitRecord struct {
	once  bool // they have not come again
	named bool // who operates the daemon has said what they are called here

	first, last time.Time // in this run
}

// saw notes that somebody is here, or says to be.
func (r *Registry) saw(id earshot.ParticipantID) {
	if s := r.visitRecords[id]; s != nil {
		s.last = r.now()
	}
}

// stays records that somebody who was here once has come again. If it cannot be recorded,
// it is the next time.
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

// held are those of whom more is known than by what they came to be known, or who are here.
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

// keeps reports whether somebody has something else that is theirs.
func (r *Registry) keeps(id earshot.ParticipantID) bool {
	return r.setup.Keeps != nil && r.setup.Keeps(id)
}

// givesWay reports whether somebody lapses for one whose name is like theirs.
func (r *Registry) givesWay(id earshot.ParticipantID) bool {
	s := r.visitRecords[id]
	return s != nil && s.once && !s.named && r.now().Sub(s.last) >= again && !r.held()[id] && !r.keeps(id)
}

// lapsing returns who lapses when one more comes in: of a crowd of people who were here once,
// those who have been away for long, and if there is no room, one for whom it is worth least.
// The newest go first, but for who came a moment ago and may be about to say something;
// those who have come again, and the first of the others, go last: so nobody goes whom
// somebody had known before a flood of names.
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
	slices.Sort(once) // by time, as the IDs do
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

// least returns for whom it is worth least to stay known.
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

// yesLast orders what is so behind what is not.
func yesLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// longestAway returns who lapses when one more arrives by a provider: they arrive anew when
// they come again. It is empty if nobody may.
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

// lapse records that somebody is known no longer.
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
