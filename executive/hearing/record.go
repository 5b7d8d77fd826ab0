package hearing

import (
	"slices"
	"time"

	"earshot"
	"earshot/speakers"
)

// maxSaid is how many utterances are remembered by their start time, in case their speaker becomes
// known later: a few minutes of a lively conversation.
const maxSaid = 256

// A Record is something that was said aloud.
type Record struct {
	Event      earshot.EventID
	Began      time.Time
	By         earshot.ParticipantID
	Visibility earshot.Visibility
}

// Remember takes in an utterance that is on record, or the record of whose utterance it turned out
// to be.
func (l *Listener) Remember(e earshot.Event) {
	w, later := e.Body.(earshot.Attribution)
	if !later && e.Body.Kind() != earshot.KindUtterance {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if later {
		for i := range l.records {
			if l.records[i].Event == w.Of {
				l.records[i].By = w.Author
			}
		}
		return
	}
	l.records = append(l.records, Record{e.ID, e.At, e.Author, e.Visibility})
	l.records = slices.Delete(l.records, 0, max(0, len(l.records)-maxSaid))
}

// SaidLast returns what anybody except who last said aloud, within the last [remembersWhose].
func (l *Listener) SaidLast(who earshot.ParticipantID) (Record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range slices.Backward(l.records) {
		if l.People.Current(s.By) != who {
			return s, l.Now().Sub(s.Began) <= remembersWhose
		}
	}
	return Record{}, false
}

// remembersWhose is how long after something was said "that was Bob" can be about it.
const remembersWhose = 5 * time.Minute

// Reattributed returns the utterances that a change of the owner of a voice attributes to somebody
// else, and the new attribution.
func (l *Listener) Reattributed(c speakers.Change) (all []Record, w earshot.Attribution) {
	h := c.Voice
	if c.Act == speakers.Divided {
		h = c.Other
	}
	if c.Act == speakers.Forgotten || h.ID == "" && c.Act != speakers.Taught {
		return nil, w
	}
	w = earshot.Attribution{Sure: 1, By: c.Said.By} // nobody's, if the voice had no name before it was taught
	if _, known := l.Voices.Speaker(h); known {
		w.Speaker, w.Author = h, l.Meet(h).Reader()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, began := range c.Moved {
		if i := slices.IndexFunc(l.records, func(s Record) bool { return s.Began.Equal(began) }); i >= 0 {
			all = append(all, l.records[i])
		}
	}
	return all, w
}
