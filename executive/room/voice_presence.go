package room

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"earshot"
	"earshot/participants"
)

const (
	// silent is how long somebody known only by voice counts as present after their last words: as
	// long as people at one table are sometimes silent.
	silent = 5 * time.Minute

	// maxNearby is how many voices may be present: more than a room holds. Beyond that a newcomer
	// is answered, but is not in the roster.
	maxNearby = 64
)

// newUnnamedLimit returns how often somebody known only by voice may come: a table of guests at
// once, and then as often as people drop in. A television has more voices than that. A newcomer
// beyond it is answered, and is added to the roster once there is room for them and they are heard
// again.
func newUnnamedLimit() *rate.Limiter { return rate.NewLimiter(rate.Every(5*time.Minute), 8) }

// voicePresence says whose voices are here, and when each was last heard.
type voicePresence struct {
	mu      sync.Mutex
	last    map[earshot.ParticipantID]time.Time
	unnamed *rate.Limiter // of newcomers who have no name
}

// noteVoicePresence notes that somebody is here whose voice is heard. They come with their first
// words, which follow their arrival in the journal.
func (r *Room) noteVoicePresence(in resolvedEvent) {
	if in.event.Body.Kind() != earshot.KindUtterance || !in.who.Voice() {
		return
	}
	if r.voicePresence.note(in.who, r.ends(in.event)) {
		r.announceVoicePresence(in.event.From, in.who, in.event.At, true)
	}
}

// note notes that a voice was heard, and reports whether it has just come.
func (n *voicePresence) note(who participants.Participant, at time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		n.last = make(map[earshot.ParticipantID]time.Time)
	}
	was, is := n.last[who.Reader()]
	if !is && (len(n.last) >= maxNearby || who.Nameless() && !n.unnamed.AllowN(at, 1)) {
		return false
	}
	if at.After(was) {
		n.last[who.Reader()] = at
	}
	return !is
}

// announceVoicePresence announces that somebody came whose voice was heard, or went after a long
// silence.
func (r *Room) announceVoicePresence(by earshot.Handle, who participants.Participant, at time.Time, here bool) {
	p := earshot.Presence{Session: string(who.Reader()), Here: here}
	e := r.event(earshot.Visibility{Scope: earshot.System}, p)
	e.From, e.At = by, at
	_, _ = r.arrival(e, who, p) // if the room is closed, nobody is here
}

// nextVoiceExpiry returns when somebody who is here by voice has been silent for too long.
func (r *Room) nextVoiceExpiry() time.Time {
	first := r.voicePresence.first()
	if first.IsZero() {
		return first
	}
	return first.Add(silent)
}

// first returns when the one who has been silent longest was heard; the zero time if nobody is
// here.
func (n *voicePresence) first() (first time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, at := range n.last {
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// expireVoicePresence lets those go who have been silent for long.
func (r *Room) expireVoicePresence(context.Context) {
	now := r.cfg.Now()
	for _, who := range r.voicePresence.leave(now) {
		if p, known := r.cfg.People.Get(who); known {
			r.announceVoicePresence(earshot.Handle{Provider: "earshot", ID: "silence"}, p, now, false)
		}
	}
}

// leave returns those who have been silent for long, and forgets them.
func (n *voicePresence) leave(now time.Time) (gone []earshot.ParticipantID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, who := range slices.Sorted(maps.Keys(n.last)) {
		if now.Sub(n.last[who]) >= silent {
			delete(n.last, who)
			gone = append(gone, who)
		}
	}
	return gone
}
