package room

import (
	"earshot"
	"earshot/executive/speech"
	"earshot/participants"
	"earshot/speakers"
)

// newSpeech returns what handles the things that are said aloud here.
func (r *Room) newSpeech() *speech.Handler {
	return speech.New(speech.Host{
		People: r.cfg.People, Voices: r.cfg.Voices, Activity: &r.activity, Outlets: &r.notices.Outlets, Queue: &r.entries, Mode: r.mode, Floor: r.floor,
		Settings: r.cfg.Settings, Agents: r.agents, Turn: r.live.question, Reader: r.cfg.Reader, Heed: r.heed, Event: r.event,
		Announce: func(e earshot.Event, who participants.Participant, p earshot.Presence) {
			_, _ = r.arrival(e, who, p) // if the room is closed, nobody is here
		},
		Changed: r.changes.Notify, Wake: r.owner.Wake, NewID: r.cfg.NewID, Now: r.cfg.Now, Log: r.cfg.Log,
	})
}

// Asked returns the end of what an agent has just said aloud and nobody has answered yet, or
// nothing. A recogniser can tell from it what people may say. It returns at once, and is safe for
// concurrent use.
func (r *Room) Asked() earshot.Text { return r.speech.Listener.Asked() }

// Interim returns the words that are being said, as everybody in a may see them: events of the kind
// speech, one for each voice, which are not kept. changed is closed when they may have changed.
func (r *Room) Interim(a earshot.Audience) (words []earshot.Event, changed <-chan struct{}) {
	return r.speech.WordsFor(a)
}

// ApplyVoiceChange applies a change of the owners of voices; see [speech.Handler.ApplyVoiceChange].
// It returns at once, and is safe for concurrent use.
func (r *Room) ApplyVoiceChange(c speakers.Change) { r.speech.ApplyVoiceChange(c) }
