package room

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
	"earshot/conversation"
	"earshot/executive/activity"
)

// interims are the words that are being said, as far as they are understood: the newest of each
// voice, by the device through which it is heard. They are shown to the people present, and are in
// no journal, no log and no prompt. The utterance replaces them, or nothing does. The zero value is
// ready.
type interims struct {
	pulse pulse

	mu  sync.Mutex
	all map[earshot.Handle]interim
}

// An interim is what was understood of one voice so far.
type interim struct {
	event earshot.Event // a Speech of the stage VoiceWords
	told  time.Time     // when that voice was last reported
}

// note takes in a report about a voice at now, and returns what must be shown, if anything. own
// says that it is the agent's own voice come back, or may be. first says that the voice was not
// known before.
func (i *interims) note(e earshot.Event, own bool, now time.Time) (shown []earshot.Event, first bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	was, known := i.all[e.From]
	said, _ := e.Body.(earshot.Speech)
	switch {
	case known && (own || said.Stage == earshot.VoiceOver):
		return i.drop(was), false
	case said.Stage != earshot.VoiceWords || own || strings.TrimSpace(string(said.Words)) == "":
		if known {
			i.all[e.From] = interim{was.event, now}
		}
		return nil, false
	case i.all == nil:
		i.all = make(map[earshot.Handle]interim)
	case !known && len(i.all) >= activity.MaxPeople:
		return nil, false
	}
	i.all[e.From] = interim{e, now}
	if before, _ := was.event.Body.(earshot.Speech); before.Words == said.Words && was.event.Author == e.Author && slices.Equal(was.event.To, e.To) {
		return nil, false
	}
	return []earshot.Event{e}, !known
}

// end forgets the words of a voice when its utterance has come.
func (i *interims) end(e earshot.Event) []earshot.Event {
	i.mu.Lock()
	defer i.mu.Unlock()
	if was, known := i.all[e.From]; known && !was.event.At.After(e.At) {
		return i.drop(was)
	}
	return nil
}

// fade forgets the voices that sent nothing for a while: a sense that dies reports no end.
func (i *interims) fade(now time.Time) (gone []earshot.Event) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, was := range i.all {
		if now.Sub(was.told) >= activity.VoiceExpiry {
			gone = append(gone, i.drop(was)...)
		}
	}
	return gone
}

// drop forgets an interim, and returns the event that shows that. i.mu must be held.
func (i *interims) drop(was interim) []earshot.Event {
	delete(i.all, was.event.From)
	over := was.event
	over.Body = earshot.Speech{Stage: earshot.VoiceOver, Confidence: 1}
	return []earshot.Event{over}
}

// seen returns the interims that everybody in a may see, oldest first.
func (i *interims) seen(a earshot.Audience) (all []earshot.Event) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, is := range i.all {
		if is.event.Visibility.Allows(a) {
			all = append(all, is.event)
		}
	}
	slices.SortFunc(all, func(a, b earshot.Event) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.From.String(), b.From.String()))
	})
	return all
}

// fading returns when the first of them fades; the zero time if there are none.
func (i *interims) fading() (first time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, is := range i.all {
		if at := is.told.Add(activity.VoiceExpiry); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// noteWords shows the words that are being said, or that there are none any more.
func (r *Room) noteWords(in resolvedEvent) {
	said, _ := in.event.Body.(earshot.Speech)
	own := in.to == conversation.Own || in.to == conversation.Unsure && said.Own
	shown, first := r.interims.note(in.event, own, r.cfg.Now())
	r.showInterims(shown)
	if first {
		r.nudge() // they may have to be forgotten
	}
	if first && !r.is().Listens() { // since this moment
		r.hush()
	}
}

// hush forgets all words that are being said.
func (r *Room) hush() { r.showInterims(r.interims.fade(r.cfg.Now().Add(activity.VoiceExpiry))) }

// nextInterimExpiry returns when words without an utterance must be forgotten, or kept because they
// cut a reply.
func (r *Room) nextInterimExpiry() time.Time {
	at := r.interims.fading()
	if cut := r.fadingCuts(); at.IsZero() || !cut.IsZero() && cut.Before(at) {
		at = cut
	}
	return at
}

// expireInterims forgets words without an utterance, and keeps those that cut a reply.
func (r *Room) expireInterims(context.Context) {
	r.showInterims(r.interims.fade(r.cfg.Now()))
	r.keepsCuts()
}

// showInterims shows changed interims to those who may see them.
func (r *Room) showInterims(shown []earshot.Event) {
	for _, e := range shown {
		r.show(e)
	}
	if len(shown) > 0 {
		r.interims.pulse.beat()
		r.pulse.beat()
	}
}

// Interim returns the words that are being said, as everybody in a may see them: events of the kind
// speech, one for each voice, which are not kept. changed is closed when they may have changed.
func (r *Room) Interim(a earshot.Audience) (words []earshot.Event, changed <-chan struct{}) {
	changed = r.interims.pulse.next() // before reading, so that no change is missed
	return r.interims.seen(a), changed
}
