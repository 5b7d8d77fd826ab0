package room

import (
	"maps"
	"slices"
	"sync"
	"time"

	"earshot"
	"earshot/participants"
)

const (
	// silent is how long somebody is taken to be there of whom nothing but the voice is
	// known: as long as people at one table say nothing, now and then.
	silent = 5 * time.Minute

	// maxNearby bounds the voices that are here: more than a room holds. Beyond it
	// whoever comes is answered, and not in the roster.
	maxNearby = 64
)

// unnamed is how often somebody comes of whom nothing but the voice is known: a table of
// guests at once, and then as often as people drop in. A television has more voices than
// that. Whoever comes beyond it is answered, and in the roster once there is room for
// them and they are heard again.
var unnamed = rateLimit{most: 8, every: 5 * time.Minute}

// voicePresence is whose voices are here, and when each was heard last. The zero value is
// nobody's.
type voicePresence struct {
	mu    sync.Mutex
	last  map[earshot.ParticipantID]time.Time
	spent tokenBucket // of unnamed
}

// noteVoicePresence notes that somebody is here whose voice is heard. They come with their first
// words, which stand behind that in the journal.
func (r *Room) noteVoicePresence(in resolvedEvent) {
	if in.event.Body.Kind() != earshot.KindUtterance || !in.who.Voice() {
		return
	}
	if r.voicePresence.note(in.who, r.ends(in.event)) {
		r.announceVoicePresence(in.event.From, in.who, in.event.At, true)
	}
}

// note notes that a voice was heard, and reports whether it has come.
func (n *voicePresence) note(who participants.Participant, at time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		n.last = make(map[earshot.ParticipantID]time.Time)
	}
	was, is := n.last[who.Reader()]
	if !is && (len(n.last) >= maxNearby || who.Nameless() && !n.spent.take(unnamed, at)) {
		return false
	}
	if at.After(was) {
		n.last[who.Reader()] = at
	}
	return !is
}

// announceVoicePresence notes that somebody came or went whose voice was heard, or not for long.
func (r *Room) announceVoicePresence(by earshot.Handle, who participants.Participant, at time.Time, here bool) {
	p := earshot.Presence{Session: string(who.Reader()), Here: here}
	e := r.event(earshot.Visibility{Scope: earshot.System}, p)
	e.From, e.At = by, at
	_, _ = r.arrival(e, who, p) // if the room is closed, nobody is here
}

// voicePresenceTimer returns a channel that yields when somebody has not been heard for long, nil
// if nobody is here by voice.
func (r *Room) voicePresenceTimer() <-chan time.Time {
	first := r.voicePresence.first()
	if first.IsZero() {
		return nil
	}
	return time.After(max(first.Add(silent).Sub(r.cfg.Now()), 0))
}

// first returns when whoever was silent longest was heard; the zero time if nobody is here.
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

// expireVoicePresence lets those go who have not been heard for long.
func (r *Room) expireVoicePresence() {
	now := r.cfg.Now()
	for _, who := range r.voicePresence.leave(now) {
		if p, known := r.cfg.People.Get(who); known {
			r.announceVoicePresence(earshot.Handle{Provider: "earshot", ID: "silence"}, p, now, false)
		}
	}
}

// leave returns who has not been heard for long, and forgets them.
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
