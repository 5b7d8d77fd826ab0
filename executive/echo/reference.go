// Package echo remembers what the voices of a room give out, word by word as it is heard, so that
// it can be recognised when it comes back through a microphone. It only deals with words; the sound
// itself is dealt with in the sound helper.
package echo

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"earshot"
)

const (
	// mostSounded is how many spoken words are remembered: those of the longest utterance, half a
	// minute, and what is spoken while it is being transcribed.
	mostSounded = 256

	// before and after extend the time of an utterance within which spoken words are compared with
	// it. The sound takes time to pass through a device, a room and another device, and a word is
	// timed at the moment when half of it was heard.
	before = 1500 * time.Millisecond
	after  = time.Second

	// MaxDelay is how much later than usual spoken words may come back: in a room that nobody has
	// measured yet, and through a device that buffers a second or two of sound.
	MaxDelay = 3 * time.Second

	// next is how many of the words that are about to be spoken are compared too.
	next = 4
)

// Reference holds what the voices of a room give out, to recognise it when it comes back through a
// microphone. Its zero value has nothing.
type Reference struct {
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

// Between returns what was spoken from one time to another, and a little more on both sides.
func (a *Reference) Between(begin, end time.Time) earshot.Text {
	a.mu.Lock()
	defer a.mu.Unlock()
	begin, end = begin.Add(-before), end.Add(after)
	var words []string
	for _, s := range a.past {
		if !s.at.Before(begin) && !s.at.After(end) {
			words = append(words, s.word)
		}
	}
	if m := a.current; m != nil && !m.voice.Now().After(end) {
		for _, w := range m.words[m.spoken:min(len(m.words), m.spoken+next)] {
			words = append(words, w.word)
		}
	}
	return earshot.Text(strings.Join(words, " "))
}

// Sounds reports whether anything was spoken from one time to another.
func (a *Reference) Sounds(begin, end time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current != nil && !end.Before(a.current.began) ||
		slices.ContainsFunc(a.past, func(s spokenWord) bool { return !s.at.Before(begin) && !s.at.After(end) })
}

// half is how long before the middle of a word its sound may begin: the longest words last a
// second.
const half = 500 * time.Millisecond

// Echoes reports whether a voice that was heard from one time to another may be the output of the
// room's voices: they sounded when it began, or just before, and when it ended. Just before covers
// the time of a word, a device, the room and another device together, as in Between. A voice that
// continues for longer, or began before the first word, belongs to somebody else.
func (a *Reference) Echoes(begin, end time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	sounded := func(t time.Time) bool {
		return slices.ContainsFunc(a.past, func(s spokenWord) bool { return !s.at.Before(t.Add(-before)) && !s.at.After(t.Add(half)) })
	}
	return sounded(begin) && sounded(end)
}

// recently is how long after a question a "yes" still answers it, although more was said since.
const recently = 3 * time.Second

// Asked reports whether a question was spoken shortly before a voice that was heard from one time
// to another, or while it began.
func (a *Reference) Asked(begin, end time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.past, func(s spokenWord) bool {
		return s.asks && !s.at.Before(begin.Add(-recently)) && !s.at.After(end)
	})
}

// A speechTracker tracks one speech of one voice. If several voices say the same, the one that was
// opened last counts.
type speechTracker struct {
	earshot.Speaking
	reference *Reference
	voice     Voice
	began     time.Time
	starts    []int       // the offset in the reply of each clause
	length    int         // how much of the reply was handed over
	words     []replyWord // the words of the reply, as they are spoken
	spoken    int         // how many of them have come out
	signs     int         // how many spoken words belong to no reply, so that no positions are reported for them

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

// A Voice says how something is spoken through an outlet.
type Voice struct {
	Now func() time.Time

	// Read returns a clause as the voice says it, with its Spoken form and Marks. If nil, clauses
	// are passed on unchanged.
	Read func(earshot.Clause) earshot.Clause

	// Speaks reports whether anybody is speaking at a time, and returns a channel that is closed
	// when nobody is any more; the first clause waits for that. If nil, nothing waits.
	Speaks func(time.Time) (over <-chan struct{}, speaks bool)
}

// Open opens o, and follows what comes out of it.
func (a *Reference) Open(ctx context.Context, o earshot.Outlet, opening earshot.Opening, v Voice, heard func(earshot.Heard)) (earshot.Speaking, error) {
	m := &speechTracker{reference: a, voice: v, began: v.Now(), cut: make(chan struct{})}
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
	if m.voice.Read != nil && c.Text != "" {
		c = m.voice.Read(c)
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

// gap is how long a finished reply waits at most for a gap in what people say: most sentences end
// sooner, and a television never stops.
const gap = 4 * time.Second

// wait waits until nobody speaks, whoever they are and whomever they address, so that no speech
// begins while a person is speaking. It gives up after [gap], or when the speech is cut.
func (m *speechTracker) wait() {
	if m.voice.Speaks == nil {
		return
	}
	long := time.After(gap)
	for {
		over, speaks := m.voice.Speaks(m.voice.Now())
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

// wordsOf returns the words of a clause as they are spoken, each with its offset in the reply. The
// clause begins at start in the reply.
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
	now, heard := m.voice.Now(), 0
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
