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
	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
)

const (
	// soon is how long to wait for the first paragraph: people who see nothing for longer think the
	// agent is slow.
	soon = 1200 * time.Millisecond
	// gather is how long text is gathered after a message until a paragraph is worth a message of
	// its own; a sentence is after twice that. Discord allows about one message a second.
	gather = 4 * time.Second
	// hesitation is how long a reply may take before the typing indicator is shown: a reply that
	// comes before that, or is suppressed, needs none.
	hesitation = 300 * time.Millisecond
	// renewal is how often the indicator is renewed; Discord shows it for ten seconds.
	renewal = 8 * time.Second
	// grace is how long to wait for Discord's answer after a cut.
	grace = 10 * time.Second
	// backlog is how much may wait to be posted, in bytes: about eight messages. A model that runs
	// further ahead of Discord's limits produces what a cut would throw away.
	backlog = 16 << 10
)

// A pace decides when a part is posted. The zero value has seen nothing.
type pace struct {
	began time.Time // when the first text came
	last  time.Time // when the last part was posted
}

// urge returns how much a part is wanted at now, and when it will be wanted more.
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

// A textSpeech is one reply on its way into a channel. One goroutine posts it, and calls heard;
// another one shows the typing indicator.
type textSpeech struct {
	text  *Text
	open  earshot.Opening
	heard func(earshot.Heard)
	over  chan struct{}      // closed when the end has been reported
	wake  chan struct{}      // something below has changed
	stop  context.CancelFunc // ends posting what is not on its way yet

	mu       sync.Mutex
	moved    sync.Cond // parts has changed, or the speech is over
	parts    *compose.Composer
	pace     pace
	clauses  []clause
	size     int // of what was said, in bytes
	paused   bool
	cut      bool
	finished bool
	ended    bool
	err      error // why not all was posted

	// The following fields belong to run.
	posted int // parts
	done   int // bytes of what was said that were posted, or are not visible
}

// A clause is where a clause begins.
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

// stopped reports whether nothing more will be posted; w.mu is held.
func (w *textSpeech) stopped() bool { return w.cut || w.ended || w.err != nil }

// nudge wakes run.
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

// run posts the reply to its end, and reports the end. A cut ends posting, and nobody listens any
// more when ctx has ended.
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
			hush() // the indicator goes by itself when the message is there
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

// next returns the next part if it is due. Otherwise it returns how long to wait unless something
// changes, where 0 is for ever and a negative time means that there is nothing to wait for.
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

// rest waits until something has changed, or for a time if that is not 0.
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

// deliver posts a part. A cut ends that, unless the part is on its way.
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

// nonce identifies the next part to Discord, in case it is sent twice.
func (w *textSpeech) nonce() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", w.open.Turn, w.text.cfg.Channel, w.posted))
	return hex.EncodeToString(sum[:12]) // Discord takes 25 characters
}

// answers is the message that the reply refers to, if it answers one of the channel.
func (w *textSpeech) answers() *reference {
	id, ok := gateway.MessageOf(w.text.cfg.Channel, w.open.About)
	if !ok {
		return nil
	}
	return &reference{Message: strconv.FormatUint(id, 10)}
}

// reach records that more bytes have been heard.
func (w *textSpeech) reach(size int) {
	w.done += size
	w.heard(w.position())
	w.mu.Lock()
	w.moved.Broadcast()
	w.mu.Unlock()
}

// position returns how far the speech has come.
func (w *textSpeech) position() earshot.Heard {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := sort.Search(len(w.clauses), func(i int) bool { return w.clauses[i].start >= w.done }) - 1
	if i < 0 {
		return earshot.Heard{}
	}
	return earshot.Heard{Clause: w.clauses[i].n, Byte: w.done - w.clauses[i].start}
}

// end reports that nothing more will be heard, and why, if not everything was posted.
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

// typing shows the typing indicator until it is told to stop, and returns once it has stopped.
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
			// A failure does no harm.
			_ = w.text.cfg.REST.Do(ctx, gateway.Request{Method: http.MethodPost, Path: w.text.path + "/typing", Again: true})
		}
	}()
	return func() {
		stop()
		<-done
	}
}
