package terminal

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// Begin says that a reply by agent comes. Its name is shown with its first
// piece; until then a screen says quietly that it is waited for.
func (t *Terminal) Begin(agent string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replying = true
	t.push(op{paint: func(f renderer) frame { return f.name(agent) }, begin: true})
}

// Print shows the beginning of text as the next piece of the reply, some rows
// at most, and returns how many bytes of it were shown: written, and the write
// has returned. That is always on a rune's edge, and can be nothing only if
// stop was closed, or the terminal is lost, which is an error. Of the rest of
// what it began nothing will be shown, but for the end of a sign of which the
// terminal had taken a part.
func (t *Terminal) Print(stop <-chan struct{}, text string) (int, error) {
	p := &printing{text: text, over: make(chan struct{})}
	if text == "" {
		return 0, nil
	}
	t.mu.Lock()
	if t.closing {
		t.mu.Unlock()
		return 0, ErrClosed
	}
	t.push(op{print: p})
	t.mu.Unlock()
	select {
	case <-p.over:
	case <-stop:
		t.halt(p)
		<-p.over
	}
	return p.shown, p.err
}

// halt ends p at once: what was not begun is taken back, and a write that
// waits is given up.
func (t *Terminal) halt(p *printing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.stopped = true
	for i, o := range t.queue {
		if o.print == p {
			t.queue = slices.Delete(t.queue, i, i+1)
			close(p.over)
			return
		}
	}
	t.out.SetWriteDeadline(past)
}

// End says that the reply is over. Mark is shown at its end if any of it was.
func (t *Terminal) End(mark string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replying = false
	if !t.unbegun() {
		t.push(op{paint: func(f renderer) frame { return f.end(mark) }})
	}
}

// unbegun takes back the last Begin if nothing was printed since, so that
// replies that were cut before they were seen do not fill the queue.
func (t *Terminal) unbegun() bool {
	for i, o := range slices.Backward(t.queue) {
		switch {
		case o.begin:
			t.queue = slices.Delete(t.queue, i, i+1)
			return true
		case !o.note:
			return false
		}
	}
	return false
}

// Replying reports whether a reply has begun and is not over.
func (t *Terminal) Replying() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.replying
}

// Wait says quietly what the reply that is coming waits for, such as another
// agent; nothing any more, if what is empty. So do its next words, and its end.
func (t *Terminal) Wait(what string) { t.onScreen(func(s *screen) frame { return s.wait(what) }) }

// Note shows l above the reply that is coming.
func (t *Terminal) Note(l Line) {
	t.add(func(f renderer) frame { return f.note(l) })
}

// After shows l, which happened in the midst of the reply that is coming, between
// what has been shown of it and what is still to be.
func (t *Terminal) After(l Line) {
	t.add(func(f renderer) frame {
		if s, ok := f.(*screen); ok {
			return s.after(l)
		}
		return f.note(l)
	})
}

// Echo shows what was typed and sent: after the reply that is coming, since
// that was there first.
func (t *Terminal) Echo(text string) {
	t.add(func(f renderer) frame { return f.echo(text) })
}

// Prompt shows the line that is being typed, with the cursor before byte at.
func (t *Terminal) Prompt(line string, at int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line, t.at, t.typed = line, at, t.keys
	t.more.Signal()
}

// mostVoices is how many people may be shown to speak at the same time.
const mostVoices = 4

// Hear shows what somebody is saying, as far as it is understood: above what is being typed,
// until it is shown anew, or there is no text any more. Of is whose it is; nobody's is
// everybody's, and without text.
func (t *Terminal) Hear(of string, l Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.keys {
		return
	}
	i := slices.IndexFunc(t.words, func(is interim) bool { return is.of == of })
	switch {
	case of == "":
		t.words = nil
	case i < 0 && l.Text == "":
		return
	case i < 0:
		t.words = append(t.words, interim{of, l})
		t.words = t.words[max(0, len(t.words)-mostVoices):]
	case l.Text == "":
		t.words = slices.Delete(t.words, i, i+1)
	default:
		t.words[i].line = l
	}
	t.heard = true
	t.more.Signal()
}

// Bell makes the terminal ring.
func (t *Terminal) Bell() { t.onScreen(func(*screen) frame { return frame{bytes: []byte("\a")} }) }

// Wipe empties the screen but for the reply that is coming and the prompt.
func (t *Terminal) Wipe() { t.onScreen((*screen).clear) }

// onScreen queues what only a screen does.
func (t *Terminal) onScreen(paint func(*screen) frame) {
	if t.keys {
		t.add(func(f renderer) frame { return paint(f.(*screen)) })
	}
}

// add queues what may be dropped.
func (t *Terminal) add(paint func(renderer) frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.notes == queued {
		t.drop()
	}
	t.notes++
	t.push(op{paint: paint, note: true})
}

// drop removes the oldest of what may be dropped.
func (t *Terminal) drop() {
	for i, o := range t.queue {
		if o.note {
			t.queue = slices.Delete(t.queue, i, i+1)
			t.notes--
			t.dropped++
			return
		}
	}
}

func (t *Terminal) push(o op) {
	if t.closing {
		return
	}
	t.queue = append(t.queue, o)
	t.more.Signal()
}

// write performs what is queued until the terminal is closed. A panic in it
// would leave the terminal unusable, so that is mended first.
func (t *Terminal) write() {
	defer close(t.still)
	sane := false
	defer func() {
		if !sane {
			t.raw.leave()
		}
	}()
	for {
		o, ok := t.next()
		if !ok {
			break
		}
		t.perform(o)
	}
	sane = true
}

// next waits for something to do, and reports false when there will be
// nothing any more. The line that is being typed goes first.
func (t *Terminal) next() (op, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		switch {
		case t.typed:
			t.typed = false
			line, at := t.line, t.at
			return op{paint: func(f renderer) frame { return f.prompt(line, at) }}, true
		case t.dropped > 0 && len(t.queue) > 0:
			said := Line{Text: fmt.Sprintf("(%d lines were not shown: the terminal was too slow)", t.dropped), Quiet: true}
			t.dropped = 0
			return op{paint: func(f renderer) frame { return f.note(said) }}, true
		case len(t.queue) > 0:
			o := t.queue[0]
			t.queue = t.queue[1:]
			if o.note {
				t.notes--
			}
			return o, true
		case t.closing:
			return op{}, false
		case t.heard:
			t.heard = false
			var words []Line
			for _, is := range t.words {
				words = append(words, is.line)
			}
			return op{paint: func(f renderer) frame { return f.(*screen).hear(words) }}, true
		}
		t.more.Wait()
	}
}

func (t *Terminal) perform(o op) {
	if o.print != nil {
		t.print(o.print)
		return
	}
	f := o.paint(t.face)
	if f.aside {
		t.beside(f)
		return
	}
	t.complete(f.bytes, t.givenUp)
}

// print shows the beginning of p.
func (t *Terminal) print(p *printing) {
	defer close(p.over)
	text := p.text
	if len(text) > piece {
		text = text[:Whole(text[:piece])]
	}
	p.shown, p.err = t.show(text, func() bool { return t.givenUp() || t.halted(p) })
	if p.shown < len(text) && p.err == nil && t.givenUp() {
		p.err = ErrClosed
	}
}

// show writes text, and returns how much of it has been shown. If the writing
// was stopped, the renderer is as if there had never been more text than that and
// the sign at which it stopped, and what is missing of that is kept in rest.
func (t *Terminal) show(text string, stopped func() bool) (int, error) {
	if !t.complete(nil, stopped) {
		return 0, t.Lost()
	}
	before := t.face.clone()
	f := t.face.text(text)
	n, err := send(t.out.File, f.bytes, stopped)
	if err != nil {
		t.lose(err)
		return f.shown(n), t.Lost()
	}
	if n < len(f.bytes) {
		t.face = before
		if n > 0 {
			less := t.face.text(text[:f.upTo(n)])
			t.rest = less.bytes[n:]
		}
	}
	return f.shown(n), nil
}

// complete writes what is missing of an earlier frame, and then b, and
// reports whether all of it was written. What was not is kept.
func (t *Terminal) complete(b []byte, stopped func() bool) bool {
	t.rest = append(t.rest, b...)
	if t.Lost() != nil {
		t.rest = nil
		return false
	}
	n, err := send(t.out.File, t.rest, stopped)
	t.rest = t.rest[n:]
	if err != nil {
		t.lose(err)
	}
	return len(t.rest) == 0 && err == nil
}

// beside writes f to standard error. Nobody need read that, so it is waited
// for no longer than for Close, and then counted as dropped.
func (t *Terminal) beside(f frame) {
	var over atomic.Bool
	defer time.AfterFunc(drain, func() {
		over.Store(true)
		t.aside.SetWriteDeadline(past)
	}).Stop()
	n, err := send(t.aside.File, f.bytes, func() bool { return t.givenUp() || over.Load() })
	if n < len(f.bytes) && err == nil {
		t.mu.Lock()
		t.dropped++
		t.mu.Unlock()
	}
}

func (t *Terminal) halted(p *printing) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.stopped
}

func (t *Terminal) givenUp() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.expired
}

// lose notes that the device is lost, for good.
func (t *Terminal) lose(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = fmt.Errorf("printing: %w", cause(err))
	}
}

// Lost returns why nothing can be written to the terminal any more, or nil as long as it can.
func (t *Terminal) Lost() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// cause returns what is wrong, without the path that it happened to.
func cause(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}
