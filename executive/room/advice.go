package room

import (
	"earshot"
	"earshot/executive/addressing"
)

// maxHinted is how many sessions are remembered to have received a hint once: more than there are
// at a time.
const maxHinted = 256

// advise sends the hint about a message to its author, where they wrote it. That nobody was called
// is said once in a session: people who talk to each other know it.
func (r *Room) advise(e earshot.Event, a addressing.Addressees) {
	hint := r.advice(a)
	if hint == "" || e.Via == "" || a.Hint == "" && !r.first(e.Via) {
		return
	}
	told := r.event(e.Visibility, earshot.Notice{Key: earshot.HintKey, Text: hint})
	r.places.ShowAt(e.Via, told)
}

// advice tells the author of a message that it reaches nobody, or not everybody whom it calls.
// It is empty if there is nothing to tell.
func (r *Room) advice(a addressing.Addressees) string {
	if a.Hint == "" && a.Lost && r.currentMode().Answers() && r.cfg.Settings().Enabled {
		return "nobody was addressed, so nobody answers; begin with " + r.agents()[0].Name + ", and I will"
	}
	return a.Hint
}

// Advice tells the author of a new message that it reaches nobody, or not everybody whom it calls.
// It is empty if there is nothing to tell, or the room does not remember the message. It is the
// text that is shown at the outlet beside the author's sense, if there is one.
func (r *Room) Advice(message earshot.EventID) string {
	en, ok := r.entries.Find(message)
	if !ok {
		return ""
	}
	return r.advice(en.Addressees)
}

// first reports whether the session at an outlet has not been told yet.
func (r *Room) first(outlet string) bool {
	session := outlet
	if s, ok := r.cfg.People.At(outlet); ok {
		session = s.ID
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hinted[session] {
		return false
	}
	if len(r.hinted) >= maxHinted {
		clear(r.hinted)
	}
	r.hinted[session] = true
	return true
}
