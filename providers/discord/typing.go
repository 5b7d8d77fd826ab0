package discord

import (
	"cmp"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"earshot"
	"earshot/internal/discord/gateway"
)

const (
	// typingLasts is how long Discord shows that somebody types, unless it is renewed.
	typingLasts = 10 * time.Second

	// mostTyping bounds how many people are remembered as typing.
	mostTyping = 1000
)

// typing is who types where, and until when.
type typing map[typist]time.Time

type typist struct{ channel, user uint64 }

// until returns when the next person may have stopped typing; zero if nobody types.
func (all typing) until() (first time.Time) {
	for _, t := range all {
		if first.IsZero() || t.Before(first) {
			first = t
		}
	}
	return first
}

// forget forgets that somebody types.
func (all typing) forget(user, channel uint64) { delete(all, typist{channel, user}) }

// end forgets those who have stopped typing at now, and returns them in order.
func (all typing) end(now time.Time) (ended []typist) {
	for who, until := range all {
		if !until.After(now) {
			ended = append(ended, who)
		}
	}
	for _, who := range ended {
		delete(all, who)
	}
	slices.SortFunc(ended, func(a, b typist) int {
		return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(a.user, b.user))
	})
	return ended
}

// beginTyping translates typing in a channel where something was said already.
func (t *translator) beginTyping(e *discordgo.TypingStart, now time.Time) []action {
	c, user := t.roster.Channel(gateway.Number(e.ChannelID)), gateway.Number(e.UserID)
	if c == nil || user == t.roster.Self() || !t.roster.TakesPart(c) || !c.Saw(user) || !t.roster.Allows(user) {
		return nil
	}
	if known := t.roster.Known(user); known == nil || known.Person.Bot {
		return nil
	}
	who := typist{c.ID, user}
	c.See(user, now)
	_, already := t.typing[who]
	if !already && len(t.typing) >= mostTyping {
		return nil
	}
	if t.typing == nil {
		t.typing = make(typing)
	}
	t.typing[who] = now.Add(typingLasts)
	if already {
		return nil
	}
	return []action{t.event(c, user, now, earshot.Typing{Began: true})}
}

// endTyping returns the people who have stopped typing.
func (t *translator) endTyping(now time.Time) (acts []action) {
	for _, who := range t.typing.end(now) {
		if c := t.roster.Channel(who.channel); c != nil {
			acts = append(acts, t.event(c, who.user, now, earshot.Typing{}))
		}
	}
	return acts
}
