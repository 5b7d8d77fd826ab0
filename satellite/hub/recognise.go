package hub

import (
	"sync"
	"time"

	"earshot/internal/audio"
	"earshot/internal/helper"
	"earshot/models/stt"
	"earshot/satellite"
)

const (
	mostWords = int(stt.Longest / (100 * time.Millisecond)) // how often the words of an utterance may change
	slow      = 5 * time.Second                             // after its end its last words may come
)

// An Utterance is one that a satellite recognises, as a [stt.Session] does; or else it is recognised here.
type Utterance struct {
	link   *link
	number uint32
	on     func(stt.Result)
	here   func(func(stt.Result)) *stt.Session

	mu          sync.Mutex
	frames      []audio.Frame // in case the satellite fails
	changes     int           // of the words
	ended, over bool          // over is when the satellite has no more to do with it
	instead     *stt.Session  // nil unless it is recognised here
}

// Recognise begins an utterance that the satellite recognises, or returns nil if that cannot. If it fails
// later, the utterance goes on with here.
func (s *Satellite) Recognise(on func(stt.Result), here func(func(stt.Result)) *stt.Session) *Utterance {
	l := s.current()
	if l == nil || !s.State().Recognises {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.utterances == nil {
		return nil
	}
	l.utterance++
	u := &Utterance{link: l, number: l.utterance, on: on, here: here}
	l.utterances[u.number] = u
	return u
}

// Feed, End and Cancel are as of a [stt.Session].
func (u *Utterance) Feed(f *audio.Frame) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.instead != nil:
		u.instead.Feed(f)
	case !u.over:
		if u.frames = append(u.frames, *f); len(u.frames) == 1 {
			u.tell(false)
		}
	}
}

func (u *Utterance) End() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
	switch {
	case u.instead != nil:
		u.instead.End()
	case len(u.frames) == 0:
		u.fallBack()
	default:
		u.tell(false)
		time.AfterFunc(slow, func() {
			if u.fail() {
				u.link.satellite.recognise(false)
			}
		})
	}
}

func (u *Utterance) Cancel() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.instead != nil {
		u.instead.Cancel()
	} else if len(u.frames) > 0 {
		u.tell(true)
	}
	u.leave()
}

// tell tells the satellite about the utterance. An error ends the session.
func (u *Utterance) tell(cancel bool) {
	ahead, _ := u.link.offset()
	m := satellite.Utterance{Number: u.number, From: u.frames[0].At.Add(ahead), Cancel: cancel}
	if u.ended {
		m.Until = u.frames[len(u.frames)-1].At.Add(audio.Time + ahead)
	}
	_ = u.link.Send(satellite.SayHear, m)
}

// fail has the utterance recognised here, and reports whether the satellite was to do it until now.
func (u *Utterance) fail() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.fallBack()
}

func (u *Utterance) fallBack() bool {
	if u.over {
		return false
	}
	u.instead = u.here(u.on)
	for i := range u.frames {
		u.instead.Feed(&u.frames[i])
	}
	if u.ended {
		u.instead.End()
	}
	u.leave()
	return true
}

func (u *Utterance) leave() {
	clear(u.frames) // what was said
	u.over, u.frames = true, nil
	u.link.mu.Lock()
	defer u.link.mu.Unlock()
	delete(u.link.utterances, u.number)
}

// words takes what the satellite has recognised, and counts what cannot be.
func (l *link) words(c helper.Control) {
	w, err := satellite.DecodeWords(c)
	l.mu.Lock()
	u, known := l.utterances[w.Number], w.Number <= l.utterance
	l.mu.Unlock()
	switch {
	case err == nil && u == nil && known:
		l.satellite.old.Add(1)
	case err != nil || u == nil || !u.take(w):
		l.satellite.forged.Add(1)
		l.satellite.hub.dropped(1)
	}
}

// take takes words, and reports whether they can be.
func (u *Utterance) take(w satellite.Words) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.changes++
	switch {
	case u.over:
		return true
	case w.Failed:
		return u.fallBack()
	case w.Final && !u.ended, !w.Final && u.changes > mostWords:
		return false
	case w.Final:
		u.leave()
	}
	u.on(stt.Result{Text: w.Text, Heard: w.Heard, Lag: w.Lag, Confidence: w.Confidence, Final: w.Final})
	return true
}

// giveUp has everything recognised here, when the session has ended.
func (l *link) giveUp() {
	l.mu.Lock()
	left := l.utterances
	l.utterances = nil
	l.mu.Unlock()
	for _, u := range left {
		u.fail()
	}
}
