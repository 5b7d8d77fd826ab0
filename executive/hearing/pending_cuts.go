package hearing

import (
	"time"

	"earshot"
	"earshot/executive/activity"
	"earshot/internal/lockorder"
)

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
