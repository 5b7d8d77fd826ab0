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
	"earshot/internal/probe"
	outlet "earshot/outlets/discord"
	"earshot/participants"
)

// A posting is a channel and its open room, with the outlet that writes there.
type posting struct {
	roster.Place
	room Room
	talk talk

	stop    context.CancelFunc // ends the outlet, which may wait for Discord
	entered chan struct{}      // closed when the outlet is in the room
	over    chan struct{}      // closed when the outlet has ended
}

// posts are the channels whose rooms are open. Its methods may be called from many goroutines;
// only close waits for Discord.
type posts struct {
	mu      sync.Mutex
	of      map[earshot.RoomID]*posting
	writing map[*posting]bool // those that have not ended, also of closed rooms
}

// posted returns the channel of a room.
func (p *posts) posted(room earshot.RoomID) (roster.Place, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if here := p.of[room]; here != nil {
		return here.Place, true
	}
	return roster.Place{}, false
}

// begin assigns a channel to its room, and returns its posting, which must be run if it is new.
func (p *posts) begin(room Room, c roster.Place, stop context.CancelFunc) (is *posting, begun bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.of[room.ID]
	if was != nil && was.room.Room == room.Room {
		was.Place = c
		return was, false
	}
	if was != nil {
		was.stop()
	}
	is = &posting{Place: c, room: room, stop: stop, entered: make(chan struct{}), over: make(chan struct{})}
	if p.of == nil {
		p.of, p.writing = make(map[earshot.RoomID]*posting), make(map[*posting]bool)
	}
	p.of[room.ID], p.writing[is] = is, true
	return is, true
}

// end removes what has ended.
func (p *posts) end(done *posting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id := done.room.ID; p.of[id] == done {
		delete(p.of, id)
	}
	delete(p.writing, done)
	close(done.over)
}

// close ends all writing, and waits for it.
func (p *posts) close() {
	p.mu.Lock()
	all := slices.Collect(maps.Keys(p.writing))
	p.mu.Unlock()
	for _, w := range all {
		w.stop()
	}
	for _, w := range all {
		<-w.over
	}
}

// heard records that something was written in a room, and by whom.
func (p *posts) heard(room earshot.RoomID, by earshot.ParticipantID, event earshot.EventID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if here := p.of[room]; here != nil {
		here.talk.heard(by, event)
	}
}

// between reports whether somebody else has written in a room since a person did.
func (p *posts) between(room earshot.RoomID, by earshot.ParticipantID, event earshot.EventID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	here := p.of[room]
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

// post adds the outlet of a channel to its room, until the room closes or the posting ends. It
// returns when the outlet is there: before anything comes in that is to be answered there.
func (b *Bot) post(ctx context.Context, room Room, c roster.Place) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	p, begun := b.posts.begin(room, c, stop)
	if !begun {
		stop()
		<-p.entered
		return
	}
	go func() { // posts.close waits for it
		defer b.posts.end(p)
		b.write(ctx, p, c)
	}()
	<-p.entered
}

// write runs the outlet of a channel until its room closes or ctx ends.
func (b *Bot) write(ctx context.Context, p *posting, c roster.Place) {
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
	if err := b.outlet(p.room.ID, c).Run(ctx, func(o earshot.Outlet) func() {
		defer close(p.entered)
		return p.room.Room.Enter(o, b.around(c))
	}); err != nil {
		b.c.Log.Error("a channel cannot be written to", "err", err)
	}
}

// around returns who reads what is written in a channel.
func (b *Bot) around(c roster.Place) earshot.Audience {
	if c.Private() {
		return earshot.Audience{Members: []earshot.ParticipantID{b.c.People.Resolve(earshot.Handle{Provider: access.Discord, ID: c.With}).Reader()}}
	}
	return earshot.Audience{Unknown: true} // unknown people may read it
}

// outlet returns the outlet of a channel.
func (b *Bot) outlet(room earshot.RoomID, c roster.Place) *outlet.Text {
	set := b.c.Settings().Outlets.Discord
	channel := gateway.Number(c.ID)
	return outlet.NewText(outlet.TextConfig{
		Dropped: b.c.Dropped("discord"),
		Channel: channel, REST: b.session, Self: b.c.People.Name(participants.Agent), Beside: !set.Transcript,
		Names:  func(to earshot.ParticipantID) compose.Names { return b.names(room, to) },
		Calls:  func(o earshot.Opening) bool { return !c.Private() && b.calls(room, o) },
		Called: b.c.People.Name,
		Posted: func(turn earshot.TurnID, message uint64) { b.own.add(post{message, room, turn}) },
		Refused: func(err error) {
			n := earshot.Notice{Key: "discord " + c.ID, Text: "a reply could not be posted in " + c.Name}
			why, cure := probe.Explain(err)
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
				all.People = append(all.People, compose.Name{ID: id, Name: p.Name})
			}
		}
	}
	return all
}

// calls reports whether a reply pings the person it answers: if others have written since, so that
// the person may have looked away. Bots are not pinged, since they would answer.
func (b *Bot) calls(room earshot.RoomID, o earshot.Opening) bool {
	p, known := b.c.People.Get(o.To)
	return known && p.Type == participants.Human && b.posts.between(room, o.To, o.About)
}

// admit brings an event into its room, and records the author.
func (b *Bot) admit(ctx context.Context, ev earshot.Event) error {
	if ev.Body.Kind() == earshot.KindMessage {
		b.posts.heard(ev.Room, b.c.People.Resolve(ev.From).ID, ev.ID)
	}
	return b.c.Rooms.Admit(ctx, ev)
}
