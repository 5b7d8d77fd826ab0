package room

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
)

const (
	// mostSounded is how many words of what came out of the voices are remembered: the longest
	// utterance, half a minute, and what is spoken while it is being transcribed.
	mostSounded = 256

	// before and after extend the time of an utterance in which the spoken words are compared with
	// it: the sound takes its time through a device, a room and another device, and a word counts
	// from when half of it was heard.
	before = 1500 * time.Millisecond
	after  = time.Second

	// belated is how much longer spoken words are remembered than they are compared at first: in a
	// room that nobody has measured yet, and through a device that buffers a second or two of
	// sound, they come back late.
	belated = 3 * time.Second

	// next is how many words that are about to be spoken are compared.
	next = 4
)

// echoReference is what comes out of the voices of a room, to recognise it when it comes back
// through a microphone. The zero value is silent.
type echoReference struct {
	mu      sync.Mutex
	past    []spokenWord // in the order in which they came
	current *speechTracker
}

// A spokenWord is a word that was spoken.
type spokenWord struct {
	word string
	asks bool
	at   time.Time
}

// between returns what was spoken from one time to another, and a little more on both sides.
func (a *echoReference) between(begin, end time.Time) earshot.Text {
	a.mu.Lock()
	defer a.mu.Unlock()
	begin, end = begin.Add(-before), end.Add(after)
	var words []string
	for _, s := range a.past {
		if !s.at.Before(begin) && !s.at.After(end) {
			words = append(words, s.word)
		}
	}
	if m := a.current; m != nil && !m.clock().After(end) {
		for _, w := range m.words[m.spoken:min(len(m.words), m.spoken+next)] {
			words = append(words, w.word)
		}
	}
	return earshot.Text(strings.Join(words, " "))
}

// sounds reports whether anything was spoken from one time to another.
func (a *echoReference) sounds(begin, end time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current != nil && !end.Before(a.current.began) ||
		slices.ContainsFunc(a.past, func(s spokenWord) bool { return !s.at.Before(begin) && !s.at.After(end) })
}

// half is how long before the middle of a word its sound may begin: the longest words last a
// second.
const half = 500 * time.Millisecond

// echoes reports whether a voice that was heard from one time to another may be the output of the
// room's voices: they sounded when it began, or just before, and when it ended. Just before covers
// the time of a word, a device, the room and another device together, as in between. Somebody who
// continues after that, or began before the first word, is somebody else.
func (a *echoReference) echoes(begin, end time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	sounded := func(t time.Time) bool {
		return slices.ContainsFunc(a.past, func(s spokenWord) bool { return !s.at.Before(t.Add(-before)) && !s.at.After(t.Add(half)) })
	}
	return sounded(begin) && sounded(end)
}

// recently is how long after a question "yes" is an answer to it, although more was said since.
const recently = 3 * time.Second

// asked reports whether a question was spoken shortly before a voice that was heard from one time
// to another, or while it began.
func (a *echoReference) asked(begin, end time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.past, func(s spokenWord) bool {
		return s.asks && !s.at.Before(begin.Add(-recently)) && !s.at.After(end)
	})
}

// A speechTracker follows one speech of one voice. If several voices say the same, the one that
// opened last counts.
type speechTracker struct {
	earshot.Speaking
	reference *echoReference
	clock     func() time.Time
	read      func(earshot.Clause) earshot.Clause // how the voice says a clause; may be nil
	began     time.Time
	activity  *activity
	starts    []int       // the offset in the reply of each clause
	length    int         // of the reply, as far as it was handed over
	words     []replyWord // the words of the reply, as they are spoken
	spoken    int         // how many of them have come out
	signs     int         // how many words come out with text that is in no reply, for which there are no positions

	opens sync.Once     // with the first clause
	cuts  sync.Once     // closes cut
	cut   chan struct{} // closed when nothing more may be said
}

// A replyWord is a word of a reply, with the byte at which it begins.
type replyWord struct {
	word string
	asks bool // it ends a question
	at   int
}

// openVoice opens o, and follows what comes out of it.
func (r *Room) openVoice(ctx context.Context, o earshot.Outlet, opening earshot.Opening, heard func(earshot.Heard)) (earshot.Speaking, error) {
	return r.openSpeechTracker(ctx, o, opening, heard, false)
}

// openSpeechTracker is openVoice; over says that the speech may begin while somebody speaks.
func (r *Room) openSpeechTracker(ctx context.Context, o earshot.Outlet, opening earshot.Opening, heard func(earshot.Heard), over bool) (earshot.Speaking, error) {
	a := &r.echoReference
	m := &speechTracker{reference: a, clock: r.cfg.Now, began: r.cfg.Now(), activity: &r.activity, cut: make(chan struct{})}
	if r.cfg.Reader != nil {
		m.read = r.cfg.Reader()
	}
	if over {
		m.opens.Do(func() {})
	}
	a.mu.Lock()
	a.current = m
	a.mu.Unlock()
	speaking, err := o.Open(ctx, opening, func(h earshot.Heard) {
		m.advance(h)
		heard(h)
	})
	if err != nil {
		m.advance(earshot.Heard{End: true})
		return nil, err
	}
	m.Speaking = speaking
	return m, nil
}

// Say implements [earshot.Speaking].
func (m *speechTracker) Say(c earshot.Clause) error {
	m.opens.Do(m.wait)
	if m.read != nil && c.Text != "" {
		c = m.read(c)
	}
	a := m.reference
	a.mu.Lock()
	m.starts = append(m.starts, m.length)
	m.words = append(m.words, wordsOf(c, m.length)...)
	if c.Text == "" { // no position tells how far it has come
		m.signs = len(m.words)
	}
	m.length += len(c.Text)
	a.mu.Unlock()
	return m.Speaking.Say(c)
}

// Do implements [earshot.Speaking].
func (m *speechTracker) Do(c earshot.Control) {
	if c == earshot.Cut {
		m.cuts.Do(func() { close(m.cut) })
	}
	m.Speaking.Do(c)
}

// gap is how long a reply that is ready waits at most for a gap in what people say: most sentences
// are over by then, and a television never is.
const gap = 4 * time.Second

// wait waits until nobody speaks, whoever it is and to whom, so that no speech begins over a
// person. It gives up after [gap], or when the speech is cut.
func (m *speechTracker) wait() {
	long := time.After(gap)
	for {
		over, speaks := m.activity.speaks(m.clock())
		if !speaks {
			return
		}
		select {
		case <-over:
		case <-long:
			return
		case <-m.cut:
			return
		}
	}
}

// wordsOf returns the words of a clause as they are spoken, and where each begins in a reply in
// which the clause begins at start.
func wordsOf(c earshot.Clause, start int) (words []replyWord) {
	spoken := string(c.Spoken)
	if spoken == "" && len(c.Marks) == 0 {
		spoken = string(c.Text)
	}
	at, mark := 0, 0
	for w := range strings.FieldsSeq(spoken) {
		i := at + strings.Index(spoken[at:], w)
		at = i + len(w)
		where := min(i, len(c.Text))
		if len(c.Marks) > 0 {
			for mark+1 < len(c.Marks) && c.Marks[mark+1].Spoken <= i {
				mark++
			}
			where = min(max(c.Marks[mark].Text, 0), len(c.Text))
		}
		words = append(words, replyWord{word: w, at: start + where})
	}
	for i := range words {
		end := len(c.Text)
		if i+1 < len(words) {
			end = words[i+1].at - start
		}
		words[i].asks = strings.Contains(string(c.Text[min(words[i].at-start, end):end]), "?")
	}
	return words
}

// advance notes how far the voice has come. A reported position may be wrong, so it is limited to
// what was handed over.
func (m *speechTracker) advance(h earshot.Heard) {
	a := m.reference
	a.mu.Lock()
	defer a.mu.Unlock()
	now, heard := m.clock(), 0
	if h.Clause >= 0 && h.Clause < len(m.starts) {
		heard = min(m.starts[h.Clause]+max(h.Byte, 0), m.length)
	}
	for m.spoken < len(m.words) && (m.words[m.spoken].at < heard || h.End && m.spoken < m.signs) {
		a.past = append(a.past, spokenWord{m.words[m.spoken].word, m.words[m.spoken].asks, now})
		m.spoken++
	}
	a.past = slices.Delete(a.past, 0, max(0, len(a.past)-mostSounded))
	if h.End && a.current == m {
		a.current = nil
	}
}
