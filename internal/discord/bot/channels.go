package bot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"earshot"
	"earshot/daemon/access"
	"earshot/internal/discord/compose"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/roster"
	outlet "earshot/outlets/discord"
	"earshot/participants"
)

// An openChannel is a channel and its open room, with the outlet that writes there.
type openChannel struct {
	roster.Place
	room Room
	talk talk

	stop    context.CancelFunc // ends the outlet, which may wait for Discord
	entered chan struct{}      // closed when the outlet is in the room
	over    chan struct{}      // closed when the outlet has ended
}

// A channelSet holds the channels whose rooms are open. Its methods may be called from many
// goroutines; only close waits for Discord.
type channelSet struct {
	mu      sync.Mutex
	of      map[earshot.RoomID]*openChannel
	writing map[*openChannel]bool // those that have not ended, also of closed rooms
}

// place returns the channel of a room.
func (s *channelSet) place(room earshot.RoomID) (roster.Place, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if here := s.of[room]; here != nil {
		return here.Place, true
	}
	return roster.Place{}, false
}

// begin assigns a channel to its room, and returns it. It must be run if it is new.
func (s *channelSet) begin(room Room, c roster.Place, stop context.CancelFunc) (is *openChannel, begun bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.of[room.ID]
	if was != nil && was.room.Room == room.Room {
		was.Place = c
		return was, false
	}
	if was != nil {
		was.stop()
	}
	is = &openChannel{Place: c, room: room, stop: stop, entered: make(chan struct{}), over: make(chan struct{})}
	if s.of == nil {
		s.of, s.writing = make(map[earshot.RoomID]*openChannel), make(map[*openChannel]bool)
	}
	s.of[room.ID], s.writing[is] = is, true
	return is, true
}

// end removes what has ended.
func (s *channelSet) end(done *openChannel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := done.room.ID; s.of[id] == done {
		delete(s.of, id)
	}
	delete(s.writing, done)
	close(done.over)
}

// close ends all writing, and waits for it.
func (s *channelSet) close() {
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.writing))
	s.mu.Unlock()
	for _, w := range all {
		w.stop()
	}
	for _, w := range all {
		<-w.over
	}
}

// heard records that something was written in a room, and by whom.
func (s *channelSet) heard(room earshot.RoomID, by earshot.ParticipantID, event earshot.EventID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if here := s.of[room]; here != nil {
		here.talk.heard(by, event)
	}
}

// between reports whether somebody else has written in a room since a person did.
func (s *channelSet) between(room earshot.RoomID, by earshot.ParticipantID, event earshot.EventID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	here := s.of[room]
	return here != nil && here.talk.between(by, event)
}

// A talk is the last author, and the last author other than that one.
type talk struct{ last, other word }

// A word is a message and its author. Names of messages sort by time.
type word struct {
	by    earshot.ParticipantID
	event earshot.EventID
}

func (t *talk) heard(by earshot.ParticipantID, event earshot.EventID) {
	switch {
	case event <= t.last.event: // it was missed before
		return
	case t.last.by != by:
		t.other = t.last
	}
	t.last = word{by, event}
}

// between reports whether anybody but by wrote after an event.
func (t *talk) between(by earshot.ParticipantID, event earshot.EventID) bool {
	return cmp.Or(t.last.by, by) != by && t.last.event > event || cmp.Or(t.other.by, by) != by && t.other.event > event
}

// post adds the outlet of a channel to its room, until the room closes or the openChannel ends. It
// returns when the outlet is there: before anything comes in that is to be answered there.
func (b *Bot) post(ctx context.Context, room Room, c roster.Place) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	p, begun := b.channels.begin(room, c, stop)
	if !begun {
		stop()
		<-p.entered
		return
	}
	go func() { // channelSet.close waits for it
		defer b.channels.end(p)
		b.write(ctx, p, c)
	}()
	<-p.entered
}

// write runs the outlet of a channel until its room closes or ctx ends.
func (b *Bot) write(ctx context.Context, p *openChannel, c roster.Place) {
	var watching sync.WaitGroup
	defer watching.Wait()
	defer p.stop()
	watching.Go(func() {
		defer p.stop()
		select {
		case <-p.room.Closed:
		case <-ctx.Done():
		}
	})
	if !b.c.Settings().Outlets.Discord.Text {
		close(p.entered)
		<-ctx.Done()
		return
	}
	b.outlet(p.room.ID, c).Run(ctx, func(o earshot.Outlet) func() {
		defer close(p.entered)
		return p.room.Room.Enter(o, b.readers(c))
	})
}

// readers returns who reads what is written in a channel.
func (b *Bot) readers(c roster.Place) earshot.Audience {
	if c.Private() {
		return earshot.Audience{Members: []earshot.ParticipantID{b.c.People.Resolve(gateway.HandleOf(c.With)).Reader()}}
	}
	return earshot.Audience{Unknown: true} // unknown people may read it
}

// outlet returns the outlet of a channel.
func (b *Bot) outlet(room earshot.RoomID, c roster.Place) *outlet.Text {
	set := b.c.Settings().Outlets.Discord
	return outlet.NewText(outlet.TextConfig{
		Dropped: b.c.Dropped("discord"),
		Channel: c.ID, REST: b.session, Self: b.c.People.Name(participants.Agent), Beside: !set.Transcript,
		Names:  func(to earshot.ParticipantID) compose.Names { return b.names(room, to) },
		Calls:  func(o earshot.Opening) bool { return !c.Private() && b.pings(room, o) },
		Called: b.c.People.Name,
		Posted: func(turn earshot.TurnID, message uint64) { b.own.add(post{message, room, turn}) },
		Refused: func(err error) {
			n := earshot.Notice{Key: "discord " + gateway.Digits(c.ID), Text: "a reply could not be posted in " + c.Name}
			why, cure := earshot.Explain(err)
			n.Text, n.Cure = n.Text+": "+why, cure
			b.c.Report(n)
		},
	})
}

// names returns who may be mentioned in a room: those who are there, and the person who is
// answered.
func (b *Bot) names(room earshot.RoomID, to earshot.ParticipantID) (all compose.Names) {
	who := b.c.People.Here(room)
	if p, known := b.c.People.Get(to); known && !slices.ContainsFunc(who, func(h participants.Participant) bool { return h.ID == to }) {
		who = append(slices.Clip(who), p)
	}
	for _, p := range who {
		for _, h := range b.c.People.Handles(p.ID) {
			if id := gateway.Number(h.ID); id != 0 && h.Provider == access.Discord {
				all = append(all, compose.Name{ID: id, Name: p.Name})
			}
		}
	}
	return all
}

// pings reports whether a reply pings the person it answers: if others have written since, so that
// the person may have looked away. Bots are not pinged, since they would answer.
func (b *Bot) pings(room earshot.RoomID, o earshot.Opening) bool {
	p, known := b.c.People.Get(o.To)
	return known && p.Type == participants.Human && b.channels.between(room, o.To, o.About)
}

// admit brings an event into its room, and records the author.
func (b *Bot) admit(ctx context.Context, ev earshot.Event) error {
	if ev.Body.Kind() == earshot.KindMessage {
		b.channels.heard(ev.Room, b.c.People.Resolve(ev.From).ID, ev.ID)
	}
	return b.c.Rooms.Admit(ctx, ev)
}
