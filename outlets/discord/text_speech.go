package discord

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"sync"
	"time"

	"earshot"
	"earshot/internal/discord"
	"earshot/internal/discord/compose"
)

const (
	// soon is how long a first paragraph is waited for: who sees nothing for longer takes
	// it for slow.
	soon = 1200 * time.Millisecond
	// gather is how long more is gathered after a message until a paragraph is worth one
	// of its own; twice that, a sentence. Discord allows about one message a second.
	gather = 4 * time.Second
	// hesitation is how long a reply may take before it is shown that it is being
	// written: one that is there by then, or that is suppressed, needs nothing shown.
	hesitation = 300 * time.Millisecond
	// renewal is how often that is shown again; Discord shows it for ten seconds.
	renewal = 8 * time.Second
	// grace is how long Discord's answer is waited for after a cut.
	grace = 10 * time.Second
	// backlog is how much may wait to be posted, in bytes: some eight messages. A model
	// that runs ahead of Discord's limits says what a cut would throw away.
	backlog = 16 << 10
)

// A pace decides when a part is posted. Its zero value has seen nothing.
type pace struct {
	began time.Time // when the first text came
	last  time.Time // when the last part was posted
}

// urge is how much a part is wanted at now, and when it will be more.
func (p pace) urge(now time.Time) (u compose.Urge, more time.Duration) {
	since, levels := p.began, []time.Duration{0, soon}
	if !p.last.IsZero() {
		since, levels = p.last, []time.Duration{gather, 2 * gather}
	}
	for i, level := range levels {
		if wait := since.Add(level).Sub(now); wait > 0 {
			return compose.Urge(i), wait
		}
	}
	return compose.Sentence, 0
}

// A textSpeech is one reply on its way into a channel. One goroutine posts it, and calls
// heard; another one types.
type textSpeech struct {
	text  *Text
	open  earshot.Opening
	heard func(earshot.Heard)
	over  chan struct{}      // closed when the end has been told
	wake  chan struct{}      // something below has changed
	stop  context.CancelFunc // of posting what is not on its way yet

	mu       sync.Mutex
	moved    sync.Cond // parts was, or it is over
	parts    *compose.Composer
	pace     pace
	clauses  []clause
	size     int // of what was said, in bytes
	paused   bool
	cut      bool
	finished bool
	ended    bool
	err      error // why not all was posted

	// What follows is run's.
	posted int // parts
	done   int // bytes of what was said that were posted, or are not seen
}

// A clause is where one begins.
type clause struct{ n, start int }

func newTextSpeech(t *Text, o earshot.Opening, heard func(earshot.Heard), stop context.CancelFunc) *textSpeech {
	w := &textSpeech{
		text: t, open: o, heard: heard, stop: stop, over: make(chan struct{}), wake: make(chan struct{}, 1),
		parts: compose.New(t.cfg.Names(o.To), t.head(o.Name)),
	}
	w.moved.L = &w.mu
	return w
}

// Say implements [earshot.Speaking].
func (w *textSpeech) Say(c earshot.Clause) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.finished || w.stopped() {
		return w.err
	}
	if w.pace.began.IsZero() {
		w.pace.began = time.Now()
	}
	w.clauses = append(w.clauses, clause{c.N, w.size})
	w.size += len(c.Text)
	w.parts.Add(string(c.Text))
	w.nudge()
	for w.parts.Left() > backlog && !w.stopped() {
		w.moved.Wait()
	}
	return w.err
}

// stopped reports whether nothing more is posted; w.mu is held.
func (w *textSpeech) stopped() bool { return w.cut || w.ended || w.err != nil }

// nudge has run look again.
func (w *textSpeech) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Do implements [earshot.Speaking].
func (w *textSpeech) Do(c earshot.Control) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch c {
	case earshot.Pause:
		w.paused = true
	case earshot.Resume, earshot.Duck:
		w.paused = false
	case earshot.Cut:
		w.cut = true
		w.stop()
	}
	w.moved.Broadcast()
	w.nudge()
}

// Finish implements [earshot.Speaking].
func (w *textSpeech) Finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.finished {
		w.finished = true
		w.parts.End()
	}
	w.nudge()
}

// run posts the reply until it has come to its end, and tells it. A cut ends posting,
// and nobody listens any more when ctx has ended.
func (w *textSpeech) run(ctx, posting context.Context) {
	defer close(w.over)
	defer w.stop()
	defer context.AfterFunc(ctx, func() { w.Do(earshot.Cut) })()
	hush := w.typing(posting)
	defer hush()
	for {
		part, ok, wait := w.next()
		switch {
		case ok && part.Blank:
			w.reach(part.Size)
		case ok:
			hush() // it goes by itself when the message is there
			if err := w.deliver(ctx, posting, part); err != nil {
				if posting.Err() != nil {
					err = nil // it was cut, or the turn was given up
				}
				w.end(err)
				return
			}
		case wait < 0:
			w.end(nil)
			return
		default:
			w.rest(wait)
		}
	}
}

// next returns the next part if it is due; else how long to wait for it unless something
// changes, where 0 is for ever and less that there is nothing to wait for.
func (w *textSpeech) next() (part compose.Part, ok bool, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return part, false, -1
	}
	if w.paused {
		return part, false, 0
	}
	urge, wait := w.pace.urge(time.Now())
	if part, ok = w.parts.Next(urge); ok {
		return part, true, 0
	}
	if w.finished {
		return part, false, -1
	}
	return part, false, wait
}

// rest waits until something has changed, or for so long if that is not 0.
func (w *textSpeech) rest(wait time.Duration) {
	var late <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-w.wake:
	case <-late:
	}
}

// deliver posts a part. A cut ends that unless it is on its way.
func (w *textSpeech) deliver(ctx, posting context.Context, p compose.Part) error {
	m := message{Content: p.Content, Allowed: tells(p.Users), Nonce: w.nonce(), Enforce: true}
	if w.posted == 0 {
		m.Reference = w.answers()
		m.Allowed.Replied = m.Reference != nil && w.text.cfg.Calls(w.open)
	}
	id, err := w.text.post(posting, m)
	if err != nil {
		return err
	}
	if ctx.Err() != nil { // nobody will ever hear of it
		w.text.take(ctx, id)
		return context.Cause(ctx)
	}
	w.posted++
	w.mu.Lock()
	w.pace.last = time.Now()
	w.mu.Unlock()
	w.text.cfg.Posted(w.open.Turn, id)
	w.reach(p.Size)
	return nil
}

// nonce is by what Discord knows the next part if it is sent twice.
func (w *textSpeech) nonce() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", w.open.Turn, w.text.cfg.Channel, w.posted))
	return hex.EncodeToString(sum[:12]) // Discord takes 25 characters
}

// answers is which message the reply refers to, if it answers one of the channel.
func (w *textSpeech) answers() *reference {
	id, ok := discord.MessageOf(w.text.cfg.Channel, w.open.About)
	if !ok {
		return nil
	}
	return &reference{Message: strconv.FormatUint(id, 10)}
}

// reach says that so many bytes more have been heard.
func (w *textSpeech) reach(size int) {
	w.done += size
	w.heard(w.position())
	w.mu.Lock()
	w.moved.Broadcast()
	w.mu.Unlock()
}

// position is how far it has come.
func (w *textSpeech) position() earshot.Heard {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := sort.Search(len(w.clauses), func(i int) bool { return w.clauses[i].start >= w.done }) - 1
	if i < 0 {
		return earshot.Heard{}
	}
	return earshot.Heard{Clause: w.clauses[i].n, Byte: w.done - w.clauses[i].start}
}

// end tells that nothing more is heard, and why if not all was posted.
func (w *textSpeech) end(err error) {
	w.mu.Lock()
	w.err = err
	w.ended = true
	w.moved.Broadcast()
	w.mu.Unlock()
	at := w.position()
	at.End = true
	w.heard(at)
	if err != nil {
		w.text.cfg.Refused(err)
	}
}

// typing shows that the reply is being written, until it is told to stop; then it has.
func (w *textSpeech) typing(ctx context.Context) (hush func()) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for wait := hesitation; ; wait = renewal {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			// If it fails nobody misses it.
			_ = w.text.cfg.REST.Do(ctx, discord.Request{Method: http.MethodPost, Path: w.text.path + "/typing", Again: true})
		}
	}()
	return func() {
		stop()
		<-done
	}
}
