package console

import (
	"context"
	"sync"
	"time"

	"earshot"
	"earshot/internal/terminal"
	"earshot/providers"
)

// goodbye is how long the room may take to keep the last input after the person has left, since no
// key is read from then on.
const goodbye = 5 * time.Second

// A keyboard is one Run while somebody types. Refused input comes back from a goroutine other than
// that of the keys, so a mutex guards the session.
type keyboard struct {
	*Console
	queue *queue

	mu      sync.Mutex
	session session
	beside  sync.WaitGroup // lookups while somebody types
}

// keys handles keys until the person leaves.
func (c *Console) keys(ctx context.Context, emit providers.Emit) error {
	k := &keyboard{Console: c, queue: newQueue()}
	sending, giveUp := context.WithCancel(ctx)
	defer giveUp()
	var sender sync.WaitGroup
	sender.Go(func() {
		k.queue.send(sending, emit, func(i item, err error) {
			if ctx.Err() == nil {
				k.failed(i, err)
			}
		})
	})
	asking, enough := context.WithCancel(ctx)
	err := k.read(asking)
	enough()
	k.beside.Wait()
	k.queue.items.Close()
	defer time.AfterFunc(goodbye, giveUp).Stop()
	sender.Wait()
	return err
}

// read handles the input until the person leaves.
func (k *keyboard) read(ctx context.Context) error {
	k.paint()
	for key, err := range k.term.Keys(ctx) {
		if err != nil {
			return err
		}
		for _, one := range k.means(key) {
			k.queue.room(ctx)
			if k.press(ctx, time.Now(), one) {
				return nil
			}
		}
	}
	return ctx.Err()
}

// means translates a key.
func (k *keyboard) means(key terminal.Key) []terminal.Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session.split(key)
}

// press handles a key, and reports whether it means to leave. Lookups that it starts end with ctx.
func (k *keyboard) press(ctx context.Context, now time.Time, key terminal.Key) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	busy := k.term.Replying() || k.term.Expecting()
	d := k.session.step(now, key, busy)
	for _, body := range d.say {
		k.say(body, d.echo)
	}
	if d.echo != "" {
		k.term.Echo(d.echo)
	}
	k.show(d)
	switch d.also {
	case terminal.Complete:
		k.complete(ctx)
	case terminal.Search:
		k.search(ctx)
	}
	return d.over
}

// complete completes the line when the candidates are known, unless the line has changed by then.
func (k *keyboard) complete(ctx context.Context) {
	if k.cfg.Known == nil {
		k.term.Bell()
		return
	}
	text, at := k.session.line.Text(), k.session.line.Cursor()
	k.beside.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, suggesting)
		defer cancel()
		commands, names, err := k.cfg.Known.Words(ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		switch {
		case k.session.line.Text() != text || k.session.line.Cursor() != at || k.session.search != nil:
		case err != nil:
			k.term.Bell()
		default:
			k.show(k.session.complete(commands, names))
		}
	})
}

// search begins a search; older messages are added as soon as they are known.
func (k *keyboard) search(ctx context.Context) {
	k.session.begin(k.cfg.Known != nil)
	k.paint()
	if k.cfg.Known == nil {
		return
	}
	is := k.session.search
	k.beside.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, suggesting)
		defer cancel()
		messages, err := k.cfg.Known.Sent(ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		if err == nil && k.session.search == is {
			k.session.add(messages)
			k.paint()
		}
	})
}

// say queues body, which was typed as line.
func (k *keyboard) say(body earshot.Body, line string) {
	e := k.event(body)
	if body == stop {
		k.term.SettleAll() // so that ^C leaves if nothing comes of it
	}
	if body.Kind() == earshot.KindMessage {
		k.term.Expect(e.ID)
	}
	k.queue.add(item{e, line})
}

// failed says why the room did not accept what was typed, and puts it back into the line.
func (k *keyboard) failed(i item, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.term.Settle(i.event.ID)
	switch {
	case i.event.Body.Kind() == earshot.KindTyping:
		return // the message will announce it
	case i.line == "":
		k.term.Note(terminal.Line{Head: "! ", Text: "not sent: " + err.Error()})
	case k.session.restore(i.line):
		k.term.Note(terminal.Line{Head: "! ", Text: "not sent (still in your input line): " + err.Error()})
	default:
		k.term.Note(terminal.Line{Head: "! ", Text: "not sent: " + excerpt(i.line) + ": " + err.Error() + "\n  the up arrow brings it back"})
	}
	k.term.Bell()
	k.paint()
}

// excerpt returns enough of line to recognise it.
func excerpt(line string) string {
	const enough = 40 // runes
	n := 0
	for i := range line {
		if n++; n > enough {
			return "“" + line[:i] + "…”"
		}
	}
	return "“" + line + "”"
}

// show handles the rest of d.
func (k *keyboard) show(d keyEffect) {
	if d.hint != "" {
		k.term.Note(terminal.Line{Text: d.hint, Quiet: true})
	}
	if d.bell {
		k.term.Bell()
	}
	k.paint()
	switch d.also {
	case terminal.Clear:
		k.term.Wipe()
	case terminal.Suspend:
		k.term.Sleep()
	}
}

func (k *keyboard) paint() {
	k.term.Prompt(k.session.prompt())
}
