package main

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"earshot"
	"earshot/conversation"
	"earshot/executive"
	"earshot/participants"
)

const (
	crowded  = 100 // participants in the room
	written  = 500 // messages of a round
	rendered = 100 // prompts of a round
)

// people measures what it costs that there are many in a room: to route what one
// of them writes, to show it to all of them, and to tell the model who is there.
func people(ctx context.Context, b bench) ([]Row, error) {
	b.rounds = min(b.rounds, 8) // each is many messages already
	registry, err := crowd()
	if err != nil {
		return nil, err
	}
	routed, err := b.routes(ctx, registry)
	if err != nil {
		return nil, err
	}
	shown, err := b.shows(ctx, registry)
	if err != nil {
		return nil, err
	}
	told, err := b.rosters(registry)
	return append(append(routed, shown...), told...), err
}

// guest is one of those who are there besides the one whose house it is.
func guest(i int) string { return fmt.Sprintf("guest%c%c", 'a'+i/26, 'a'+i%26) }

// crowd returns a registry of those who are in the room.
func crowd() (*participants.Registry, error) {
	actors := participants.DefaultConfig()
	for i := range crowded - 1 {
		actors.Actors = append(actors.Actors, participants.Actor{
			ID: earshot.ParticipantID(guest(i)), Type: participants.Human, DisplayName: guest(i), Handles: []string{"console:" + guest(i)},
		})
	}
	agent := participants.Participant{ID: participants.Agent, Name: executive.DefaultConfig().Name, Type: participants.Internal}
	r, err := participants.Open(participants.Setup{Account: ann, AccountName: "Ann", Agents: []participants.Participant{agent}, Actors: actors})
	if err != nil {
		return nil, err
	}
	for _, p := range r.Known() {
		r.Come(earshot.Desk, p.ID, p.Name)
	}
	if n := len(r.Here(earshot.Desk)); n != crowded {
		return nil, fmt.Errorf("%d are in the room, not %d", n, crowded)
	}
	return r, nil
}

// routes measures one message of each kind in a room that is off the record,
// where what [room.Room.Admit] does before the journal is all that it does.
func (b bench) routes(ctx context.Context, registry *participants.Registry) (rows []Row, err error) {
	to := guest(27)
	h, seen, err := gather(ctx, registry, []earshot.ParticipantID{participants.Owner, earshot.ParticipantID(to)})
	if err != nil {
		return nil, err
	}
	defer h.leave()
	bare := guestbook(registry)
	for _, kind := range []struct {
		name string
		body earshot.Body
		text string
	}{
		{"routing an unaddressed message", earshot.Message{Text: "the tide comes in at six tomorrow, I was told"}, "the tide comes in at six tomorrow, I was told"},
		{"routing a message with mentions", earshot.Message{Text: "@guestbb, @Earshot: does the tide come in at six?"}, "guestbb Earshot does the tide come in at six"},
		{"routing a private message", earshot.Command{Name: "msg", Args: "guestbb does the tide come in at six tomorrow?"}, "guestbb does the tide come in at six tomorrow"},
	} {
		each, err := b.perUnit(kind.name, "message", written,
			func() error { return seen.count(written, func() error { return admitAll(ctx, h, kind.body) }) },
			func() error { return bare.enter(kind.text) })
		if err != nil {
			return nil, err
		}
		rows = append(rows, each...)
	}
	rows[0].Note = fmt.Sprintf("of %d people; sender, addressees, audience and one board; beside looking the sender and each word up in a map, and a copy of the event", crowded)
	return rows, nil
}

// shows measures a message that goes to a board of each of those who are there.
func (b bench) shows(ctx context.Context, registry *participants.Registry) ([]Row, error) {
	var members []earshot.ParticipantID
	for _, p := range registry.Here(earshot.Desk) {
		members = append(members, p.ID)
	}
	h, seen, err := gather(ctx, registry, members[:1])
	if err != nil {
		return nil, err
	}
	defer h.leave()
	for _, m := range members[1:] {
		h.Enter(seen, earshot.Audience{Members: []earshot.ParticipantID{m}})
	}
	e := earshot.Event{ID: newID(), From: ann, Body: earshot.Message{Text: "the tide comes in"}}
	rows, err := b.perUnit(fmt.Sprintf("a message to %d boards", crowded), "message", written,
		func() error { return seen.count(written*crowded, func() error { return admitAll(ctx, h, e.Body) }) },
		func() error {
			for range written * crowded {
				seen.Show(e)
			}
			return nil
		})
	if err == nil {
		rows[0].Note = "routing it, and asking of each whether everybody around may see it; beside calling each"
	}
	return rows, err
}

// gather opens a room that is off the record, with one board.
func gather(ctx context.Context, registry *participants.Registry, members []earshot.ParticipantID) (*house, *board, error) {
	h := open(ctx, furniture{model: ladder(new(engine)), journal: new(blank), outlet: sink{}, settings: executive.DefaultConfig(), people: registry})
	if err := h.SetMode(ctx, participants.Owner, earshot.OffRecord); err != nil {
		h.leave()
		return nil, nil, err
	}
	seen := new(board)
	h.Enter(seen, earshot.Audience{Members: members})
	return h, seen, nil
}

// admitAll brings in a body again and again. The room gives it its name.
func admitAll(ctx context.Context, h *house, body earshot.Body) error {
	for range written {
		if err := h.Admit(ctx, earshot.Event{From: ann, Via: h.Name(), Body: body}); err != nil {
			return err
		}
	}
	return nil
}

// A board counts what it is shown. It is for one goroutine.
type board struct {
	sink
	shown int
	last  earshot.Event
}

// Show implements [earshot.Board].
func (b *board) Show(e earshot.Event) { b.shown, b.last = b.shown+1, e }

// count does something, by which so many events must be shown.
func (b *board) count(want int, do func() error) error {
	before := b.shown
	if err := do(); err != nil {
		return err
	}
	if got := b.shown - before; got != want {
		return fmt.Errorf("%d events were shown, not %d", got, want)
	}
	return nil
}

// A book is the least by which one can know whom a message is from and for.
type book struct {
	byHandle map[earshot.Handle]earshot.ParticipantID
	byName   map[string]earshot.ParticipantID
	last     earshot.Event
}

// guestbook returns the book of who is there.
func guestbook(registry *participants.Registry) *book {
	b := &book{map[earshot.Handle]earshot.ParticipantID{ann: participants.Owner}, make(map[string]earshot.ParticipantID), earshot.Event{}}
	for _, p := range registry.Everybody() {
		b.byName[p.Name] = p.ID
		if p.ID != participants.Owner {
			b.byHandle[earshot.Handle{Provider: "console", ID: p.Name}] = p.ID
		}
	}
	return b
}

// enter enters a text again and again.
func (b *book) enter(text string) error {
	for range written {
		e := earshot.Event{ID: newID(), From: ann, Author: b.byHandle[ann], Body: earshot.Message{Text: earshot.Text(text)}}
		for w := range strings.FieldsFuncSeq(text, unicode.IsSpace) {
			if id, ok := b.byName[w]; ok {
				e.To = append(e.To, id)
			}
		}
		b.last = e
	}
	return nil
}

// rosters measures what each prompt says of who is there, while nothing changes
// and when somebody has come or gone, beside copying it line by line.
func (b bench) rosters(registry *participants.Registry) ([]Row, error) {
	var section string
	var of uint64
	tell := func() { // as the room does it
		if roster := registry.Roster(earshot.Desk); section == "" || of != roster.Version {
			section, of = conversation.Sections(roster, participants.Agent), roster.Version
		}
	}
	tell()
	lines, out := strings.SplitAfter(section, "\n"), ""
	copied := func() error {
		for range rendered {
			out = strings.Join(lines, "")
		}
		return nil
	}
	same, err := b.perUnit("the roster of a prompt, unchanged", "prompt", rendered,
		func() error { return again(rendered, tell) }, copied)
	if err != nil {
		return nil, err
	}
	last, here := earshot.ParticipantID(guest(crowded-2)), true
	changed, err := b.perUnit("the roster of a prompt, after a change", "prompt", rendered, func() error {
		return again(rendered, func() {
			if here = !here; here {
				registry.Come(earshot.Desk, last, string(last))
			} else {
				registry.Go(earshot.Desk, last, string(last))
			}
			tell()
		})
	}, copied)
	if err != nil {
		return nil, err
	}
	same[0].Note = fmt.Sprintf("%d people make %d bytes of it; beside copying them line by line", crowded, len(out))
	changed[0].Note = "somebody comes or goes, who is there is sorted, and the section is written"
	return append(same, changed...), nil
}

// again does something so many times.
func again(times int, do func()) error {
	for range times {
		do()
	}
	return nil
}
