package main

import (
	"context"
	"sync"

	"earshot"
	gateway "earshot/internal/discord"
	"earshot/internal/discord/compose"
	outlet "earshot/outlets/discord"
	"earshot/participants"
	"earshot/providers/discord"
)

// A posting is a channel and its room while that is open.
type posting struct {
	discord.Channel
	room chamber
	end  func() // ends what writes there, and waits for it
}

// post lets what writes into a channel into its room, until the posting ends.
func (e *embassy) post(ctx context.Context, room chamber, c discord.Channel) posting {
	p := posting{Channel: c, room: room, end: func() {}}
	set := e.cfg.Outlets.Discord
	if !set.Text {
		return p
	}
	around := earshot.Audience{Unknown: true} // who reads along nobody knows
	if c.Private() {
		around = earshot.Audience{Members: []earshot.ParticipantID{e.Resolve(earshot.Handle{Provider: byDiscord, ID: c.With}).Reader()}}
	}
	channel, _ := gateway.Number(c.ID)
	text := outlet.NewText(outlet.TextConfig{
		Channel: channel, REST: e.session, Self: e.Name(participants.Agent), Beside: !set.Transcript,
		Names:  func() compose.Names { return e.names(room.is.ID) },
		Called: e.Name,
		Posted: func(turn earshot.TurnID, message uint64) { e.own.add(message, saying{room.is.ID, turn}) },
		Refused: func(err error) {
			n := earshot.Notice{Key: "discord " + c.ID, Text: "a reply could not be written in " + c.Name}
			why, cure := plainly(err)
			n.Text, n.Cure = n.Text+": "+why, cure
			e.report(n)
		},
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var writing sync.WaitGroup
	entered := make(chan struct{})
	writing.Go(func() {
		if err := text.Run(ctx, func(o earshot.Outlet) func() {
			defer close(entered)
			return room.Enter(o, around)
		}); err != nil {
			e.log.Error("a channel cannot be written in", "err", err)
		}
	})
	<-entered // before anything is brought in that is answered there
	p.end = func() {
		stop()
		writing.Wait()
	}
	return p
}

// names returns who may be mentioned in a room: those who are there.
func (e *embassy) names(room earshot.RoomID) (all compose.Names) {
	for _, p := range e.Here(room) {
		for _, h := range e.Handles(p.ID) {
			if id, ok := gateway.Number(h.ID); ok && h.Provider == byDiscord {
				all.People = append(all.People, compose.Name{ID: id, Name: p.Name})
			}
		}
	}
	return all
}

// posted returns the channel of a room.
func (e *embassy) posted(room earshot.RoomID) (discord.Channel, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.postings[room]
	return p.Channel, ok
}
