package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"earshot/executive/command"
	"earshot/internal/discord/calls"
	"earshot/internal/discord/gateway"
	"earshot/internal/discord/interaction"
	"earshot/internal/english"
	"earshot/participants"
)

// unfit are the commands that make no sense on Discord, where identities are fixed, everybody
// reads what is written, and a voice belongs to an account.
var unfit = []string{"identity", "msg", "voice"}

// offeredCommands are the commands that are offered after a slash.
func (b *Bot) offeredCommands() (all []interaction.Command) {
	for _, c := range append(b.c.Rooms.Commands(), Commands(nil)...) {
		if !slices.Contains(unfit, c.Name) {
			all = append(all, interaction.Command{Name: c.Name, Args: c.Args, Help: c.Help})
		}
	}
	return all
}

// Commands are the commands of the rooms on Discord. Rooms outlast the bot that they were opened
// for, which restarts when its configuration changes: now returns the current bot, or nil.
func Commands(now func() *Bot) command.Table {
	const group = "Discord"
	by := func(do func(*Bot, context.Context, command.Call) (string, error)) func(context.Context, command.Call) (string, error) {
		return func(ctx context.Context, c command.Call) (string, error) {
			b := now()
			if b == nil {
				return "", errNoCalls
			}
			return do(b.in(c.Event.Room), ctx, c)
		}
	}
	return command.Table{
		{Group: group, Name: "join", Args: "[CHANNEL]", Help: "join a voice channel; by default the one that you are in", Needs: participants.SendMessages, Do: by((*Bot).join)},
		{Group: group, Name: "leave", Help: "leave the voice channel", Needs: participants.SendMessages, Do: by((*Bot).leave)},
		{Group: group, Name: "optout", Args: "[off]", Help: "stop listening to me in voice channels; off: listen again", Do: by((*Bot).optOut)},
		{Group: group, Name: "status", Help: "show the connection, the call and any faults", Do: by((*Bot).status)},
	}
}

// errNoCalls is the answer of a bot that does not hear.
var errNoCalls = errors.New("hearing and speaking in voice channels is not installed or is turned off; earshot doctor says why")

// asker returns where on Discord a command was given, and by whom.
func (b *Bot) asker(c command.Call) (guild, user uint64, err error) {
	in, ok := b.channels.place(c.Event.Room)
	if b.calls == nil {
		return 0, 0, errNoCalls
	}
	user = gateway.Number(c.Event.From.ID)
	if !ok || user == 0 || c.Event.From.Provider != b.sense.Name() {
		return 0, 0, errors.New("that works on Discord only")
	}
	return in.Guild, user, nil
}

func (b *Bot) join(ctx context.Context, c command.Call) (string, error) {
	guild, user, err := b.asker(c)
	if err != nil {
		return "", err
	}
	channel, err := b.findVoiceChannel(ctx, guild, strings.TrimSpace(string(c.Args)))
	if err != nil {
		return "", err
	}
	return b.calls.Join(guild, channel, user), nil
}

// linked returns a channel in Discord's notation for texts, or its number alone.
var linked = regexp.MustCompile(`^(?:<#)?([0-9]{17,20})>?$`)

// findVoiceChannel returns the voice channel that somebody names, by a link or by name; 0 if they
// name none.
func (b *Bot) findVoiceChannel(ctx context.Context, guild uint64, named string) (uint64, error) {
	if named == "" {
		return 0, nil
	}
	if is := linked.FindStringSubmatch(named); is != nil {
		return gateway.Number(is[1]), nil
	}
	var all []*discordgo.Channel
	if err := b.session.Ask(ctx, http.MethodGet, fmt.Sprintf("guilds/%d/channels", guild), nil, &all); err != nil {
		return 0, err
	}
	return voiceChannelNamed(all, strings.TrimPrefix(named, "#"))
}

// voiceChannelNamed returns the only voice channel with a name.
func voiceChannelNamed(all []*discordgo.Channel, name string) (uint64, error) {
	all = slices.DeleteFunc(all, func(c *discordgo.Channel) bool {
		return c == nil || c.Type != discordgo.ChannelTypeGuildVoice && c.Type != discordgo.ChannelTypeGuildStageVoice || !strings.EqualFold(c.Name, name)
	})
	switch len(all) {
	case 0:
		return 0, errors.New("there is no voice channel of that name; link it, with # before its name")
	case 1:
		return gateway.Number(all[0].ID), nil
	}
	return 0, errors.New("several voice channels have that name; link the one you mean, with # before its name")
}

func (b *Bot) leave(_ context.Context, c command.Call) (string, error) {
	guild, _, err := b.asker(c)
	if err != nil {
		return "", err
	}
	return b.calls.Leave(guild), nil
}

func (b *Bot) optOut(_ context.Context, c command.Call) (string, error) {
	_, user, err := b.asker(c)
	if err != nil {
		return "", err
	}
	return b.calls.OptOut(user, !strings.EqualFold(strings.TrimSpace(string(c.Args)), "off")), nil
}

// status describes the session and the call of the guild in which it is asked.
func (b *Bot) status(_ context.Context, c command.Call) (string, error) {
	var text strings.Builder
	st := b.session.Status()
	if st.Open {
		fmt.Fprintf(&text, "connected since %s, heartbeat %d ms", st.Since.Format("15:04"), st.RoundTrip.Milliseconds())
	} else {
		fmt.Fprintf(&text, "not connected: %s", cmp.Or(st.Why, "it is just beginning"))
	}
	if lost := st.Lost.Messages; lost > 0 {
		fmt.Fprintf(&text, "; %s had to be requested again", english.Count(lost, "message"))
	}
	if b.calls == nil {
		return text.String() + "\n" + errNoCalls.Error(), nil
	}
	in, _ := b.channels.place(c.Event.Room)
	for _, call := range b.calls.Status() {
		if call.Guild == in.Guild {
			text.WriteString("\n" + tellCall(call))
		}
	}
	return text.String(), nil
}

// tellCall describes a call.
func tellCall(c calls.Status) string {
	v := c.Voice
	text := cmp.Or(v.Phase, "coming")
	switch {
	case v.Encrypted:
		text += fmt.Sprintf(", encrypted end to end (code %s)", v.Code)
	case v.Phase == "in the call":
		text += ", not encrypted end to end: Discord says that somebody's client here does not support it"
	}
	if c.Listens {
		text += fmt.Sprintf("; listening to %s", english.Count(max(0, len(v.People)-1), "other"))
	} else {
		text += "; not listening"
	}
	if v.Deaf != "" {
		text += "; hears nothing: " + v.Deaf
	}
	for _, t := range c.Trouble {
		text += "\n" + t
	}
	return text
}
