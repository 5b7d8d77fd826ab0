package room

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/conversation"
)

const (
	// onsetDelay is how long it takes to notice that a voice has begun. A person who lets go of
	// the key within that time has said something all the same.
	onsetDelay = 500 * time.Millisecond

	// releaseLimit is how long the end of a sentence is awaited after the key was let go: people
	// let go on the last syllable, and a recogniser wants the pause after it.
	releaseLimit = 4 * time.Second
)

// pushToTalk counts the keys that somebody holds to talk.
type pushToTalk struct {
	held   atomic.Int64
	opened bool // one has made a muted room live; under [Room.modeMu]
}

// Hold is a key that somebody holds to talk: what is said at the microphone is for an agent
// until release is called, and a room that is muted is live. Everybody there is told, and it
// is muted again afterwards, unless somebody has said meanwhile what it is to be. A stricter
// mode is an error.
//
// Release waits, within releaseLimit, for the end of what is just being said, and is called once.
// Both may be called from many goroutines.
func (r *Room) Hold(ctx context.Context, by earshot.ParticipantID) (release func(), err error) {
	en, err := r.pressTalkKey(by)
	if err != nil {
		return nil, err
	}
	if en != nil {
		if err := en.wait(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Log.Warn("a held talk key could not be recorded", "err", err)
		}
	}
	return sync.OnceFunc(func() {
		r.finishes()
		r.releaseTalkKey(by)
	}), nil
}

// pressTalkKey is the beginning of a hold.
func (r *Room) pressTalkKey(by earshot.ParticipantID) (en *entry, err error) {
	r.modeMu.Lock()
	defer r.modeMu.Unlock()
	if m := r.wished; strict[m] > strict[earshot.Muted] {
		return nil, fmt.Errorf("the room is %s; /resume ends that", m)
	}
	if r.wished == earshot.Muted {
		if en, err = r.modeTo(r.talkKeyEvent(by, earshot.ModeChange{Mode: earshot.Live, Returns: earshot.Muted}), earshot.Live); err != nil {
			return nil, err
		}
		r.pushToTalk.opened = true
	}
	r.pushToTalk.held.Add(1)
	return en, nil
}

// releaseTalkKey is the end of a hold.
func (r *Room) releaseTalkKey(by earshot.ParticipantID) {
	r.modeMu.Lock()
	defer r.modeMu.Unlock()
	if r.pushToTalk.held.Add(-1) > 0 || !r.pushToTalk.opened {
		return
	}
	if _, err := r.modeTo(r.talkKeyEvent(by, earshot.ModeChange{Mode: earshot.Muted}), earshot.Muted); err != nil { // it holds
		r.cfg.Log.Warn("the release of a talk key could not be recorded", "err", err)
	}
}

// talkKeyEvent returns the event of a change of the mode by a key.
func (r *Room) talkKeyEvent(by earshot.ParticipantID, m earshot.ModeChange) earshot.Event {
	e := r.event(earshot.Visibility{Scope: earshot.System}, m)
	e.Author = by
	return e
}

// finishes waits until nobody speaks any more, for a while.
func (r *Room) finishes() {
	most := time.After(releaseLimit)
	select {
	case <-time.After(onsetDelay):
	case <-r.shut:
		return
	}
	over, speaks := r.activity.speaks(r.cfg.Now())
	if !speaks {
		return
	}
	select {
	case <-over:
	case <-most:
	case <-r.shut:
	}
}

// pressed returns whom e is for, which was said aloud: while somebody holds the key, what
// the microphone hears is for the main agent if it calls none. What is the agent's own
// voice is for nobody all the same.
func (r *Room) pressed(e earshot.Event, to conversation.Address, whom []earshot.ParticipantID) (conversation.Address, []earshot.ParticipantID) {
	words := false
	switch body := e.Body.(type) {
	case earshot.Utterance:
		words = true
	case earshot.Speech:
		words = body.Stage == earshot.VoiceWords
	}
	if !words || to == conversation.Own || to.ForAgent() || e.From.Provider != "microphone" || r.pushToTalk.held.Load() == 0 {
		return to, whom
	}
	return conversation.Pressed, ids(r.agents()[:1])
}
