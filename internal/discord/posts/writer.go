package posts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

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

// A WriterConfig says what a writer writes where. Its functions are called from the goroutine of
// [Writer.Run].
type WriterConfig struct {
	Channel Channel
	Names   compose.Names // who may be mentioned
	Head    string        // what the first message begins with
	Seed    string        // tells the replies in a channel apart
	About   uint64        // the message to which the first one refers; 0 for none
	Ping    func() bool   // whether that pings the author of that message

	Posted  func(message uint64)       // is called with each message, as soon as it exists
	Reached func(bytes int)            // is called when so much of the text was posted, or is invisible
	Ended   func(bytes int, err error) // is called last; err is why not all was posted, unless it was cut
}

// A Writer posts one reply, while it is still being written. Its methods may be called from any
// goroutine.
type Writer struct {
	cfg  WriterConfig
	over chan struct{} // closed when the end has been reported
	wake chan struct{} // holds a token when something below has changed

	mu       sync.Mutex
	moved    sync.Cond // parts has changed, or nothing more is posted
	parts    *compose.Composer
	pace     pace
	stop     context.CancelFunc // ends posting what is not on its way yet; nil before it runs
	paused   bool
	cut      bool
	finished bool
	ended    bool
	err      error // why not all was posted

	// The following fields belong to Run.
	posted int // parts
	done   int // bytes of the text that were posted, or are not visible
}

// NewWriter returns a writer that posts once it runs.
func NewWriter(cfg WriterConfig) *Writer {
	w := &Writer{cfg: cfg, over: make(chan struct{}), wake: make(chan struct{}, 1), parts: compose.New(cfg.Names, cfg.Head)}
	w.moved.L = &w.mu
	return w
}

// Over is closed when the end has been reported.
func (w *Writer) Over() <-chan struct{} { return w.over }

// Write adds text. It waits while much is left to post, and returns why nothing more will be posted,
// unless the writer was cut or finished.
func (w *Writer) Write(text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.finished || w.stopped() {
		return w.err
	}
	if w.pace.began.IsZero() {
		w.pace.began = time.Now()
	}
	w.parts.Add(text)
	w.nudge()
	for w.parts.Left() > backlog && !w.stopped() {
		w.moved.Wait()
	}
	return w.err
}

// stopped reports whether nothing more will be posted; w.mu is held.
func (w *Writer) stopped() bool { return w.cut || w.ended || w.err != nil }

// nudge wakes Run.
func (w *Writer) nudge() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Pause posts no further message, or does so again.
func (w *Writer) Pause(paused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = paused
	w.nudge()
}

// Cut posts nothing more. A message on its way is still waited for.
func (w *Writer) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = true
	if w.stop != nil {
		w.stop()
	}
	w.moved.Broadcast()
	w.nudge()
}

// Finish says that no more text follows.
func (w *Writer) Finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.finished {
		w.finished = true
		w.parts.End()
	}
	w.nudge()
}

// Run posts the reply to its end, and reports the end. A cut ends posting, and nobody reads any more
// when ctx has ended.
func (w *Writer) Run(ctx context.Context) {
	defer close(w.over)
	posting := w.begin(ctx)
	defer w.stop()
	defer context.AfterFunc(ctx, w.Cut)()
	hush := w.indicate(posting)
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
					err = nil // it was cut, or nobody reads
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

// begin returns the context in which messages are posted.
func (w *Writer) begin(ctx context.Context) (posting context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	posting, w.stop = context.WithCancel(ctx)
	if w.cut {
		w.stop()
	}
	return posting
}

// next returns the next part if it is due. Otherwise it returns how long to wait unless something
// changes, where 0 is for ever and a negative time means that there is nothing to wait for.
func (w *Writer) next() (part compose.Part, ok bool, wait time.Duration) {
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
func (w *Writer) rest(wait time.Duration) {
	var late <-chan time.Time
	if wait > 0 {
		late = time.After(wait)
	}
	select {
	case <-w.wake:
	case <-late:
	}
}

// deliver posts a part. A cut ends that, unless the part is on its way.
func (w *Writer) deliver(ctx, posting context.Context, p compose.Part) error {
	m := message{Content: p.Content, Allowed: mention(p.Users), Nonce: w.nonce(), Enforce: true}
	if w.posted == 0 && w.cfg.About != 0 {
		m.Reference = &reference{Message: gateway.Digits(w.cfg.About)}
		m.Allowed.Replied = w.cfg.Ping()
	}
	id, err := w.cfg.Channel.post(posting, m)
	if err != nil {
		return err
	}
	if ctx.Err() != nil { // nobody will ever hear of it
		w.cfg.Channel.remove(ctx, id)
		return context.Cause(ctx)
	}
	w.posted++
	w.mu.Lock()
	w.pace.last = time.Now()
	w.mu.Unlock()
	w.cfg.Posted(id)
	w.reach(p.Size)
	return nil
}

// nonce identifies the next part to Discord, in case it is sent twice.
func (w *Writer) nonce() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", w.cfg.Seed, w.cfg.Channel.ID, w.posted))
	return hex.EncodeToString(sum[:12]) // Discord takes 25 characters
}

// reach records that more bytes were posted.
func (w *Writer) reach(size int) {
	w.done += size
	w.cfg.Reached(w.done)
	w.mu.Lock()
	w.moved.Broadcast()
	w.mu.Unlock()
}

// end reports that nothing more will be posted, and why, if not everything was.
func (w *Writer) end(err error) {
	w.mu.Lock()
	w.err = err
	w.ended = true
	w.moved.Broadcast()
	w.mu.Unlock()
	w.cfg.Ended(w.done, err)
}

// indicate shows the typing indicator until it is told to stop, and returns once it has stopped.
func (w *Writer) indicate(ctx context.Context) (hush func()) {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for wait := hesitation; gateway.Pause(ctx, wait); wait = renewal {
			w.cfg.Channel.showTyping(ctx)
		}
	}()
	return func() {
		stop()
		<-done
	}
}
