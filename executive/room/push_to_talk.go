package room

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/addressing"
)

const (
	// onsetDelay is how long it takes to notice that a voice has begun. A person who releases the
	// key within that time may still have said something.
	onsetDelay = 500 * time.Millisecond

	// releaseLimit is how long the end of a sentence is awaited after the key was released: people
	// release it on the last syllable, and a recogniser needs the pause after it.
	releaseLimit = 4 * time.Second
)

// pushToTalk counts the talk keys that are held.
type pushToTalk struct {
	held   atomic.Int64
	opened bool // a key has made a muted room live; guarded by [Room.modeMu]
}

// Hold presses a talk key for somebody: what is said at the microphone is for an agent until
// release is called, and a muted room is live. Everybody there is told, and the room is muted again
// afterwards, unless somebody has set its mode meanwhile. In a stricter mode Hold returns an error.
//
// release waits, up to releaseLimit, for the end of what is being said, and is called once. Both
// are safe for concurrent use.
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

// pressTalkKey begins a hold.
func (r *Room) pressTalkKey(by earshot.ParticipantID) (en *entry, err error) {
	r.modeMu.Lock()
	defer r.modeMu.Unlock()
	if m := r.wished; m.Stricter(earshot.Muted) {
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

// releaseTalkKey ends a hold.
func (r *Room) releaseTalkKey(by earshot.ParticipantID) {
	r.modeMu.Lock()
	defer r.modeMu.Unlock()
	if r.pushToTalk.held.Add(-1) > 0 || !r.pushToTalk.opened {
		return
	}
	if _, err := r.modeTo(r.talkKeyEvent(by, earshot.ModeChange{Mode: earshot.Muted}), earshot.Muted); err != nil { // it applies nevertheless
		r.cfg.Log.Warn("the release of a talk key could not be recorded", "err", err)
	}
}

// talkKeyEvent returns the event of a mode change by a key.
func (r *Room) talkKeyEvent(by earshot.ParticipantID, m earshot.ModeChange) earshot.Event {
	e := r.event(earshot.Visibility{Scope: earshot.System}, m)
	e.Author = by
	return e
}

// finishes waits, up to releaseLimit, until nobody speaks any more.
func (r *Room) finishes() {
	most := time.After(releaseLimit)
	select {
	case <-time.After(onsetDelay):
	case <-r.shut:
		return
	}
	over, speaks := r.activity.Speaks(r.cfg.Now())
	if !speaks {
		return
	}
	select {
	case <-over:
	case <-most:
	case <-r.shut:
	}
}

// pressed returns for whom the spoken event e is: while somebody holds the key, what the microphone
// hears is for the main agent if it calls none. The agent's own voice is still for nobody.
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
	return conversation.Pressed, addressing.IDs(r.agents()[:1])
}
