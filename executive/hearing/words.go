package hearing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/executive/activity"
	"earshot/internal/lockorder"
)

// Interims are the words that are being said, as understood so far: the newest of each voice, by
// the device through which it is heard. They are shown to the people present, and are in no
// journal, log or prompt. The utterance replaces them, if one follows. The zero value is ready to
// use.
type Interims struct {
	mu  lockorder.Mutex[lockorder.Leaf]
	all map[earshot.Handle]interim
}

// An interim is what was understood of one voice so far.
type interim struct {
	event earshot.Event // a Speech of the stage VoiceWords
	told  time.Time     // when that voice was last reported
}

// Note takes in a report about a voice at now, and returns the events that must be shown. own says
// that the voice is, or may be, the agent's own coming back. first says that the voice was not
// known before.
func (i *Interims) Note(e earshot.Event, own bool, now time.Time) (shown []earshot.Event, first bool) {
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

// End forgets the words of a voice whose utterance has come.
func (i *Interims) End(e earshot.Event) []earshot.Event {
	i.mu.Lock()
	defer i.mu.Unlock()
	if was, known := i.all[e.From]; known && !was.event.At.After(e.At) {
		return i.drop(was)
	}
	return nil
}

// Expire forgets the voices that have sent nothing for a while, because a sense that dies reports
// no end.
func (i *Interims) Expire(now time.Time) (gone []earshot.Event) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, was := range i.all {
		if now.Sub(was.told) >= activity.VoiceExpiry {
			gone = append(gone, i.drop(was)...)
		}
	}
	return gone
}

// drop forgets an interim, and returns the event that shows this. i.mu must be held.
func (i *Interims) drop(was interim) []earshot.Event {
	delete(i.all, was.event.From)
	over := was.event
	over.Body = earshot.Speech{Stage: earshot.VoiceOver, Confidence: 1}
	return []earshot.Event{over}
}

// VisibleTo returns the interims that everybody in a may see, oldest first.
func (i *Interims) VisibleTo(a earshot.Audience) (all []earshot.Event) {
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

// NextExpiry returns when the first interim expires; the zero time if there are none.
func (i *Interims) NextExpiry() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return earliest(i.all, func(is interim) time.Time { return is.told.Add(activity.VoiceExpiry) })
}

// earliest returns the earliest time of any of all; the zero time if there are none.
func earliest[K comparable, V any](all map[K]V, when func(V) time.Time) (first time.Time) {
	for _, v := range all {
		if at := when(v); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// PendingCuts are the words that cut a reply while they were still being said, by the device
// through which they were heard. Usually an utterance replaces them. If none does, because nobody
// understood what was said, or because the agent's own voice came back, they are kept anyway, so
// that it is always on record what has cut a reply. W is what the room knows about such words. The
// zero value is ready to use. It is safe for concurrent use.
type PendingCuts[W any] struct {
	mu  lockorder.Mutex[lockorder.Leaf]
	all map[earshot.Handle]pendingCut[W]
}

type pendingCut[W any] struct {
	words       W
	began, came time.Time
}

// Add adds words, which replace earlier words from the same device. began is when they began, and
// came is when the room received them.
func (p *PendingCuts[W]) Add(from earshot.Handle, began, came time.Time, words W) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.all[from]; !known && len(p.all) >= activity.MaxPeople {
		return
	}
	if p.all == nil {
		p.all = make(map[earshot.Handle]pendingCut[W])
	}
	p.all[from] = pendingCut[W]{words, began, came}
}

// Take removes and returns the words from a device that had begun by the time end, and reports
// whether there were any.
func (p *PendingCuts[W]) Take(from earshot.Handle, end time.Time) (words W, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, cut := p.all[from]
	if !cut || end.Before(c.began) {
		return words, false
	}
	delete(p.all, from)
	return c.words, true
}

// NextExpiry returns when the first of these words must be kept because no utterance followed; the
// zero time if there are none.
func (p *PendingCuts[W]) NextExpiry() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return earliest(p.all, func(c pendingCut[W]) time.Time { return c.came.Add(activity.VoiceExpiry) })
}

// Expire removes and returns the words that no utterance has followed for long.
func (p *PendingCuts[W]) Expire(now time.Time) (gone []W) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for from, c := range p.all {
		if now.Sub(c.came) >= activity.VoiceExpiry {
			gone = append(gone, c.words)
			delete(p.all, from)
		}
	}
	return gone
}

// Uttered returns an utterance that ends now, made from words that were still being said.
func Uttered(e earshot.Event, id earshot.EventID, now time.Time) earshot.Event {
	s, _ := e.Body.(earshot.Speech)
	e.ID, e.To = id, nil
	e.Body = earshot.Utterance{Text: s.Words, Confidence: s.Confidence, LikeAgent: s.LikeAgent, Lasted: max(0, now.Sub(e.At))}
	return e
}
