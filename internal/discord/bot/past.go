package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/daemon/access"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/roster"
)

const (
	// mostPast is how many channels are continued after a restart: those with the latest messages,
	// and those in which something is to be said or done.
	mostPast = 64

	// mostMissed is how many messages of a channel are compared with Discord's: one page of
	// Discord's.
	mostMissed = 100

	// slack is how far the clocks of Discord and of this machine may differ.
	slack = 2 * time.Minute
)

// Past implements [discord.House].
func (b *Bot) Past(ctx context.Context) (all []roster.Past, err error) {
	waits, err := b.c.Rooms.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	lately, err := b.c.Store.Rooms(ctx, access.ChannelPrefix, mostPast)
	if err != nil {
		return nil, err
	}
	waiting := func(id earshot.RoomID) bool { return slices.Contains(waits, id) }
	for _, id := range append(waits[:len(waits):len(waits)], slices.DeleteFunc(lately, waiting)...) {
		is, ok := b.c.Rooms.Channel(id)
		if !ok || len(all) == 2*mostPast {
			continue // it is not on Discord
		}
		p := roster.Past{Own: b.own.in(is.ID), Waits: waiting(is.ID)}
		if with, direct := strings.CutPrefix(string(is.ID), access.DirectPrefix); direct {
			p.With = gateway.Number(with)
		} else {
			p.Channel = gateway.Number(strings.TrimPrefix(string(is.ID), access.ChannelPrefix))
		}
		if p.Written, err = b.written(ctx, is.ID); err != nil {
			return nil, err
		}
		if p.Since, err = b.wanted(ctx, is.ID); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// written returns the messages of a room that came from Discord.
func (b *Bot) written(ctx context.Context, id earshot.RoomID) (all []roster.Written, err error) {
	events, err := b.c.Store.Lately(ctx, id, earshot.KindMessage, mostMissed, b.c.Rooms.Audiences(id)...)
	for _, ev := range events {
		if m, ok := ev.Body.(earshot.Message); ok && ev.From.Provider == access.Discord {
			all = append(all, roster.Written{Event: ev.ID, Edited: m.Revised})
		}
	}
	return all, err
}

// wanted returns the time since when messages in a room are to be stored: what was off the record
// stays so, and nothing is looked up in a room that still is.
func (b *Bot) wanted(ctx context.Context, id earshot.RoomID) (time.Time, error) {
	modes, err := b.c.Store.For(earshot.Audience{Room: id}).Last(ctx, []earshot.Kind{earshot.KindMode}, 1)
	if err != nil || len(modes) == 0 {
		return time.Time{}, err
	}
	if m, ok := modes[0].Body.(earshot.ModeChange); ok && m.Mode == earshot.OffRecord {
		return time.Now(), nil
	}
	return modes[0].At.Add(slack), nil
}
