package room

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"earshot"
	"earshot/executive/reflex"
	"earshot/executive/think"
	"earshot/interrupt"
)

// Reworded is the reason for a decision about a message that is changed while it is
// answered.
const Reworded = "its author has changed it while I answered, so I begin anew"

// Errors of what is changed or taken back. Nothing has changed then.
var (
	errNoSuch    = errors.New("there is no such message in this room")
	errNotTheirs = errors.New("somebody else wrote that message, or it came in another way")
	errNotWords  = errors.New("only a message can be changed or taken back")
	errTakenBack = errors.New("that message has been taken back")

	// errNothingKept is what is done to a message of which nothing is kept anyway.
	errNothingKept = errors.New("of that message nothing is kept")
)

// A change is what an event does to a message that was let in before.
type change struct {
	of    earshot.EventID
	again *question // that is being answered, and is asked again
}

// changing returns which message a body changes or takes back, if it does.
func changing(b earshot.Body) (of earshot.EventID, does bool) {
	switch b := b.(type) {
	case earshot.Revision:
		return b.Of, true
	case earshot.Withdrawal:
		return b.Of, true
	}
	return "", false
}

// bearsOn fixes what e does to a message: it is seen by whom that is, and its author
// alone can bring it in, by the handle that they wrote it by. Whoever keeps order
// where it was written, which is the sense itself, can take it back.
func (r *Room) bearsOn(ctx context.Context, e *earshot.Event, in *incoming) error {
	of, _ := changing(e.Body)
	was, err := r.original(ctx, of)
	for errors.Is(err, errNoSuch) && !r.bars(*e, of) { // it has come meanwhile
		was, err = r.original(ctx, of)
	}
	if err != nil {
		return err
	}
	revision, revises := e.Body.(earshot.Revision)
	keepsOrder := !revises && e.From.ID == ""
	m, message := was.Body.(earshot.Message)
	switch _, aloud := was.Body.(earshot.Utterance); {
	case was.From.Provider != e.From.Provider || was.From != e.From && !keepsOrder:
		return errNotTheirs
	case !message && !(aloud && !revises), m.Turn != "":
		return errNotWords
	case revises && len(m.Attachments) == 0:
		if _, err := wording(revision.Text, earshot.MaxText); err != nil {
			return err
		}
	}
	e.To, e.Visibility = was.To, was.Visibility
	in.change = change{of: of}
	if revises {
		e.Sources = []earshot.EventID{of}
	}
	if revises {
		in.change.again = r.outdated(revision)
	}
	if in.change.again != nil || !revises && r.answersNow(func(id earshot.EventID) bool { return id == of }) != nil {
		in.signal = over(*e, in.who.ID)
	}
	return nil
}

// over returns what it is to the floor that there is no such question any more.
func over(e earshot.Event, by earshot.ParticipantID) *interrupt.Signal {
	return &interrupt.Signal{Kind: interrupt.Addressed, From: e.From, Via: e.Via, By: by, Confidence: 1, At: e.At}
}

// outdated returns the question that is answered now and whose words a revision changes,
// nil for none.
func (r *Room) outdated(b earshot.Revision) *question {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil || r.live.message.ID != b.Of || r.live.handover != nil || r.live.found != nil || respelt(saidIn(r.live.message.Body), b.Text) {
		return nil
	}
	q := r.live.question
	return &q
}

// answersNow returns the turn that answers any of some messages, or began with one; nil
// for none.
func (r *Room) answersNow(is func(earshot.EventID) bool) *live {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live != nil && (is(r.live.message.ID) || is(r.live.origin())) {
		return r.live
	}
	return nil
}

// changesSoon reports whether what changes a message, or takes it back, waits to be kept.
func (r *Room) changesSoon(id earshot.EventID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.waiting, func(en *entry) bool { return en.change.of != "" && en.change.of == id })
}

// original returns the message that is changed. One that is on its way to those that wait
// for the journal goes first.
func (r *Room) original(ctx context.Context, of earshot.EventID) (earshot.Event, error) {
	was := earshot.Event{}
	r.mu.Lock()
	en, known := r.known[of]
	r.mu.Unlock()
	switch {
	case known && en.passes:
		return was, errNothingKept
	case known && en.barred:
		return was, errNoSuch
	case known:
		was = en.event
		if en.queued == nil {
			break
		}
		select {
		case <-en.queued:
		case <-ctx.Done():
			return was, context.Cause(ctx)
		}
	case r.cfg.Event != nil:
		var err error
		if was, known, err = r.cfg.Event(ctx, of); err != nil {
			return was, err
		}
	}
	switch {
	case !known:
		return was, errNoSuch
	case was.Body.Kind() == earshot.KindErased:
		return was, errTakenBack
	}
	return was, nil
}

// bars keeps out what is to come, which e takes back although it is not there yet: a sense
// that has asked what was written can be told that it was deleted before it hands it in.
// Only who keeps order can do that, where they do. It reports whether it is still not
// there.
func (r *Room) bars(e earshot.Event, of earshot.EventID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if en, known := r.known[of]; known {
		return en.barred
	}
	if _, back := e.Body.(earshot.Withdrawal); back && e.From.ID == "" {
		gone := earshot.Event{ID: of, At: e.At, From: e.From, Room: r.cfg.ID, Body: earshot.Erased{Was: earshot.KindMessage}}
		en := &entry{incoming: incoming{event: gone}, barred: true, done: make(chan struct{})}
		close(en.done)
		r.know(en)
	}
	return true
}

// elsewhere reports whether en keeps out what another sense might bring in, and so not e.
func (en *entry) elsewhere(e earshot.Event) bool {
	return en.barred && en.event.From.Provider != e.From.Provider
}

// needless reports whether what is to be done is done already, for why it cannot be: what
// is taken back twice is no fault of whoever does.
func needless(b earshot.Body, why error) bool {
	_, back := b.(earshot.Withdrawal)
	return errors.Is(why, errNothingKept) || back && errors.Is(why, errTakenBack)
}

// disturb lets an event act on the floor. That somebody changes or takes back what is
// being answered always counts: there is no such question any more.
func (r *Room) disturb(in incoming) {
	if in.change.of == "" {
		r.heed(in.signal)
	} else if in.signal != nil {
		r.floor.Signal(in.signal)
	}
}

// reask returns the decision to answer a message anew that was changed meanwhile, and
// notes in the entry what is asked.
func (r *Room) reask(e *entry, b earshot.Revision) []earshot.Event {
	again := e.change.again
	if again == nil { // it was begun meanwhile, perhaps
		if again = r.outdated(b); again != nil {
			e.signal = over(e.event, e.who.ID)
			r.disturb(e.incoming)
			e.ticket = r.floor.Ticket()
		}
	}
	if again == nil || !r.answers() || r.seatOf(again.seat.ID) == nil {
		return nil
	}
	q := question{
		seat: again.seat, message: reworded(again.message, b.Text, e.event), rank: again.rank, chain: again.chain, root: again.root,
		ticket: e.ticket, turn: earshot.TurnID(r.cfg.NewID()), want: reflex.Recognise(b.Text, again.seat.Name),
		everybody: again.everybody, aloud: again.aloud, unasked: again.unasked,
		askers: alsoAsks(again.askers, e.who), visibility: again.message.Visibility,
	}
	e.asks = append(e.asks, q)
	return []earshot.Event{r.decided(q, earshot.Speak, []string{Reworded})}
}

// reworded returns a message as it is after a revision.
func reworded(m earshot.Event, text earshot.Text, by earshot.Event) earshot.Event {
	body, ok := m.Body.(earshot.Message)
	if ok {
		body.Text, body.Revised = text, by.At
		m.Body = body
	}
	return m
}

// takesIn takes into everything that is remembered what an event that is on record has
// changed of what was before.
func (r *Room) takesIn(ctx context.Context, e earshot.Event) {
	switch b := e.Body.(type) {
	case earshot.Revision:
		r.rewords(e, b)
	case earshot.Withdrawal:
		r.forget(ctx, e.Author, append([]earshot.EventID{b.Of}, b.With...)...)
	}
}

// rewords makes a message what it was revised to, wherever it is remembered.
func (r *Room) rewords(e earshot.Event, b earshot.Revision) {
	for _, s := range r.seats {
		s.history.reworded(e.At, b)
	}
	for i, q := range r.pending {
		if q.message.ID == b.Of {
			r.pending[i].message = reworded(q.message, b.Text, e)
			r.pending[i].want, r.pending[i].words = reflex.Recognise(b.Text, q.seat.Name), ""
		}
	}
	if h := r.regard.hangs; h != nil && h.event.ID == b.Of {
		now := *h // which others look at, as it was
		now.event = reworded(h.event, b.Text, e)
		r.regard.hangs = &now
	}
	for i, l := range r.regard.lines {
		if l.Event == b.Of {
			r.regard.lines[i].Text = b.Text
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listings = nil // which quote it, perhaps
	for id, en := range r.known {
		switch was := en.event.Body.(type) {
		case earshot.Message:
			if id == b.Of {
				r.known[id] = en.as(reworded(en.event, b.Text, e))
			}
		case earshot.Revision:
			if was.Of == b.Of && id != e.ID {
				gone := en.event
				gone.Body = earshot.Revision{Of: was.Of}
				r.known[id] = en.as(gone)
			}
		}
	}
}

// as returns an entry for what is known of an event that is kept, as it is now: whoever
// still has the old one may be looking at it.
func (en *entry) as(e earshot.Event) *entry {
	return &entry{incoming: incoming{event: e}, done: en.done, err: en.err}
}

// forget takes events that are erased out of everything that is remembered, and gives up
// what is to come of them, for somebody.
func (r *Room) forget(ctx context.Context, by earshot.ParticipantID, gone ...earshot.EventID) {
	is := func(id earshot.EventID) bool { return id != "" && slices.Contains(gone, id) }
	for _, s := range r.seats {
		s.history.forget(is)
		s.said = slices.DeleteFunc(s.said, func(had spoken) bool { return is(had.reply.ID) })
	}
	r.drop(func(q question) bool { return is(q.message.ID) || is(q.origin()) })
	if l := r.answersNow(is); l != nil { // it was begun meanwhile, or ends already
		l.end()
	}
	r.mind.Stop(by, func(q think.Question) bool { return is(q.About) || r.muse.restsOn(q.ID, is) })
	if h := r.regard.hangs; h != nil && is(h.event.ID) {
		r.regard.hangs = nil
	}
	for i, l := range r.regard.lines {
		if is(l.Event) {
			r.regard.lines[i].Text = ""
		}
	}
	r.regard.drop(func(f *found) bool { return is(f.event.ID) })
	r.regard.shake(gone...)
	if r.head != nil {
		r.head.Drop()
	}
	r.forgotten(is, gone)
	r.scene.Forget(gone...)
	if r.cfg.Scenery != nil { // what was older comes back
		if _, err := r.resync(ctx); err != nil {
			r.cfg.Log.Warn("the scene could not be compared with the journal", "err", err)
		}
	}
}

// forgotten is forget for what others than the owner look at.
func (r *Room) forgotten(is func(earshot.EventID) bool, gone []earshot.EventID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, en := range r.known {
		if is(id) {
			r.known[id] = en.as(earshot.Event{ID: id, At: en.event.At, Room: en.event.Room, Visibility: en.event.Visibility, Body: earshot.Erased{Was: en.event.Body.Kind()}})
		}
	}
	for _, id := range gone {
		r.agenda.Apply(earshot.Event{ID: id, Body: earshot.Erased{}})
	}
	r.sayings = slices.DeleteFunc(r.sayings, func(s saying) bool { return is(s.event) })
	r.listings, r.lastSaid = nil, saidLast{}
}

// rewritten returns a message as a revision makes it, with what hangs at it.
func (r *Room) rewritten(b earshot.Revision) earshot.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := earshot.Message{Text: b.Text}
	if en, ok := r.known[b.Of]; ok {
		was, _ := en.event.Body.(earshot.Message)
		m.Attachments = was.Attachments
	}
	return m
}

// reworded makes a line what its message was revised to.
func (h *history) reworded(at time.Time, b earshot.Revision) {
	for i := range h.lines {
		if l := &h.lines[i]; l.event == b.Of && !l.replies {
			l.revised = at
			l.text, l.mends, l.gone = earshot.Message{Text: b.Text, Attachments: l.attached}.Whole(), nil, false
		}
	}
}

// forget takes out the lines of events that are erased.
func (h *history) forget(is func(earshot.EventID) bool) {
	h.lines = slices.DeleteFunc(h.lines, func(l line) bool { return is(l.event) })
}

// restsOn reports whether a thought rests on any of some events.
func (m *muse) restsOn(thought earshot.EventID, is func(earshot.EventID) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	rests := m.rests[thought]
	return rests != nil && slices.ContainsFunc(rests.sources, is)
}

// respelt reports whether two texts differ in spelling at most: in signs, in capitals and,
// in words of some length, in one letter or in two that are swapped. Of numbers and of short
// words every letter counts: "now" is no way to write "not".
func respelt(a, b earshot.Text) bool {
	x, y := plainWords(a), plainWords(b)
	return slices.EqualFunc(x, y, mistyped)
}

// plainWords returns the words of text without signs, in small letters.
func plainWords(text earshot.Text) []string {
	return strings.FieldsFunc(strings.ToLower(string(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
}

// longWord is from how many letters on one of them may be a slip of the finger: in English
// few words of that length differ in one letter, while most of four do.
const longWord = 6

// mistyped reports whether two words may be the same one.
func mistyped(a, b string) bool {
	if a == b {
		return true
	}
	x, y := []rune(a), []rune(b)
	if strings.ContainsFunc(a+b, unicode.IsDigit) {
		return false
	}
	if len(x) > len(y) {
		x, y = y, x
	}
	from := 0
	for from < len(x) && x[from] == y[from] {
		from++
	}
	x, y = x[from:], y[from:]
	for len(x) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	swapped := len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
	return swapped || len(y) <= 1 && max(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) >= longWord
}
