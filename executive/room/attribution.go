package room

import (
	"slices"
	"time"

	"earshot"
	"earshot/executive/command"
	"earshot/participants"
	"earshot/speakers"
)

// maxSaid is how many utterances are remembered by their start time, in case their speaker is found
// out later: some minutes of a lively conversation.
const maxSaid = 256

// An utteranceRecord is something that was said aloud.
type utteranceRecord struct {
	event      earshot.EventID
	began      time.Time
	by         earshot.ParticipantID
	visibility earshot.Visibility
}

// says remembers an utterance that is on record.
func (r *Room) says(e earshot.Event) {
	w, later := e.Body.(earshot.Attribution)
	if !later && e.Body.Kind() != earshot.KindUtterance {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if later {
		for i := range r.utteranceRecords {
			if r.utteranceRecords[i].event == w.Of {
				r.utteranceRecords[i].by = w.Author
			}
		}
		return
	}
	r.utteranceRecords = append(r.utteranceRecords, utteranceRecord{e.ID, e.At, e.Author, e.Visibility})
	r.utteranceRecords = slices.Delete(r.utteranceRecords, 0, max(0, len(r.utteranceRecords)-maxSaid))
}

// ApplyVoiceChange applies a change of the owners of voices. Utterances that turned out to be
// somebody else's get an attribution on record; the name of a voice is looked up wherever it is
// shown. It returns at once, and is safe for concurrent use.
func (r *Room) ApplyVoiceChange(c speakers.Change) {
	h := c.Voice
	if c.Act == speakers.Divided {
		h = c.Other
	}
	if c.Act == speakers.Forgotten || h.ID == "" && c.Act != speakers.Taught {
		return
	}
	w := earshot.Attribution{Sure: 1, By: c.Said.By} // nobody's, if the voice was unnamed before it was taught
	if _, known := r.cfg.Voices.Speaker(h); known {
		w.Speaker, w.Author = h, r.meet(h).Reader()
	}
	for _, began := range c.Moved {
		if s, ok := r.saidAt(began); ok {
			r.revise(s, w)
		}
	}
}

// reattribute records that something was said by somebody, on the word of the author of the
// command, who must be known by more than a voice.
func (r *Room) reattribute(c command.Call, s utteranceRecord, who participants.Participant) (string, error) {
	if err := r.cfg.People.Vouches(c.By); err != nil {
		return "", err
	}
	var taught speakers.Change
	if book, ok := r.cfg.Voices.(VoiceRegistry); ok {
		taught, _ = book.Teach(s.began, who.ID, r.said(c)) // nothing is learnt from an utterance that was too short
	}
	if !slices.ContainsFunc(taught.Moved, s.began.Equal) {
		r.revise(s, earshot.Attribution{Author: who.ID, Sure: 1, By: c.By.ID})
	}
	r.show(r.event(s.visibility, earshot.Notice{Text: who.Name + " said that (says " + c.By.Name + ")."}))
	return "", nil
}

// saidLast returns what anybody except who said aloud last, within the last [remembersWhose].
func (r *Room) saidLast(who earshot.ParticipantID) (utteranceRecord, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range slices.Backward(r.utteranceRecords) {
		if r.person(s.by) != who {
			return s, r.cfg.Now().Sub(s.began) <= remembersWhose
		}
	}
	return utteranceRecord{}, false
}

// remembersWhose is how long after something was said "that was Bob" can be about it.
const remembersWhose = 5 * time.Minute

// saidAt returns the utterance that began at a time.
func (r *Room) saidAt(began time.Time) (utteranceRecord, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.utteranceRecords, func(s utteranceRecord) bool { return s.began.Equal(began) })
	if i < 0 {
		return utteranceRecord{}, false
	}
	return r.utteranceRecords[i], true
}

// revise records whose an utterance was: visible to those who may see the utterance, and deleted
// with it.
func (r *Room) revise(s utteranceRecord, w earshot.Attribution) {
	w.Of = s.event
	e := r.event(s.visibility, w)
	e.Author, e.Sources = w.By, []earshot.EventID{s.event}
	if _, err := r.enqueue(e, nil); err != nil {
		r.cfg.Log.Warn("the speaker of some words could not be recorded", "err", err)
	}
}
